// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-kernel-apply-schedule -cse -zyx-kernel-verify-form=form=tiled | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-apply-schedule -cse -zyx-kernel-verify-form=form=tiled | FileCheck %s --check-prefix=CARD

!x = !kernel.view<8x18xf32, global>
!v = !kernel.view<18x4xf32, global>
!w = !kernel.view<8x4xf32, global>
!s = !kernel.view<8xf32, global>

// One piece that is the whole axis needs no loop, and scales nothing again. A processor computes its weights once, and
// rows without any have the NaN that they have anyway.
// CHECK-LABEL: kernel.func @softmax
// CHECK-NOT:   scf.for
// CHECK:       %[[MAX:.*]] = kernel.reduce max %{{.*}} dims [1]
// CHECK-NOT:   arith.maximumf
// CHECK:       %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]]
// CHECK:       kernel.convert %[[SAFE]] : tensor<8xf32> -> tensor<8xf32, #kernel.memory<private>>
// CHECK:       %[[POWERS:.*]] = math.exp
// CHECK-NOT:   arith.addf
// CHECK:       %[[SUM:.*]] = kernel.reduce add %[[POWERS]] dims [1]
// CHECK:       %[[WEIGHTS:.*]] = kernel.convert %[[POWERS]] : tensor<8x18xf32> -> tensor<8x18xf32, #kernel.memory<private>>
// CHECK:       %[[DOT:.*]] = kernel.dot %[[WEIGHTS]], %{{.*}}, %{{.*}} : tensor<8x18xf32, #kernel.memory<private>>, tensor<18x4xf32> -> tensor<8x4xf32>
// CHECK-DAG:   arith.mulf %[[SUM]],
// CHECK-DAG:   arith.mulf %[[DOT]],

// On a card there is nothing to gain.
// CARD-LABEL:  kernel.func @softmax
// CARD-NOT:    kernel.convert
// CARD:        kernel.dot %{{.*}} : tensor<8x18xf32>, tensor<18x4xf32> -> tensor<8x4xf32>
kernel.func @softmax(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %l: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.online_step<"n", 18>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8, 18] strides [18, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[18, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %ls = kernel.view %l map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !s
  %t = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<8x18xf32>
  %m = kernel.reduce max %t dims [1] : tensor<8x18xf32> -> tensor<8xf32>
  %b = kernel.broadcast %m dims [0] : tensor<8xf32> -> tensor<8x18xf32>
  %d = arith.subf %t, %b : tensor<8x18xf32>
  %e = math.exp %d : tensor<8x18xf32>
  %s = kernel.reduce add %e dims [1] : tensor<8x18xf32> -> tensor<8xf32>
  %log = math.log %s : tensor<8xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<18x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<8x18xf32>, tensor<18x4xf32> -> tensor<8x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<8xf32> -> tensor<8x4xf32>
  %q = arith.divf %o, %sb : tensor<8x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !w
  %lse = arith.addf %m, %log : tensor<8xf32>
  kernel.store %lse, %ls[%c0] in_bounds [true] : tensor<8xf32>, !s
  kernel.return
}
