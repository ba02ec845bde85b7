// Products that tensor cores compute, of each layout and with what is done behind them.
func.func @main(%nt_arg0: tensor<512x256xbf16>, %nt_arg1: tensor<512x256xbf16>,
    %nn_arg0: tensor<512x256xbf16>, %nn_arg1: tensor<256x512xbf16>,
    %tn_arg0: tensor<256x512xf16>, %tn_arg1: tensor<256x512xf16>,
    %tt_arg0: tensor<256x512xbf16>, %tt_arg1: tensor<512x256xbf16>,
    %batched_arg0: tensor<2x3x200x72xbf16>, %batched_arg1: tensor<2x3x136x72xbf16>,
    %sums_arg0: tensor<512x256xbf16>, %sums_arg1: tensor<512x256xbf16>,
    %odd_arg0: tensor<129x64xbf16>, %odd_arg1: tensor<131x64xbf16>,
    %row_arg0: tensor<1x256xbf16>, %row_arg1: tensor<512x256xbf16>,
    %gelu_arg0: tensor<512x256xbf16>, %gelu_arg1: tensor<512x256xbf16>, %gelu_arg2: tensor<512xbf16>,
    %skinny_arg0: tensor<64x4096xbf16>, %skinny_arg1: tensor<1024x4096xbf16>)
    -> (tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xf16>, tensor<512x512xbf16>, tensor<2x3x200x136xbf16>, tensor<512x512xf32>, tensor<129x131xbf16>, tensor<1x512xbf16>, tensor<512x512xbf16>, tensor<64x1024xbf16>) {
  // Both factors along the contraction.
  %nt_1 = graph.reshape %nt_arg0 : tensor<512x256xbf16> -> tensor<512x1x256xbf16>
  %nt_2 = graph.expand %nt_1 : tensor<512x1x256xbf16> -> tensor<512x512x256xbf16>
  %nt_3 = graph.reshape %nt_arg1 : tensor<512x256xbf16> -> tensor<1x512x256xbf16>
  %nt_4 = graph.expand %nt_3 : tensor<1x512x256xbf16> -> tensor<512x512x256xbf16>
  %nt_5 = graph.cast %nt_2 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %nt_6 = graph.cast %nt_4 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %nt_7 = graph.binary mul %nt_5, %nt_6 : tensor<512x512x256xf32>
  %nt_8 = graph.reduce add %nt_7 dims = [2] : tensor<512x512x256xf32> -> tensor<512x512xf32>
  %nt_9 = graph.cast %nt_8 : tensor<512x512xf32> -> tensor<512x512xbf16>
  // The right one along its columns.
  %nn_1 = graph.permute %nn_arg1 order = [1, 0] : tensor<256x512xbf16> -> tensor<512x256xbf16>
  %nn_2 = graph.reshape %nn_arg0 : tensor<512x256xbf16> -> tensor<512x1x256xbf16>
  %nn_3 = graph.expand %nn_2 : tensor<512x1x256xbf16> -> tensor<512x512x256xbf16>
  %nn_4 = graph.reshape %nn_1 : tensor<512x256xbf16> -> tensor<1x512x256xbf16>
  %nn_5 = graph.expand %nn_4 : tensor<1x512x256xbf16> -> tensor<512x512x256xbf16>
  %nn_6 = graph.cast %nn_3 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %nn_7 = graph.cast %nn_5 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %nn_8 = graph.binary mul %nn_6, %nn_7 : tensor<512x512x256xf32>
  %nn_9 = graph.reduce add %nn_8 dims = [2] : tensor<512x512x256xf32> -> tensor<512x512xf32>
  %nn_10 = graph.cast %nn_9 : tensor<512x512xf32> -> tensor<512x512xbf16>
  // The left one along the rows of the result: each group of warps has a box of its own.
  %tn_1 = graph.permute %tn_arg0 order = [1, 0] : tensor<256x512xf16> -> tensor<512x256xf16>
  %tn_2 = graph.permute %tn_arg1 order = [1, 0] : tensor<256x512xf16> -> tensor<512x256xf16>
  %tn_3 = graph.reshape %tn_1 : tensor<512x256xf16> -> tensor<512x1x256xf16>
  %tn_4 = graph.expand %tn_3 : tensor<512x1x256xf16> -> tensor<512x512x256xf16>
  %tn_5 = graph.reshape %tn_2 : tensor<512x256xf16> -> tensor<1x512x256xf16>
  %tn_6 = graph.expand %tn_5 : tensor<1x512x256xf16> -> tensor<512x512x256xf16>
  %tn_7 = graph.cast %tn_4 : tensor<512x512x256xf16> -> tensor<512x512x256xf32>
  %tn_8 = graph.cast %tn_6 : tensor<512x512x256xf16> -> tensor<512x512x256xf32>
  %tn_9 = graph.binary mul %tn_7, %tn_8 : tensor<512x512x256xf32>
  %tn_10 = graph.reduce add %tn_9 dims = [2] : tensor<512x512x256xf32> -> tensor<512x512xf32>
  %tn_11 = graph.cast %tn_10 : tensor<512x512xf32> -> tensor<512x512xf16>
  // That, and the right one along the contraction.
  %tt_1 = graph.permute %tt_arg0 order = [1, 0] : tensor<256x512xbf16> -> tensor<512x256xbf16>
  %tt_2 = graph.reshape %tt_1 : tensor<512x256xbf16> -> tensor<512x1x256xbf16>
  %tt_3 = graph.expand %tt_2 : tensor<512x1x256xbf16> -> tensor<512x512x256xbf16>
  %tt_4 = graph.reshape %tt_arg1 : tensor<512x256xbf16> -> tensor<1x512x256xbf16>
  %tt_5 = graph.expand %tt_4 : tensor<1x512x256xbf16> -> tensor<512x512x256xbf16>
  %tt_6 = graph.cast %tt_3 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %tt_7 = graph.cast %tt_5 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %tt_8 = graph.binary mul %tt_6, %tt_7 : tensor<512x512x256xf32>
  %tt_9 = graph.reduce add %tt_8 dims = [2] : tensor<512x512x256xf32> -> tensor<512x512xf32>
  %tt_10 = graph.cast %tt_9 : tensor<512x512xf32> -> tensor<512x512xbf16>
  // Batches, and sizes that are no multiples of tiles.
  %batched_1 = graph.reshape %batched_arg0 : tensor<2x3x200x72xbf16> -> tensor<2x3x200x1x72xbf16>
  %batched_2 = graph.expand %batched_1 : tensor<2x3x200x1x72xbf16> -> tensor<2x3x200x136x72xbf16>
  %batched_3 = graph.reshape %batched_arg1 : tensor<2x3x136x72xbf16> -> tensor<2x3x1x136x72xbf16>
  %batched_4 = graph.expand %batched_3 : tensor<2x3x1x136x72xbf16> -> tensor<2x3x200x136x72xbf16>
  %batched_5 = graph.cast %batched_2 : tensor<2x3x200x136x72xbf16> -> tensor<2x3x200x136x72xf32>
  %batched_6 = graph.cast %batched_4 : tensor<2x3x200x136x72xbf16> -> tensor<2x3x200x136x72xf32>
  %batched_7 = graph.binary mul %batched_5, %batched_6 : tensor<2x3x200x136x72xf32>
  %batched_8 = graph.reduce add %batched_7 dims = [4] : tensor<2x3x200x136x72xf32> -> tensor<2x3x200x136xf32>
  %batched_9 = graph.cast %batched_8 : tensor<2x3x200x136xf32> -> tensor<2x3x200x136xbf16>
  // Results of f32 are written by the threads.
  %sums_1 = graph.reshape %sums_arg0 : tensor<512x256xbf16> -> tensor<512x1x256xbf16>
  %sums_2 = graph.expand %sums_1 : tensor<512x1x256xbf16> -> tensor<512x512x256xbf16>
  %sums_3 = graph.reshape %sums_arg1 : tensor<512x256xbf16> -> tensor<1x512x256xbf16>
  %sums_4 = graph.expand %sums_3 : tensor<1x512x256xbf16> -> tensor<512x512x256xbf16>
  %sums_5 = graph.cast %sums_2 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %sums_6 = graph.cast %sums_4 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %sums_7 = graph.binary mul %sums_5, %sums_6 : tensor<512x512x256xf32>
  %sums_8 = graph.reduce add %sums_7 dims = [2] : tensor<512x512x256xf32> -> tensor<512x512xf32>
  // And those whose rows do not lie on multiples of 16 bytes.
  %odd_1 = graph.reshape %odd_arg0 : tensor<129x64xbf16> -> tensor<129x1x64xbf16>
  %odd_2 = graph.expand %odd_1 : tensor<129x1x64xbf16> -> tensor<129x131x64xbf16>
  %odd_3 = graph.reshape %odd_arg1 : tensor<131x64xbf16> -> tensor<1x131x64xbf16>
  %odd_4 = graph.expand %odd_3 : tensor<1x131x64xbf16> -> tensor<129x131x64xbf16>
  %odd_5 = graph.cast %odd_2 : tensor<129x131x64xbf16> -> tensor<129x131x64xf32>
  %odd_6 = graph.cast %odd_4 : tensor<129x131x64xbf16> -> tensor<129x131x64xf32>
  %odd_7 = graph.binary mul %odd_5, %odd_6 : tensor<129x131x64xf32>
  %odd_8 = graph.reduce add %odd_7 dims = [2] : tensor<129x131x64xf32> -> tensor<129x131xf32>
  %odd_9 = graph.cast %odd_8 : tensor<129x131xf32> -> tensor<129x131xbf16>
  // A single row.
  %row_1 = graph.reshape %row_arg0 : tensor<1x256xbf16> -> tensor<1x1x256xbf16>
  %row_2 = graph.expand %row_1 : tensor<1x1x256xbf16> -> tensor<1x512x256xbf16>
  %row_3 = graph.reshape %row_arg1 : tensor<512x256xbf16> -> tensor<1x512x256xbf16>
  %row_4 = graph.expand %row_3 : tensor<1x512x256xbf16> -> tensor<1x512x256xbf16>
  %row_5 = graph.cast %row_2 : tensor<1x512x256xbf16> -> tensor<1x512x256xf32>
  %row_6 = graph.cast %row_4 : tensor<1x512x256xbf16> -> tensor<1x512x256xf32>
  %row_7 = graph.binary mul %row_5, %row_6 : tensor<1x512x256xf32>
  %row_8 = graph.reduce add %row_7 dims = [2] : tensor<1x512x256xf32> -> tensor<1x512xf32>
  %row_9 = graph.cast %row_8 : tensor<1x512xf32> -> tensor<1x512xbf16>
  // Few rows and long ones: clusters share the contraction.
  %skinny_1 = graph.reshape %skinny_arg0 : tensor<64x4096xbf16> -> tensor<64x1x4096xbf16>
  %skinny_2 = graph.expand %skinny_1 : tensor<64x1x4096xbf16> -> tensor<64x1024x4096xbf16>
  %skinny_3 = graph.reshape %skinny_arg1 : tensor<1024x4096xbf16> -> tensor<1x1024x4096xbf16>
  %skinny_4 = graph.expand %skinny_3 : tensor<1x1024x4096xbf16> -> tensor<64x1024x4096xbf16>
  %skinny_5 = graph.cast %skinny_2 : tensor<64x1024x4096xbf16> -> tensor<64x1024x4096xf32>
  %skinny_6 = graph.cast %skinny_4 : tensor<64x1024x4096xbf16> -> tensor<64x1024x4096xf32>
  %skinny_7 = graph.binary mul %skinny_5, %skinny_6 : tensor<64x1024x4096xf32>
  %skinny_8 = graph.reduce add %skinny_7 dims = [2] : tensor<64x1024x4096xf32> -> tensor<64x1024xf32>
  %skinny_9 = graph.cast %skinny_8 : tensor<64x1024xf32> -> tensor<64x1024xbf16>
  // A bias, and a function behind it.
  %gelu_1 = graph.reshape %gelu_arg0 : tensor<512x256xbf16> -> tensor<512x1x256xbf16>
  %gelu_2 = graph.expand %gelu_1 : tensor<512x1x256xbf16> -> tensor<512x512x256xbf16>
  %gelu_3 = graph.reshape %gelu_arg1 : tensor<512x256xbf16> -> tensor<1x512x256xbf16>
  %gelu_4 = graph.expand %gelu_3 : tensor<1x512x256xbf16> -> tensor<512x512x256xbf16>
  %gelu_5 = graph.cast %gelu_2 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %gelu_6 = graph.cast %gelu_4 : tensor<512x512x256xbf16> -> tensor<512x512x256xf32>
  %gelu_7 = graph.binary mul %gelu_5, %gelu_6 : tensor<512x512x256xf32>
  %gelu_8 = graph.reduce add %gelu_7 dims = [2] : tensor<512x512x256xf32> -> tensor<512x512xf32>
  %gelu_9 = graph.reshape %gelu_arg2 : tensor<512xbf16> -> tensor<1x512xbf16>
  %gelu_10 = graph.cast %gelu_9 : tensor<1x512xbf16> -> tensor<1x512xf32>
  %gelu_11 = graph.expand %gelu_10 : tensor<1x512xf32> -> tensor<512x512xf32>
  %gelu_12 = graph.binary add %gelu_8, %gelu_11 : tensor<512x512xf32>
  %gelu_13 = graph.binary mul %gelu_12, %gelu_12 : tensor<512x512xf32>
  %gelu_14 = graph.binary mul %gelu_13, %gelu_12 : tensor<512x512xf32>
  %gelu_15 = graph.constant dense<4.471500e-02> : tensor<512x512xf32>
  %gelu_16 = graph.binary mul %gelu_14, %gelu_15 : tensor<512x512xf32>
  %gelu_17 = graph.binary add %gelu_12, %gelu_16 : tensor<512x512xf32>
  %gelu_18 = graph.constant dense<7.978846e-01> : tensor<512x512xf32>
  %gelu_19 = graph.binary mul %gelu_17, %gelu_18 : tensor<512x512xf32>
  %gelu_20 = graph.unary tanh %gelu_19 : tensor<512x512xf32>
  %gelu_21 = graph.constant dense<1.000000e+00> : tensor<512x512xf32>
  %gelu_22 = graph.binary add %gelu_20, %gelu_21 : tensor<512x512xf32>
  %gelu_23 = graph.binary mul %gelu_12, %gelu_22 : tensor<512x512xf32>
  %gelu_24 = graph.constant dense<5.000000e-01> : tensor<512x512xf32>
  %gelu_25 = graph.binary mul %gelu_23, %gelu_24 : tensor<512x512xf32>
  %gelu_26 = graph.cast %gelu_25 : tensor<512x512xf32> -> tensor<512x512xbf16>
  return %nt_9, %nn_10, %tn_11, %tt_10, %batched_9, %sums_8, %odd_9, %row_9, %gelu_26, %skinny_9
      : tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xf16>, tensor<512x512xbf16>, tensor<2x3x200x136xbf16>, tensor<512x512xf32>, tensor<129x131xbf16>, tensor<1x512xbf16>, tensor<512x512xbf16>, tensor<64x1024xbf16>
}
