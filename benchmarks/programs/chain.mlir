// Ten element-wise ops that are one kernel.
func.func @main(%x: tensor<256x1024xf32>, %y: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %half = graph.constant dense<0.5> : tensor<256x1024xf32>
  %one = graph.constant dense<1.0> : tensor<256x1024xf32>
  %three = graph.constant dense<3.0> : tensor<256x1024xf32>
  %eight = graph.constant dense<8.0> : tensor<256x1024xf32>
  %0 = graph.binary add %x, %y : tensor<256x1024xf32>
  %1 = graph.unary abs %0 : tensor<256x1024xf32>
  %2 = graph.binary mul %1, %half : tensor<256x1024xf32>
  %3 = graph.binary add %2, %one : tensor<256x1024xf32>
  %4 = graph.unary sqrt %3 : tensor<256x1024xf32>
  %5 = graph.unary exp %4 : tensor<256x1024xf32>
  %6 = graph.binary max %5, %three : tensor<256x1024xf32>
  %7 = graph.binary min %6, %eight : tensor<256x1024xf32>
  %8 = graph.binary mul %7, %7 : tensor<256x1024xf32>
  %9 = graph.binary mul %8, %y : tensor<256x1024xf32>
  return %9 : tensor<256x1024xf32>
}
