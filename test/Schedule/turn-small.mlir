// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' -split-input-file | FileCheck %s

// Filters of a depthwise convolution with channels last lie the other way round: a thread has neighbouring channels, and
// would read the filters of each one by one, for each position again.
// CHECK-LABEL: plan.func @many
// CHECK: plan.launch @many_0_turned1
// CHECK: plan.launch @many_0 ins
// CHECK: kernel.func @many_0_turned1(
func.func @many(%x: tensor<16x58x58x256xbf16> {graph.name = "x"}, %w: tensor<256x3x3xbf16> {graph.name = "w"}) -> (tensor<16x56x56x256xbf16> {graph.name = "y"}) {
  %1 = graph.window %x dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<16x58x58x256xbf16> -> tensor<16x56x56x256x3x3xbf16>
  %2 = graph.reshape %w : tensor<256x3x3xbf16> -> tensor<1x1x1x256x3x3xbf16>
  %3 = graph.expand %2 : tensor<1x1x1x256x3x3xbf16> -> tensor<16x56x56x256x3x3xbf16>
  %4 = graph.cast %1 : tensor<16x56x56x256x3x3xbf16> -> tensor<16x56x56x256x3x3xf32>
  %5 = graph.cast %3 : tensor<16x56x56x256x3x3xbf16> -> tensor<16x56x56x256x3x3xf32>
  %6 = graph.binary mul %4, %5 : tensor<16x56x56x256x3x3xf32>
  %7 = graph.reduce add %6 dims = [4, 5] : tensor<16x56x56x256x3x3xf32> -> tensor<16x56x56x256xf32>
  %8 = graph.cast %7 : tensor<16x56x56x256xf32> -> tensor<16x56x56x256xbf16>
  return %8 : tensor<16x56x56x256xbf16>
}

// -----

// Of few results the launch of the copy takes longer.
// CHECK-LABEL: plan.func @few
// CHECK-NOT: turned
func.func @few(%x: tensor<1x16x16x256xbf16> {graph.name = "x"}, %w: tensor<256x3x3xbf16> {graph.name = "w"}) -> (tensor<1x14x14x256xbf16> {graph.name = "y"}) {
  %1 = graph.window %x dims = [1, 2] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x16x16x256xbf16> -> tensor<1x14x14x256x3x3xbf16>
  %2 = graph.reshape %w : tensor<256x3x3xbf16> -> tensor<1x1x1x256x3x3xbf16>
  %3 = graph.expand %2 : tensor<1x1x1x256x3x3xbf16> -> tensor<1x14x14x256x3x3xbf16>
  %4 = graph.cast %1 : tensor<1x14x14x256x3x3xbf16> -> tensor<1x14x14x256x3x3xf32>
  %5 = graph.cast %3 : tensor<1x14x14x256x3x3xbf16> -> tensor<1x14x14x256x3x3xf32>
  %6 = graph.binary mul %4, %5 : tensor<1x14x14x256x3x3xf32>
  %7 = graph.reduce add %6 dims = [4, 5] : tensor<1x14x14x256x3x3xf32> -> tensor<1x14x14x256xf32>
  %8 = graph.cast %7 : tensor<1x14x14x256xf32> -> tensor<1x14x14x256xbf16>
  return %8 : tensor<1x14x14x256xbf16>
}
