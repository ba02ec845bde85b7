func.func @main(%x: tensor<4xbf16> {graph.name = "x"}) -> (tensor<4xbf16> {graph.name = "y"}) {
  %y = graph.binary add %x, %x : tensor<4xbf16>
  return %y : tensor<4xbf16>
}
