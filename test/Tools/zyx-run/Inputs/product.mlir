// A product of matrices: several schedules, of which any may be the best.
func.func @product(%a: tensor<96x80xf32> {graph.name = "a"}, %b: tensor<80x128xf32> {graph.name = "b"})
    -> (tensor<96x128xf32> {graph.name = "c"}) {
  %0 = graph.reshape %a : tensor<96x80xf32> -> tensor<96x80x1xf32>
  %1 = graph.expand %0 : tensor<96x80x1xf32> -> tensor<96x80x128xf32>
  %2 = graph.reshape %b : tensor<80x128xf32> -> tensor<1x80x128xf32>
  %3 = graph.expand %2 : tensor<1x80x128xf32> -> tensor<96x80x128xf32>
  %4 = graph.binary mul %1, %3 : tensor<96x80x128xf32>
  %c = graph.reduce add %4 dims = [1] : tensor<96x80x128xf32> -> tensor<96x128xf32>
  return %c : tensor<96x128xf32>
}
