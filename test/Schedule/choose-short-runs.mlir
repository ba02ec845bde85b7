// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s

// A convolution of a volume of 6x6x6, channels first. Columns of the right factor are positions, in runs of six: each program would
// pack all of them again if rows were cut.
// CHECK-LABEL: kernel.func @volume
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"n", 96>, #kernel.block_step<<{{.*}}pack rhs>>]>
kernel.func @volume(%w: !kernel.buffer<f32, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ws = kernel.view %w map <[<[64, 12000] strides [12000, 1]>]> : <f32, global> -> <64x12000xf32, global>
  %a = kernel.load %ws[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : <64x12000xf32, global> -> tensor<64x12000xf32>
  %xs = kernel.view %x map <[<[12000, 216] strides [216, 1]>, <[96, 5, 5, 5, 6, 6, 6] strides [1000, 100, 10, 1, 100, 10, 1]>, <[1, 96, 10, 10, 10] strides [20736, 216, 36, 6, 1] offset -86 valid [0 : 1, 0 : 96, 2 : 8, 2 : 8, 2 : 8]>]> : <f32, global> -> <12000x216xf32, global>
  %b = kernel.load %xs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : <12000x216xf32, global> -> tensor<12000x216xf32>
  %zero = arith.constant dense<0.0> : tensor<64x216xf32>
  %d = kernel.dot %a, %b, %zero : tensor<64x12000xf32>, tensor<12000x216xf32> -> tensor<64x216xf32>
  %ys = kernel.view %y map <[<[64, 216] strides [216, 1]>]> : <f32, global> -> <64x216xf32, global>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x216xf32>, <64x216xf32, global>
  kernel.return
}
