// One pass over memory.
func.func @main(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %z = graph.binary add %x, %y : tensor<1024x1024xf32>
  return %z : tensor<1024x1024xf32>
}
