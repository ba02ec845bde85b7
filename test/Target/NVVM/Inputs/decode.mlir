func.func @main(%q: tensor<70x8x1x128xbf16> {graph.name = "q"}, %keys: tensor<70x2x128x128xbf16> {graph.name = "keys"}, %values: tensor<70x2x128x128xbf16> {graph.name = "values"}, %k: tensor<70x2x1x128xbf16> {graph.name = "k"}, %v: tensor<70x2x1x128xbf16> {graph.name = "v"}) -> (tensor<70x8x1x128xbf16> {graph.name = "y"}, tensor<70x2x129x128xbf16> {graph.name = "keys"}, tensor<70x2x129x128xbf16> {graph.name = "values"}) {
  %v1 = graph.concat %keys, %k dim = 2 : (tensor<70x2x128x128xbf16>, tensor<70x2x1x128xbf16>) -> tensor<70x2x129x128xbf16>
  %v2 = graph.concat %values, %v dim = 2 : (tensor<70x2x128x128xbf16>, tensor<70x2x1x128xbf16>) -> tensor<70x2x129x128xbf16>
  %v3 = graph.reshape %v1 : tensor<70x2x129x128xbf16> -> tensor<70x2x1x129x128xbf16>
  %v4 = graph.expand %v3 : tensor<70x2x1x129x128xbf16> -> tensor<70x2x4x129x128xbf16>
  %v5 = graph.reshape %v4 : tensor<70x2x4x129x128xbf16> -> tensor<70x8x129x128xbf16>
  %v6 = graph.reshape %v2 : tensor<70x2x129x128xbf16> -> tensor<70x2x1x129x128xbf16>
  %v7 = graph.expand %v6 : tensor<70x2x1x129x128xbf16> -> tensor<70x2x4x129x128xbf16>
  %v8 = graph.reshape %v7 : tensor<70x2x4x129x128xbf16> -> tensor<70x8x129x128xbf16>
  %v9 = graph.cast %q : tensor<70x8x1x128xbf16> -> tensor<70x8x1x128xf32>
  %v10 = graph.cast %v5 : tensor<70x8x129x128xbf16> -> tensor<70x8x129x128xf32>
  %v11 = graph.permute %v10 order = [0, 1, 3, 2] : tensor<70x8x129x128xf32> -> tensor<70x8x128x129xf32>
  %v12 = graph.reshape %v9 : tensor<70x8x1x128xf32> -> tensor<70x8x1x128x1xf32>
  %v13 = graph.expand %v12 : tensor<70x8x1x128x1xf32> -> tensor<70x8x1x128x129xf32>
  %v14 = graph.reshape %v11 : tensor<70x8x128x129xf32> -> tensor<70x8x1x128x129xf32>
  %v15 = graph.binary mul %v13, %v14 : tensor<70x8x1x128x129xf32>
  %v16 = graph.reduce add %v15 dims = [3] : tensor<70x8x1x128x129xf32> -> tensor<70x8x1x129xf32>
  %v17 = graph.constant dense<0.125> : tensor<70x8x1x129xf32>
  %v18 = graph.binary mul %v16, %v17 : tensor<70x8x1x129xf32>
  %v19 = graph.reduce max %v18 dims = [3] : tensor<70x8x1x129xf32> -> tensor<70x8x1xf32>
  %v20 = graph.reshape %v19 : tensor<70x8x1xf32> -> tensor<70x8x1x1xf32>
  %v21 = graph.expand %v20 : tensor<70x8x1x1xf32> -> tensor<70x8x1x129xf32>
  %v22 = graph.binary sub %v18, %v21 : tensor<70x8x1x129xf32>
  %v23 = graph.unary exp %v22 : tensor<70x8x1x129xf32>
  %v24 = graph.reduce add %v23 dims = [3] : tensor<70x8x1x129xf32> -> tensor<70x8x1xf32>
  %v25 = graph.reshape %v24 : tensor<70x8x1xf32> -> tensor<70x8x1x1xf32>
  %v26 = graph.expand %v25 : tensor<70x8x1x1xf32> -> tensor<70x8x1x129xf32>
  %v27 = graph.binary div %v23, %v26 : tensor<70x8x1x129xf32>
  %v28 = graph.cast %v27 : tensor<70x8x1x129xf32> -> tensor<70x8x1x129xbf16>
  %v29 = graph.cast %v28 : tensor<70x8x1x129xbf16> -> tensor<70x8x1x129xf32>
  %v30 = graph.cast %v8 : tensor<70x8x129x128xbf16> -> tensor<70x8x129x128xf32>
  %v31 = graph.reshape %v29 : tensor<70x8x1x129xf32> -> tensor<70x8x1x129x1xf32>
  %v32 = graph.expand %v31 : tensor<70x8x1x129x1xf32> -> tensor<70x8x1x129x128xf32>
  %v33 = graph.reshape %v30 : tensor<70x8x129x128xf32> -> tensor<70x8x1x129x128xf32>
  %v34 = graph.binary mul %v32, %v33 : tensor<70x8x1x129x128xf32>
  %v35 = graph.reduce add %v34 dims = [3] : tensor<70x8x1x129x128xf32> -> tensor<70x8x1x128xf32>
  %v36 = graph.cast %v35 : tensor<70x8x1x128xf32> -> tensor<70x8x1x128xbf16>
  return %v36, %v1, %v2 : tensor<70x8x1x128xbf16>, tensor<70x2x129x128xbf16>, tensor<70x2x129x128xbf16>
}
