// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s

// The gradient of an image whose channels come last, of a depthwise convolution with channels first: vectors run along
// positions, and a program has the channels of a line that is written. Fewer would write parts of lines.
// CHECK-LABEL: kernel.func @image
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 16>]>
kernel.func @image(%dy: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %dx: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %dy map <[<[2, 256, 28, 28, 3, 3] strides [230400, 900, 30, 1, 30, 1]>, <[2, 256, 30, 30] strides [200704, 784, 28, 1] offset -29 valid [0 : 2, 0 : 256, 1 : 29, 1 : 29]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x256x28x28x3x3xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "k0", "k1"] in_bounds [true, true, true, true, true, true] : !kernel.view<2x256x28x28x3x3xf32, global> -> tensor<2x256x28x28x3x3xf32>
  %2 = kernel.view %w map <[<[256, 3, 3] strides [9, 3, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256x3x3xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["i1", "k0", "k1"] in_bounds [true, true, true] : !kernel.view<256x3x3xf32, global> -> tensor<256x3x3xf32>
  %4 = kernel.broadcast %3 dims [1, 4, 5] : tensor<256x3x3xf32> -> tensor<2x256x28x28x3x3xf32>
  %5 = arith.mulf %1, %4 : tensor<2x256x28x28x3x3xf32>
  %6 = kernel.reduce add %5 dims [4, 5] : tensor<2x256x28x28x3x3xf32> -> tensor<2x256x28x28xf32>
  %7 = kernel.view %dx map <[<[2, 256, 28, 28] strides [200704, 1, 7168, 256]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x256x28x28xf32, global>
  kernel.store %6, %7[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<2x256x28x28xf32>, !kernel.view<2x256x28x28xf32, global>
  kernel.return
}
