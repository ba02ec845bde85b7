// RUN: zyx-opt %s --zyx-compile='stop-after=schedule target=sapphirerapids' | FileCheck %s

// Few rows do not pay for packing: windows are read where they lie, a line of 56 positions at a time, in tiles of four
// vectors. What a program copies stays in the second cache.
// CHECK-LABEL: kernel.func @grouped_0
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"b0", 1>, #kernel.block_step<<4 x 56, rows 8, depth 72>>]>
func.func @grouped(%x: tensor<1x256x56x56xf32>, %w: tensor<256x8x3x3xf32>) -> tensor<1x256x56x56xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x256x56x56xf32> -> tensor<1x256x58x58xf32>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x256x58x58xf32> -> tensor<1x256x56x56x3x3xf32>
  %v1 = graph.reshape %v : tensor<1x256x56x56x3x3xf32> -> tensor<32x1x8x56x56x3x3xf32>
  %v2 = graph.expand %v1 : tensor<32x1x8x56x56x3x3xf32> -> tensor<32x8x8x56x56x3x3xf32>
  %w1 = graph.reshape %w : tensor<256x8x3x3xf32> -> tensor<32x8x8x1x1x3x3xf32>
  %w2 = graph.expand %w1 : tensor<32x8x8x1x1x3x3xf32> -> tensor<32x8x8x56x56x3x3xf32>
  %m = graph.binary mul %v2, %w2 : tensor<32x8x8x56x56x3x3xf32>
  %s = graph.reduce add %m dims = [2, 5, 6] : tensor<32x8x8x56x56x3x3xf32> -> tensor<32x8x56x56xf32>
  %y = graph.reshape %s : tensor<32x8x56x56xf32> -> tensor<1x256x56x56xf32>
  return %y : tensor<1x256x56x56xf32>
}

// The same of bf16 and groups of 8, of which the matrix unit would have half of its rows. Filters are converted once.
// CHECK-LABEL: kernel.func @narrow_0
// CHECK-SAME: #kernel.block_step<<8 x 28, rows 8, depth 72, pack lhs>>
func.func @narrow(%x: tensor<1x256x28x28xbf16>, %w: tensor<256x8x3x3xbf16>) -> tensor<1x256x28x28xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x256x28x28xbf16> -> tensor<1x256x30x30xbf16>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x256x30x30xbf16> -> tensor<1x256x28x28x3x3xbf16>
  %v1 = graph.reshape %v : tensor<1x256x28x28x3x3xbf16> -> tensor<32x1x8x28x28x3x3xbf16>
  %v2 = graph.expand %v1 : tensor<32x1x8x28x28x3x3xbf16> -> tensor<32x8x8x28x28x3x3xbf16>
  %w1 = graph.reshape %w : tensor<256x8x3x3xbf16> -> tensor<32x8x8x1x1x3x3xbf16>
  %w2 = graph.expand %w1 : tensor<32x8x8x1x1x3x3xbf16> -> tensor<32x8x8x28x28x3x3xbf16>
  %a = graph.cast %v2 : tensor<32x8x8x28x28x3x3xbf16> -> tensor<32x8x8x28x28x3x3xf32>
  %b = graph.cast %w2 : tensor<32x8x8x28x28x3x3xbf16> -> tensor<32x8x8x28x28x3x3xf32>
  %m = graph.binary mul %a, %b : tensor<32x8x8x28x28x3x3xf32>
  %s = graph.reduce add %m dims = [2, 5, 6] : tensor<32x8x8x28x28x3x3xf32> -> tensor<32x8x28x28xf32>
  %c = graph.cast %s : tensor<32x8x28x28xf32> -> tensor<32x8x28x28xbf16>
  %y = graph.reshape %c : tensor<32x8x28x28xbf16> -> tensor<1x256x28x28xbf16>
  return %y : tensor<1x256x28x28xbf16>
}

// Positions two elements apart are no neighbours of a line: their windows are packed.
// CHECK-LABEL: kernel.func @strided_0
// CHECK-SAME: #kernel.block_step<<{{.*}}pack {{(lhs )?}}rhs>>
func.func @strided(%x: tensor<1x256x56x56xf32>, %w: tensor<256x8x3x3xf32>) -> tensor<1x256x28x28xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x256x56x56xf32> -> tensor<1x256x58x58xf32>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [2, 2] dilation = [1, 1] : tensor<1x256x58x58xf32> -> tensor<1x256x28x28x3x3xf32>
  %v1 = graph.reshape %v : tensor<1x256x28x28x3x3xf32> -> tensor<32x1x8x28x28x3x3xf32>
  %v2 = graph.expand %v1 : tensor<32x1x8x28x28x3x3xf32> -> tensor<32x8x8x28x28x3x3xf32>
  %w1 = graph.reshape %w : tensor<256x8x3x3xf32> -> tensor<32x8x8x1x1x3x3xf32>
  %w2 = graph.expand %w1 : tensor<32x8x8x1x1x3x3xf32> -> tensor<32x8x8x28x28x3x3xf32>
  %m = graph.binary mul %v2, %w2 : tensor<32x8x8x28x28x3x3xf32>
  %s = graph.reduce add %m dims = [2, 5, 6] : tensor<32x8x8x28x28x3x3xf32> -> tensor<32x8x28x28xf32>
  %y = graph.reshape %s : tensor<32x8x28x28xf32> -> tensor<1x256x28x28xf32>
  return %y : tensor<1x256x28x28xf32>
}
