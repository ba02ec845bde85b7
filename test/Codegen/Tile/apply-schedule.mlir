// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse | FileCheck %s

!v = !kernel.view<10x64xf32, global>

// Ten rows in steps of four: the last program sticks out, so rows are not in bounds.
// CHECK-LABEL: kernel.func @negate
// CHECK-NOT:   schedule
// CHECK:       kernel.grid (%[[I:.*]]) in [10] step [4] {
// CHECK:         %[[T:.*]] = kernel.load %{{.*}}[%[[I]], %c0] axes ["i", "j"] in_bounds [false, true] : {{.*}} -> tensor<4x64xf32>
// CHECK:         %[[N:.*]] = arith.negf %[[T]] : tensor<4x64xf32>
// CHECK:         kernel.store %[[N]], %{{.*}}[%[[I]], %c0] in_bounds [false, true] : tensor<4x64xf32>
kernel.func @negate(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[10, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[10, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !v -> tensor<10x64xf32>
  %n = arith.negf %t : tensor<10x64xf32>
  kernel.store %n, %w[%c0, %c0] in_bounds [true, true] : tensor<10x64xf32>, !v
  kernel.return
}

// A loop over rows leaves what does not depend on them before it; the rest is walked row by row.
// CHECK-LABEL: kernel.func @rows
// CHECK:       %[[B:.*]] = kernel.load %{{.*}}[%c0] axes ["j"]
// CHECK:       scf.for %[[I:.*]] = %c0 to %c8 step %c4 {
// CHECK:         kernel.load %{{.*}}[%[[I]], %c0] axes ["i", "j"] in_bounds [true, true] : {{.*}} -> tensor<4x64xf32>
// CHECK:         kernel.broadcast %[[B]] dims [1] : tensor<64xf32> -> tensor<4x64xf32>
// CHECK:       scf.for %[[R:.*]] = %c8 to %c10 step %c1 {
// CHECK:         kernel.load %{{.*}}[%[[R]], %c0] axes ["i", "j"] in_bounds [true, true] : {{.*}} -> tensor<1x64xf32>
kernel.func @rows(%x: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.loop_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[10, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !v
  %bv = kernel.view %b map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %w = kernel.view %y map <[<[10, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !v -> tensor<10x64xf32>
  %bt = kernel.load %bv[%c0] axes ["j"] in_bounds [true] : !kernel.view<64xf32, global> -> tensor<64xf32>
  %bb = kernel.broadcast %bt dims [1] : tensor<64xf32> -> tensor<10x64xf32>
  %s = arith.addf %t, %bb : tensor<10x64xf32>
  kernel.store %s, %w[%c0, %c0] in_bounds [true, true] : tensor<10x64xf32>, !v
  kernel.return
}

// Splitting the contraction: a loop that carries the sum, and one for the two elements left over.
// CHECK-LABEL: kernel.func @contraction
// CHECK:       %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
// CHECK:       %[[S:.*]] = scf.for %[[K:.*]] = %c0 to %c16 step %c4 iter_args(%[[A:.*]] = %[[Z]])
// CHECK:         kernel.load %{{.*}}[%c0, %[[K]]] axes ["m", "k"] {{.*}} -> tensor<8x4xf32>
// CHECK:         kernel.dot %{{.*}}, %{{.*}}, %[[A]]
// CHECK:       %[[U:.*]] = scf.for %{{.*}} = %c16 to %c18 step %c1 iter_args(%{{.*}} = %[[S]])
// CHECK:         kernel.dot {{.*}} : tensor<8x1xf32>, tensor<1x4xf32> -> tensor<8x4xf32>
// CHECK:       kernel.store %[[U]]
kernel.func @contraction(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.loop_step<"k", 4>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 18] strides [18, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x18xf32, global>
  %b = kernel.view %w map <[<[18, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<18x4xf32, global>
  %c = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x18xf32, global> -> tensor<8x18xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<18x4xf32, global> -> tensor<18x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x18xf32>, tensor<18x4xf32> -> tensor<8x4xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !kernel.view<8x4xf32, global>
  kernel.return
}
