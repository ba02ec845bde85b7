// RUN: zyx-opt %s --zyx-fusion-gather-first | FileCheck %s

// An index out of bounds gives zero, not exp(0).
// CHECK-LABEL: func.func @few
// CHECK: %[[X:.*]] = graph.gather %arg0[%arg1] dim = 0 : (tensor<8000xf32>, tensor<8xi64>) -> tensor<8xf32>
// CHECK: %[[Y:.*]] = graph.unary exp %[[X]] : tensor<8xf32>
// CHECK: %[[Z:.*]] = graph.select %{{.*}}, %[[Y]], %{{.*}} : tensor<8xf32>
// CHECK: return %[[Z]]
func.func @few(%x: tensor<8000xf32>, %i: tensor<8xi64>) -> tensor<8xf32> {
  %0 = graph.unary exp %x : tensor<8000xf32>
  %1 = graph.gather %0[%i] dim = 0 : (tensor<8000xf32>, tensor<8xi64>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
