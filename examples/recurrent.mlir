// A recurrent network: h becomes tanh(h W + x_i) for each of 16 inputs x_i.
func.func @recurrent(%x: tensor<16x4x8xf32> {graph.name = "x"},
                     %weights: tensor<8x8xf32> {graph.name = "weights"})
    -> (tensor<4x8xf32> {graph.name = "h"}) {
  %zero = graph.constant dense<0.0> : tensor<4x8xf32>
  %h = graph.loop(%i to 16) carry(%p = %zero : tensor<4x8xf32>)
      with(%xs = %x : tensor<16x4x8xf32>, %w = %weights : tensor<8x8xf32>) {
    %0 = graph.reshape %p : tensor<4x8xf32> -> tensor<4x8x1xf32>
    %1 = graph.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x8xf32>
    %2 = graph.reshape %w : tensor<8x8xf32> -> tensor<1x8x8xf32>
    %3 = graph.expand %2 : tensor<1x8x8xf32> -> tensor<4x8x8xf32>
    %4 = graph.binary mul %1, %3 : tensor<4x8x8xf32>
    %5 = graph.reduce add %4 dims = [1] : tensor<4x8x8xf32> -> tensor<4x8xf32>
    %6 = graph.gather %xs[%i] dim = 0 : (tensor<16x4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
    %7 = graph.binary add %5, %6 : tensor<4x8xf32>
    %8 = graph.unary tanh %7 : tensor<4x8xf32>
    graph.yield %8 : tensor<4x8xf32>
  }
  return %h : tensor<4x8xf32>
}
