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

// What a gradient recomputes from is held apart from what it was.
// CHECK-LABEL: func.func @recompute
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[G:.*]]: tensor<2xf32>)
// CHECK-NEXT: %[[L:.*]] = graph.loop(%{{.*}} to 1) carry(%[[P:.*]] = %[[X]] : tensor<4xf32>) with(%{{.*}} = %[[G]] : tensor<2xf32>) {
// CHECK-NEXT: graph.yield %[[P]]
// CHECK: graph.unary exp %[[L]]
func.func @recompute(%x: tensor<4xf32>, %g: tensor<2xf32>) -> tensor<4xf32> {
  %0 = graph.custom "zyx.recompute"(%p = %x : tensor<4xf32>, %q = %g : tensor<2xf32>) -> tensor<4xf32> {
    graph.yield %p : tensor<4xf32>
  }
  %1 = graph.unary exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Another meaning of that name is its body.
// CHECK-LABEL: func.func @no_recompute
// CHECK-NEXT: graph.unary neg
// CHECK-NEXT: return
func.func @no_recompute(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.custom "zyx.recompute"(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.unary neg %p : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
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
