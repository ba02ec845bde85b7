// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s

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

// Windows of rows that overlap: a thread has four rows, with all steps written out. The six rows that these windows reach are read once
// each, in two aligned vectors, and so is the filter. Nothing is read in a loop.
// CHECK-LABEL: kernel.func @rows
// CHECK-NOT: scf.for
// CHECK-COUNT-12: kernel.load {{.*}} -> vector<8xbf16>
// CHECK-NOT: kernel.load {{.*}} -> vector<8xbf16>
// CHECK-COUNT-4: kernel.store {{.*}} : vector<8xbf16>
kernel.func @rows(%x: !b, %w: !b, %y: !b) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"c", 1>, #kernel.grid_step<"i", 4>, #kernel.grid_step<"j", 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[64, 56, 56, 3, 3] strides [3712, 64, 1, 64, 1]>]> : !b -> !kernel.view<64x56x56x3x3xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0] axes ["c", "i", "j", "k", "l"] in_bounds [true, true, true, true, true] : !kernel.view<64x56x56x3x3xbf16, global> -> tensor<64x56x56x3x3xbf16>
  %2 = arith.extf %1 : tensor<64x56x56x3x3xbf16> to tensor<64x56x56x3x3xf32>
  %3 = kernel.view %w map <[<[64, 3, 3] strides [9, 3, 1]>]> : !b -> !kernel.view<64x3x3xbf16, global>
  %4 = kernel.load %3[%c0, %c0, %c0] axes ["c", "k", "l"] in_bounds [true, true, true] : !kernel.view<64x3x3xbf16, global> -> tensor<64x3x3xbf16>
  %5 = arith.extf %4 : tensor<64x3x3xbf16> to tensor<64x3x3xf32>
  %6 = kernel.broadcast %5 dims [0, 3, 4] : tensor<64x3x3xf32> -> tensor<64x56x56x3x3xf32>
  %7 = arith.mulf %2, %6 : tensor<64x56x56x3x3xf32>
  %8 = kernel.reduce add %7 dims [3, 4] : tensor<64x56x56x3x3xf32> -> tensor<64x56x56xf32>
  %9 = arith.truncf %8 : tensor<64x56x56xf32> to tensor<64x56x56xbf16>
  %10 = kernel.view %y map <[<[64, 56, 56] strides [3136, 56, 1]>]> : !b -> !kernel.view<64x56x56xbf16, global>
  kernel.store %9, %10[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<64x56x56xbf16>, !kernel.view<64x56x56xbf16, global>
  kernel.return
}

// Channels last, with padding: of a row that does not exist a vector is zero, without a branch.
// CHECK-LABEL: kernel.func @padded
// CHECK-NOT: scf.if
// CHECK-COUNT-7: kernel.load {{.*}} -> vector<8xbf16>
// CHECK-NOT: kernel.load
// CHECK: kernel.store
kernel.func @padded(%x: !b, %y: !b) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"b", 1>, #kernel.grid_step<"i", 4>, #kernel.grid_step<"c", 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[16, 64, 96, 4] strides [6432, 1, 67, 1]>, <[16, 96, 67] strides [6144, 1, 96] offset -288 valid [0 : 16, 0 : 96, 3 : 67]>]> : !b -> !kernel.view<16x64x96x4xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["b", "i", "c", "k"] in_bounds [true, true, true, true] : !kernel.view<16x64x96x4xbf16, global> -> tensor<16x64x96x4xbf16>
  %2 = kernel.reduce max %1 dims [3] : tensor<16x64x96x4xbf16> -> tensor<16x64x96xbf16>
  %3 = kernel.view %y map <[<[16, 64, 96] strides [6144, 96, 1]>]> : !b -> !kernel.view<16x64x96xbf16, global>
  kernel.store %2, %3[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<16x64x96xbf16>, !kernel.view<16x64x96xbf16, global>
  kernel.return
}
