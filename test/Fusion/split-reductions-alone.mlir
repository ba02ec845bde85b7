// RUN: zyx-opt %s --zyx-fusion-split-reductions | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-split-reductions | FileCheck %s --check-prefix=CARD

// Rows are programs of their own, on a processor.
// CHECK-LABEL: func.func @matrix
// CHECK-NEXT: %[[ROWS:.*]] = graph.reduce add %arg0 dims = [1] : tensor<1024x512xf32> -> tensor<1024xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[ROWS]] dims = [0] : tensor<1024xf32> -> tensor<f32>
// CHECK-NEXT: return %[[ALL]]
func.func @matrix(%x: tensor<1024x512xf32>) -> tensor<f32> {
  %y = graph.reduce add %x dims = [0, 1] : tensor<1024x512xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// On a card, the dimensions that are noted.
// CARD-LABEL: func.func @noted
// CARD-NEXT: %[[PARTS:.*]] = graph.reduce max %arg0 dims = [0] : tensor<16x32xf32> -> tensor<32xf32>
// CARD-NEXT: graph.reduce max %[[PARTS]] dims = [0] : tensor<32xf32> -> tensor<f32>
func.func @noted(%x: tensor<16x32xf32>) -> tensor<f32> {
  %y = graph.reduce max %x dims = [0, 1] {zyx.parts = array<i64: 1>} : tensor<16x32xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// Windows that overlap have elements in common: rows are combined first, and of what they have the windows' columns.
// CHECK-LABEL: func.func @pool
// CHECK-NEXT: %[[ROWS:.*]] = graph.window %arg0 dims = [2] size = [7] stride = [2] dilation = [1] : tensor<1x8x28x28xf32> -> tensor<1x8x11x28x7xf32>
// CHECK-NEXT: %[[SUMS:.*]] = graph.reduce add %[[ROWS]] dims = [4] : tensor<1x8x11x28x7xf32> -> tensor<1x8x11x28xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = graph.window %[[SUMS]] dims = [3] size = [7] stride = [2] dilation = [1] : tensor<1x8x11x28xf32> -> tensor<1x8x11x11x7xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[COLUMNS]] dims = [4] : tensor<1x8x11x11x7xf32> -> tensor<1x8x11x11xf32>
// CHECK-NEXT: return %[[ALL]]
// CARD-LABEL: func.func @pool
// CARD: dims = [4, 5]
func.func @pool(%x: tensor<1x8x28x28xf32>) -> tensor<1x8x11x11xf32> {
  %w = graph.window %x dims = [2, 3] size = [7, 7] stride = [2, 2] dilation = [1, 1] : tensor<1x8x28x28xf32> -> tensor<1x8x11x11x7x7xf32>
  %y = graph.reduce add %w dims = [4, 5] : tensor<1x8x11x11x7x7xf32> -> tensor<1x8x11x11xf32>
  return %y : tensor<1x8x11x11xf32>
}

// Three dimensions are combined one after the other.
// CHECK-LABEL: func.func @volume
// CHECK-COUNT-3: graph.reduce max {{.*}} dims = [3]
// CHECK-NOT: graph.reduce
// CHECK: return
func.func @volume(%x: tensor<32x32x32xbf16>) -> tensor<28x28x28xbf16> {
  %w = graph.window %x dims = [0, 1, 2] size = [5, 5, 5] stride = [1, 1, 1] dilation = [1, 1, 1] : tensor<32x32x32xbf16> -> tensor<28x28x28x5x5x5xbf16>
  %y = graph.reduce max %w dims = [3, 4, 5] : tensor<28x28x28x5x5x5xbf16> -> tensor<28x28x28xbf16>
  return %y : tensor<28x28x28xbf16>
}

// Nothing is won of windows beside each other, or of small ones; sums of 16 bits would be rounded in between.
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-4: graph.reduce
// CHECK-NOT: graph.reduce
// CHECK: return
func.func @whole(%x: tensor<28x28xf32>, %h: tensor<28x28xbf16>) -> (tensor<4x4xf32>, tensor<26x26xf32>, tensor<22x22xbf16>, tensor<22x22x7xf32>) {
  %a = graph.window %x dims = [0, 1] size = [7, 7] stride = [7, 7] dilation = [1, 1] : tensor<28x28xf32> -> tensor<4x4x7x7xf32>
  %b = graph.window %x dims = [0, 1] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<28x28xf32> -> tensor<26x26x3x3xf32>
  %c = graph.window %h dims = [0, 1] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<28x28xbf16> -> tensor<22x22x7x7xbf16>
  %d = graph.window %x dims = [0, 1] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<28x28xf32> -> tensor<22x22x7x7xf32>
  %0 = graph.reduce add %a dims = [2, 3] : tensor<4x4x7x7xf32> -> tensor<4x4xf32>
  %1 = graph.reduce max %b dims = [2, 3] : tensor<26x26x3x3xf32> -> tensor<26x26xf32>
  %2 = graph.reduce add %c dims = [2, 3] : tensor<22x22x7x7xbf16> -> tensor<22x22xbf16>
  %3 = graph.reduce add %d dims = [3] : tensor<22x22x7x7xf32> -> tensor<22x22x7xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<26x26xf32>, tensor<22x22xbf16>, tensor<22x22x7xf32>
}
