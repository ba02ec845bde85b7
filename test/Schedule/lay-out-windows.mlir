// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s
// RUN: zyx-opt %s --zyx-compile='target=cpu stop-after=schedule' | FileCheck %s --check-prefix=CPU

// Images have their channels last, and results do not: a kernel copies them with three elements of padding on each side, in
// rows of 40, and windows are read without tests.
// CHECK: plan.launch @main_0_window
// CHECK: plan.launch @main_0 ins
// CHECK: kernel.func @main_0(
// CHECK: kernel.view {{.*}} map <[<[8, 64, 28, 28, 7, 7] strides [87040, 1360, 40, 1, 40, 1]>]>
// CHECK: kernel.func @main_0_window(
// CHECK: kernel.view {{.*}} map <[<[8, 64, 34, 40] strides [50176, 1, 1792, 64] offset -5568 valid [0 : 8, 0 : 64, 3 : 31, 3 : 31]>]>
// CHECK: kernel.view {{.*}} map <[<[8, 64, 34, 40] strides [87040, 1360, 40, 1]>]>
// CPU-NOT: _window
func.func @main(%x: tensor<8x28x28x64xbf16>, %w: tensor<64x7x7xbf16>) -> tensor<8x64x28x28xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<8x28x28x64xbf16> -> tensor<8x64x28x28xbf16>
  %zero = graph.constant dense<0.000000e+00> : tensor<bf16>
  %1 = graph.pad %0, %zero low = [0, 0, 3, 3] high = [0, 0, 3, 3] interior = [0, 0, 0, 0] : tensor<8x64x28x28xbf16> -> tensor<8x64x34x34xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<8x64x34x34xbf16> -> tensor<8x64x28x28x7x7xbf16>
  %3 = graph.cast %2 : tensor<8x64x28x28x7x7xbf16> -> tensor<8x64x28x28x7x7xf32>
  %4 = graph.reshape %w : tensor<64x7x7xbf16> -> tensor<1x64x1x1x7x7xbf16>
  %5 = graph.cast %4 : tensor<1x64x1x1x7x7xbf16> -> tensor<1x64x1x1x7x7xf32>
  %6 = graph.expand %5 : tensor<1x64x1x1x7x7xf32> -> tensor<8x64x28x28x7x7xf32>
  %7 = graph.binary mul %3, %6 : tensor<8x64x28x28x7x7xf32>
  %8 = graph.reduce add %7 dims = [4, 5] : tensor<8x64x28x28x7x7xf32> -> tensor<8x64x28x28xf32>
  return %8 : tensor<8x64x28x28xf32>
}

// Images and channels are two axes, because no step in memory leads through both: a maximum of windows is found in rows of a copy.
// CHECK: plan.launch @pool_0_window
// CHECK: kernel.func @pool_0(
// CHECK: kernel.view {{.*}} map <[<[8, 64, 28, 28, 5, 5] strides [65536, 1024, 32, 1, 32, 1]>]>
// CHECK: kernel.func @pool_0_window(
func.func @pool(%x: tensor<8x28x28x64xbf16>) -> tensor<8x64x28x28xbf16> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<8x28x28x64xbf16> -> tensor<8x64x28x28xbf16>
  %least = graph.constant dense<0xFF80> : tensor<bf16>
  %1 = graph.pad %0, %least low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<8x64x28x28xbf16> -> tensor<8x64x32x32xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x64x32x32xbf16> -> tensor<8x64x28x28x5x5xbf16>
  %3 = graph.reduce max %2 dims = [4, 5] : tensor<8x64x28x28x5x5xbf16> -> tensor<8x64x28x28xbf16>
  return %3 : tensor<8x64x28x28xbf16>
}

// The filter gradient of a group of channels. Threads have a short row each: rows of a channel follow each other in the copy.
// CHECK: plan.launch @short_rows_0_window
// CHECK: kernel.func @short_rows_0(
// CHECK: kernel.view {{.*}} map <[<[8, 32, 14, 14, 8, 5, 5] strides [110592, 3456, 24, 1, 432, 24, 1]>]>
// CHECK: kernel.func @short_rows_0_window(
// CHECK: kernel.view {{.*}} map <[<[8, 32, 8, 18, 24] strides [110592, 3456, 432, 24, 1]>]>
func.func @short_rows(%dy: tensor<8x32x8x14x14xf16>, %x: tensor<8x32x8x14x14xf16>) -> tensor<32x8x8x5x5xf32> {
  %zero = graph.constant dense<0.000000e+00> : tensor<f16>
  %0 = graph.pad %x, %zero low = [0, 0, 0, 2, 2] high = [0, 0, 0, 2, 2] interior = [0, 0, 0, 0, 0] : tensor<8x32x8x14x14xf16> -> tensor<8x32x8x18x18xf16>
  %1 = graph.window %0 dims = [3, 4] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x32x8x18x18xf16> -> tensor<8x32x8x14x14x5x5xf16>
  %2 = graph.permute %1 order = [0, 1, 3, 4, 2, 5, 6] : tensor<8x32x8x14x14x5x5xf16> -> tensor<8x32x14x14x8x5x5xf16>
  %3 = graph.cast %2 : tensor<8x32x14x14x8x5x5xf16> -> tensor<8x32x14x14x8x5x5xf32>
  %4 = graph.reshape %3 : tensor<8x32x14x14x8x5x5xf32> -> tensor<8x32x1x14x14x8x5x5xf32>
  %5 = graph.expand %4 : tensor<8x32x1x14x14x8x5x5xf32> -> tensor<8x32x8x14x14x8x5x5xf32>
  %6 = graph.cast %dy : tensor<8x32x8x14x14xf16> -> tensor<8x32x8x14x14xf32>
  %7 = graph.reshape %6 : tensor<8x32x8x14x14xf32> -> tensor<8x32x8x14x14x1x1x1xf32>
  %8 = graph.expand %7 : tensor<8x32x8x14x14x1x1x1xf32> -> tensor<8x32x8x14x14x8x5x5xf32>
  %9 = graph.binary mul %8, %5 : tensor<8x32x8x14x14x8x5x5xf32>
  %10 = graph.reduce add %9 dims = [0, 3, 4] : tensor<8x32x8x14x14x8x5x5xf32> -> tensor<32x8x8x5x5xf32>
  return %10 : tensor<32x8x8x5x5xf32>
}
