// RUN: not zyx-opt %s --split-input-file --zyx-test-graph-transport 2>&1 | FileCheck %s

// CHECK: transport-invalid.mlir:[[@LINE+1]]:{{[0-9]+}}: two arguments are named 'x'
func.func @f(%a: tensor<f32> {graph.name = "x"}, %b: tensor<f32> {graph.name = "x"}) { return }

// -----

// CHECK: transport-invalid.mlir:[[@LINE+1]]:{{[0-9]+}}: argument 'arg0': f32 is not a ranked tensor
func.func @f(%a: f32) { return }

// -----

func.func @f(%a: tensor<f32>) -> (tensor<f32> {graph.name = "y"}, tensor<f32> {graph.name = "y"}) {
  // CHECK: transport-invalid.mlir:[[@LINE+1]]:3: two results are named 'y'
  return %a, %a : tensor<f32>, tensor<f32>
}

// -----

func.func @f(%a: tensor<f32>) {
  // CHECK: transport-invalid.mlir:[[@LINE+1]]:8: parameter 'arg0' has the name of an argument
  %p = graph.parameter "arg0" : tensor<f32>
  return
}

// -----

func.func @f() {
  %p = graph.parameter "w" : tensor<f32>
  // CHECK: transport-invalid.mlir:[[@LINE+1]]:8: parameter w is declared twice, as f32[] and as f64[]
  %q = graph.parameter "w" : tensor<f64>
  return
}

// -----

// CHECK: transport-invalid.mlir:[[@LINE+1]]:46: argument 'arg1' follows a weight and is none
func.func @f(%w: tensor<f32> {graph.weight}, %x: tensor<f32>) { return }

// -----

// CHECK: function 'f' has no body
func.func private @f(tensor<f32>)

// -----

// CHECK: function 'f' has several blocks
func.func @f() {
  llvm.br ^next
^next:
  return
}

// -----

func.func @f() {
  // CHECK: transport-invalid.mlir:[[@LINE+1]]:3: 'graph.group' is not an op of the plain graph
  graph.group() {
    graph.yield
  }
  return
}
