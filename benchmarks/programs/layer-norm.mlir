func.func @main(%x: tensor<256x1024xf32>, %gamma: tensor<1024xf32>, %beta: tensor<1024xf32>)
    -> tensor<256x1024xf32> {
  %n = graph.constant dense<1024.0> : tensor<256xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<256xf32>
  %sum = graph.reduce add %x dims = [1] : tensor<256x1024xf32> -> tensor<256xf32>
  %mean = graph.binary div %sum, %n : tensor<256xf32>
  %mr = graph.reshape %mean : tensor<256xf32> -> tensor<256x1xf32>
  %me = graph.expand %mr : tensor<256x1xf32> -> tensor<256x1024xf32>
  %d = graph.binary sub %x, %me : tensor<256x1024xf32>
  %dd = graph.binary mul %d, %d : tensor<256x1024xf32>
  %squares = graph.reduce add %dd dims = [1] : tensor<256x1024xf32> -> tensor<256xf32>
  %variance = graph.binary div %squares, %n : tensor<256xf32>
  %v = graph.binary add %variance, %eps : tensor<256xf32>
  %r = graph.unary rsqrt %v : tensor<256xf32>
  %rr = graph.reshape %r : tensor<256xf32> -> tensor<256x1xf32>
  %re = graph.expand %rr : tensor<256x1xf32> -> tensor<256x1024xf32>
  %u = graph.binary mul %d, %re : tensor<256x1024xf32>
  %gr = graph.reshape %gamma : tensor<1024xf32> -> tensor<1x1024xf32>
  %ge = graph.expand %gr : tensor<1x1024xf32> -> tensor<256x1024xf32>
  %br = graph.reshape %beta : tensor<1024xf32> -> tensor<1x1024xf32>
  %be = graph.expand %br : tensor<1x1024xf32> -> tensor<256x1024xf32>
  %g = graph.binary mul %u, %ge : tensor<256x1024xf32>
  %y = graph.binary add %g, %be : tensor<256x1024xf32>
  return %y : tensor<256x1024xf32>
}
