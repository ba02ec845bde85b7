// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --verify-roundtrip | FileCheck %s

// Without groups every op is a kernel. A result is written where the caller wants it.
// CHECK-LABEL: plan.func @chain
// CHECK-SAME: (%[[X:.*]]: !plan.buffer<f32[4]> {plan.input = "x"}, %[[Y:.*]]: !plan.buffer<f32[4]> {plan.output = "result0"})
// CHECK: %[[T:.*]] = plan.alloc : !plan.buffer<f32[4]>
// CHECK: plan.launch @chain_0 ins(%[[X]] : !plan.buffer<f32[4]>) outs(%[[T]] : !plan.buffer<f32[4]>) flops 4
// CHECK: plan.launch @chain_1 ins(%[[T]] : !plan.buffer<f32[4]>) outs(%[[Y]] : !plan.buffer<f32[4]>) flops 4
// CHECK: kernel.func @chain_0
// CHECK: math.exp
// CHECK: kernel.func @chain_1
// CHECK: math.tanh
func.func @chain(%x: tensor<4xf32> {graph.name = "x"}) -> tensor<4xf32> {
  %0 = graph.unary exp %x : tensor<4xf32>
  %1 = graph.unary tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A parameter is a weight. A reshape is the same buffer; what is returned twice is copied.
// CHECK-LABEL: plan.func @parameters
// CHECK-SAME: (%[[W:.*]]: !plan.buffer<f32[2x2]> {plan.input = "weights", plan.weight}, %[[A:.*]]: !plan.buffer<f32[4]> {plan.output = "result0"}, %[[B:.*]]: !plan.buffer<f32[2x2]> {plan.output = "result1"}, %[[C:.*]]: !plan.buffer<f32[4]> {plan.output = "result2"})
// CHECK: plan.launch @parameters_0 ins(%[[W]] : !plan.buffer<f32[2x2]>) outs(%[[A]]
// CHECK: plan.copy %[[A]] to %[[B]]
// CHECK: plan.copy %[[W]] to %[[C]]
func.func @parameters() -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>) {
  %w = graph.parameter "weights" : tensor<2x2xf32>
  %v = graph.parameter "weights" : tensor<2x2xf32>
  %0 = graph.unary exp %w : tensor<2x2xf32>
  %1 = graph.reshape %0 : tensor<2x2xf32> -> tensor<4xf32>
  %2 = graph.reshape %v : tensor<2x2xf32> -> tensor<4xf32>
  return %1, %0, %2 : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf32>
}

// Bools are bytes; a large splat is filled in.
// CHECK-LABEL: plan.func @constants
// CHECK-DAG: plan.constant [1, 0, 1] : !plan.buffer<bool[3]>
// CHECK-DAG: plan.constant [1, 0, -1, -1] : !plan.buffer<i16[2]>
// CHECK-DAG: plan.constant [0, 0, -128, 63, 0, 0, 0, 64] : !plan.buffer<f32[2]>
// CHECK: plan.fill %arg3 bits 16256
func.func @constants() -> (tensor<3xi1>, tensor<2xi16>, tensor<2xf32>, tensor<5000xbf16>) {
  %0 = graph.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = graph.constant dense<[1, -1]> : tensor<2xi16>
  %2 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = graph.constant dense<1.0> : tensor<5000xbf16>
  return %0, %1, %2, %3 : tensor<3xi1>, tensor<2xi16>, tensor<2xf32>, tensor<5000xbf16>
}

// A constant of a group that repeats nothing is one more buffer.
// CHECK-LABEL: plan.func @constant_inside
// CHECK: %[[C:.*]] = plan.constant
// CHECK: plan.launch @constant_inside_0 ins(%arg0, %[[C]] : {{.*}}) outs(%arg1
// CHECK-LABEL: kernel.func @constant_inside_0
// CHECK: kernel.view %arg1
func.func @constant_inside(%x: tensor<2xi32>) -> tensor<2xi32> {
  %y = graph.group(%a = %x : tensor<2xi32>) -> tensor<2xi32> {
    %c = graph.constant dense<[3, 4]> : tensor<2xi32>
    %s = graph.binary add %a, %c : tensor<2xi32>
    graph.yield %s : tensor<2xi32>
  }
  return %y : tensor<2xi32>
}

// Nothing is stored of a result without elements.
// CHECK-LABEL: kernel.func @empty_0
// CHECK-NOT: kernel.store
// CHECK: kernel.return
func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = graph.unary exp %x : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// CHECK-LABEL: plan.func @weights
// CHECK-SAME: (%{{.*}}: !plan.buffer<f32[4]> {plan.input = "arg0"}, %{{.*}}: !plan.buffer<f32[4]> {plan.input = "w", plan.weight}, %{{.*}} {plan.output = "result0"})
func.func @weights(%x: tensor<4xf32>, %w: tensor<4xf32> {graph.name = "w", graph.weight}) -> tensor<4xf32> {
  %0 = graph.binary add %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
