// RUN: zyx-opt %s --zyx-fuse --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled | FileCheck %s

// However a convolution is spelled it is one kernel with one dot: its rows and columns are positions
// and channels, and what is summed up is flattened in the order in which the window lies in memory.

// What is repeated for each output channel before it is padded is read once.
// CHECK-LABEL: kernel.func @early_0
// CHECK: kernel.view %arg0 map <[<[36, 27] strides [27, 1]>, <[6, 6, 3, 3, 3] strides [24, 3, 24, 3, 1]>, <[1, 8, 8, 3, 1] strides {{.*}} offset -21 valid [0 : 1, 1 : 7, 1 : 7, 0 : 3, 0 : 1]>]>
// CHECK: kernel.dot {{.*}} : tensor<36x27xf32>, tensor<27x8xf32> -> tensor<36x8xf32>
// CHECK-NOT: kernel.func @early_1
func.func @early(%x: tensor<1x6x6x3xf32>, %f: tensor<3x3x3x8xf32>) -> tensor<1x6x6x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.reshape %x : tensor<1x6x6x3xf32> -> tensor<1x6x6x3x1xf32>
  %1 = graph.expand %0 : tensor<1x6x6x3x1xf32> -> tensor<1x6x6x3x8xf32>
  %2 = graph.pad %1, %zero low = [0, 1, 1, 0, 0] high = [0, 1, 1, 0, 0] interior = [0, 0, 0, 0, 0] : tensor<1x6x6x3x8xf32> -> tensor<1x8x8x3x8xf32>
  %3 = graph.window %2 dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x8x8x3x8xf32> -> tensor<1x6x6x3x8x3x3xf32>
  %4 = graph.permute %f order = [2, 3, 0, 1] : tensor<3x3x3x8xf32> -> tensor<3x8x3x3xf32>
  %5 = graph.reshape %4 : tensor<3x8x3x3xf32> -> tensor<1x1x1x3x8x3x3xf32>
  %6 = graph.expand %5 : tensor<1x1x1x3x8x3x3xf32> -> tensor<1x6x6x3x8x3x3xf32>
  %7 = graph.binary mul %3, %6 : tensor<1x6x6x3x8x3x3xf32>
  %8 = graph.reduce add %7 dims = [3, 5, 6] : tensor<1x6x6x3x8x3x3xf32> -> tensor<1x6x6x8xf32>
  return %8 : tensor<1x6x6x8xf32>
}

// The window is summed up first, then the channels.
// CHECK-LABEL: kernel.func @twice_0
// CHECK: kernel.dot {{.*}} : tensor<36x27xf32>, tensor<27x8xf32> -> tensor<36x8xf32>
// CHECK-NOT: kernel.func @twice_1
func.func @twice(%x: tensor<1x8x8x3xf32>, %f: tensor<3x3x3x8xf32>) -> tensor<1x6x6x8xf32> {
  %3 = graph.window %x dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x8x8x3xf32> -> tensor<1x6x6x3x3x3xf32>
  %31 = graph.reshape %3 : tensor<1x6x6x3x3x3xf32> -> tensor<1x6x6x3x1x3x3xf32>
  %32 = graph.expand %31 : tensor<1x6x6x3x1x3x3xf32> -> tensor<1x6x6x3x8x3x3xf32>
  %4 = graph.permute %f order = [2, 3, 0, 1] : tensor<3x3x3x8xf32> -> tensor<3x8x3x3xf32>
  %5 = graph.reshape %4 : tensor<3x8x3x3xf32> -> tensor<1x1x1x3x8x3x3xf32>
  %6 = graph.expand %5 : tensor<1x1x1x3x8x3x3xf32> -> tensor<1x6x6x3x8x3x3xf32>
  %7 = graph.binary mul %32, %6 : tensor<1x6x6x3x8x3x3xf32>
  %8 = graph.reduce add %7 dims = [5, 6] : tensor<1x6x6x3x8x3x3xf32> -> tensor<1x6x6x3x8xf32>
  %9 = graph.reduce add %8 dims = [3] : tensor<1x6x6x3x8xf32> -> tensor<1x6x6x8xf32>
  return %9 : tensor<1x6x6x8xf32>
}

// A product of matrices, with a result of four dimensions.
// CHECK-LABEL: kernel.func @matrix_0
// CHECK: kernel.dot {{.*}} : tensor<72x27xf32>, tensor<27x8xf32> -> tensor<72x8xf32>
// CHECK-NOT: kernel.func @matrix_1
func.func @matrix(%x: tensor<2x8x8x3xf32>, %f: tensor<3x3x3x8xf32>) -> tensor<2x6x6x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x, %zero low = [0, 1, 1, 0] high = [0, 1, 1, 0] interior = [0, 0, 0, 0] : tensor<2x8x8x3xf32> -> tensor<2x10x10x3xf32>
  %3 = graph.window %p dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [2, 2] : tensor<2x10x10x3xf32> -> tensor<2x6x6x3x3x3xf32>
  %30 = graph.permute %3 order = [0, 1, 2, 4, 5, 3] : tensor<2x6x6x3x3x3xf32> -> tensor<2x6x6x3x3x3xf32>
  %31 = graph.reshape %30 : tensor<2x6x6x3x3x3xf32> -> tensor<72x27x1xf32>
  %32 = graph.expand %31 : tensor<72x27x1xf32> -> tensor<72x27x8xf32>
  %5 = graph.reshape %f : tensor<3x3x3x8xf32> -> tensor<1x27x8xf32>
  %6 = graph.expand %5 : tensor<1x27x8xf32> -> tensor<72x27x8xf32>
  %7 = graph.binary mul %32, %6 : tensor<72x27x8xf32>
  %8 = graph.reduce add %7 dims = [1] : tensor<72x27x8xf32> -> tensor<72x8xf32>
  %9 = graph.reshape %8 : tensor<72x8xf32> -> tensor<2x6x6x8xf32>
  return %9 : tensor<2x6x6x8xf32>
}

// The input is turned before and the result behind: channels are rows, as they lie in the result.
// Filters come in the order of the window.
// CHECK-LABEL: kernel.func @turned_0
// CHECK: kernel.view %arg1 map <[<[8, 27] strides [27, 1]>
// CHECK: kernel.view %arg0 map <[<[2, 27, 36] strides [972, 36, 1]>, <[2, 3, 3, 3, 6, 6] strides [192, 64, 8, 1, 8, 1]>]>
// CHECK: kernel.dot {{.*}} : tensor<2x8x27xf32>, tensor<2x27x36xf32> -> tensor<2x8x36xf32>
// CHECK-NOT: kernel.func @turned_1
func.func @turned(%x: tensor<2x3x8x8xf32>, %f: tensor<3x3x3x8xf32>) -> tensor<2x8x6x6xf32> {
  %t = graph.permute %x order = [0, 2, 3, 1] : tensor<2x3x8x8xf32> -> tensor<2x8x8x3xf32>
  %3 = graph.window %t dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x8x8x3xf32> -> tensor<2x6x6x3x3x3xf32>
  %31 = graph.reshape %3 : tensor<2x6x6x3x3x3xf32> -> tensor<2x6x6x3x1x3x3xf32>
  %32 = graph.expand %31 : tensor<2x6x6x3x1x3x3xf32> -> tensor<2x6x6x3x8x3x3xf32>
  %4 = graph.permute %f order = [2, 3, 0, 1] : tensor<3x3x3x8xf32> -> tensor<3x8x3x3xf32>
  %5 = graph.reshape %4 : tensor<3x8x3x3xf32> -> tensor<1x1x1x3x8x3x3xf32>
  %6 = graph.expand %5 : tensor<1x1x1x3x8x3x3xf32> -> tensor<2x6x6x3x8x3x3xf32>
  %7 = graph.binary mul %32, %6 : tensor<2x6x6x3x8x3x3xf32>
  %8 = graph.reduce add %7 dims = [3, 5, 6] : tensor<2x6x6x3x8x3x3xf32> -> tensor<2x6x6x8xf32>
  %9 = graph.permute %8 order = [0, 3, 1, 2] : tensor<2x6x6x8xf32> -> tensor<2x8x6x6xf32>
  return %9 : tensor<2x8x6x6xf32>
}

// Groups are batches, too.
// CHECK-LABEL: kernel.func @groups_0
// CHECK: kernel.dot {{.*}} : tensor<2x2x4x27xf32>, tensor<2x2x27x36xf32> -> tensor<2x2x4x36xf32>
// CHECK: kernel.view %arg2 map <[<[2, 2, 4, 36] strides [288, 144, 36, 1]>]>
// CHECK-NOT: kernel.func @groups_1
func.func @groups(%x: tensor<2x6x8x8xf32>, %f: tensor<8x3x3x3xf32>) -> tensor<2x8x6x6xf32> {
  %g = graph.reshape %x : tensor<2x6x8x8xf32> -> tensor<2x2x3x8x8xf32>
  %3 = graph.window %g dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x2x3x8x8xf32> -> tensor<2x2x3x6x6x3x3xf32>
  %31 = graph.reshape %3 : tensor<2x2x3x6x6x3x3xf32> -> tensor<2x2x1x3x6x6x3x3xf32>
  %32 = graph.expand %31 : tensor<2x2x1x3x6x6x3x3xf32> -> tensor<2x2x4x3x6x6x3x3xf32>
  %5 = graph.reshape %f : tensor<8x3x3x3xf32> -> tensor<1x2x4x3x1x1x3x3xf32>
  %6 = graph.expand %5 : tensor<1x2x4x3x1x1x3x3xf32> -> tensor<2x2x4x3x6x6x3x3xf32>
  %7 = graph.binary mul %32, %6 : tensor<2x2x4x3x6x6x3x3xf32>
  %8 = graph.reduce add %7 dims = [3, 6, 7] : tensor<2x2x4x3x6x6x3x3xf32> -> tensor<2x2x4x6x6xf32>
  %9 = graph.reshape %8 : tensor<2x2x4x6x6xf32> -> tensor<2x8x6x6xf32>
  return %9 : tensor<2x8x6x6xf32>
}

// Images that lie behind each other are rows of one product; groups that lie side by side are
// batches.
// CHECK-LABEL: kernel.func @grouped_windows_0
// CHECK: kernel.dot {{.*}} : tensor<2x72x27xf32>, tensor<2x27x4xf32> -> tensor<2x72x4xf32>
// CHECK: kernel.view %arg2 map <[<[2, 72, 4] strides [4, 8, 1]>]>
// CHECK-NOT: kernel.func @grouped_windows_1
func.func @grouped_windows(%x: tensor<2x8x8x6xf32>, %f: tensor<3x3x3x8xf32>) -> tensor<2x6x6x8xf32> {
  %3 = graph.window %x dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x8x8x6xf32> -> tensor<2x6x6x6x3x3xf32>
  %31 = graph.reshape %3 : tensor<2x6x6x6x3x3xf32> -> tensor<2x6x6x2x1x3x3x3xf32>
  %32 = graph.expand %31 : tensor<2x6x6x2x1x3x3x3xf32> -> tensor<2x6x6x2x4x3x3x3xf32>
  %4 = graph.reshape %f : tensor<3x3x3x8xf32> -> tensor<3x3x3x2x4xf32>
  %40 = graph.permute %4 order = [3, 4, 2, 0, 1] : tensor<3x3x3x2x4xf32> -> tensor<2x4x3x3x3xf32>
  %5 = graph.reshape %40 : tensor<2x4x3x3x3xf32> -> tensor<1x1x1x2x4x3x3x3xf32>
  %6 = graph.expand %5 : tensor<1x1x1x2x4x3x3x3xf32> -> tensor<2x6x6x2x4x3x3x3xf32>
  %7 = graph.binary mul %32, %6 : tensor<2x6x6x2x4x3x3x3xf32>
  %8 = graph.reduce add %7 dims = [5, 6, 7] : tensor<2x6x6x2x4x3x3x3xf32> -> tensor<2x6x6x2x4xf32>
  %9 = graph.reshape %8 : tensor<2x6x6x2x4xf32> -> tensor<2x6x6x8xf32>
  return %9 : tensor<2x6x6x8xf32>
}

// A bias and an activation behind the groups are done to the groups.
// CHECK-LABEL: kernel.func @padded_groups_0
// CHECK: kernel.dot {{.*}} : tensor<2x2x4x27xf32>, tensor<2x2x27x64xf32> -> tensor<2x2x4x64xf32>
// CHECK: arith.addf {{.*}} : tensor<2x2x4x64xf32>
// CHECK: arith.maximumf {{.*}} : tensor<2x2x4x64xf32>
// CHECK-NOT: kernel.func @padded_groups_1
func.func @padded_groups(%x: tensor<2x6x8x8xf32>, %f: tensor<8x3x3x3xf32>, %b: tensor<8xf32>) -> tensor<2x8x8x8xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<2x6x8x8xf32> -> tensor<2x6x10x10xf32>
  %g = graph.reshape %p : tensor<2x6x10x10xf32> -> tensor<2x2x3x10x10xf32>
  %3 = graph.window %g dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x2x3x10x10xf32> -> tensor<2x2x3x8x8x3x3xf32>
  %31 = graph.reshape %3 : tensor<2x2x3x8x8x3x3xf32> -> tensor<2x2x1x3x8x8x3x3xf32>
  %32 = graph.expand %31 : tensor<2x2x1x3x8x8x3x3xf32> -> tensor<2x2x4x3x8x8x3x3xf32>
  %5 = graph.reshape %f : tensor<8x3x3x3xf32> -> tensor<1x2x4x3x1x1x3x3xf32>
  %6 = graph.expand %5 : tensor<1x2x4x3x1x1x3x3xf32> -> tensor<2x2x4x3x8x8x3x3xf32>
  %7 = graph.binary mul %32, %6 : tensor<2x2x4x3x8x8x3x3xf32>
  %8 = graph.reduce add %7 dims = [3, 6, 7] : tensor<2x2x4x3x8x8x3x3xf32> -> tensor<2x2x4x8x8xf32>
  %9 = graph.reshape %8 : tensor<2x2x4x8x8xf32> -> tensor<2x8x8x8xf32>
  %10 = graph.reshape %b : tensor<8xf32> -> tensor<1x8x1x1xf32>
  %11 = graph.expand %10 : tensor<1x8x1x1xf32> -> tensor<2x8x8x8xf32>
  %12 = graph.binary add %9, %11 : tensor<2x8x8x8xf32>
  %13 = graph.constant dense<0.0> : tensor<2x8x8x8xf32>
  %14 = graph.binary max %12, %13 : tensor<2x8x8x8xf32>
  return %14 : tensor<2x8x8x8xf32>
}

// Three dimensions.
// CHECK-LABEL: kernel.func @volume_0
// CHECK: kernel.dot {{.*}} : tensor<60x16xf32>, tensor<16x3xf32> -> tensor<60x3xf32>
// CHECK-NOT: kernel.func @volume_1
func.func @volume(%x: tensor<1x4x5x6x2xf32>, %f: tensor<2x2x2x2x3xf32>) -> tensor<1x3x4x5x3xf32> {
  %0 = graph.window %x dims = [1, 2, 3] size = [2, 2, 2] stride = [1, 1, 1] dilation = [1, 1, 1] : tensor<1x4x5x6x2xf32> -> tensor<1x3x4x5x2x2x2x2xf32>
  %1 = graph.reshape %0 : tensor<1x3x4x5x2x2x2x2xf32> -> tensor<1x3x4x5x1x2x2x2x2xf32>
  %2 = graph.expand %1 : tensor<1x3x4x5x1x2x2x2x2xf32> -> tensor<1x3x4x5x3x2x2x2x2xf32>
  %3 = graph.permute %f order = [4, 3, 0, 1, 2] : tensor<2x2x2x2x3xf32> -> tensor<3x2x2x2x2xf32>
  %4 = graph.reshape %3 : tensor<3x2x2x2x2xf32> -> tensor<1x1x1x1x3x2x2x2x2xf32>
  %5 = graph.expand %4 : tensor<1x1x1x1x3x2x2x2x2xf32> -> tensor<1x3x4x5x3x2x2x2x2xf32>
  %6 = graph.binary mul %2, %5 : tensor<1x3x4x5x3x2x2x2x2xf32>
  %7 = graph.reduce add %6 dims = [5, 6, 7, 8] : tensor<1x3x4x5x3x2x2x2x2xf32> -> tensor<1x3x4x5x3xf32>
  return %7 : tensor<1x3x4x5x3xf32>
}

// More images than positions: rows or columns are the positions, which lie side by side in results, and images are
// batches. Few positions are mostly padding in a tile.
// CHECK-LABEL: kernel.func @many_images_0
// CHECK: kernel.dot {{.*}} : tensor<64x8x4xf32>, tensor<64x4x36xf32> -> tensor<64x8x36xf32>
func.func @many_images(%x: tensor<64x4x6x6xf32>, %f: tensor<8x4xf32>) -> tensor<64x8x6x6xf32> {
  %0 = graph.reshape %x : tensor<64x4x6x6xf32> -> tensor<64x1x4x6x6xf32>
  %1 = graph.expand %0 : tensor<64x1x4x6x6xf32> -> tensor<64x8x4x6x6xf32>
  %2 = graph.reshape %f : tensor<8x4xf32> -> tensor<1x8x4x1x1xf32>
  %3 = graph.expand %2 : tensor<1x8x4x1x1xf32> -> tensor<64x8x4x6x6xf32>
  %4 = graph.binary mul %1, %3 : tensor<64x8x4x6x6xf32>
  %5 = graph.reduce add %4 dims = [2] : tensor<64x8x4x6x6xf32> -> tensor<64x8x6x6xf32>
  return %5 : tensor<64x8x6x6xf32>
}

// CHECK-LABEL: kernel.func @few_positions_0
// CHECK: kernel.dot {{.*}} -> tensor<9x64x8xf32>
func.func @few_positions(%x: tensor<64x4x3x3xf32>, %f: tensor<8x4xf32>) -> tensor<64x8x3x3xf32> {
  %0 = graph.reshape %x : tensor<64x4x3x3xf32> -> tensor<64x1x4x3x3xf32>
  %1 = graph.expand %0 : tensor<64x1x4x3x3xf32> -> tensor<64x8x4x3x3xf32>
  %2 = graph.reshape %f : tensor<8x4xf32> -> tensor<1x8x4x1x1xf32>
  %3 = graph.expand %2 : tensor<1x8x4x1x1xf32> -> tensor<64x8x4x3x3xf32>
  %4 = graph.binary mul %1, %3 : tensor<64x8x4x3x3xf32>
  %5 = graph.reduce add %4 dims = [2] : tensor<64x8x4x3x3xf32> -> tensor<64x8x3x3xf32>
  return %5 : tensor<64x8x3x3xf32>
}
