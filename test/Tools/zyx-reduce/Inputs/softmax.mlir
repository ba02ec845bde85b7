func.func @main(%x: tensor<12x40xf32> {graph.name = "x"}) -> (tensor<12x40xf32>, tensor<12xf32>) {
  %e = graph.unary exp %x : tensor<12x40xf32>
  %s = graph.reduce add %e dims = [1] : tensor<12x40xf32> -> tensor<12xf32>
  %r = graph.reshape %s : tensor<12xf32> -> tensor<12x1xf32>
  %b = graph.expand %r : tensor<12x1xf32> -> tensor<12x40xf32>
  %y = graph.binary div %e, %b : tensor<12x40xf32>
  %t = graph.unary tanh %s : tensor<12xf32>
  return %y, %t : tensor<12x40xf32>, tensor<12xf32>
}
