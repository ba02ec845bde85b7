func.func @main(%q: tensor<4x32x2x192xf32>, %k: tensor<4x32x2049x192xf32>, %v: tensor<4x32x2049x192xf32>) -> tensor<4x32x2x192xf32> {
  %0 = graph.reshape %q : tensor<4x32x2x192xf32> -> tensor<4x32x2x1x192xf32>
  %1 = graph.expand %0 : tensor<4x32x2x1x192xf32> -> tensor<4x32x2x2049x192xf32>
  %2 = graph.reshape %k : tensor<4x32x2049x192xf32> -> tensor<4x32x1x2049x192xf32>
  %3 = graph.expand %2 : tensor<4x32x1x2049x192xf32> -> tensor<4x32x2x2049x192xf32>
  %4 = graph.binary mul %1, %3 : tensor<4x32x2x2049x192xf32>
  %5 = graph.reduce add %4 dims = [4] : tensor<4x32x2x2049x192xf32> -> tensor<4x32x2x2049xf32>
  %6 = graph.reduce max %5 dims = [3] : tensor<4x32x2x2049xf32> -> tensor<4x32x2xf32>
  %7 = graph.reshape %6 : tensor<4x32x2xf32> -> tensor<4x32x2x1xf32>
  %8 = graph.expand %7 : tensor<4x32x2x1xf32> -> tensor<4x32x2x2049xf32>
  %9 = graph.binary sub %5, %8 : tensor<4x32x2x2049xf32>
  %10 = graph.unary exp %9 : tensor<4x32x2x2049xf32>
  %11 = graph.reduce add %10 dims = [3] : tensor<4x32x2x2049xf32> -> tensor<4x32x2xf32>
  %12 = graph.reshape %11 : tensor<4x32x2xf32> -> tensor<4x32x2x1xf32>
  %13 = graph.expand %12 : tensor<4x32x2x1xf32> -> tensor<4x32x2x2049xf32>
  %14 = graph.binary div %10, %13 : tensor<4x32x2x2049xf32>
  %15 = graph.reshape %14 : tensor<4x32x2x2049xf32> -> tensor<4x32x2x2049x1xf32>
  %16 = graph.expand %15 : tensor<4x32x2x2049x1xf32> -> tensor<4x32x2x2049x192xf32>
  %17 = graph.reshape %v : tensor<4x32x2049x192xf32> -> tensor<4x32x1x2049x192xf32>
  %18 = graph.expand %17 : tensor<4x32x1x2049x192xf32> -> tensor<4x32x2x2049x192xf32>
  %19 = graph.binary mul %16, %18 : tensor<4x32x2x2049x192xf32>
  %20 = graph.reduce add %19 dims = [3] : tensor<4x32x2x2049x192xf32> -> tensor<4x32x2x192xf32>
  return %20 : tensor<4x32x2x192xf32>
}
