// RUN: zyx-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT: return %[[X]]
func.func @identities(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = graph.expand %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.permute %1 order = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = graph.cast %2 : tensor<4x8xf32> -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @square_transpose_is_no_identity
// CHECK: graph.permute
func.func @square_transpose_is_no_identity(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.permute %x order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @equal_constants
// CHECK: %[[C:.*]] = graph.constant
// CHECK-NOT: graph.constant
// CHECK: return %[[C]], %[[C]]
func.func @equal_constants() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.constant dense<1.0> : tensor<4xf32>
  %1 = graph.constant dense<1.0> : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
