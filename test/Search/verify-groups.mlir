// RUN: zyx-opt %s --split-input-file --verify-diagnostics --zyx-search-verify-groups

func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{computes outside of a group}}
  %0 = graph.unary exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @two_spaces(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  // expected-error@+1 {{is no kernel: its reductions keep different axes}}
  %0:2 = graph.group(%p = %x : tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
    %r = graph.reduce add %p dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
    %c = graph.reduce add %p dims = [0] : tensor<4x8xf32> -> tensor<8xf32>
    graph.yield %r, %c : tensor<4xf32>, tensor<8xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xf32>
}

// -----

// A parameter may stand alone, and an iota be seen through unit dimensions.
func.func @fine() -> tensor<4x8xi32> {
  %w = graph.parameter "w" : tensor<32xi32>
  %0 = graph.group(%p = %w : tensor<32xi32>) -> tensor<4x8xi32> {
    %v = graph.reshape %p : tensor<32xi32> -> tensor<4x8xi32>
    %i = graph.iota dim = 0 : tensor<8xi32>
    %i1 = graph.reshape %i : tensor<8xi32> -> tensor<1x8xi32>
    %i2 = graph.expand %i1 : tensor<1x8xi32> -> tensor<4x8xi32>
    %y = graph.binary add %v, %i2 : tensor<4x8xi32>
    graph.yield %y : tensor<4x8xi32>
  }
  return %0 : tensor<4x8xi32>
}

// -----

func.func @iota() -> tensor<4x8xi32> {
  // expected-error@+1 {{is no kernel: a reshape of a computed value changes more than unit dimensions}}
  %0 = graph.group() -> tensor<4x8xi32> {
    %i = graph.iota dim = 0 : tensor<32xi32>
    %v = graph.reshape %i : tensor<32xi32> -> tensor<4x8xi32>
    %y = graph.unary neg %v : tensor<4x8xi32>
    graph.yield %y : tensor<4x8xi32>
  }
  return %0 : tensor<4x8xi32>
}

// -----

func.func @order(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is no kernel: a scan, sort or scatter is a kernel of its own}}
  %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %s = graph.scan add %a dim = 0 : tensor<4xf32>
    %y = graph.unary neg %s : tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @flip(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is no kernel: a flip, pad or window reads what the same kernel computes}}
  %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %e = graph.unary exp %a : tensor<4xf32>
    %f = graph.flip %e dims = [0] : tensor<4xf32>
    %y = graph.unary neg %f : tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @concat(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{is no kernel: an op is left that is taken apart before groups are formed}}
  %0 = graph.group(%a = %x : tensor<4xf32>) -> tensor<8xf32> {
    %y = graph.concat %a, %a dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
