// RUN: zyx-opt %s --zyx-compile='stop-after=schedule target=sapphirerapids' | FileCheck %s

// 16 positions fill a register of the matrix unit, beside filters of which there are many.
// CHECK-LABEL: kernel.func @strided_0
// CHECK-SAME: #kernel.block_step<<32 x 16, rows 32, depth 576, pack rhs, narrow>>
func.func @strided(%x: tensor<1x64x7x7xbf16>, %w: tensor<128x64x3x3xbf16>) -> tensor<1x128x4x4xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x7x7xbf16> -> tensor<1x64x9x9xbf16>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [2, 2] dilation = [1, 1] : tensor<1x64x9x9xbf16> -> tensor<1x64x4x4x3x3xbf16>
  %v1 = graph.reshape %v : tensor<1x64x4x4x3x3xbf16> -> tensor<1x1x64x4x4x3x3xbf16>
  %v2 = graph.expand %v1 : tensor<1x1x64x4x4x3x3xbf16> -> tensor<1x128x64x4x4x3x3xbf16>
  %w1 = graph.reshape %w : tensor<128x64x3x3xbf16> -> tensor<1x128x64x1x1x3x3xbf16>
  %w2 = graph.expand %w1 : tensor<1x128x64x1x1x3x3xbf16> -> tensor<1x128x64x4x4x3x3xbf16>
  %a = graph.cast %v2 : tensor<1x128x64x4x4x3x3xbf16> -> tensor<1x128x64x4x4x3x3xf32>
  %b = graph.cast %w2 : tensor<1x128x64x4x4x3x3xbf16> -> tensor<1x128x64x4x4x3x3xf32>
  %m = graph.binary mul %a, %b : tensor<1x128x64x4x4x3x3xf32>
  %s = graph.reduce add %m dims = [2, 5, 6] : tensor<1x128x64x4x4x3x3xf32> -> tensor<1x128x4x4xf32>
  %y = graph.cast %s : tensor<1x128x4x4xf32> -> tensor<1x128x4x4xbf16>
  return %y : tensor<1x128x4x4xbf16>
}

// Rows of a window are longer than rows of positions, but too short to be rows of the unit: positions stay columns.
// CHECK-LABEL: kernel.func @wide_0
// CHECK-SAME: #kernel.grid_step<"m", {{[0-9]+}}>, #kernel.block_step<<32 x 16, rows 32, depth 1600, pack rhs, narrow>>
func.func @wide(%x: tensor<1x64x7x7xbf16>, %w: tensor<128x64x5x5xbf16>) -> tensor<1x128x4x4xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<1x64x7x7xbf16> -> tensor<1x64x11x11xbf16>
  %v = graph.window %p dims = [2, 3] size = [5, 5] stride = [2, 2] dilation = [1, 1] : tensor<1x64x11x11xbf16> -> tensor<1x64x4x4x5x5xbf16>
  %v1 = graph.reshape %v : tensor<1x64x4x4x5x5xbf16> -> tensor<1x1x64x4x4x5x5xbf16>
  %v2 = graph.expand %v1 : tensor<1x1x64x4x4x5x5xbf16> -> tensor<1x128x64x4x4x5x5xbf16>
  %w1 = graph.reshape %w : tensor<128x64x5x5xbf16> -> tensor<1x128x64x1x1x5x5xbf16>
  %w2 = graph.expand %w1 : tensor<1x128x64x1x1x5x5xbf16> -> tensor<1x128x64x4x4x5x5xbf16>
  %a = graph.cast %v2 : tensor<1x128x64x4x4x5x5xbf16> -> tensor<1x128x64x4x4x5x5xf32>
  %b = graph.cast %w2 : tensor<1x128x64x4x4x5x5xbf16> -> tensor<1x128x64x4x4x5x5xf32>
  %m = graph.binary mul %a, %b : tensor<1x128x64x4x4x5x5xf32>
  %s = graph.reduce add %m dims = [2, 5, 6] : tensor<1x128x64x4x4x5x5xf32> -> tensor<1x128x4x4xf32>
  %y = graph.cast %s : tensor<1x128x4x4xf32> -> tensor<1x128x4x4xbf16>
  return %y : tensor<1x128x4x4xbf16>
}

// Filters' gradients: rows of 28 positions are shorter than a register of the unit, and are copied at once all the same.
// What is packed of windows is more than the gradient that they meet: programs are cut along them.
// CHECK-LABEL: kernel.func @filters_0
// CHECK-SAME: #kernel.grid_step<"m", {{[0-9]+}}>, #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 784, pack lhs rhs, narrow>>
func.func @filters(%x: tensor<1x64x28x28xbf16>, %dy: tensor<1x64x28x28xbf16>) -> tensor<64x64x3x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x28x28xbf16> -> tensor<1x64x30x30xbf16>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x64x30x30xbf16> -> tensor<1x64x28x28x3x3xbf16>
  %v1 = graph.reshape %v : tensor<1x64x28x28x3x3xbf16> -> tensor<1x1x64x28x28x3x3xbf16>
  %v2 = graph.expand %v1 : tensor<1x1x64x28x28x3x3xbf16> -> tensor<1x64x64x28x28x3x3xbf16>
  %d1 = graph.reshape %dy : tensor<1x64x28x28xbf16> -> tensor<1x64x1x28x28x1x1xbf16>
  %d2 = graph.expand %d1 : tensor<1x64x1x28x28x1x1xbf16> -> tensor<1x64x64x28x28x3x3xbf16>
  %a = graph.cast %v2 : tensor<1x64x64x28x28x3x3xbf16> -> tensor<1x64x64x28x28x3x3xf32>
  %b = graph.cast %d2 : tensor<1x64x64x28x28x3x3xbf16> -> tensor<1x64x64x28x28x3x3xf32>
  %m = graph.binary mul %a, %b : tensor<1x64x64x28x28x3x3xf32>
  %s = graph.reduce add %m dims = [0, 3, 4] : tensor<1x64x64x28x28x3x3xf32> -> tensor<64x64x3x3xf32>
  return %s : tensor<64x64x3x3xf32>
}

// Rows of 7 positions leave some lanes of half a register empty, and are copied with it.
// CHECK-LABEL: kernel.func @short_rows_0
// CHECK-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 98, pack lhs rhs, narrow>>
func.func @short_rows(%x: tensor<2x64x7x7xbf16>, %dy: tensor<2x64x7x7xbf16>) -> tensor<64x64x3x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<2x64x7x7xbf16> -> tensor<2x64x9x9xbf16>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x64x9x9xbf16> -> tensor<2x64x7x7x3x3xbf16>
  %v1 = graph.reshape %v : tensor<2x64x7x7x3x3xbf16> -> tensor<2x1x64x7x7x3x3xbf16>
  %v2 = graph.expand %v1 : tensor<2x1x64x7x7x3x3xbf16> -> tensor<2x64x64x7x7x3x3xbf16>
  %d1 = graph.reshape %dy : tensor<2x64x7x7xbf16> -> tensor<2x64x1x7x7x1x1xbf16>
  %d2 = graph.expand %d1 : tensor<2x64x1x7x7x1x1xbf16> -> tensor<2x64x64x7x7x3x3xbf16>
  %a = graph.cast %v2 : tensor<2x64x64x7x7x3x3xbf16> -> tensor<2x64x64x7x7x3x3xf32>
  %b = graph.cast %d2 : tensor<2x64x64x7x7x3x3xbf16> -> tensor<2x64x64x7x7x3x3xf32>
  %m = graph.binary mul %a, %b : tensor<2x64x64x7x7x3x3xf32>
  %s = graph.reduce add %m dims = [0, 3, 4] : tensor<2x64x64x7x7x3x3xf32> -> tensor<64x64x3x3xf32>
  return %s : tensor<64x64x3x3xf32>
}

// Positions that a stride moves apart are rows of the unit, too: as columns windows of 5 elements would be transposed.
// CHECK-LABEL: kernel.func @strided_filters_0
// CHECK-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 784, pack lhs rhs, narrow>>
// CHECK: kernel.dot {{.*}} : tensor<1600x784xbf16>, tensor<784x64xbf16> -> tensor<1600x64xf32>
func.func @strided_filters(%x: tensor<1x64x56x56xbf16>, %dy: tensor<1x64x28x28xbf16>) -> tensor<64x64x5x5xf32> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 2, 2] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x56x56xbf16> -> tensor<1x64x59x59xbf16>
  %v = graph.window %p dims = [2, 3] size = [5, 5] stride = [2, 2] dilation = [1, 1] : tensor<1x64x59x59xbf16> -> tensor<1x64x28x28x5x5xbf16>
  %v1 = graph.reshape %v : tensor<1x64x28x28x5x5xbf16> -> tensor<1x1x64x28x28x5x5xbf16>
  %v2 = graph.expand %v1 : tensor<1x1x64x28x28x5x5xbf16> -> tensor<1x64x64x28x28x5x5xbf16>
  %d1 = graph.reshape %dy : tensor<1x64x28x28xbf16> -> tensor<1x64x1x28x28x1x1xbf16>
  %d2 = graph.expand %d1 : tensor<1x64x1x28x28x1x1xbf16> -> tensor<1x64x64x28x28x5x5xbf16>
  %a = graph.cast %v2 : tensor<1x64x64x28x28x5x5xbf16> -> tensor<1x64x64x28x28x5x5xf32>
  %b = graph.cast %d2 : tensor<1x64x64x28x28x5x5xbf16> -> tensor<1x64x64x28x28x5x5xf32>
  %m = graph.binary mul %a, %b : tensor<1x64x64x28x28x5x5xf32>
  %s = graph.reduce add %m dims = [0, 3, 4] : tensor<1x64x64x28x28x5x5xf32> -> tensor<64x64x5x5xf32>
  return %s : tensor<64x64x5x5xf32>
}

// Few channels a group: their windows are summed up as they lie, for all rows of a result at once, and are no product.
// CHECK-LABEL: kernel.func @grouped_0
// CHECK-NOT: kernel.dot
// CHECK: kernel.reduce add
// CHECK-NOT: kernel.dot
// CHECK: kernel.return
func.func @grouped(%x: tensor<1x8x28x28xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x28x28xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x8x28x28xf32> -> tensor<1x8x30x30xf32>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x8x30x30xf32> -> tensor<1x8x28x28x3x3xf32>
  %v1 = graph.reshape %v : tensor<1x8x28x28x3x3xf32> -> tensor<1x2x1x4x28x28x3x3xf32>
  %v2 = graph.expand %v1 : tensor<1x2x1x4x28x28x3x3xf32> -> tensor<1x2x4x4x28x28x3x3xf32>
  %w1 = graph.reshape %w : tensor<8x4x3x3xf32> -> tensor<1x2x4x4x1x1x3x3xf32>
  %w2 = graph.expand %w1 : tensor<1x2x4x4x1x1x3x3xf32> -> tensor<1x2x4x4x28x28x3x3xf32>
  %m = graph.binary mul %v2, %w2 : tensor<1x2x4x4x28x28x3x3xf32>
  %s = graph.reduce add %m dims = [3, 6, 7] : tensor<1x2x4x4x28x28x3x3xf32> -> tensor<1x2x4x28x28xf32>
  %y = graph.reshape %s : tensor<1x2x4x28x28xf32> -> tensor<1x8x28x28xf32>
  return %y : tensor<1x8x28x28xf32>
}
