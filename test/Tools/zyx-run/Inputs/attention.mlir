// softmax(q k^T / 8) v, of one head.
func.func @attention(%q: tensor<37x64xf32> {graph.name = "q"}, %k: tensor<50x64xf32> {graph.name = "k"},
                     %v: tensor<50x64xf32> {graph.name = "v"}) -> (tensor<37x64xf32> {graph.name = "y"}) {
  %q_row = graph.reshape %q : tensor<37x64xf32> -> tensor<37x1x64xf32>
  %q_all = graph.expand %q_row : tensor<37x1x64xf32> -> tensor<37x50x64xf32>
  %k_row = graph.reshape %k : tensor<50x64xf32> -> tensor<1x50x64xf32>
  %k_all = graph.expand %k_row : tensor<1x50x64xf32> -> tensor<37x50x64xf32>
  %products = graph.binary mul %q_all, %k_all : tensor<37x50x64xf32>
  %scores = graph.reduce add %products dims = [2] : tensor<37x50x64xf32> -> tensor<37x50xf32>
  %eighth = graph.constant dense<0.125> : tensor<37x50xf32>
  %scaled = graph.binary mul %scores, %eighth : tensor<37x50xf32>

  %max = graph.reduce max %scaled dims = [1] : tensor<37x50xf32> -> tensor<37xf32>
  %max_column = graph.reshape %max : tensor<37xf32> -> tensor<37x1xf32>
  %max_all = graph.expand %max_column : tensor<37x1xf32> -> tensor<37x50xf32>
  %centred = graph.binary sub %scaled, %max_all : tensor<37x50xf32>
  %powers = graph.unary exp %centred : tensor<37x50xf32>
  %sum = graph.reduce add %powers dims = [1] : tensor<37x50xf32> -> tensor<37xf32>
  %sum_column = graph.reshape %sum : tensor<37xf32> -> tensor<37x1xf32>
  %sum_all = graph.expand %sum_column : tensor<37x1xf32> -> tensor<37x50xf32>
  %weights = graph.binary div %powers, %sum_all : tensor<37x50xf32>

  %w_column = graph.reshape %weights : tensor<37x50xf32> -> tensor<37x50x1xf32>
  %w_all = graph.expand %w_column : tensor<37x50x1xf32> -> tensor<37x50x64xf32>
  %v_row = graph.reshape %v : tensor<50x64xf32> -> tensor<1x50x64xf32>
  %v_all = graph.expand %v_row : tensor<1x50x64xf32> -> tensor<37x50x64xf32>
  %weighted = graph.binary mul %w_all, %v_all : tensor<37x50x64xf32>
  %y = graph.reduce add %weighted dims = [1] : tensor<37x50x64xf32> -> tensor<37x64xf32>
  return %y : tensor<37x64xf32>
}
