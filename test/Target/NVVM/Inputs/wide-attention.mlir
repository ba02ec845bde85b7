func.func @main(%q: tensor<4x12x577x64xf32> {graph.name = "q"}, %keys: tensor<4x12x577x64xf32> {graph.name = "keys"}, %values: tensor<4x12x577x64xf32> {graph.name = "values"}) -> (tensor<4x12x577x64xf32> {graph.name = "y"}) {
  %v1 = graph.permute %keys order = [0, 1, 3, 2] : tensor<4x12x577x64xf32> -> tensor<4x12x64x577xf32>
  %v2 = graph.reshape %q : tensor<4x12x577x64xf32> -> tensor<4x12x577x64x1xf32>
  %v3 = graph.expand %v2 : tensor<4x12x577x64x1xf32> -> tensor<4x12x577x64x577xf32>
  %v4 = graph.reshape %v1 : tensor<4x12x64x577xf32> -> tensor<4x12x1x64x577xf32>
  %v5 = graph.expand %v4 : tensor<4x12x1x64x577xf32> -> tensor<4x12x577x64x577xf32>
  %v6 = graph.binary mul %v3, %v5 : tensor<4x12x577x64x577xf32>
  %v7 = graph.reduce add %v6 dims = [3] : tensor<4x12x577x64x577xf32> -> tensor<4x12x577x577xf32>
  %v8 = graph.constant dense<0.125> : tensor<4x12x577x577xf32>
  %v9 = graph.binary mul %v7, %v8 : tensor<4x12x577x577xf32>
  %v10 = graph.iota dim = 3 : tensor<4x12x577x577xi64>
  %v11 = graph.iota dim = 2 : tensor<4x12x577x577xi64>
  %v12 = graph.binary le %v10, %v11 : tensor<4x12x577x577xi64>
  %v13 = graph.constant dense<0xFF800000> : tensor<4x12x577x577xf32>
  %v14 = graph.select %v12, %v9, %v13 : tensor<4x12x577x577xf32>
  %v15 = graph.reduce max %v14 dims = [3] : tensor<4x12x577x577xf32> -> tensor<4x12x577xf32>
  %v16 = graph.reshape %v15 : tensor<4x12x577xf32> -> tensor<4x12x577x1xf32>
  %v17 = graph.expand %v16 : tensor<4x12x577x1xf32> -> tensor<4x12x577x577xf32>
  %v18 = graph.binary sub %v14, %v17 : tensor<4x12x577x577xf32>
  %v19 = graph.unary exp %v18 : tensor<4x12x577x577xf32>
  %v20 = graph.reduce add %v19 dims = [3] : tensor<4x12x577x577xf32> -> tensor<4x12x577xf32>
  %v21 = graph.reshape %v20 : tensor<4x12x577xf32> -> tensor<4x12x577x1xf32>
  %v22 = graph.expand %v21 : tensor<4x12x577x1xf32> -> tensor<4x12x577x577xf32>
  %v23 = graph.binary div %v19, %v22 : tensor<4x12x577x577xf32>
  %v24 = graph.reshape %v23 : tensor<4x12x577x577xf32> -> tensor<4x12x577x577x1xf32>
  %v25 = graph.expand %v24 : tensor<4x12x577x577x1xf32> -> tensor<4x12x577x577x64xf32>
  %v26 = graph.reshape %values : tensor<4x12x577x64xf32> -> tensor<4x12x1x577x64xf32>
  %v27 = graph.expand %v26 : tensor<4x12x1x577x64xf32> -> tensor<4x12x577x577x64xf32>
  %v28 = graph.binary mul %v25, %v27 : tensor<4x12x577x577x64xf32>
  %v29 = graph.reduce add %v28 dims = [3] : tensor<4x12x577x577x64xf32> -> tensor<4x12x577x64xf32>
  return %v29 : tensor<4x12x577x64xf32>
}
