// RUN: zyx-opt %s --zyx-fusion-normalize-views | FileCheck %s

// Of a convolution with padding on both sides the last positions are left out: they are not computed.
// CHECK-LABEL: func.func @causal
// CHECK: graph.pad {{.*}} low = [0, 0, 3] high = [0, 0, 0] {{.*}} -> tensor<2x8x67xbf16>
// CHECK: graph.window {{.*}} : tensor<2x8x67xbf16> -> tensor<2x8x64x4xbf16>
// CHECK: graph.reduce add {{.*}} -> tensor<2x8x64xf32>
// CHECK-NOT: graph.pad
// CHECK: graph.unary tanh {{.*}} : tensor<2x8x64xbf16>
func.func @causal(%x: tensor<2x8x64xbf16>, %w: tensor<8x4xbf16>) -> tensor<2x8x64xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %0 = graph.pad %x, %zero low = [0, 0, 3] high = [0, 0, 3] interior = [0, 0, 0] : tensor<2x8x64xbf16> -> tensor<2x8x70xbf16>
  %1 = graph.window %0 dims = [2] size = [4] stride = [1] dilation = [1] : tensor<2x8x70xbf16> -> tensor<2x8x67x4xbf16>
  %2 = graph.cast %1 : tensor<2x8x67x4xbf16> -> tensor<2x8x67x4xf32>
  %3 = graph.reshape %w : tensor<8x4xbf16> -> tensor<1x8x1x4xbf16>
  %4 = graph.cast %3 : tensor<1x8x1x4xbf16> -> tensor<1x8x1x4xf32>
  %5 = graph.expand %4 : tensor<1x8x1x4xf32> -> tensor<2x8x67x4xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x8x67x4xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x8x67x4xf32> -> tensor<2x8x67xf32>
  %8 = graph.cast %7 : tensor<2x8x67xf32> -> tensor<2x8x67xbf16>
  %9 = graph.pad %8, %zero low = [0, 0, 0] high = [0, 0, -3] interior = [0, 0, 0] : tensor<2x8x67xbf16> -> tensor<2x8x64xbf16>
  %10 = graph.unary tanh %9 : tensor<2x8x64xbf16>
  return %10 : tensor<2x8x64xbf16>
}

// Windows that are apart, of something without padding: what they read of it.
// CHECK-LABEL: func.func @strided
// CHECK: graph.pad %arg0, {{.*}} low = [-4] high = [-4] interior = [0] : tensor<21xf32> -> tensor<13xf32>
// CHECK: graph.window {{.*}} : tensor<13xf32> -> tensor<5x5xf32>
// CHECK: graph.reduce max {{.*}} -> tensor<5xf32>
func.func @strided(%x: tensor<21xf32>) -> tensor<5xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.window %x dims = [0] size = [5] stride = [2] dilation = [1] : tensor<21xf32> -> tensor<9x5xf32>
  %1 = graph.unary neg %0 : tensor<9x5xf32>
  %2 = graph.reduce max %1 dims = [1] : tensor<9x5xf32> -> tensor<9xf32>
  %3 = graph.pad %2, %zero low = [-2] high = [-2] interior = [0] : tensor<9xf32> -> tensor<5xf32>
  return %3 : tensor<5xf32>
}

// Rows of a product: the last one alone is computed, but not all except for one.
// CHECK-LABEL: func.func @last_row
// CHECK: graph.reduce add {{.*}} -> tensor<1x16xf32>
func.func @last_row(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>) -> tensor<1x16xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.reshape %x : tensor<8x32xf32> -> tensor<8x32x1xf32>
  %1 = graph.expand %0 : tensor<8x32x1xf32> -> tensor<8x32x16xf32>
  %2 = graph.reshape %w : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %3 = graph.expand %2 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %4 = graph.binary mul %1, %3 : tensor<8x32x16xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<8x32x16xf32> -> tensor<8x16xf32>
  %6 = graph.pad %5, %zero low = [-7, 0] high = [0, 0] interior = [0, 0] : tensor<8x16xf32> -> tensor<1x16xf32>
  return %6 : tensor<1x16xf32>
}

// CHECK-LABEL: func.func @most_rows
// CHECK: graph.reduce add {{.*}} -> tensor<8x16xf32>
// CHECK: graph.pad
func.func @most_rows(%x: tensor<8x32xf32>, %w: tensor<32x16xf32>) -> tensor<7x16xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.reshape %x : tensor<8x32xf32> -> tensor<8x32x1xf32>
  %1 = graph.expand %0 : tensor<8x32x1xf32> -> tensor<8x32x16xf32>
  %2 = graph.reshape %w : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %3 = graph.expand %2 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %4 = graph.binary mul %1, %3 : tensor<8x32x16xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<8x32x16xf32> -> tensor<8x16xf32>
  %6 = graph.pad %5, %zero low = [0, 0] high = [-1, 0] interior = [0, 0] : tensor<8x16xf32> -> tensor<7x16xf32>
  return %6 : tensor<7x16xf32>
}

// What somebody else reads whole stays as it is, and so do numbers that count.
// CHECK-LABEL: func.func @shared
// CHECK: graph.unary exp %arg0 : tensor<8xf32>
// CHECK: graph.pad
func.func @shared(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.unary exp %x : tensor<8xf32>
  %1 = graph.pad %0, %zero low = [-4] high = [0] interior = [0] : tensor<8xf32> -> tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @counted
// CHECK: graph.binary add {{.*}} : tensor<8xf32>
// CHECK: graph.pad
func.func @counted(%x: tensor<8xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.iota dim = 0 : tensor<8xf32>
  %1 = graph.binary add %x, %0 : tensor<8xf32>
  %2 = graph.pad %1, %zero low = [-4] high = [0] interior = [0] : tensor<8xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
