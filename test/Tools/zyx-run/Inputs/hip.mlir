func.func @add(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %p = graph.binary mul %x, %y : tensor<64x1024xf32>
  %s = graph.binary add %p, %x : tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}
