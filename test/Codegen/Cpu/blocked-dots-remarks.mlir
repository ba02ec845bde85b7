// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse -zyx-kernel-settle-memory -zyx-kernel-lower-tiles \
// RUN:   --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=WALKED --input-file=%t

// Blockings that a dot cannot take: it is computed all the same, and a remark says how and why.

!a = !kernel.view<100x64xf32, global>
!b = !kernel.view<64x32xf32, global>
!c = !kernel.view<100x32xf32, global>

// Programs of 40 rows leave 4 behind tiles of 12, the last one of 20 rows leaves 8.
// CHECK: [[@LINE+12]]:{{.*}}SlowerDot | Category:zyx-schedule{{.*}}a dot is walked by rows, not in blocks: what is left of its rows or columns is not one number
// WALKED-LABEL: kernel.func @rests
// WALKED: math.fma
kernel.func @rests(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.grid_step<"m", 40>, #kernel.block_step<<12 x 32, rows 36, depth 64, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[100, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !a
  %b = kernel.view %w map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !b
  %c = kernel.view %y map <[<[100, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !c
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !a -> tensor<100x64xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<64x32xf32>
  %z = arith.constant dense<0.0> : tensor<100x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<100x64xf32>, tensor<64x32xf32> -> tensor<100x32xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<100x32xf32>, !c
  kernel.return
}

// Columns are not neighbours in the output, and panels of 8 are no whole vectors of 16.
// CHECK: [[@LINE+12]]:{{.*}}SlowerDot | Category:zyx-schedule{{.*}}a dot is walked by rows, not in blocks: sums have no place between pieces of the contraction
// WALKED-LABEL: kernel.func @no_place
// WALKED: math.fma
kernel.func @no_place(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<4 x 8, rows 4, depth 32>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[4, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x64xf32, global>
  %b = kernel.view %w map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !b
  %c = kernel.view %y map <[<[4, 32] strides [1, 4]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x32xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<4x64xf32, global> -> tensor<4x64xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<64x32xf32>
  %z = arith.constant dense<0.0> : tensor<4x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<4x64xf32>, tensor<64x32xf32> -> tensor<4x32xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<4x32xf32>, !kernel.view<4x32xf32, global>
  kernel.return
}
