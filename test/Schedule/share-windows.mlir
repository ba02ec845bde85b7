// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s

// Two filters, one of which follows from what the other one made, read the same padded images: these are copied once.
// CHECK-LABEL: plan.func @two
// CHECK:       plan.launch @[[COPY:.*_window]] ins(%{{.*}}) outs(%[[IMAGES:[^ ]*]]
// CHECK-NOT:   _window
// CHECK:       plan.launch @{{.*}} ins({{.*}}%[[IMAGES]]
// CHECK-NOT:   _window
// CHECK:       plan.launch @{{.*}} ins({{.*}}%[[IMAGES]]
// CHECK-NOT:   _window
// CHECK:       plan.return
func.func @two(%x: tensor<8x28x28x64xbf16>, %v: tensor<64x7x7xbf16>, %w: tensor<64x7x7xbf16>) -> (tensor<8x64x28x28xf32>, tensor<8x64x28x28xbf16>) {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<8x28x28x64xbf16> -> tensor<8x64x28x28xbf16>
  %zero = graph.constant dense<0.000000e+00> : tensor<bf16>
  %1 = graph.pad %0, %zero low = [0, 0, 3, 3] high = [0, 0, 3, 3] interior = [0, 0, 0, 0] : tensor<8x64x28x28xbf16> -> tensor<8x64x34x34xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<8x64x34x34xbf16> -> tensor<8x64x28x28x7x7xbf16>
  %3 = graph.cast %2 : tensor<8x64x28x28x7x7xbf16> -> tensor<8x64x28x28x7x7xf32>
  %4 = graph.reshape %v : tensor<64x7x7xbf16> -> tensor<1x64x1x1x7x7xbf16>
  %5 = graph.cast %4 : tensor<1x64x1x1x7x7xbf16> -> tensor<1x64x1x1x7x7xf32>
  %6 = graph.expand %5 : tensor<1x64x1x1x7x7xf32> -> tensor<8x64x28x28x7x7xf32>
  %7 = graph.binary mul %3, %6 : tensor<8x64x28x28x7x7xf32>
  %8 = graph.reduce add %7 dims = [4, 5] : tensor<8x64x28x28x7x7xf32> -> tensor<8x64x28x28xf32>
  %sums = graph.reduce add %8 dims = [0, 2, 3] : tensor<8x64x28x28xf32> -> tensor<64xf32>
  %short = graph.cast %sums : tensor<64xf32> -> tensor<64xbf16>
  %units = graph.reshape %short : tensor<64xbf16> -> tensor<64x1x1xbf16>
  %scales = graph.expand %units : tensor<64x1x1xbf16> -> tensor<64x7x7xbf16>
  %scaled = graph.binary mul %w, %scales : tensor<64x7x7xbf16>
  %9 = graph.reshape %scaled : tensor<64x7x7xbf16> -> tensor<1x64x1x1x7x7xbf16>
  %10 = graph.cast %9 : tensor<1x64x1x1x7x7xbf16> -> tensor<1x64x1x1x7x7xf32>
  %11 = graph.expand %10 : tensor<1x64x1x1x7x7xf32> -> tensor<8x64x28x28x7x7xf32>
  %12 = graph.binary mul %3, %11 : tensor<8x64x28x28x7x7xf32>
  %13 = graph.reduce add %12 dims = [4, 5] : tensor<8x64x28x28x7x7xf32> -> tensor<8x64x28x28xf32>
  %14 = graph.cast %13 : tensor<8x64x28x28xf32> -> tensor<8x64x28x28xbf16>
  return %8, %14 : tensor<8x64x28x28xf32>, tensor<8x64x28x28xbf16>
}

// Padding of another number is another copy, by the same launch.
// CHECK-LABEL: plan.func @paddings
// CHECK: plan.launch @paddings_0_window_and_paddings_1_window ins(%{{.*}}) outs(%[[LOW:[^ ]*]], %[[HIGH:[^ ]*]] :
// CHECK: plan.launch @{{.*}} ins({{.*}}%[[LOW]]
// CHECK:       plan.return
func.func @paddings(%x: tensor<8x28x28x64xbf16>) -> (tensor<8x64x28x28xbf16>, tensor<8x64x28x28xbf16>) {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<8x28x28x64xbf16> -> tensor<8x64x28x28xbf16>
  %least = graph.constant dense<0xFF80> : tensor<bf16>
  %most = graph.constant dense<0x7F80> : tensor<bf16>
  %1 = graph.pad %0, %least low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<8x64x28x28xbf16> -> tensor<8x64x32x32xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x64x32x32xbf16> -> tensor<8x64x28x28x5x5xbf16>
  %3 = graph.reduce max %2 dims = [4, 5] : tensor<8x64x28x28x5x5xbf16> -> tensor<8x64x28x28xbf16>
  %4 = graph.pad %0, %most low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<8x64x28x28xbf16> -> tensor<8x64x32x32xbf16>
  %5 = graph.window %4 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x64x32x32xbf16> -> tensor<8x64x28x28x5x5xbf16>
  %6 = graph.reduce min %5 dims = [4, 5] : tensor<8x64x28x28x5x5xbf16> -> tensor<8x64x28x28xbf16>
  return %3, %6 : tensor<8x64x28x28xbf16>, tensor<8x64x28x28xbf16>
}

// A convolution, and the gradient of its filter, which falls into parts of 16 images, are one launch: both read one copy.
// CHECK-LABEL: plan.func @parts
// CHECK:       plan.launch @[[COPY:.*_window]] ins(%{{.*}}) outs(%[[IMAGES:[^ ]*]]
// CHECK-NOT:   _window
// CHECK:       plan.launch @parts_1_and_parts_0 ins({{.*}}%[[IMAGES]]
// CHECK-NOT:   _window
// CHECK:       plan.return
func.func @parts(%x: tensor<64x32x14x14xf16>, %w: tensor<32x3x3xf16>, %dy: tensor<64x32x14x14xf16>)
    -> (tensor<64x32x14x14xf16>, tensor<32x3x3xf32>) {
  %zero = graph.constant dense<0.000000e+00> : tensor<f16>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<64x32x14x14xf16> -> tensor<64x32x16x16xf16>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<64x32x16x16xf16> -> tensor<64x32x14x14x3x3xf16>
  %2 = graph.cast %1 : tensor<64x32x14x14x3x3xf16> -> tensor<64x32x14x14x3x3xf32>
  %3 = graph.reshape %w : tensor<32x3x3xf16> -> tensor<1x32x1x1x3x3xf16>
  %4 = graph.cast %3 : tensor<1x32x1x1x3x3xf16> -> tensor<1x32x1x1x3x3xf32>
  %5 = graph.expand %4 : tensor<1x32x1x1x3x3xf32> -> tensor<64x32x14x14x3x3xf32>
  %6 = graph.binary mul %2, %5 : tensor<64x32x14x14x3x3xf32>
  %7 = graph.reduce add %6 dims = [4, 5] : tensor<64x32x14x14x3x3xf32> -> tensor<64x32x14x14xf32>
  %8 = graph.cast %7 : tensor<64x32x14x14xf32> -> tensor<64x32x14x14xf16>
  %9 = graph.cast %dy : tensor<64x32x14x14xf16> -> tensor<64x32x14x14xf32>
  %10 = graph.reshape %9 : tensor<64x32x14x14xf32> -> tensor<64x32x14x14x1x1xf32>
  %11 = graph.expand %10 : tensor<64x32x14x14x1x1xf32> -> tensor<64x32x14x14x3x3xf32>
  %12 = graph.binary mul %2, %11 : tensor<64x32x14x14x3x3xf32>
  %13 = graph.reduce add %12 dims = [0, 2, 3] : tensor<64x32x14x14x3x3xf32> -> tensor<32x3x3xf32>
  return %8, %13 : tensor<64x32x14x14xf16>, tensor<32x3x3xf32>
}
