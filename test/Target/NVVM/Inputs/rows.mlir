// Rows that are walked again, of a workgroup and of a cluster: by vectors that not all threads have, two rows at once, and
// with conditions of 64 bits.
func.func @main(%x: tensor<512x50304xbf16>, %y: tensor<512x65536xf32>, %z: tensor<512x20000xf32>, %v: tensor<512x20000xf32>, %d: tensor<512x16384xf64>, %i: tensor<512x1xi64>)
    -> (tensor<512xf32>, tensor<512x65536xf32>, tensor<512x20000xf32>, tensor<512x16384xf64>) {
  %xs = graph.cast %x : tensor<512x50304xbf16> -> tensor<512x50304xf32>
  %e = graph.unary exp %xs : tensor<512x50304xf32>
  %es = graph.reduce add %e dims = [1] : tensor<512x50304xf32> -> tensor<512xf32>
  %n = graph.iota dim = 1 : tensor<512x50304xi64>
  %is = graph.expand %i : tensor<512x1xi64> -> tensor<512x50304xi64>
  %c = graph.binary eq %n, %is : tensor<512x50304xi64>
  %zero = graph.constant dense<0.0> : tensor<512x50304xf32>
  %one = graph.select %c, %xs, %zero : tensor<512x50304xf32>
  %os = graph.reduce add %one dims = [1] : tensor<512x50304xf32> -> tensor<512xf32>
  %l = graph.unary log %es : tensor<512xf32>
  %loss = graph.binary sub %l, %os : tensor<512xf32>
  %ym = graph.reduce max %y dims = [1] : tensor<512x65536xf32> -> tensor<512xf32>
  %yr = graph.reshape %ym : tensor<512xf32> -> tensor<512x1xf32>
  %yb = graph.expand %yr : tensor<512x1xf32> -> tensor<512x65536xf32>
  %yd = graph.binary sub %y, %yb : tensor<512x65536xf32>
  %p = graph.binary mul %z, %v : tensor<512x20000xf32>
  %ps = graph.reduce add %p dims = [1] : tensor<512x20000xf32> -> tensor<512xf32>
  %pr = graph.reshape %ps : tensor<512xf32> -> tensor<512x1xf32>
  %pb = graph.expand %pr : tensor<512x1xf32> -> tensor<512x20000xf32>
  %pd = graph.binary sub %v, %pb : tensor<512x20000xf32>
  %g = graph.binary mul %z, %pd : tensor<512x20000xf32>
  %dm = graph.reduce max %d dims = [1] : tensor<512x16384xf64> -> tensor<512xf64>
  %dr = graph.reshape %dm : tensor<512xf64> -> tensor<512x1xf64>
  %db = graph.expand %dr : tensor<512x1xf64> -> tensor<512x16384xf64>
  %dd = graph.binary sub %d, %db : tensor<512x16384xf64>
  %de = graph.unary exp %dd : tensor<512x16384xf64>
  return %loss, %yd, %g, %de : tensor<512xf32>, tensor<512x65536xf32>, tensor<512x20000xf32>, tensor<512x16384xf64>
}
