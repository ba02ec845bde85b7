// y = max(x + bias, 0) in each row: one kernel.
func.func @main(%x: tensor<1024x512xf32>, %bias: tensor<512xf32>) -> tensor<1024x512xf32> {
  %zero = graph.constant dense<0.0> : tensor<1024x512xf32>
  %row = graph.reshape %bias : tensor<512xf32> -> tensor<1x512xf32>
  %rows = graph.expand %row : tensor<1x512xf32> -> tensor<1024x512xf32>
  %sum = graph.binary add %x, %rows : tensor<1024x512xf32>
  %y = graph.binary max %sum, %zero : tensor<1024x512xf32>
  return %y : tensor<1024x512xf32>
}
