func.func @main(%x: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %m = graph.reduce max %x dims = [1] : tensor<256x1024xf32> -> tensor<256xf32>
  %mr = graph.reshape %m : tensor<256xf32> -> tensor<256x1xf32>
  %me = graph.expand %mr : tensor<256x1xf32> -> tensor<256x1024xf32>
  %d = graph.binary sub %x, %me : tensor<256x1024xf32>
  %e = graph.unary exp %d : tensor<256x1024xf32>
  %s = graph.reduce add %e dims = [1] : tensor<256x1024xf32> -> tensor<256xf32>
  %sr = graph.reshape %s : tensor<256xf32> -> tensor<256x1xf32>
  %se = graph.expand %sr : tensor<256x1xf32> -> tensor<256x1024xf32>
  %y = graph.binary div %e, %se : tensor<256x1024xf32>
  return %y : tensor<256x1024xf32>
}
