// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=sapphirerapids --zyx-cost-cut-groups | FileCheck %s

// What a product widens of memory is not stored wide: its windows would be twice as large, and beside a factor of f32 the
// matrix unit has no use.
// CHECK-LABEL: func.func @narrow
// CHECK:       graph.group
// CHECK-NOT:   graph.group
// CHECK:       return
func.func @narrow(%x: tensor<1x128x7x7xbf16>, %w: tensor<64x128x5x5xbf16>) -> tensor<1x64x7x7xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %p = graph.pad %x, %zero low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<1x128x7x7xbf16> -> tensor<1x128x11x11xbf16>
  %v = graph.window %p dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<1x128x11x11xbf16> -> tensor<1x128x7x7x5x5xbf16>
  %v1 = graph.permute %v order = [0, 2, 3, 1, 4, 5] : tensor<1x128x7x7x5x5xbf16> -> tensor<1x7x7x128x5x5xbf16>
  %v2 = graph.reshape %v1 : tensor<1x7x7x128x5x5xbf16> -> tensor<1x1x7x7x128x5x5xbf16>
  %a = graph.cast %v2 : tensor<1x1x7x7x128x5x5xbf16> -> tensor<1x1x7x7x128x5x5xf32>
  %l = graph.expand %a : tensor<1x1x7x7x128x5x5xf32> -> tensor<1x64x7x7x128x5x5xf32>
  %w1 = graph.reshape %w : tensor<64x128x5x5xbf16> -> tensor<1x64x1x1x128x5x5xbf16>
  %b = graph.cast %w1 : tensor<1x64x1x1x128x5x5xbf16> -> tensor<1x64x1x1x128x5x5xf32>
  %r = graph.expand %b : tensor<1x64x1x1x128x5x5xf32> -> tensor<1x64x7x7x128x5x5xf32>
  %m = graph.binary mul %l, %r : tensor<1x64x7x7x128x5x5xf32>
  %s = graph.reduce add %m dims = [4, 5, 6] : tensor<1x64x7x7x128x5x5xf32> -> tensor<1x64x7x7xf32>
  %y = graph.cast %s : tensor<1x64x7x7xf32> -> tensor<1x64x7x7xbf16>
  return %y : tensor<1x64x7x7xbf16>
}

// Pixels that were shuffled lie nowhere in runs: the image is stored, and windows are read of it.
// CHECK-LABEL: func.func @shuffled
// CHECK:       graph.group
// CHECK:         graph.permute
// CHECK-NEXT:    graph.reshape
// CHECK-NEXT:    graph.yield %{{.*}} : tensor<2x320x14x14xbf16>
// CHECK:       graph.group
// CHECK:         graph.window
func.func @shuffled(%x: tensor<2x80x28x28xbf16>, %w: tensor<320x320x3x3xbf16>) -> tensor<2x320x14x14xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %x1 = graph.reshape %x : tensor<2x80x28x28xbf16> -> tensor<2x80x14x2x14x2xbf16>
  %x2 = graph.permute %x1 order = [0, 1, 3, 5, 2, 4] : tensor<2x80x14x2x14x2xbf16> -> tensor<2x80x2x2x14x14xbf16>
  %x3 = graph.reshape %x2 : tensor<2x80x2x2x14x14xbf16> -> tensor<2x320x14x14xbf16>
  %p = graph.pad %x3, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<2x320x14x14xbf16> -> tensor<2x320x16x16xbf16>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x320x16x16xbf16> -> tensor<2x320x14x14x3x3xbf16>
  %v1 = graph.reshape %v : tensor<2x320x14x14x3x3xbf16> -> tensor<2x320x14x14x1x3x3xbf16>
  %a = graph.cast %v1 : tensor<2x320x14x14x1x3x3xbf16> -> tensor<2x320x14x14x1x3x3xf32>
  %l = graph.expand %a : tensor<2x320x14x14x1x3x3xf32> -> tensor<2x320x14x14x320x3x3xf32>
  %w1 = graph.reshape %w : tensor<320x320x3x3xbf16> -> tensor<1x320x1x1x320x3x3xbf16>
  %w2 = graph.flip %w1 dims = [5, 6] : tensor<1x320x1x1x320x3x3xbf16>
  %b = graph.cast %w2 : tensor<1x320x1x1x320x3x3xbf16> -> tensor<1x320x1x1x320x3x3xf32>
  %r = graph.expand %b : tensor<1x320x1x1x320x3x3xf32> -> tensor<2x320x14x14x320x3x3xf32>
  %m = graph.binary mul %l, %r : tensor<2x320x14x14x320x3x3xf32>
  %s = graph.reduce add %m dims = [1, 5, 6] : tensor<2x320x14x14x320x3x3xf32> -> tensor<2x14x14x320xf32>
  %s1 = graph.permute %s order = [0, 3, 1, 2] : tensor<2x14x14x320xf32> -> tensor<2x320x14x14xf32>
  %y = graph.cast %s1 : tensor<2x320x14x14xf32> -> tensor<2x320x14x14xbf16>
  return %y : tensor<2x320x14x14xbf16>
}
