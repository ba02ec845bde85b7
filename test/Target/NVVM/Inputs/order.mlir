// Scans, sorts and scatters that workgroups walk: rounds that are not whole, columns, tiles that are merged in memory.
func.func @main(%x: tensor<4x5000xf32>, %y: tensor<2x700x5xf16>, %z: tensor<8192xi32>, %a: tensor<2x20000xf32>,
                %b: tensor<4x1000xbf16>, %c: tensor<2x20000xf64>, %d: tensor<5000x768xf32>, %i: tensor<100xi64>,
                %u: tensor<100x768xf32>, %h: tensor<16xi32>, %j: tensor<9999xui8>, %v: tensor<9999xi32>)
    -> (tensor<4x5000xf32>, tensor<2x700x5xf16>, tensor<8192xi32>, tensor<2x20000xi64>, tensor<4x1000xbf16>, tensor<2x20000xf64>,
        tensor<5000x768xf32>, tensor<16xi32>) {
  %0 = graph.scan add %x dim = 1 exclusive reverse : tensor<4x5000xf32>
  %1 = graph.scan mul %y dim = 1 : tensor<2x700x5xf16>
  %2 = graph.scan max %z dim = 0 : tensor<8192xi32>
  %3 = graph.sort indices %a dim = 1 descending : tensor<2x20000xf32> -> tensor<2x20000xi64>
  %4 = graph.sort values %b dim = 1 : tensor<4x1000xbf16> -> tensor<4x1000xbf16>
  %5 = graph.sort values %c dim = 1 : tensor<2x20000xf64> -> tensor<2x20000xf64>
  %6 = graph.scatter add %d[%i], %u dim = 0 : (tensor<5000x768xf32>, tensor<100xi64>, tensor<100x768xf32>) -> tensor<5000x768xf32>
  %7 = graph.scatter set %h[%j], %v dim = 0 : (tensor<16xi32>, tensor<9999xui8>, tensor<9999xi32>) -> tensor<16xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4x5000xf32>, tensor<2x700x5xf16>, tensor<8192xi32>, tensor<2x20000xi64>,
      tensor<4x1000xbf16>, tensor<2x20000xf64>, tensor<5000x768xf32>, tensor<16xi32>
}
