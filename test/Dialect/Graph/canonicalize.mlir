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

// CHECK-LABEL: func.func @movement_identities
// CHECK-SAME: %[[X:.*]]: tensor<4x1xf32>
// CHECK-NEXT: return %[[X]]
func.func @movement_identities(%x: tensor<4x1xf32>, %fill: tensor<f32>) -> tensor<4x1xf32> {
  %0 = graph.flip %x dims = [0] : tensor<4x1xf32>
  %1 = graph.flip %0 dims = [0] : tensor<4x1xf32>
  %2 = graph.flip %1 dims = [1] : tensor<4x1xf32>
  %3 = graph.pad %2, %fill low = [0, 0] high = [0, 0] interior = [0, 3] : tensor<4x1xf32> -> tensor<4x1xf32>
  %4 = graph.concat %3 dim = 0 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = graph.bitcast %4 : tensor<4x1xf32> -> tensor<4x1xi32>
  %6 = graph.bitcast %5 : tensor<4x1xi32> -> tensor<4x1xui32>
  %7 = graph.bitcast %6 : tensor<4x1xui32> -> tensor<4x1xf32>
  %8 = graph.bitcast %7 : tensor<4x1xf32> -> tensor<4x1xf32>
  return %8 : tensor<4x1xf32>
}

// CHECK-LABEL: func.func @movement_stays
// CHECK: graph.flip %{{.*}} dims = [0]
// CHECK-NEXT: graph.flip %{{.*}} dims = [0, 1]
// CHECK-NEXT: graph.pad
// CHECK-NEXT: graph.pad
// CHECK-NEXT: graph.concat
func.func @movement_stays(%x: tensor<4x2xf32>, %fill: tensor<f32>) -> tensor<14x2xf32> {
  %0 = graph.flip %x dims = [0] : tensor<4x2xf32>
  %1 = graph.flip %0 dims = [0, 1] : tensor<4x2xf32>
  // As many rows as before, but others.
  %2 = graph.pad %1, %fill low = [1, 0] high = [-1, 0] interior = [0, 0] : tensor<4x2xf32> -> tensor<4x2xf32>
  %3 = graph.pad %2, %fill low = [0, 0] high = [0, 0] interior = [1, 0] : tensor<4x2xf32> -> tensor<7x2xf32>
  %4 = graph.concat %3, %3 dim = 0 : (tensor<7x2xf32>, tensor<7x2xf32>) -> tensor<14x2xf32>
  return %4 : tensor<14x2xf32>
}

// CHECK-LABEL: func.func @transfers
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = graph.transfer %[[X]] to "cuda:0"
// CHECK-NEXT: %[[B:.*]] = graph.transfer %[[A]] to "cuda:1"
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @transfers(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.transfer %x to "cuda:0" : tensor<4xf32>
  %1 = graph.transfer %0 to "cuda:0" : tensor<4xf32>
  %2 = graph.transfer %1 to "cuda:1" : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @bitcast_of_bitcast
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = graph.bitcast %[[X]] : tensor<4xf32> -> tensor<4xui32>
// CHECK-NEXT: return %[[B]]
func.func @bitcast_of_bitcast(%x: tensor<4xf32>) -> tensor<4xui32> {
  %0 = graph.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  %1 = graph.bitcast %0 : tensor<4xi32> -> tensor<4xui32>
  return %1 : tensor<4xui32>
}
