// RUN: zyx-opt %s --zyx-fusion-store-iotas | FileCheck %s

// Sorts read memory; element-wise ops count themselves.
// CHECK-LABEL: func.func @sorted
// CHECK: %[[I:.*]] = graph.iota dim = 0 : tensor<6xi32>
// CHECK-NEXT: %[[STORED:.*]] = graph.unary abs %[[I]] : tensor<6xi32>
// CHECK-NEXT: graph.sort values %[[STORED]] dim = 0
// CHECK-NEXT: graph.unary neg %[[I]]
func.func @sorted() -> (tensor<6xi32>, tensor<6xi32>) {
  %i = graph.iota dim = 0 : tensor<6xi32>
  %0 = graph.sort values %i dim = 0 : tensor<6xi32> -> tensor<6xi32>
  %1 = graph.unary neg %i : tensor<6xi32>
  return %0, %1 : tensor<6xi32>, tensor<6xi32>
}

// Numbers along one dimension that are seen along two.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[STORED:.*]] = graph.unary abs %{{.*}} : tensor<6xi32>
// CHECK-NEXT: graph.reshape %[[STORED]] : tensor<6xi32> -> tensor<2x3xi32>
func.func @reshaped() -> tensor<2x3xi32> {
  %i = graph.iota dim = 0 : tensor<6xi32>
  %0 = graph.reshape %i : tensor<6xi32> -> tensor<2x3xi32>
  %1 = graph.unary neg %0 : tensor<2x3xi32>
  return %1 : tensor<2x3xi32>
}
