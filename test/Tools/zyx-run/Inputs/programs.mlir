func.func @double(%x: tensor<2x3xf32> {graph.name = "x"}) -> (tensor<2x3xf32> {graph.name = "y"}) {
  %y = graph.binary add %x, %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @two(%x: tensor<3xi64> {graph.name = "x"}, %c: tensor<3xi1> {graph.name = "c"})
    -> (tensor<3xi64> {graph.name = "chosen"}, tensor<i64> {graph.name = "sum"}) {
  %w = graph.parameter "w" : tensor<3xi64>
  %chosen = graph.select %c, %x, %w : tensor<3xi64>
  %sum = graph.reduce add %chosen dims = [0] : tensor<3xi64> -> tensor<i64>
  return %chosen, %sum : tensor<3xi64>, tensor<i64>
}

func.func @any(%x: tensor<?x3xf32, #graph.extents<"n", "3">> {graph.name = "x"})
    -> (tensor<?xf32, #graph.extents<"3*n">> {graph.name = "y"}) {
  %0 = graph.binary add %x, %x : tensor<?x3xf32, #graph.extents<"n", "3">>
  %y = graph.reshape %0 : tensor<?x3xf32, #graph.extents<"n", "3">> -> tensor<?xf32, #graph.extents<"3*n">>
  return %y : tensor<?xf32, #graph.extents<"3*n">>
}
