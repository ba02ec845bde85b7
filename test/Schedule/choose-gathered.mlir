// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s

// Pixels of 256 channels are gathered, and written with rows as neighbours: a program has all channels of some rows,
// whose places are computed once. What is written leaves the second cache, so that these are rows of whole vectors: of
// one, some 8 elements would be left.
// CHECK-LABEL: kernel.func @many_channels
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i1", 4>]>
kernel.func @many_channels(%p: !kernel.buffer<i64, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[56, 56] strides [56, 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<56x56xi64, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i1", "i2"] in_bounds [true, true] : !kernel.view<56x56xi64, global> -> tensor<56x56xi64>
  %2 = kernel.broadcast %1 dims [1, 2] : tensor<56x56xi64> -> tensor<256x56x56xi64>
  %3 = kernel.view %x map <[<[784, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<784x256xf32, global>
  %4 = kernel.iota dim 0 axes ["i0"] : tensor<256xi64>
  %5 = kernel.broadcast %4 dims [0] : tensor<256xi64> -> tensor<256x56x56xi64>
  %6 = kernel.gather %3[%2, %5] : !kernel.view<784x256xf32, global>, tensor<256x56x56xi64>, tensor<256x56x56xi64> -> tensor<256x56x56xf32>
  %7 = kernel.view %y map <[<[256, 56, 56] strides [3136, 56, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256x56x56xf32, global>
  kernel.store %6, %7[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<256x56x56xf32>, !kernel.view<256x56x56xf32, global>
  kernel.return
}

// Of 64 channels a program writes a page of a few.
// CHECK-LABEL: kernel.func @few_channels
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i1", 16>, #kernel.grid_step<"i0", 16>]>
kernel.func @few_channels(%p: !kernel.buffer<i64, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[56, 56] strides [56, 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<56x56xi64, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i1", "i2"] in_bounds [true, true] : !kernel.view<56x56xi64, global> -> tensor<56x56xi64>
  %2 = kernel.broadcast %1 dims [1, 2] : tensor<56x56xi64> -> tensor<64x56x56xi64>
  %3 = kernel.view %x map <[<[784, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<784x64xf32, global>
  %4 = kernel.iota dim 0 axes ["i0"] : tensor<64xi64>
  %5 = kernel.broadcast %4 dims [0] : tensor<64xi64> -> tensor<64x56x56xi64>
  %6 = kernel.gather %3[%2, %5] : !kernel.view<784x64xf32, global>, tensor<64x56x56xi64>, tensor<64x56x56xi64> -> tensor<64x56x56xf32>
  %7 = kernel.view %y map <[<[64, 56, 56] strides [3136, 56, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x56x56xf32, global>
  kernel.store %6, %7[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<64x56x56xf32>, !kernel.view<64x56x56xf32, global>
  kernel.return
}

// What is written stays in the second cache: a program has one row.
// CHECK-LABEL: kernel.func @in_second_cache
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i1", 1>]>
kernel.func @in_second_cache(%p: !kernel.buffer<i64, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[16, 24] strides [24, 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<16x24xi64, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i1", "i2"] in_bounds [true, true] : !kernel.view<16x24xi64, global> -> tensor<16x24xi64>
  %2 = kernel.broadcast %1 dims [1, 2] : tensor<16x24xi64> -> tensor<256x16x24xi64>
  %3 = kernel.view %x map <[<[784, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<784x256xf32, global>
  %4 = kernel.iota dim 0 axes ["i0"] : tensor<256xi64>
  %5 = kernel.broadcast %4 dims [0] : tensor<256xi64> -> tensor<256x16x24xi64>
  %6 = kernel.gather %3[%2, %5] : !kernel.view<784x256xf32, global>, tensor<256x16x24xi64>, tensor<256x16x24xi64> -> tensor<256x16x24xf32>
  %7 = kernel.view %y map <[<[256, 16, 24] strides [384, 24, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256x16x24xf32, global>
  kernel.store %6, %7[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<256x16x24xf32>, !kernel.view<256x16x24xf32, global>
  kernel.return
}

// No rows of 63 are whole vectors and divide all of them.
// CHECK-LABEL: kernel.func @odd_rows
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i1", 1>]>
kernel.func @odd_rows(%p: !kernel.buffer<i64, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %p map <[<[63, 63] strides [63, 1]>]> : !kernel.buffer<i64, global> -> !kernel.view<63x63xi64, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i1", "i2"] in_bounds [true, true] : !kernel.view<63x63xi64, global> -> tensor<63x63xi64>
  %2 = kernel.broadcast %1 dims [1, 2] : tensor<63x63xi64> -> tensor<256x63x63xi64>
  %3 = kernel.view %x map <[<[784, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<784x256xf32, global>
  %4 = kernel.iota dim 0 axes ["i0"] : tensor<256xi64>
  %5 = kernel.broadcast %4 dims [0] : tensor<256xi64> -> tensor<256x63x63xi64>
  %6 = kernel.gather %3[%2, %5] : !kernel.view<784x256xf32, global>, tensor<256x63x63xi64>, tensor<256x63x63xi64> -> tensor<256x63x63xf32>
  %7 = kernel.view %y map <[<[256, 63, 63] strides [3969, 63, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256x63x63xf32, global>
  kernel.store %6, %7[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<256x63x63xf32>, !kernel.view<256x63x63xf32, global>
  kernel.return
}
