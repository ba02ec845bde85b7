// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=x86-64-v4 --zyx-cost-cut-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=sm_80 --zyx-cost-cut-groups | FileCheck %s --check-prefix=CARD

// Positions are no runs where channels come last: they are looked up one by one, for each element of the window. Stored in the
// order of its dimensions the operand is read in vectors.
// CHECK-LABEL: func.func @main
// CHECK:       graph.group
// CHECK-NEXT:    graph.permute
// CHECK-NEXT:    graph.yield
// CHECK:       graph.group
// CHECK:         graph.window
// CARD-LABEL: func.func @main
// CARD:       graph.group
// CARD-NOT:   graph.group
func.func @main(%x: tensor<1x28x28x128xf32>, %w: tensor<128x4x3x3xf32>) -> tensor<1x128x28x28xf32> {
  %x1 = graph.permute %x order = [0, 3, 1, 2] : tensor<1x28x28x128xf32> -> tensor<1x128x28x28xf32>
  %z = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x1, %z low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x128x28x28xf32> -> tensor<1x128x30x30xf32>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x128x30x30xf32> -> tensor<1x128x28x28x3x3xf32>
  %v1 = graph.reshape %v : tensor<1x128x28x28x3x3xf32> -> tensor<1x32x4x28x28x3x3xf32>
  %v2 = graph.permute %v1 order = [0, 1, 3, 4, 2, 5, 6] : tensor<1x32x4x28x28x3x3xf32> -> tensor<1x32x28x28x4x3x3xf32>
  %v3 = graph.reshape %v2 : tensor<1x32x28x28x4x3x3xf32> -> tensor<1x32x1x28x28x4x3x3xf32>
  %l = graph.expand %v3 : tensor<1x32x1x28x28x4x3x3xf32> -> tensor<1x32x4x28x28x4x3x3xf32>
  %w1 = graph.reshape %w : tensor<128x4x3x3xf32> -> tensor<1x32x4x1x1x4x3x3xf32>
  %r = graph.expand %w1 : tensor<1x32x4x1x1x4x3x3xf32> -> tensor<1x32x4x28x28x4x3x3xf32>
  %m = graph.binary mul %l, %r : tensor<1x32x4x28x28x4x3x3xf32>
  %s = graph.reduce add %m dims = [5, 6, 7] : tensor<1x32x4x28x28x4x3x3xf32> -> tensor<1x32x4x28x28xf32>
  %y = graph.reshape %s : tensor<1x32x4x28x28xf32> -> tensor<1x128x28x28xf32>
  return %y : tensor<1x128x28x28xf32>
}
