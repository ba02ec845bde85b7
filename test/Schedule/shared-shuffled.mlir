// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s

// Windows of a pixel shuffle: the copy finds its elements through the blocks of the shuffle, and tensor cores read what is copied.
// CHECK-LABEL: kernel.func @shuffled_0(
// CHECK-SAME:  kernel.tensor_step
// CHECK:       kernel.func @shuffled_0_rhs(
// CHECK:       kernel.view %arg0 map <[<[8, 64, 196] strides [12544, 196, 1]>, <[8, 16, 2, 2, 14, 14] strides [12544, 784, 28, 1, 56, 2]>]>
func.func @shuffled(%dy: tensor<8x16x28x28xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<8x64x14x14xbf16> {
  %0 = graph.reshape %dy : tensor<8x16x28x28xbf16> -> tensor<8x16x14x2x14x2xbf16>
  %1 = graph.permute %0 order = [0, 1, 3, 5, 2, 4] : tensor<8x16x14x2x14x2xbf16> -> tensor<8x16x2x2x14x14xbf16>
  %2 = graph.reshape %1 : tensor<8x16x2x2x14x14xbf16> -> tensor<8x64x14x14xbf16>
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %3 = graph.pad %2, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<8x64x14x14xbf16> -> tensor<8x64x16x16xbf16>
  %4 = graph.window %3 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<8x64x16x16xbf16> -> tensor<8x64x14x14x3x3xbf16>
  %5 = graph.permute %4 order = [0, 2, 3, 1, 4, 5] : tensor<8x64x14x14x3x3xbf16> -> tensor<8x14x14x64x3x3xbf16>
  %6 = graph.reshape %5 : tensor<8x14x14x64x3x3xbf16> -> tensor<8x1x14x14x64x3x3xbf16>
  %7 = graph.cast %6 : tensor<8x1x14x14x64x3x3xbf16> -> tensor<8x1x14x14x64x3x3xf32>
  %8 = graph.expand %7 : tensor<8x1x14x14x64x3x3xf32> -> tensor<8x64x14x14x64x3x3xf32>
  %f = graph.flip %w dims = [2, 3] : tensor<64x64x3x3xbf16>
  %9 = graph.permute %f order = [1, 0, 2, 3] : tensor<64x64x3x3xbf16> -> tensor<64x64x3x3xbf16>
  %10 = graph.reshape %9 : tensor<64x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xbf16>
  %11 = graph.cast %10 : tensor<1x64x1x1x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xf32>
  %12 = graph.expand %11 : tensor<1x64x1x1x64x3x3xf32> -> tensor<8x64x14x14x64x3x3xf32>
  %13 = graph.binary mul %8, %12 : tensor<8x64x14x14x64x3x3xf32>
  %14 = graph.reduce add %13 dims = [4, 5, 6] : tensor<8x64x14x14x64x3x3xf32> -> tensor<8x64x14x14xf32>
  %15 = graph.cast %14 : tensor<8x64x14x14xf32> -> tensor<8x64x14x14xbf16>
  return %15 : tensor<8x64x14x14xbf16>
}

// -----

// Where something is computed of them there is no copy: behind the blocks of a padded image one more splits the place of each
// element by itself, and its ops wait for each other. So more threads share a tile than that of the plain image has.
// CHECK-LABEL: kernel.func @computed_0(
// CHECK-SAME:  kernel.block_step
// CHECK-SAME:  threads = 256
func.func @computed(%dy: tensor<8x16x28x28xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<8x64x14x14xbf16> {
  %0 = graph.reshape %dy : tensor<8x16x28x28xbf16> -> tensor<8x16x14x2x14x2xbf16>
  %1 = graph.permute %0 order = [0, 1, 3, 5, 2, 4] : tensor<8x16x14x2x14x2xbf16> -> tensor<8x16x2x2x14x14xbf16>
  %2 = graph.reshape %1 : tensor<8x16x2x2x14x14xbf16> -> tensor<8x64x14x14xbf16>
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %3 = graph.pad %2, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<8x64x14x14xbf16> -> tensor<8x64x16x16xbf16>
  %4 = graph.window %3 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<8x64x16x16xbf16> -> tensor<8x64x14x14x3x3xbf16>
  %5 = graph.permute %4 order = [0, 2, 3, 1, 4, 5] : tensor<8x64x14x14x3x3xbf16> -> tensor<8x14x14x64x3x3xbf16>
  %n = graph.unary abs %5 : tensor<8x14x14x64x3x3xbf16>
  %6 = graph.reshape %n : tensor<8x14x14x64x3x3xbf16> -> tensor<8x1x14x14x64x3x3xbf16>
  %7 = graph.cast %6 : tensor<8x1x14x14x64x3x3xbf16> -> tensor<8x1x14x14x64x3x3xf32>
  %8 = graph.expand %7 : tensor<8x1x14x14x64x3x3xf32> -> tensor<8x64x14x14x64x3x3xf32>
  %f = graph.flip %w dims = [2, 3] : tensor<64x64x3x3xbf16>
  %9 = graph.permute %f order = [1, 0, 2, 3] : tensor<64x64x3x3xbf16> -> tensor<64x64x3x3xbf16>
  %10 = graph.reshape %9 : tensor<64x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xbf16>
  %11 = graph.cast %10 : tensor<1x64x1x1x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xf32>
  %12 = graph.expand %11 : tensor<1x64x1x1x64x3x3xf32> -> tensor<8x64x14x14x64x3x3xf32>
  %13 = graph.binary mul %8, %12 : tensor<8x64x14x14x64x3x3xf32>
  %14 = graph.reduce add %13 dims = [4, 5, 6] : tensor<8x64x14x14x64x3x3xf32> -> tensor<8x64x14x14xf32>
  %15 = graph.cast %14 : tensor<8x64x14x14xf32> -> tensor<8x64x14x14xbf16>
  return %15 : tensor<8x64x14x14xbf16>
}
