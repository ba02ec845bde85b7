// A matrix product with a bias and a ReLU: one kernel.
func.func @main(%x: tensor<96x256xf32>, %w: tensor<256x64xf32>, %b: tensor<64xf32>) -> tensor<96x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<96x64xf32>
  %wt = graph.permute %w order = [1, 0] : tensor<256x64xf32> -> tensor<64x256xf32>
  %x1 = graph.reshape %x : tensor<96x256xf32> -> tensor<96x1x256xf32>
  %w1 = graph.reshape %wt : tensor<64x256xf32> -> tensor<1x64x256xf32>
  %x2 = graph.expand %x1 : tensor<96x1x256xf32> -> tensor<96x64x256xf32>
  %w2 = graph.expand %w1 : tensor<1x64x256xf32> -> tensor<96x64x256xf32>
  %p = graph.binary mul %x2, %w2 : tensor<96x64x256xf32>
  %s = graph.reduce add %p dims = [2] : tensor<96x64x256xf32> -> tensor<96x64xf32>
  %b1 = graph.reshape %b : tensor<64xf32> -> tensor<1x64xf32>
  %b2 = graph.expand %b1 : tensor<1x64xf32> -> tensor<96x64xf32>
  %t = graph.binary add %s, %b2 : tensor<96x64xf32>
  %y = graph.binary max %t, %zero : tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}
