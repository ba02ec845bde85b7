// RUN: zyx-opt %s --zyx-fuse --zyx-kernel-attach-target=target=x86-64-v4 --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled | FileCheck %s --check-prefix=OTHER

// A processor walks the window as memory has it, channels last, though padding counts otherwise. Positions are rows,
// which are packed as they lie, and filters are columns.
// CHECK-LABEL: kernel.func @small_0
// CHECK: kernel.view %arg0 map <[<[49, 288] strides [288, 1]>, <[7, 7, 3, 3, 32] strides [9, 1, 9, 1, 81]>, <[1, 32, 9, 9]
// CHECK: kernel.dot {{.*}} : tensor<49x288xf32>, tensor<288x64xf32> -> tensor<49x64xf32>
// CHECK: kernel.view %arg2 map <[<[49, 64] strides [1, 49]>]>
// OTHER-LABEL: kernel.func @small_0
// OTHER: kernel.dot {{.*}} : tensor<64x288xf32>, tensor<288x49xf32> -> tensor<64x49xf32>
func.func @small(%x: tensor<1x7x7x32xf32>, %f: tensor<64x32x3x3xf32>) -> tensor<1x64x7x7xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<1x7x7x32xf32> -> tensor<1x32x7x7xf32>
  %1 = graph.pad %0, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x32x7x7xf32> -> tensor<1x32x9x9xf32>
  %2 = graph.window %1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x32x9x9xf32> -> tensor<1x32x7x7x3x3xf32>
  %3 = graph.permute %2 order = [0, 2, 3, 1, 4, 5] : tensor<1x32x7x7x3x3xf32> -> tensor<1x7x7x32x3x3xf32>
  %4 = graph.reshape %3 : tensor<1x7x7x32x3x3xf32> -> tensor<1x1x7x7x32x3x3xf32>
  %5 = graph.expand %4 : tensor<1x1x7x7x32x3x3xf32> -> tensor<1x64x7x7x32x3x3xf32>
  %6 = graph.reshape %f : tensor<64x32x3x3xf32> -> tensor<1x64x1x1x32x3x3xf32>
  %7 = graph.expand %6 : tensor<1x64x1x1x32x3x3xf32> -> tensor<1x64x7x7x32x3x3xf32>
  %8 = graph.binary mul %5, %7 : tensor<1x64x7x7x32x3x3xf32>
  %9 = graph.reduce add %8 dims = [4, 5, 6] : tensor<1x64x7x7x32x3x3xf32> -> tensor<1x64x7x7xf32>
  return %9 : tensor<1x64x7x7xf32>
}

// Sums of few products are written as vectors of positions.
// CHECK-LABEL: kernel.func @few_0
// CHECK: kernel.dot {{.*}} : tensor<64x144xf32>, tensor<144x49xf32> -> tensor<64x49xf32>
func.func @few(%x: tensor<1x7x7x16xf32>, %f: tensor<64x16x3x3xf32>) -> tensor<1x64x7x7xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<1x7x7x16xf32> -> tensor<1x16x7x7xf32>
  %1 = graph.pad %0, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x16x7x7xf32> -> tensor<1x16x9x9xf32>
  %2 = graph.window %1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x16x9x9xf32> -> tensor<1x16x7x7x3x3xf32>
  %3 = graph.permute %2 order = [0, 2, 3, 1, 4, 5] : tensor<1x16x7x7x3x3xf32> -> tensor<1x7x7x16x3x3xf32>
  %4 = graph.reshape %3 : tensor<1x7x7x16x3x3xf32> -> tensor<1x1x7x7x16x3x3xf32>
  %5 = graph.expand %4 : tensor<1x1x7x7x16x3x3xf32> -> tensor<1x64x7x7x16x3x3xf32>
  %6 = graph.reshape %f : tensor<64x16x3x3xf32> -> tensor<1x64x1x1x16x3x3xf32>
  %7 = graph.expand %6 : tensor<1x64x1x1x16x3x3xf32> -> tensor<1x64x7x7x16x3x3xf32>
  %8 = graph.binary mul %5, %7 : tensor<1x64x7x7x16x3x3xf32>
  %9 = graph.reduce add %8 dims = [4, 5, 6] : tensor<1x64x7x7x16x3x3xf32> -> tensor<1x64x7x7xf32>
  return %9 : tensor<1x64x7x7xf32>
}

// The other way round, of narrow elements that are packed in groups: an image with channels first beside results with
// channels last. Positions, which are its runs, are columns.
// CHECK-LABEL: kernel.func @turned_0
// CHECK: kernel.dot {{.*}} : tensor<64x288xbf16>, tensor<288x196xbf16> -> tensor<64x196xf32>
// CHECK: kernel.view %arg2 map <[<[64, 196] strides [1, 64]>]>
// OTHER-LABEL: kernel.func @turned_0
// OTHER: kernel.dot {{.*}} : tensor<196x288xbf16>, tensor<288x64xbf16> -> tensor<196x64xf32>
func.func @turned(%x: tensor<32x14x14xbf16>, %f: tensor<64x32x3x3xbf16>) -> tensor<14x14x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %1 = graph.pad %x, %zero low = [0, 1, 1] high = [0, 1, 1] interior = [0, 0, 0] : tensor<32x14x14xbf16> -> tensor<32x16x16xbf16>
  %2 = graph.window %1 dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<32x16x16xbf16> -> tensor<32x14x14x3x3xbf16>
  %3 = graph.permute %2 order = [1, 2, 0, 3, 4] : tensor<32x14x14x3x3xbf16> -> tensor<14x14x32x3x3xbf16>
  %4 = graph.cast %3 : tensor<14x14x32x3x3xbf16> -> tensor<14x14x32x3x3xf32>
  %5 = graph.reshape %4 : tensor<14x14x32x3x3xf32> -> tensor<14x14x1x32x3x3xf32>
  %6 = graph.expand %5 : tensor<14x14x1x32x3x3xf32> -> tensor<14x14x64x32x3x3xf32>
  %7 = graph.cast %f : tensor<64x32x3x3xbf16> -> tensor<64x32x3x3xf32>
  %8 = graph.reshape %7 : tensor<64x32x3x3xf32> -> tensor<1x1x64x32x3x3xf32>
  %9 = graph.expand %8 : tensor<1x1x64x32x3x3xf32> -> tensor<14x14x64x32x3x3xf32>
  %10 = graph.binary mul %6, %9 : tensor<14x14x64x32x3x3xf32>
  %11 = graph.reduce add %10 dims = [3, 4, 5] : tensor<14x14x64x32x3x3xf32> -> tensor<14x14x64xf32>
  return %11 : tensor<14x14x64xf32>
}

// Images whose channels come first: a window of a few elements along the contraction is no reason to make positions rows,
// where these are two elements apart in memory.
// CHECK-LABEL: kernel.func @strided_0
// CHECK: kernel.dot {{.*}} : tensor<64x432xbf16>, tensor<432x196xbf16> -> tensor<64x196xf32>
func.func @strided(%x: tensor<1x48x28x28xbf16>, %f: tensor<64x48x3x3xbf16>) -> tensor<1x64x14x14xf32> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x48x28x28xbf16> -> tensor<1x48x30x30xbf16>
  %0 = graph.window %p dims = [2, 3] size = [3, 3] stride = [2, 2] dilation = [1, 1] : tensor<1x48x30x30xbf16> -> tensor<1x48x14x14x3x3xbf16>
  %1 = graph.permute %0 order = [0, 2, 3, 1, 4, 5] : tensor<1x48x14x14x3x3xbf16> -> tensor<1x14x14x48x3x3xbf16>
  %2 = graph.reshape %1 : tensor<1x14x14x48x3x3xbf16> -> tensor<1x1x14x14x48x3x3xbf16>
  %3 = graph.cast %2 : tensor<1x1x14x14x48x3x3xbf16> -> tensor<1x1x14x14x48x3x3xf32>
  %4 = graph.expand %3 : tensor<1x1x14x14x48x3x3xf32> -> tensor<1x64x14x14x48x3x3xf32>
  %5 = graph.reshape %f : tensor<64x48x3x3xbf16> -> tensor<1x64x1x1x48x3x3xbf16>
  %6 = graph.cast %5 : tensor<1x64x1x1x48x3x3xbf16> -> tensor<1x64x1x1x48x3x3xf32>
  %7 = graph.expand %6 : tensor<1x64x1x1x48x3x3xf32> -> tensor<1x64x14x14x48x3x3xf32>
  %8 = graph.binary mul %4, %7 : tensor<1x64x14x14x48x3x3xf32>
  %9 = graph.reduce add %8 dims = [4, 5, 6] : tensor<1x64x14x14x48x3x3xf32> -> tensor<1x64x14x14xf32>
  return %9 : tensor<1x64x14x14xf32>
}
