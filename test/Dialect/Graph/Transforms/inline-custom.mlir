// RUN: zyx-opt %s --zyx-graph-inline-custom | FileCheck %s
// RUN: zyx-opt %s --zyx-graph-inline-custom=keep=outer,other | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @nested
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[T:.*]] = graph.unary tanh %[[X]]
// CHECK-NEXT: %[[M:.*]] = graph.binary mul %[[T]], %[[X]]
// CHECK-NEXT: return %[[M]], %[[X]]
// KEEP-LABEL: func.func @nested
// KEEP: graph.custom "outer"
// KEEP-NEXT: graph.unary tanh
// KEEP-NEXT: graph.binary mul
// KEEP-NEXT: graph.yield
func.func @nested(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = graph.custom "outer" config "1"(%p = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = graph.custom "inner"(%q = %p : tensor<4xf32>) -> tensor<4xf32> {
      %2 = graph.unary tanh %q : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    %3 = graph.binary mul %1, %p : tensor<4xf32>
    graph.yield %3, %p : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @in_loops
// CHECK: graph.loop
// CHECK-NEXT: %[[N:.*]] = graph.unary neg
// CHECK-NEXT: graph.yield %[[N]]
func.func @in_loops(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.loop(%i to 2) carry(%p = %x : tensor<4xf32>) {
    %1 = graph.custom "inner"(%q = %p : tensor<4xf32>) -> tensor<4xf32> {
      %2 = graph.unary neg %q : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
