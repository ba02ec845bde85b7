// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// A convolution of f32 with one tile of columns for each multiprocessor, 68 of them, would be multiplied by 136 of 256 threads: one
// of four schedulers would have twice as much to do as the others. All threads of smaller tiles multiply.
// CHECK-LABEL: kernel.func @whole_subgroups
// CHECK-SAME:  #kernel.grid_step<"m", 64>, #kernel.grid_step<"n", 64>, #kernel.block_step<<8 x 8, rows 8, depth 16, pack lhs rhs>>]>
kernel.func @whole_subgroups(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %w map <[<[640, 2880] strides [2880, 1]>]> : <f32, global> -> <640x2880xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : <640x2880xf32, global> -> tensor<640x2880xf32>
  %2 = kernel.broadcast %1 dims [1, 2] : tensor<640x2880xf32> -> tensor<8x640x2880xf32>
  %3 = kernel.view %x map <[<[8, 2880, 196] strides [564480, 196, 1]>, <[8, 320, 3, 3, 14, 14] strides [81920, 256, 16, 1, 16, 1]>, <[8, 320, 16, 16] strides [62720, 196, 14, 1] offset -15 valid [0 : 8, 0 : 320, 1 : 15, 1 : 15]>]> : <f32, global> -> <8x2880x196xf32, global>
  %4 = kernel.load %3[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <8x2880x196xf32, global> -> tensor<8x2880x196xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<8x640x196xf32>
  %5 = kernel.dot %2, %4, %cst : tensor<8x640x2880xf32>, tensor<8x2880x196xf32> -> tensor<8x640x196xf32>
  %6 = kernel.view %y map <[<[8, 640, 196] strides [125440, 196, 1]>]> : <f32, global> -> <8x640x196xf32, global>
  kernel.store %5, %6[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<8x640x196xf32>, <8x640x196xf32, global>
  kernel.return
}
