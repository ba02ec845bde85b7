func.func @main(%q: tensor<1x32x1x128xbf16> {graph.name = "q"}, %keys: tensor<1x8x2048x128xbf16> {graph.name = "keys"}, %values: tensor<1x8x2048x128xbf16> {graph.name = "values"}, %mask: tensor<1x1x1x2048xi1> {graph.name = "mask"}) -> (tensor<1x32x1x128xbf16> {graph.name = "y"}) {
  %v1 = graph.reshape %keys : tensor<1x8x2048x128xbf16> -> tensor<1x8x1x2048x128xbf16>
  %v2 = graph.expand %v1 : tensor<1x8x1x2048x128xbf16> -> tensor<1x8x4x2048x128xbf16>
  %v3 = graph.reshape %v2 : tensor<1x8x4x2048x128xbf16> -> tensor<1x32x2048x128xbf16>
  %v4 = graph.reshape %values : tensor<1x8x2048x128xbf16> -> tensor<1x8x1x2048x128xbf16>
  %v5 = graph.expand %v4 : tensor<1x8x1x2048x128xbf16> -> tensor<1x8x4x2048x128xbf16>
  %v6 = graph.reshape %v5 : tensor<1x8x4x2048x128xbf16> -> tensor<1x32x2048x128xbf16>
  %v7 = graph.cast %q : tensor<1x32x1x128xbf16> -> tensor<1x32x1x128xf32>
  %v8 = graph.cast %v3 : tensor<1x32x2048x128xbf16> -> tensor<1x32x2048x128xf32>
  %v9 = graph.permute %v8 order = [0, 1, 3, 2] : tensor<1x32x2048x128xf32> -> tensor<1x32x128x2048xf32>
  %v10 = graph.reshape %v7 : tensor<1x32x1x128xf32> -> tensor<1x32x1x128x1xf32>
  %v11 = graph.expand %v10 : tensor<1x32x1x128x1xf32> -> tensor<1x32x1x128x2048xf32>
  %v12 = graph.reshape %v9 : tensor<1x32x128x2048xf32> -> tensor<1x32x1x128x2048xf32>
  %v13 = graph.binary mul %v11, %v12 : tensor<1x32x1x128x2048xf32>
  %v14 = graph.reduce add %v13 dims = [3] : tensor<1x32x1x128x2048xf32> -> tensor<1x32x1x2048xf32>
  %v15 = graph.constant dense<0.125> : tensor<1x32x1x2048xf32>
  %v16 = graph.binary mul %v14, %v15 : tensor<1x32x1x2048xf32>
  %v17 = graph.expand %mask : tensor<1x1x1x2048xi1> -> tensor<1x32x1x2048xi1>
  %v18 = graph.constant dense<0xFF800000> : tensor<1x32x1x2048xf32>
  %v19 = graph.select %v17, %v16, %v18 : tensor<1x32x1x2048xf32>
  %v20 = graph.reduce max %v19 dims = [3] : tensor<1x32x1x2048xf32> -> tensor<1x32x1xf32>
  %v21 = graph.reshape %v20 : tensor<1x32x1xf32> -> tensor<1x32x1x1xf32>
  %v22 = graph.expand %v21 : tensor<1x32x1x1xf32> -> tensor<1x32x1x2048xf32>
  %v23 = graph.binary sub %v19, %v22 : tensor<1x32x1x2048xf32>
  %v24 = graph.unary exp %v23 : tensor<1x32x1x2048xf32>
  %v25 = graph.reduce add %v24 dims = [3] : tensor<1x32x1x2048xf32> -> tensor<1x32x1xf32>
  %v26 = graph.reshape %v25 : tensor<1x32x1xf32> -> tensor<1x32x1x1xf32>
  %v27 = graph.expand %v26 : tensor<1x32x1x1xf32> -> tensor<1x32x1x2048xf32>
  %v28 = graph.binary div %v24, %v27 : tensor<1x32x1x2048xf32>
  %v29 = graph.cast %v28 : tensor<1x32x1x2048xf32> -> tensor<1x32x1x2048xbf16>
  %v30 = graph.cast %v29 : tensor<1x32x1x2048xbf16> -> tensor<1x32x1x2048xf32>
  %v31 = graph.cast %v6 : tensor<1x32x2048x128xbf16> -> tensor<1x32x2048x128xf32>
  %v32 = graph.reshape %v30 : tensor<1x32x1x2048xf32> -> tensor<1x32x1x2048x1xf32>
  %v33 = graph.expand %v32 : tensor<1x32x1x2048x1xf32> -> tensor<1x32x1x2048x128xf32>
  %v34 = graph.reshape %v31 : tensor<1x32x2048x128xf32> -> tensor<1x32x1x2048x128xf32>
  %v35 = graph.binary mul %v33, %v34 : tensor<1x32x1x2048x128xf32>
  %v36 = graph.reduce add %v35 dims = [3] : tensor<1x32x1x2048x128xf32> -> tensor<1x32x1x128xf32>
  %v37 = graph.cast %v36 : tensor<1x32x1x128xf32> -> tensor<1x32x1x128xbf16>
  return %v37 : tensor<1x32x1x128xbf16>
}
