// RUN: zyx-opt %s --split-input-file --verify-diagnostics --zyx-fusion-form-groups

func.func @concat(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{is in no group: -zyx-fusion-decompose-movement writes it with ops that are}}
  %0 = graph.concat %x, %x dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @random(%seed: tensor<ui64>) -> tensor<4xui32> {
  // expected-error@+1 {{is in no group: -zyx-fusion-expand-random-bits computes it with ops that are}}
  %0 = graph.random_bits %seed : tensor<ui64> -> tensor<4xui32>
  return %0 : tensor<4xui32>
}

// -----

func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{groups are formed of graph ops, of which this is none}}
  %0 = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
    %1 = graph.unary exp %p : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
