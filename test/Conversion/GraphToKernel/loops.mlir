// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --verify-roundtrip | FileCheck %s

// A loop of the host: what it carries lies where its result is wanted. The body computes into
// memory of its own, which is copied at its end.
// CHECK-LABEL: plan.func @count
// CHECK-SAME: (%[[X:.*]]: !plan.buffer<f32[4]> {plan.input = "arg0"}, %[[K:.*]]: !plan.buffer<i64[1]> {plan.input = "arg1"}, %[[Y:.*]]: !plan.buffer<f32[4]> {plan.output = "result0"}, %[[N:.*]]: !plan.buffer<i64[]> {plan.output = "result1"})
// CHECK: %[[ONE:.*]] = plan.constant [1,
// CHECK-NEXT: plan.copy %[[X]] to %[[Y]]
// CHECK-NEXT: plan.copy %[[ONE]] to %[[N]]
// CHECK-NEXT: %[[I:.*]] = plan.alloc : !plan.buffer<i64[]>
// CHECK-NEXT: plan.loop count(%[[K]] : !plan.buffer<i64[1]>) index(%[[I]] : !plan.buffer<i64[]>) {
// CHECK-NEXT: %[[A:.*]] = plan.alloc
// CHECK-NEXT: plan.launch @count_0 ins(%[[Y]] : {{.*}}) outs(%[[A]] :
// CHECK-NEXT: %[[B:.*]] = plan.alloc
// CHECK-NEXT: plan.launch @count_1 ins(%[[N]], %[[I]] : {{.*}}) outs(%[[B]] :
// CHECK-NEXT: plan.copy %[[A]] to %[[Y]]
// CHECK-NEXT: plan.copy %[[B]] to %[[N]]
// CHECK-NEXT: }
// CHECK-NEXT: plan.return
func.func @count(%x: tensor<4xf32>, %k: tensor<1xi64>) -> (tensor<4xf32>, tensor<i64>) {
  %n = graph.reshape %k : tensor<1xi64> -> tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %l:2 = graph.loop(%i to %n) carry(%p = %x : tensor<4xf32>, %s = %one : tensor<i64>) {
    %0 = graph.unary neg %p : tensor<4xf32>
    %1 = graph.binary add %s, %i : tensor<i64>
    graph.yield %0, %1 : tensor<4xf32>, tensor<i64>
  }
  return %l#0, %l#1 : tensor<4xf32>, tensor<i64>
}

// Carried values that change places are all read before one is written; what stays is not copied.
// An index that nobody reads is not written.
// CHECK-LABEL: plan.func @swap
// CHECK-SAME: %[[Y:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result0"}, %[[Z:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result1"}, %[[W:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result2"})
// CHECK: plan.loop trips 3 {
// CHECK-NEXT: %[[A:.*]] = plan.alloc
// CHECK-NEXT: plan.copy %[[Z]] to %[[A]]
// CHECK-NEXT: %[[B:.*]] = plan.alloc
// CHECK-NEXT: plan.copy %[[Y]] to %[[B]]
// CHECK-NEXT: plan.copy %[[A]] to %[[Y]]
// CHECK-NEXT: plan.copy %[[B]] to %[[Z]]
// CHECK-NEXT: }
func.func @swap(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %l:3 = graph.loop(%i to 3) carry(%p = %a : tensor<4xf32>, %q = %b : tensor<4xf32>,
                                   %r = %b : tensor<4xf32>) {
    graph.yield %q, %p, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %l#0, %l#1, %l#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What is handed on as it is stays where it was; where that is everything, there is no loop. What reads the result
// still comes behind what the loop waits for.
// CHECK-LABEL: plan.func @order
// CHECK-SAME: (%[[X:.*]]: !plan.buffer<f32[4]> {plan.input = "arg0"}, %[[Y:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result0"}
// CHECK: plan.launch @order_0 ins(%[[X]] : {{.*}}) outs(%[[G:.*]] :
// CHECK-NOT: plan.copy
// CHECK-NOT: plan.loop
// CHECK: plan.launch @order_1 ins(%[[X]] : {{.*}}) outs(%[[Y]] :
func.func @order(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.unary exp %x : tensor<4xf32>
  %1 = graph.loop(%i to 1) carry(%p = %x : tensor<4xf32>) with(%g = %0 : tensor<4xf32>) {
    graph.yield %p : tensor<4xf32>
  }
  %2 = graph.unary neg %1 : tensor<4xf32>
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
}

// Beside what changes, too.
// CHECK-LABEL: plan.func @kept
// CHECK: plan.copy %{{.*}} to %[[C:.*]] :
// CHECK-NOT: plan.copy
// CHECK: plan.loop trips 3 {
// CHECK: plan.launch @kept_0 ins(%[[C]], %[[B:[^ ]*]] :
// CHECK: plan.launch @kept_1 ins(%[[B]] :
func.func @kept(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %l:2 = graph.loop(%i to 3) carry(%p = %a : tensor<4xf32>, %q = %b : tensor<4xf32>) {
    %0 = graph.binary add %p, %q : tensor<4xf32>
    graph.yield %0, %q : tensor<4xf32>, tensor<4xf32>
  }
  %1 = graph.unary neg %l#1 : tensor<4xf32>
  return %l#0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A loop in a loop starts from what the outer one has.
// CHECK-LABEL: plan.func @nested
// CHECK: plan.loop trips 3 {
// CHECK-NEXT: %[[C:.*]] = plan.alloc
// CHECK-NEXT: plan.copy %[[Y:.*]] to %[[C]]
// CHECK-NEXT: plan.loop trips 2 {
// CHECK: plan.launch @nested_0 ins(%[[C]] :
// CHECK-NEXT: plan.copy %{{.*}} to %[[C]]
// CHECK-NEXT: }
// CHECK-NEXT: plan.copy %[[C]] to %[[Y]]
func.func @nested(%a: tensor<4xf32>) -> tensor<4xf32> {
  %l = graph.loop(%i to 3) carry(%p = %a : tensor<4xf32>) {
    %m = graph.loop(%j to 2) carry(%q = %p : tensor<4xf32>) {
      %0 = graph.unary exp %q : tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    }
    graph.yield %m : tensor<4xf32>
  }
  return %l : tensor<4xf32>
}
