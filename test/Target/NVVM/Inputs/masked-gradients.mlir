// An attention with the mask of a batch added to its scores, and its gradients.
func.func @main(%mask: tensor<2x1x1x384xbf16> {graph.name = "mask"}, %q: tensor<2x3x384x64xbf16> {graph.name = "q"}, %k: tensor<2x3x384x64xbf16> {graph.name = "k"}, %v: tensor<2x3x384x64xbf16> {graph.name = "v"}, %g: tensor<2x3x384x64xbf16> {graph.name = "g"}) -> (tensor<2x3x384x64xbf16> {graph.name = "y"}, tensor<2x3x384x64xbf16> {graph.name = "dq"}, tensor<2x3x384x64xbf16> {graph.name = "dk"}, tensor<2x3x384x64xbf16> {graph.name = "dv"}) {
  %1 = graph.cast %q : tensor<2x3x384x64xbf16> -> tensor<2x3x384x64xf32>
  %2 = graph.cast %k : tensor<2x3x384x64xbf16> -> tensor<2x3x384x64xf32>
  %3 = graph.permute %2 order = [0, 1, 3, 2] : tensor<2x3x384x64xf32> -> tensor<2x3x64x384xf32>
  %4 = graph.reshape %1 : tensor<2x3x384x64xf32> -> tensor<2x3x384x64x1xf32>
  %5 = graph.expand %4 : tensor<2x3x384x64x1xf32> -> tensor<2x3x384x64x384xf32>
  %6 = graph.reshape %3 : tensor<2x3x64x384xf32> -> tensor<2x3x1x64x384xf32>
  %7 = graph.expand %6 : tensor<2x3x1x64x384xf32> -> tensor<2x3x384x64x384xf32>
  %8 = graph.binary mul %5, %7 : tensor<2x3x384x64x384xf32>
  %9 = graph.reduce add %8 dims = [3] : tensor<2x3x384x64x384xf32> -> tensor<2x3x384x384xf32>
  %10 = graph.constant dense<0.125> : tensor<2x3x384x384xf32>
  %11 = graph.binary mul %9, %10 : tensor<2x3x384x384xf32>
  %mc = graph.cast %mask : tensor<2x1x1x384xbf16> -> tensor<2x1x1x384xf32>
  %me = graph.expand %mc : tensor<2x1x1x384xf32> -> tensor<2x3x384x384xf32>
  %masked = graph.binary add %11, %me : tensor<2x3x384x384xf32>
  %12 = graph.reduce max %masked dims = [3] : tensor<2x3x384x384xf32> -> tensor<2x3x384xf32>
  %13 = graph.reshape %12 : tensor<2x3x384xf32> -> tensor<2x3x384x1xf32>
  %14 = graph.bitcast %13 : tensor<2x3x384x1xf32> -> tensor<2x3x384x1xf32>
  %15 = graph.expand %14 : tensor<2x3x384x1xf32> -> tensor<2x3x384x384xf32>
  %64 = graph.binary sub %masked, %15 : tensor<2x3x384x384xf32>
  %17 = graph.unary exp %64 : tensor<2x3x384x384xf32>
  %18 = graph.reduce add %17 dims = [3] : tensor<2x3x384x384xf32> -> tensor<2x3x384xf32>
  %19 = graph.reshape %18 : tensor<2x3x384xf32> -> tensor<2x3x384x1xf32>
  %384 = graph.expand %19 : tensor<2x3x384x1xf32> -> tensor<2x3x384x384xf32>
  %21 = graph.binary div %17, %384 : tensor<2x3x384x384xf32>
  %22 = graph.cast %v : tensor<2x3x384x64xbf16> -> tensor<2x3x384x64xf32>
  %23 = graph.reshape %21 : tensor<2x3x384x384xf32> -> tensor<2x3x384x384x1xf32>
  %24 = graph.expand %23 : tensor<2x3x384x384x1xf32> -> tensor<2x3x384x384x64xf32>
  %25 = graph.reshape %22 : tensor<2x3x384x64xf32> -> tensor<2x3x1x384x64xf32>
  %26 = graph.expand %25 : tensor<2x3x1x384x64xf32> -> tensor<2x3x384x384x64xf32>
  %27 = graph.binary mul %24, %26 : tensor<2x3x384x384x64xf32>
  %28 = graph.reduce add %27 dims = [3] : tensor<2x3x384x384x64xf32> -> tensor<2x3x384x64xf32>
  %29 = graph.cast %28 : tensor<2x3x384x64xf32> -> tensor<2x3x384x64xbf16>
  %30 = graph.cast %g : tensor<2x3x384x64xbf16> -> tensor<2x3x384x64xf32>
  %31 = graph.reshape %30 : tensor<2x3x384x64xf32> -> tensor<2x3x384x1x64xf32>
  %32 = graph.expand %31 : tensor<2x3x384x1x64xf32> -> tensor<2x3x384x384x64xf32>
  %33 = graph.binary mul %32, %26 : tensor<2x3x384x384x64xf32>
  %34 = graph.reduce add %33 dims = [4] : tensor<2x3x384x384x64xf32> -> tensor<2x3x384x384xf32>
  %35 = graph.binary mul %32, %24 : tensor<2x3x384x384x64xf32>
  %36 = graph.reduce add %35 dims = [2] : tensor<2x3x384x384x64xf32> -> tensor<2x3x384x64xf32>
  %37 = graph.cast %36 : tensor<2x3x384x64xf32> -> tensor<2x3x384x64xbf16>
  %38 = graph.binary div %34, %384 : tensor<2x3x384x384xf32>
  %39 = graph.binary mul %38, %21 : tensor<2x3x384x384xf32>
  %40 = graph.unary neg %39 : tensor<2x3x384x384xf32>
  %41 = graph.reduce add %40 dims = [3] : tensor<2x3x384x384xf32> -> tensor<2x3x384xf32>
  %42 = graph.reshape %41 : tensor<2x3x384xf32> -> tensor<2x3x384x1xf32>
  %43 = graph.expand %42 : tensor<2x3x384x1xf32> -> tensor<2x3x384x384xf32>
  %44 = graph.binary add %38, %43 : tensor<2x3x384x384xf32>
  %45 = graph.binary mul %44, %17 : tensor<2x3x384x384xf32>
  %46 = graph.constant dense<0.125> : tensor<2x3x384x384xf32>
  %47 = graph.binary mul %45, %46 : tensor<2x3x384x384xf32>
  %48 = graph.reshape %47 : tensor<2x3x384x384xf32> -> tensor<2x3x384x1x384xf32>
  %49 = graph.expand %48 : tensor<2x3x384x1x384xf32> -> tensor<2x3x384x64x384xf32>
  %50 = graph.binary mul %49, %7 : tensor<2x3x384x64x384xf32>
  %51 = graph.reduce add %50 dims = [4] : tensor<2x3x384x64x384xf32> -> tensor<2x3x384x64xf32>
  %52 = graph.cast %51 : tensor<2x3x384x64xf32> -> tensor<2x3x384x64xbf16>
  %53 = graph.binary mul %49, %5 : tensor<2x3x384x64x384xf32>
  %54 = graph.reduce add %53 dims = [2] : tensor<2x3x384x64x384xf32> -> tensor<2x3x64x384xf32>
  %55 = graph.permute %54 order = [0, 1, 3, 2] : tensor<2x3x64x384xf32> -> tensor<2x3x384x64xf32>
  %56 = graph.cast %55 : tensor<2x3x384x64xf32> -> tensor<2x3x384x64xbf16>
  return %29, %52, %56, %37 : tensor<2x3x384x64xbf16>, tensor<2x3x384x64xbf16>, tensor<2x3x384x64xbf16>, tensor<2x3x384x64xbf16>
}
