// RUN: zyx-opt %s --zyx-fusion-fold-index-arithmetic | FileCheck %s

// A cast of an iota counts in the other type; nothing is added and multiplied.
// CHECK-LABEL: func.func @counted
// CHECK: %[[I:.*]] = graph.iota dim = 0 : tensor<4xi64>
// CHECK: return %[[I]]
func.func @counted() -> tensor<4xi64> {
  %i = graph.iota dim = 0 : tensor<4xi32>
  %zero = graph.constant dense<0> : tensor<4xi32>
  %one = graph.constant dense<1> : tensor<4xi32>
  %0 = graph.binary add %i, %zero : tensor<4xi32>
  %1 = graph.binary mul %one, %0 : tensor<4xi32>
  %2 = graph.cast %1 : tensor<4xi32> -> tensor<4xi64>
  return %2 : tensor<4xi64>
}

// An iota of one element is zero; one whose numbers the type does not hold stays.
// CHECK-LABEL: func.func @short
// CHECK: %[[ZERO:.*]] = graph.constant dense<0> : tensor<1xi32>
// CHECK: %[[LONG:.*]] = graph.cast %{{.*}} : tensor<300xi32> -> tensor<300xi8>
// CHECK: return %[[ZERO]], %[[LONG]]
func.func @short() -> (tensor<1xi32>, tensor<300xi8>) {
  %i = graph.iota dim = 0 : tensor<1xi32>
  %j = graph.iota dim = 0 : tensor<300xi32>
  %0 = graph.cast %j : tensor<300xi32> -> tensor<300xi8>
  return %i, %0 : tensor<1xi32>, tensor<300xi8>
}
