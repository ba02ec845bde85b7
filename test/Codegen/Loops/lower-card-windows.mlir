// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-lower-tiles | FileCheck %s

// A window of 7 would leave lanes of a vector empty, and those of each result would be added up: a thread has a vector of results,
// and walks the window for all of them.
!b = !kernel.buffer<bf16, global>
// CHECK-LABEL: kernel.func @depthwise
// CHECK-NOT: vector.shuffle
// CHECK: {{mulf|fma}} %{{.*}} : vector<8xf32>
// CHECK-NOT: vector.shuffle
// CHECK: kernel.store %{{.*}} : vector<8xbf16>
kernel.func @depthwise(%x: !b, %w: !b, %y: !b) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"c", 1>, #kernel.grid_step<"p", 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[64, 56, 7] strides [64, 1, 1]>]> : !b -> !kernel.view<64x56x7xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["c", "p", "k"] in_bounds [true, true, true] : !kernel.view<64x56x7xbf16, global> -> tensor<64x56x7xbf16>
  %2 = arith.extf %1 : tensor<64x56x7xbf16> to tensor<64x56x7xf32>
  %3 = kernel.view %w map <[<[64, 7] strides [7, 1]>]> : !b -> !kernel.view<64x7xbf16, global>
  %4 = kernel.load %3[%c0, %c0] axes ["c", "k"] in_bounds [true, true] : !kernel.view<64x7xbf16, global> -> tensor<64x7xbf16>
  %5 = arith.extf %4 : tensor<64x7xbf16> to tensor<64x7xf32>
  %6 = kernel.broadcast %5 dims [0, 2] : tensor<64x7xf32> -> tensor<64x56x7xf32>
  %7 = arith.mulf %2, %6 : tensor<64x56x7xf32>
  %8 = kernel.reduce add %7 dims [2] : tensor<64x56x7xf32> -> tensor<64x56xf32>
  %9 = arith.truncf %8 : tensor<64x56xf32> to tensor<64x56xbf16>
  %10 = kernel.view %y map <[<[64, 56] strides [56, 1]>]> : !b -> !kernel.view<64x56xbf16, global>
  kernel.store %9, %10[%c0, %c0] in_bounds [true, true] : tensor<64x56xbf16>, !kernel.view<64x56xbf16, global>
  kernel.return
}
