// RUN: zyx-opt %s --zyx-fusion-merge-reductions | FileCheck %s

// CHECK-LABEL: func.func @sums
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %arg0 dims = [0, 1] : tensor<4x8xf32> -> tensor<f32>
// CHECK-NEXT: return %[[ALL]]
func.func @sums(%x: tensor<4x8xf32>) -> tensor<f32> {
  %0 = graph.reduce add %x dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %1 = graph.reduce add %0 dims = [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// Sums that are rounded in between stay two, and so do those of another kind.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-4: graph.reduce
func.func @apart(%x: tensor<4x8xf16>) -> (tensor<f16>, tensor<f16>) {
  %0 = graph.reduce add %x dims = [1] : tensor<4x8xf16> -> tensor<4xf16>
  %1 = graph.reduce add %0 dims = [0] : tensor<4xf16> -> tensor<f16>
  %2 = graph.reduce max %x dims = [1] : tensor<4x8xf16> -> tensor<4xf16>
  %3 = graph.reduce add %2 dims = [0] : tensor<4xf16> -> tensor<f16>
  return %1, %3 : tensor<f16>, tensor<f16>
}
