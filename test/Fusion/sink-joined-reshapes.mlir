// RUN: zyx-opt %s --zyx-fusion-sink-joined-reshapes | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-sink-joined-reshapes | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: func.func @joined
// CHECK: %[[ORDER:.*]] = graph.permute %{{.*}} order = [0, 3, 1, 2] {zyx.stored} : tensor<2x16x6x56xf32> -> tensor<2x56x16x6xf32>
// CHECK: %[[JOINED:.*]] = graph.reshape %[[ORDER]] : tensor<2x56x16x6xf32> -> tensor<2x56x96xf32>
// CHECK: return %[[JOINED]]
// A card would write elements that are apart, as it reads along the last dimension.
// GPU-LABEL: func.func @joined
// GPU: graph.permute %{{.*}} order = [0, 2, 1] : tensor<2x96x56xf32> -> tensor<2x56x96xf32>
func.func @joined(%x: tensor<2x16x6x56xf32>) -> tensor<2x56x96xf32> {
  %0 = graph.unary exp %x : tensor<2x16x6x56xf32>
  %1 = graph.reshape %0 : tensor<2x16x6x56xf32> -> tensor<2x96x56xf32>
  %2 = graph.permute %1 order = [0, 2, 1] : tensor<2x96x56xf32> -> tensor<2x56x96xf32>
  return %2 : tensor<2x56x96xf32>
}

// Extents of 1 stay with the dimension behind them, or with the last one.
// CHECK-LABEL: func.func @ones
// CHECK: graph.permute %{{.*}} order = [3, 4, 0, 1, 2] {zyx.stored} : tensor<1x16x6x56x1xf32> -> tensor<56x1x1x16x6xf32>
func.func @ones(%x: tensor<1x16x6x56x1xf32>) -> tensor<56x96xf32> {
  %0 = graph.unary exp %x : tensor<1x16x6x56x1xf32>
  %1 = graph.reshape %0 : tensor<1x16x6x56x1xf32> -> tensor<96x56xf32>
  %2 = graph.permute %1 order = [1, 0] : tensor<96x56xf32> -> tensor<56x96xf32>
  return %2 : tensor<56x96xf32>
}

// One that splits dimensions, and one that somebody computes with, stay.
// CHECK-LABEL: func.func @split
// CHECK: graph.reshape %{{.*}} : tensor<4x48xf32> -> tensor<8x24xf32>
// CHECK: graph.permute %{{.*}} order = [1, 0] : tensor<8x24xf32>
// CHECK: graph.reshape
// CHECK: graph.permute %{{.*}} order = [1, 0] : tensor<8x24xf32>
func.func @split(%x: tensor<4x48xf32>, %y: tensor<4x2x24xf32>) -> (tensor<24x8xf32>, tensor<24x8xf32>) {
  %0 = graph.unary exp %x : tensor<4x48xf32>
  %1 = graph.reshape %0 : tensor<4x48xf32> -> tensor<8x24xf32>
  %2 = graph.permute %1 order = [1, 0] : tensor<8x24xf32> -> tensor<24x8xf32>
  %3 = graph.unary exp %y : tensor<4x2x24xf32>
  %4 = graph.reshape %3 : tensor<4x2x24xf32> -> tensor<8x24xf32>
  %5 = graph.permute %4 order = [1, 0] : tensor<8x24xf32> -> tensor<24x8xf32>
  %6 = graph.unary neg %5 : tensor<24x8xf32>
  return %2, %6 : tensor<24x8xf32>, tensor<24x8xf32>
}

// What is cast behind is cast before. A cast that others read, too, is none of a result alone.
// CHECK-LABEL: func.func @cast
// CHECK: %[[CAST:.*]] = graph.cast %{{.*}} : tensor<2x16x6x56xf32> -> tensor<2x16x6x56xbf16>
// CHECK: %[[ORDER:.*]] = graph.permute %[[CAST]] order = [0, 3, 1, 2] {zyx.stored} : tensor<2x16x6x56xbf16> -> tensor<2x56x16x6xbf16>
// CHECK: %[[JOINED:.*]] = graph.reshape %[[ORDER]] : tensor<2x56x16x6xbf16> -> tensor<2x56x96xbf16>
// CHECK: graph.permute %{{.*}} order = [1, 0] : tensor<96x56xf32>
// CHECK: return %[[JOINED]]
func.func @cast(%x: tensor<2x16x6x56xf32>, %y: tensor<16x6x56xf32>)
    -> (tensor<2x56x96xbf16>, tensor<56x96xbf16>, tensor<56x96xbf16>) {
  %0 = graph.unary exp %x : tensor<2x16x6x56xf32>
  %1 = graph.reshape %0 : tensor<2x16x6x56xf32> -> tensor<2x96x56xf32>
  %2 = graph.permute %1 order = [0, 2, 1] : tensor<2x96x56xf32> -> tensor<2x56x96xf32>
  %3 = graph.cast %2 : tensor<2x56x96xf32> -> tensor<2x56x96xbf16>
  %4 = graph.unary exp %y : tensor<16x6x56xf32>
  %5 = graph.reshape %4 : tensor<16x6x56xf32> -> tensor<96x56xf32>
  %6 = graph.permute %5 order = [1, 0] : tensor<96x56xf32> -> tensor<56x96xf32>
  %7 = graph.cast %6 : tensor<56x96xf32> -> tensor<56x96xbf16>
  %8 = graph.unary neg %7 : tensor<56x96xbf16>
  return %3, %7, %8 : tensor<2x56x96xbf16>, tensor<56x96xbf16>, tensor<56x96xbf16>
}

// What is read along the dimension that comes last is written so on a card, too.
// GPU-LABEL: func.func @as_read
// GPU: %[[ORDER:.*]] = graph.permute %{{.*}} order = [0, 3, 1, 2] {zyx.stored} : tensor<2x16x6x56xf32> -> tensor<2x56x16x6xf32>
// GPU: %[[JOINED:.*]] = graph.reshape %[[ORDER]] : tensor<2x56x16x6xf32> -> tensor<2x56x96xf32>
// GPU: return %[[JOINED]]
func.func @as_read(%x: tensor<2x56x96xf32>) -> tensor<2x56x96xf32> {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<2x56x96xf32> -> tensor<2x96x56xf32>
  %1 = graph.reshape %0 : tensor<2x96x56xf32> -> tensor<2x16x6x56xf32>
  %2 = graph.unary exp %1 : tensor<2x16x6x56xf32>
  %3 = graph.reshape %2 : tensor<2x16x6x56xf32> -> tensor<2x96x56xf32>
  %4 = graph.permute %3 order = [0, 2, 1] : tensor<2x96x56xf32> -> tensor<2x56x96xf32>
  return %4 : tensor<2x56x96xf32>
}

// A scalar has no dimensions to permute.
// CHECK-LABEL: func.func @scalar
// CHECK: %[[VALUE:.*]] = graph.unary exp
// CHECK-NEXT: graph.reshape %[[VALUE]] : tensor<f32> -> tensor<1x1xf32>
// CHECK-NEXT: graph.permute
func.func @scalar(%x: tensor<f32>) -> tensor<1x1xf32> {
  %0 = graph.unary exp %x : tensor<f32>
  %1 = graph.reshape %0 : tensor<f32> -> tensor<1x1xf32>
  %2 = graph.permute %1 order = [1, 0] : tensor<1x1xf32> -> tensor<1x1xf32>
  return %2 : tensor<1x1xf32>
}
