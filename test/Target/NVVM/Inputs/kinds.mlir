// A kernel of each kind, in one program.
func.func @main(%x: tensor<64x96xf32>, %h: tensor<64x96xbf16>, %i: tensor<40xi64>, %u: tensor<40x96xf32>, %d: tensor<96x33xf64>)
    -> (tensor<40x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xi64>, tensor<64x96xf32>, tensor<96xf32>, tensor<96x64xbf16>, tensor<96x33xf64>) {
  %g = graph.gather %x[%i] dim = 0 : (tensor<64x96xf32>, tensor<40xi64>) -> tensor<40x96xf32>
  %c = graph.scan add %x dim = 1 : tensor<64x96xf32>
  %t = graph.unary tanh %x : tensor<64x96xf32>
  %s = graph.sort indices %x dim = 1 : tensor<64x96xf32> -> tensor<64x96xi64>
  %w = graph.scatter add %x[%i], %u dim = 0 : (tensor<64x96xf32>, tensor<40xi64>, tensor<40x96xf32>) -> tensor<64x96xf32>
  %m = graph.reduce max %x dims = [0] : tensor<64x96xf32> -> tensor<96xf32>
  %e = graph.unary exp %h : tensor<64x96xbf16>
  %p = graph.permute %e order = [1, 0] : tensor<64x96xbf16> -> tensor<96x64xbf16>
  %q = graph.unary sin %d : tensor<96x33xf64>
  return %g, %c, %t, %s, %w, %m, %p, %q : tensor<40x96xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<64x96xi64>, tensor<64x96xf32>, tensor<96xf32>, tensor<96x64xbf16>, tensor<96x33xf64>
}
