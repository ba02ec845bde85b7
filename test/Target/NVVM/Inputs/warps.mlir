// Products by warps.
func.func @main(%arg0: tensor<256x256xf16>, %arg1: tensor<512x256xf16>, %arg2: tensor<256x256xf16>, %arg3: tensor<256x512xf16>, %arg4: tensor<200x256xf16>, %arg5: tensor<200x512xf16>, %arg6: tensor<3x256x136xf16>, %arg7: tensor<3x72x256xf16>, %arg8: tensor<256x256xi8>, %arg9: tensor<256x256xi8>, %arg10: tensor<8x1024xbf16>, %arg11: tensor<512x1024xbf16>) -> (tensor<256x512xf16>, tensor<256x512xf16>, tensor<256x512xf32>, tensor<3x136x72xf16>, tensor<256x256xi32>, tensor<8x512xbf16>) {
  // f16 in every layout: Turing has these.
  %1 = graph.reshape %arg0 : tensor<256x256xf16> -> tensor<256x1x256xf16>
  %2 = graph.expand %1 : tensor<256x1x256xf16> -> tensor<256x512x256xf16>
  %3 = graph.reshape %arg1 : tensor<512x256xf16> -> tensor<1x512x256xf16>
  %4 = graph.expand %3 : tensor<1x512x256xf16> -> tensor<256x512x256xf16>
  %5 = graph.cast %2 : tensor<256x512x256xf16> -> tensor<256x512x256xf32>
  %6 = graph.cast %4 : tensor<256x512x256xf16> -> tensor<256x512x256xf32>
  %7 = graph.binary mul %5, %6 : tensor<256x512x256xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<256x512x256xf32> -> tensor<256x512xf32>
  %9 = graph.cast %8 : tensor<256x512xf32> -> tensor<256x512xf16>
  // The right factor along its columns.
  %10 = graph.permute %arg3 order = [1, 0] : tensor<256x512xf16> -> tensor<512x256xf16>
  %11 = graph.reshape %arg2 : tensor<256x256xf16> -> tensor<256x1x256xf16>
  %12 = graph.expand %11 : tensor<256x1x256xf16> -> tensor<256x512x256xf16>
  %13 = graph.reshape %10 : tensor<512x256xf16> -> tensor<1x512x256xf16>
  %14 = graph.expand %13 : tensor<1x512x256xf16> -> tensor<256x512x256xf16>
  %15 = graph.cast %12 : tensor<256x512x256xf16> -> tensor<256x512x256xf32>
  %16 = graph.cast %14 : tensor<256x512x256xf16> -> tensor<256x512x256xf32>
  %17 = graph.binary mul %15, %16 : tensor<256x512x256xf32>
  %18 = graph.reduce add %17 dims = [2] : tensor<256x512x256xf32> -> tensor<256x512xf32>
  %19 = graph.cast %18 : tensor<256x512xf32> -> tensor<256x512xf16>
  // Both across the contraction, which ends inside of a slice.
  %20 = graph.permute %arg4 order = [1, 0] : tensor<200x256xf16> -> tensor<256x200xf16>
  %21 = graph.permute %arg5 order = [1, 0] : tensor<200x512xf16> -> tensor<512x200xf16>
  %22 = graph.reshape %20 : tensor<256x200xf16> -> tensor<256x1x200xf16>
  %23 = graph.expand %22 : tensor<256x1x200xf16> -> tensor<256x512x200xf16>
  %24 = graph.reshape %21 : tensor<512x200xf16> -> tensor<1x512x200xf16>
  %25 = graph.expand %24 : tensor<1x512x200xf16> -> tensor<256x512x200xf16>
  %26 = graph.cast %23 : tensor<256x512x200xf16> -> tensor<256x512x200xf32>
  %27 = graph.cast %25 : tensor<256x512x200xf16> -> tensor<256x512x200xf32>
  %28 = graph.binary mul %26, %27 : tensor<256x512x200xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<256x512x200xf32> -> tensor<256x512xf32>
  // Tiles that end outside, in batches.
  %30 = graph.permute %arg6 order = [0, 2, 1] : tensor<3x256x136xf16> -> tensor<3x136x256xf16>
  %31 = graph.reshape %30 : tensor<3x136x256xf16> -> tensor<3x136x1x256xf16>
  %32 = graph.expand %31 : tensor<3x136x1x256xf16> -> tensor<3x136x72x256xf16>
  %33 = graph.reshape %arg7 : tensor<3x72x256xf16> -> tensor<3x1x72x256xf16>
  %34 = graph.expand %33 : tensor<3x1x72x256xf16> -> tensor<3x136x72x256xf16>
  %35 = graph.cast %32 : tensor<3x136x72x256xf16> -> tensor<3x136x72x256xf32>
  %36 = graph.cast %34 : tensor<3x136x72x256xf16> -> tensor<3x136x72x256xf32>
  %37 = graph.binary mul %35, %36 : tensor<3x136x72x256xf32>
  %38 = graph.reduce add %37 dims = [3] : tensor<3x136x72x256xf32> -> tensor<3x136x72xf32>
  %39 = graph.cast %38 : tensor<3x136x72xf32> -> tensor<3x136x72xf16>
  // Eight bits, summed up in integers.
  %40 = graph.reshape %arg8 : tensor<256x256xi8> -> tensor<256x1x256xi8>
  %41 = graph.expand %40 : tensor<256x1x256xi8> -> tensor<256x256x256xi8>
  %42 = graph.reshape %arg9 : tensor<256x256xi8> -> tensor<1x256x256xi8>
  %43 = graph.expand %42 : tensor<1x256x256xi8> -> tensor<256x256x256xi8>
  %44 = graph.cast %41 : tensor<256x256x256xi8> -> tensor<256x256x256xi32>
  %45 = graph.cast %43 : tensor<256x256x256xi8> -> tensor<256x256x256xi32>
  %46 = graph.binary mul %44, %45 : tensor<256x256x256xi32>
  %47 = graph.reduce add %46 dims = [2] : tensor<256x256x256xi32> -> tensor<256x256xi32>
  // A few rows.
  %48 = graph.reshape %arg10 : tensor<8x1024xbf16> -> tensor<8x1x1024xbf16>
  %49 = graph.expand %48 : tensor<8x1x1024xbf16> -> tensor<8x512x1024xbf16>
  %50 = graph.reshape %arg11 : tensor<512x1024xbf16> -> tensor<1x512x1024xbf16>
  %51 = graph.expand %50 : tensor<1x512x1024xbf16> -> tensor<8x512x1024xbf16>
  %52 = graph.cast %49 : tensor<8x512x1024xbf16> -> tensor<8x512x1024xf32>
  %53 = graph.cast %51 : tensor<8x512x1024xbf16> -> tensor<8x512x1024xf32>
  %54 = graph.binary mul %52, %53 : tensor<8x512x1024xf32>
  %55 = graph.reduce add %54 dims = [2] : tensor<8x512x1024xf32> -> tensor<8x512xf32>
  %56 = graph.cast %55 : tensor<8x512xf32> -> tensor<8x512xbf16>
  return %9, %19, %29, %39, %47, %56 : tensor<256x512xf16>, tensor<256x512xf16>, tensor<256x512xf32>, tensor<3x136x72xf16>, tensor<256x256xi32>, tensor<8x512xbf16>
}
