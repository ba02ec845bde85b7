// RUN: zyx-opt %s --zyx-test-graph-transport --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: zyx-opt %s --zyx-test-graph-transport | zyx-opt --zyx-test-graph-transport | FileCheck %s --check-prefix=AGAIN

// All results of an op are one op again, with its invariants, counts and places.
// CHECK-LABEL: func.func @loops
// AGAIN-LABEL: func.func @loops
func.func @loops(%x: tensor<4xf32>, %k: tensor<i64>) -> (tensor<4xf32>, tensor<i64>, tensor<i64>) {
  %n0 = graph.constant dense<0> : tensor<i64>
  // CHECK: %[[L:.*]]:2 = graph.loop(%[[I:.*]] to 16) carry(%[[P:.*]] = %{{.*}} : tensor<4xf32>, %[[N:.*]] = %{{.*}} : tensor<i64>) with(%[[W:.*]] = %{{.*}} : tensor<4xf32>) {
  // AGAIN: graph.loop(%{{.*}} to 16) carry(%{{.*}} = %{{.*}} : tensor<4xf32>, %{{.*}} = %{{.*}} : tensor<i64>) with(%{{.*}} = %{{.*}} : tensor<4xf32>) {
  %h:2 = graph.loop(%i to 16) carry(%p = %x : tensor<4xf32>, %n = %n0 : tensor<i64>)
      with(%w = %x : tensor<4xf32>) {
    // CHECK: graph.binary mul %[[P]], %[[W]] : tensor<4xf32> loc({{.*}}roundtrip-bodies.mlir":[[@LINE+1]]:10)
    %0 = graph.binary mul %p, %w : tensor<4xf32>
    // CHECK-NEXT: graph.binary add %[[N]], %[[I]] : tensor<i64>
    %1 = graph.binary add %n, %i : tensor<i64>
    graph.yield %0, %1 : tensor<4xf32>, tensor<i64>
  }
  // CHECK: graph.loop(%{{.*}} to %{{.*}}) carry(
  // CHECK-NEXT: graph.loop(%{{.*}} to 2) carry(
  // AGAIN: graph.loop(%{{.*}} to %{{.*}}) carry(
  // AGAIN-NEXT: graph.loop(%{{.*}} to 2) carry(
  %m = graph.loop(%i to %k) carry(%n = %h#1 : tensor<i64>) {
    %0 = graph.loop(%j to 2) carry(%c = %n : tensor<i64>) with(%e = %i : tensor<i64>) {
      %1 = graph.binary add %c, %e : tensor<i64>
      graph.yield %1 : tensor<i64>
    }
    graph.yield %0 : tensor<i64>
  }
  // CHECK: return %[[L]]#0, %[[L]]#1, %
  return %h#0, %h#1, %m : tensor<4xf32>, tensor<i64>, tensor<i64>
}

// CHECK-LABEL: func.func @customs
func.func @customs(%x: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: graph.custom "two" config "fast"(%[[P:.*]] = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // AGAIN: graph.custom "two" config "fast"(
  %0:2 = graph.custom "two" config "fast"(%p = %x : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
    %1 = graph.binary lt %p, %p : tensor<4xf32>
    // CHECK: graph.yield %[[P]], %
    graph.yield %p, %1 : tensor<4xf32>, tensor<4xi1>
  }
  return %0#1 : tensor<4xi1>
}
