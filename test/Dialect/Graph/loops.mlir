// RUN: zyx-opt %s --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CANON

// CHECK-LABEL: func.func @loops
// CANON-LABEL: func.func @loops
func.func @loops(%x: tensor<4xf32>, %k: tensor<i64>) -> (tensor<4xf32>, tensor<i64>, tensor<i64>) {
  %n0 = graph.constant dense<0> : tensor<i64>
  // CHECK: %[[L:.*]]:2 = graph.loop(%[[I:.*]] to 16) carry(%[[P:.*]] = %{{.*}} : tensor<4xf32>, %[[N:.*]] = %{{.*}} : tensor<i64>) with(%[[W:.*]] = %{{.*}} : tensor<4xf32>) {
  // CHECK-NEXT: graph.binary mul %[[P]], %[[W]]
  // CHECK-NEXT: graph.binary add %[[N]], %[[I]]
  // CHECK-NEXT: graph.yield
  %h:2 = graph.loop(%i to 16) carry(%p = %x : tensor<4xf32>, %n = %n0 : tensor<i64>)
      with(%w = %x : tensor<4xf32>) {
    %0 = graph.binary mul %p, %w : tensor<4xf32>
    %1 = graph.binary add %n, %i : tensor<i64>
    graph.yield %0, %1 : tensor<4xf32>, tensor<i64>
  }
  // CHECK: graph.loop(%{{.*}} to %{{.*}}) carry(%{{.*}} = %{{.*}} : tensor<i64>) attributes {test.note = "kept"} {
  // CHECK-NEXT: graph.loop(%{{.*}} to 2)
  %m = graph.loop(%i to %k) carry(%n = %h#1 : tensor<i64>) attributes {test.note = "kept"} {
    %0 = graph.loop(%j to 2) carry(%c = %n : tensor<i64>) with(%e = %i : tensor<i64>) {
      %1 = graph.binary add %c, %e : tensor<i64>
      graph.yield %1 : tensor<i64>
    }
    graph.yield %0 : tensor<i64>
  }
  return %h#0, %h#1, %m : tensor<4xf32>, tensor<i64>, tensor<i64>
}

// CHECK-LABEL: func.func @while
// CANON-LABEL: func.func @while
func.func @while(%go0: tensor<i1>, %n0: tensor<i64>, %most: tensor<i64>) -> tensor<i64> {
  // CHECK: graph.loop(%{{.*}} while) carry(%[[GO:.*]] = %{{.*}} : tensor<i1>, %[[N:.*]] = %{{.*}} : tensor<i64>) with(%[[M:.*]] = %{{.*}} : tensor<i64>) attributes {test.note = "kept"} {
  // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<i1>, tensor<i64>
  // CANON: graph.loop(%{{.*}} while)
  // CANON: graph.yield %{{.*}}, %{{.*}} : tensor<i1>, tensor<i64>
  %e:2 = graph.loop(%i while) carry(%go = %go0 : tensor<i1>, %n = %n0 : tensor<i64>) with(%m = %most : tensor<i64>)
      attributes {test.note = "kept"} {
    %0 = graph.binary add %n, %n : tensor<i64>
    %1 = graph.binary lt %0, %m : tensor<i64>
    graph.yield %1, %0 : tensor<i1>, tensor<i64>
  }
  return %e#1 : tensor<i64>
}

// CHECK-LABEL: func.func @customs
func.func @customs(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: graph.custom "gelu" config "tanh"(%{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.custom "gelu" config "tanh"(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.unary tanh %p : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  // CHECK: graph.custom "two"(%{{.*}}, %{{.*}}) -> (tensor<4xf32>, tensor<4xi1>) attributes {test.note = 1 : i64} {
  %2:2 = graph.custom "two"(%p = %x : tensor<4xf32>, %q = %0 : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xi1>) attributes {test.note = 1} {
    %3 = graph.binary lt %p, %q : tensor<4xf32>
    graph.yield %p, %3 : tensor<4xf32>, tensor<4xi1>
  }
  return %2#0, %2#1 : tensor<4xf32>, tensor<4xi1>
}

// A loop without a trip gives what it was given.
// CANON-LABEL: func.func @no_trips
// CANON-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<2xi8>)
// CANON-NEXT: return %[[B]], %[[A]]
func.func @no_trips(%a: tensor<4xf32>, %b: tensor<2xi8>) -> (tensor<2xi8>, tensor<4xf32>) {
  %0:2 = graph.loop(%i to 0) carry(%p = %a : tensor<4xf32>, %q = %b : tensor<2xi8>) {
    %1 = graph.unary neg %p : tensor<4xf32>
    graph.yield %1, %q : tensor<4xf32>, tensor<2xi8>
  }
  return %0#1, %0#0 : tensor<2xi8>, tensor<4xf32>
}

// Equal loops are one, and what nobody needs disappears, in bodies as well.
// CANON-LABEL: func.func @equal_loops
// CANON: %[[L:.*]] = graph.loop
// CANON-NEXT: graph.unary neg
// CANON-NEXT: graph.yield
// CANON-NEXT: }
// CANON-NEXT: return %[[L]], %[[L]]
func.func @equal_loops(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.loop(%i to 3) carry(%p = %a : tensor<4xf32>) {
    %1 = graph.unary neg %p : tensor<4xf32>
    %2 = graph.unary exp %p : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  %3 = graph.loop(%i to 3) carry(%p = %a : tensor<4xf32>) {
    %4 = graph.unary neg %p : tensor<4xf32>
    graph.yield %4 : tensor<4xf32>
  }
  return %0, %3 : tensor<4xf32>, tensor<4xf32>
}
