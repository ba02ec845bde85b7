// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

!x = !kernel.view<64x32xf32, global>
!y = !kernel.view<32x64xf32, global>
!m = tensor<64x32xf32, #kernel.memory<private>>
!n = tensor<32x64xf32, #kernel.memory<private>>

// What is kept in another order than it is read in is transposed in registers, square by square: no element is
// written alone.
// CHECK-LABEL: kernel.func @read_and_kept
// CHECK:       %[[KEPT:.*]] = kernel.alloc : <32x64xf32, private>
// CHECK:       scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-NEXT:    scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK:           kernel.load %{{.*}} : <64x32xf32, global> -> vector<16xf32>
// CHECK-NOT:       : f32
// CHECK:           vector.shuffle
// CHECK-NOT:       : f32
// CHECK:           kernel.store %{{.*}}, %[[KEPT]][%{{.*}}] : vector<16xf32>
// CHECK:       kernel.return
kernel.func @read_and_kept(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !x
  %ys = kernel.view %y map <[<[32, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !y
  %a = kernel.load %xs[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !x -> tensor<64x32xf32>
  %t = kernel.transpose %a order [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %k = kernel.convert %t : tensor<32x64xf32> -> !n
  %u = kernel.convert %k : !n -> tensor<32x64xf32>
  kernel.store %u, %ys[%c0, %c0] in_bounds [true, true] : tensor<32x64xf32>, !y
  kernel.return
}

// What is computed is kept in the order in which it is read; on its way to the other one it is transposed.
// CHECK-LABEL: kernel.func @kept_twice
// CHECK-DAG:   %[[FIRST:.*]] = kernel.alloc : <64x32xf32, private>
// CHECK-DAG:   %[[SECOND:.*]] = kernel.alloc : <32x64xf32, private>
// CHECK-COUNT-2: math.sqrt
// CHECK:       kernel.store %{{.*}}, %[[FIRST]][%{{.*}}] : vector<16xf32>
// CHECK-NOT:   math.sqrt
// CHECK:       scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-NEXT:    scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK:           kernel.load %[[FIRST]][%{{.*}}] : <64x32xf32, private> -> vector<16xf32>
// CHECK:           vector.shuffle
// CHECK:           kernel.store %{{.*}}, %[[SECOND]][%{{.*}}] : vector<16xf32>
// CHECK:       kernel.return
kernel.func @kept_twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !x
  %ys = kernel.view %y map <[<[32, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !y
  %a = kernel.load %xs[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !x -> tensor<64x32xf32>
  %r = math.sqrt %a : tensor<64x32xf32>
  %f = kernel.convert %r : tensor<64x32xf32> -> !m
  %g = kernel.convert %f : !m -> tensor<64x32xf32>
  %t = kernel.transpose %g order [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %k = kernel.convert %t : tensor<32x64xf32> -> !n
  %u = kernel.convert %k : !n -> tensor<32x64xf32>
  kernel.store %u, %ys[%c0, %c0] in_bounds [true, true] : tensor<32x64xf32>, !y
  kernel.return
}
