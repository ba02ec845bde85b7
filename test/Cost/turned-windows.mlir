// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=x86-64-v4 --zyx-cost-cut-groups --split-input-file | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=sm_80 --zyx-cost-cut-groups --split-input-file | FileCheck %s --check-prefix=CARD

// The gradient of an image whose channels come last, of a result whose channels come first: rows of its windows are three
// elements long. A copy with channels last has long ones, which filters are stored for in the same order.
// CHECK-LABEL: func.func @gradient
// CHECK:       %[[LAST:.*]] = graph.group(%{{.*}} = %arg1
// CHECK:         graph.permute %{{.*}} : {{.*}} -> tensor<2x1x8x8x8x1x320xf32>
// CHECK-NEXT:    graph.yield
// CHECK:       %[[FILTERS:.*]] = graph.group(%{{.*}} = %arg0
// CHECK:         graph.flip
// CHECK:         graph.permute %{{.*}} -> tensor<1x1x1x1x1x64x3x3x3x320xf32>
// CHECK:       graph.group(%{{.*}} = %[[LAST]] : {{.*}}, %{{.*}} = %[[FILTERS]] :
// CHECK:         graph.window
// CHECK:         graph.reduce add
// CARD-LABEL:  func.func @gradient
// CARD-NOT:    tensor<2x1x8x8x8x1x320xf32>
func.func @gradient(%w: tensor<320x64x3x3x3xf32>, %dy: tensor<2x320x8x8x8xf32>) -> tensor<2x8x8x8x64xf32> {
  %z = graph.constant dense<0.0> : tensor<f32>
  %w1 = graph.reshape %w : tensor<320x64x3x3x3xf32> -> tensor<1x1x320x1x1x1x64x3x3x3xf32>
  %d = graph.reshape %dy : tensor<2x320x8x8x8xf32> -> tensor<2x1x320x8x8x8x1xf32>
  %p = graph.pad %d, %z low = [0, 0, 0, 1, 1, 1, 0] high = [0, 0, 0, 1, 1, 1, 0] interior = [0, 0, 0, 0, 0, 0, 0] : tensor<2x1x320x8x8x8x1xf32> -> tensor<2x1x320x10x10x10x1xf32>
  %v = graph.window %p dims = [3, 4, 5] size = [3, 3, 3] stride = [1, 1, 1] dilation = [1, 1, 1] : tensor<2x1x320x10x10x10x1xf32> -> tensor<2x1x320x8x8x8x1x3x3x3xf32>
  %l = graph.expand %v : tensor<2x1x320x8x8x8x1x3x3x3xf32> -> tensor<2x1x320x8x8x8x64x3x3x3xf32>
  %f = graph.flip %w1 dims = [7, 8, 9] : tensor<1x1x320x1x1x1x64x3x3x3xf32>
  %r = graph.expand %f : tensor<1x1x320x1x1x1x64x3x3x3xf32> -> tensor<2x1x320x8x8x8x64x3x3x3xf32>
  %m = graph.binary mul %l, %r : tensor<2x1x320x8x8x8x64x3x3x3xf32>
  %s = graph.reduce add %m dims = [2, 7, 8, 9] : tensor<2x1x320x8x8x8x64x3x3x3xf32> -> tensor<2x1x8x8x8x64xf32>
  %y = graph.reshape %s : tensor<2x1x8x8x8x64xf32> -> tensor<2x8x8x8x64xf32>
  return %y : tensor<2x8x8x8x64xf32>
}

// -----

// Positions of large images are long runs already, and nothing is copied for channels.
// CHECK-LABEL: func.func @large
// CHECK-NOT:   tensor<1x56x56x128xf32>
// CHECK:       graph.window
func.func @large(%x: tensor<1x128x56x56xf32>, %w: tensor<64x128x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %z = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %x, %z low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x128x56x56xf32> -> tensor<1x128x58x58xf32>
  %v = graph.window %p dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x128x58x58xf32> -> tensor<1x128x56x56x3x3xf32>
  %v1 = graph.reshape %v : tensor<1x128x56x56x3x3xf32> -> tensor<1x1x128x56x56x3x3xf32>
  %l = graph.expand %v1 : tensor<1x1x128x56x56x3x3xf32> -> tensor<1x64x128x56x56x3x3xf32>
  %w1 = graph.reshape %w : tensor<64x128x3x3xf32> -> tensor<1x64x128x1x1x3x3xf32>
  %r = graph.expand %w1 : tensor<1x64x128x1x1x3x3xf32> -> tensor<1x64x128x56x56x3x3xf32>
  %m = graph.binary mul %l, %r : tensor<1x64x128x56x56x3x3xf32>
  %s = graph.reduce add %m dims = [2, 5, 6] : tensor<1x64x128x56x56x3x3xf32> -> tensor<1x64x56x56xf32>
  return %s : tensor<1x64x56x56xf32>
}
