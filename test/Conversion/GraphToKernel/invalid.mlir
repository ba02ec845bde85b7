// RUN: zyx-opt %s -split-input-file --zyx-convert-graph-to-kernel -verify-diagnostics

func.func @reshape_inside(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %y = graph.group(%a = %x : tensor<4x6xf32>) -> tensor<24xf32> {
    %0 = graph.unary exp %a : tensor<4x6xf32>
    // expected-error @+1 {{'graph.reshape' op splits or merges dimensions of a value that its group computes}}
    %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
    %2 = graph.unary neg %1 : tensor<24xf32>
    graph.yield %2 : tensor<24xf32>
  }
  return %y : tensor<24xf32>
}

// -----

func.func @gather_inside(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>, %b = %i : tensor<2xi64>) -> tensor<2xf32> {
    %0 = graph.unary exp %a : tensor<4xf32>
    // expected-error @+1 {{'graph.gather' op gathers from a value that its group computes}}
    %1 = graph.gather %0[%b] dim = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// -----

func.func @float8(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  // expected-error @+1 {{'graph.cast' op computes with 'f8E4M3FN', which kernels cannot}}
  %y = graph.cast %x : tensor<4xf8E4M3FN> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = graph.group(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @+1 {{'graph.unary' op needs a value of its group along two different axes at once}}
    %0 = graph.unary exp %a : tensor<4x4xf32>
    %1 = graph.permute %0 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %2 = graph.binary add %0, %1 : tensor<4x4xf32>
    graph.yield %2 : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----

func.func @not_of_the_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.addf' op cannot be part of a plan}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op needs a body of one block to become a plan}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
