// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s

// A sum of two rows, of fewer columns than threads, beside one of many: each of both rows is read, and who has no columns of
// its own writes none.
!f = !kernel.buffer<f32, global>
// CHECK-LABEL: kernel.func @uneven
// CHECK: %[[OWN:.*]] = arith.cmpi ule
// CHECK: %[[A:.*]] = kernel.load %{{.*}} : <2x256xf32, global> -> vector<4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[A]] : vector<4xf32>
// CHECK: %[[FIRST:.*]] = arith.select %[[OWN]], %[[SUM]]
// CHECK: %[[B:.*]] = kernel.load %{{.*}} : <2x256xf32, global> -> vector<4xf32>
// CHECK: %[[ALL:.*]] = arith.addf %[[FIRST]], %[[B]] : vector<4xf32>
// CHECK: %[[BOTH:.*]] = arith.select %[[OWN]], %[[ALL]]
// CHECK: scf.if %[[OWN]] {
// CHECK-NEXT: kernel.store %[[BOTH]]
kernel.func @uneven(%x: !f, %y: !f, %z: !f) attributes {row_groups, threads = 512 : i64, schedule = #kernel.schedule<[#kernel.grid_step<"c", 256>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[2, 256] strides [256, 1]>]> : !f -> !kernel.view<2x256xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !kernel.view<2x256xf32, global> -> tensor<2x256xf32>
  %2 = kernel.reduce add %1 dims [0] : tensor<2x256xf32> -> tensor<256xf32>
  %3 = kernel.view %y map <[<[64, 256] strides [256, 1]>]> : !f -> !kernel.view<64x256xf32, global>
  %4 = kernel.load %3[%c0, %c0] axes ["s", "c"] in_bounds [true, true] : !kernel.view<64x256xf32, global> -> tensor<64x256xf32>
  %5 = kernel.reduce add %4 dims [0] : tensor<64x256xf32> -> tensor<256xf32>
  %6 = arith.mulf %2, %5 : tensor<256xf32>
  %7 = kernel.view %z map <[<[256] strides [1]>]> : !f -> !kernel.view<256xf32, global>
  kernel.store %6, %7[%c0] in_bounds [true] : tensor<256xf32>, !kernel.view<256xf32, global>
  kernel.return
}
