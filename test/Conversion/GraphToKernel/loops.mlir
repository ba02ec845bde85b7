// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --verify-roundtrip | FileCheck %s

// A loop of the host: what it carries lies where its result is wanted. Where the number of passes is data, nobody knows
// in which buffer the last one would leave it: the body computes into memory of its own, which is copied at its end.
// CHECK-LABEL: plan.func @count
// CHECK-SAME: (%[[X:.*]]: !plan.buffer<f32[4]> {plan.input = "arg0"}, %[[K:.*]]: !plan.buffer<i64[1]> {plan.input = "arg1"}, %[[Y:.*]]: !plan.buffer<f32[4]> {plan.output = "result0"}, %[[N:.*]]: !plan.buffer<i64[]> {plan.output = "result1"})
// CHECK-NEXT: plan.copy %[[X]] to %[[Y]]
// CHECK-NEXT: plan.fill %[[N]] bits 1
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

// Each pass leaves whether another one follows where the loop reads it.
// CHECK-LABEL: plan.func @while
// CHECK-SAME: (%[[GO:.*]]: !plan.buffer<bool[]> {plan.input = "arg0"}, %[[X:.*]]: !plan.buffer<f32[]> {plan.input = "arg1"}, %[[Y:.*]]: !plan.buffer<f32[]> {plan.output = "result0"})
// CHECK-DAG: plan.copy %[[X]] to %[[Y]]
// CHECK-DAG: %[[C:.*]] = plan.alloc : !plan.buffer<bool[]>
// CHECK-DAG: plan.copy %[[GO]] to %[[C]]
// CHECK: plan.loop count(%[[C]] : !plan.buffer<bool[]>) {
// CHECK: plan.launch {{.*}} outs(%[[C]] : !plan.buffer<bool[]>)
// CHECK: plan.copy %{{.*}} to %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: plan.return
func.func @while(%go0: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %l:2 = graph.loop(%i while) carry(%go = %go0 : tensor<i1>, %p = %x : tensor<f32>) {
    %0 = graph.unary sqrt %p : tensor<f32>
    %1 = graph.binary lt %0, %p : tensor<f32>
    graph.yield %1, %0 : tensor<i1>, tensor<f32>
  }
  return %l#1 : tensor<f32>
}

// A condition that no pass changes is read where it was.
// CHECK-LABEL: plan.func @endless
// CHECK-SAME: (%[[GO:.*]]: !plan.buffer<bool[]> {plan.input = "arg0"}
// CHECK: plan.loop count(%[[GO]] : !plan.buffer<bool[]>) {
func.func @endless(%go0: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %l:2 = graph.loop(%i while) carry(%go = %go0 : tensor<i1>, %p = %x : tensor<f32>) {
    %0 = graph.unary sqrt %p : tensor<f32>
    graph.yield %go, %0 : tensor<i1>, tensor<f32>
  }
  return %l#1 : tensor<f32>
}

// Carried values that change places begin where they must to end in the buffers of the results. What stays is not
// copied.
// CHECK-LABEL: plan.func @swap
// CHECK-SAME: %[[Y:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result0"}, %[[Z:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result1"}, %[[W:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result2"})
// CHECK-NEXT: plan.copy %[[P:.*]] to %[[Z]]
// CHECK-NEXT: plan.copy %[[Q:.*]] to %[[Y]]
// CHECK-NEXT: plan.copy %[[Q]] to %[[W]]
// CHECK-NEXT: plan.return
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

// Beside what changes, too. That is made where the pass before did not leave it, by two bodies in turns.
// CHECK-LABEL: plan.func @kept
// CHECK-SAME: %[[C:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result0"}
// CHECK: %[[T:.*]] = plan.alloc
// CHECK-NEXT: plan.copy %{{.*}} to %[[T]]
// CHECK-NEXT: plan.loop trips 3 {
// CHECK-NEXT: plan.launch @kept_0 ins(%[[T]], %[[B:[^ ]*]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT: }, {
// CHECK-NEXT: plan.launch @kept_0 ins(%[[C]], %[[B]] : {{.*}}) outs(%[[T]] :
// CHECK-NEXT: }
// CHECK-NEXT: plan.launch @kept_1 ins(%[[B]] :
func.func @kept(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %l:2 = graph.loop(%i to 3) carry(%p = %a : tensor<4xf32>, %q = %b : tensor<4xf32>) {
    %0 = graph.binary add %p, %q : tensor<4xf32>
    graph.yield %0, %q : tensor<4xf32>, tensor<4xf32>
  }
  %1 = graph.unary neg %l#1 : tensor<4xf32>
  return %l#0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A loop in a loop starts from what the outer one has, where it lies.
// CHECK-LABEL: plan.func @nested
// CHECK-SAME: %[[Y:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result0"}
// CHECK-NEXT: plan.copy %{{.*}} to %[[Y]]
// CHECK-NEXT: plan.loop trips 3 {
// CHECK-NEXT: %[[C:.*]] = plan.alloc
// CHECK-NEXT: plan.loop trips 2 {
// CHECK-NEXT: plan.launch @nested_0 ins(%[[Y]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT: }, {
// CHECK-NEXT: plan.launch @nested_0 ins(%[[C]] : {{.*}}) outs(%[[Y]] :
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: plan.return
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

// A scatter updates what nobody reads any more; it comes behind who still reads it. What the loop begins with is
// filled in where it lies.
// CHECK-LABEL: plan.func @rows
// CHECK-SAME: %[[Y:[^:]*]]: !plan.buffer<f32[64x4]> {plan.output = "result0"}
// CHECK-SAME: %[[Z:[^:]*]]: !plan.buffer<f32[4]> {plan.output = "result1"}
// CHECK-NEXT: plan.fill %[[Y]] bits 0
// CHECK-NEXT: plan.fill %[[Z]] bits 0
// CHECK: plan.loop trips 64 index(%[[I:.*]] : !plan.buffer<i64[]>) {
// CHECK-NEXT: plan.launch @rows_0 ins(%[[Y]] : {{.*}}) outs(%[[Z]] :
// CHECK-NEXT: plan.launch @rows_1 ins(%[[I]], %{{.*}} : !plan.buffer<i64[]>, !plan.buffer<f32[4]>) outs(%[[Y]] : !plan.buffer<f32[64x4]>) updates flops 5 bytes 40
// CHECK-NEXT: }
// CHECK-NEXT: plan.return
// The kernel runs over a row.
// CHECK: kernel.func @rows_1(%{{.*}}: !kernel.buffer<i64, global>, %{{.*}}: !kernel.buffer<f32, global>, %{{.*}}: !kernel.buffer<f32, global>)
func.func @rows(%x: tensor<4xf32>) -> (tensor<64x4xf32>, tensor<4xf32>) {
  %none = graph.constant dense<0.0> : tensor<64x4xf32>
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %l:2 = graph.loop(%i to 64) carry(%all = %none : tensor<64x4xf32>, %s = %zero : tensor<4xf32>) with(%r = %x : tensor<4xf32>) {
    %0 = graph.scatter set %all[%i], %r dim = 0 : (tensor<64x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<64x4xf32>
    %1 = graph.reduce max %all dims = [0] : tensor<64x4xf32> -> tensor<4xf32>
    graph.yield %0, %1 : tensor<64x4xf32>, tensor<4xf32>
  }
  return %l#0, %l#1 : tensor<64x4xf32>, tensor<4xf32>
}

// Of what is still read behind it the scatter makes another one.
// CHECK-LABEL: plan.func @late
// CHECK: plan.loop trips 64
// CHECK-NOT: updates
// CHECK: plan.return
func.func @late(%x: tensor<64x4xf32>) -> (tensor<64x4xf32>, tensor<64x4xf32>) {
  %l:2 = graph.loop(%i to 64) carry(%all = %x : tensor<64x4xf32>, %s = %x : tensor<64x4xf32>) {
    %0 = graph.gather %s[%i] dim = 0 : (tensor<64x4xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = graph.scatter set %all[%i], %0 dim = 0 : (tensor<64x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<64x4xf32>
    %2 = graph.binary add %all, %1 : tensor<64x4xf32>
    graph.yield %1, %2 : tensor<64x4xf32>, tensor<64x4xf32>
  }
  return %l#0, %l#1 : tensor<64x4xf32>, tensor<64x4xf32>
}
