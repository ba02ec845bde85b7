// Attentions that tensor cores compute.
func.func @main(%full_arg0: tensor<1x2x384x64xbf16>, %full_arg1: tensor<1x2x384x64xbf16>, %full_arg2: tensor<1x2x384x64xbf16>,
    %causal_arg0: tensor<2x4x200x128xbf16>, %causal_arg1: tensor<2x2x200x128xbf16>, %causal_arg2: tensor<2x2x200x128xbf16>,
    %narrow_arg0: tensor<1x2x400x64xf16>, %narrow_arg1: tensor<1x2x400x64xf16>, %narrow_arg2: tensor<1x2x400x64xf16>,
    %wide_arg0: tensor<1x2x128x256xbf16>, %wide_arg1: tensor<1x2x128x256xbf16>, %wide_arg2: tensor<1x2x128x256xbf16>,
    %short_arg0: tensor<1x2x64x128xbf16>, %short_arg1: tensor<1x2x64x128xbf16>, %short_arg2: tensor<1x2x64x128xbf16>,
    %masked_arg0: tensor<1x2x200x128xbf16>, %masked_arg1: tensor<1x2x200x128xbf16>, %masked_arg2: tensor<1x2x200x128xbf16>, %masked_arg3: tensor<200x200xf32>, %masked_arg4: tensor<200xi1>)
    -> (tensor<1x2x384x64xbf16>, tensor<2x4x200x128xbf16>, tensor<1x2x400x64xf16>, tensor<1x2x128x256xbf16>, tensor<1x2x64x128xbf16>, tensor<1x2x200x128xbf16>) {
  // Full tiles of 64 features: three groups of warps.
  %full_1 = graph.reshape %full_arg0 : tensor<1x2x384x64xbf16> -> tensor<1x2x384x1x64xbf16>
  %full_2 = graph.expand %full_1 : tensor<1x2x384x1x64xbf16> -> tensor<1x2x384x384x64xbf16>
  %full_3 = graph.reshape %full_arg1 : tensor<1x2x384x64xbf16> -> tensor<1x2x1x384x64xbf16>
  %full_4 = graph.expand %full_3 : tensor<1x2x1x384x64xbf16> -> tensor<1x2x384x384x64xbf16>
  %full_5 = graph.cast %full_2 : tensor<1x2x384x384x64xbf16> -> tensor<1x2x384x384x64xf32>
  %full_6 = graph.cast %full_4 : tensor<1x2x384x384x64xbf16> -> tensor<1x2x384x384x64xf32>
  %full_7 = graph.binary mul %full_5, %full_6 : tensor<1x2x384x384x64xf32>
  %full_8 = graph.reduce add %full_7 dims = [4] : tensor<1x2x384x384x64xf32> -> tensor<1x2x384x384xf32>
  %full_9 = graph.constant dense<1.250000e-01> : tensor<1x2x384x384xf32>
  %full_10 = graph.binary mul %full_8, %full_9 : tensor<1x2x384x384xf32>
  %full_11 = graph.reduce max %full_10 dims = [3] : tensor<1x2x384x384xf32> -> tensor<1x2x384xf32>
  %full_12 = graph.reshape %full_11 : tensor<1x2x384xf32> -> tensor<1x2x384x1xf32>
  %full_13 = graph.expand %full_12 : tensor<1x2x384x1xf32> -> tensor<1x2x384x384xf32>
  %full_14 = graph.binary sub %full_10, %full_13 : tensor<1x2x384x384xf32>
  %full_15 = graph.unary exp %full_14 : tensor<1x2x384x384xf32>
  %full_16 = graph.reduce add %full_15 dims = [3] : tensor<1x2x384x384xf32> -> tensor<1x2x384xf32>
  %full_17 = graph.reshape %full_16 : tensor<1x2x384xf32> -> tensor<1x2x384x1xf32>
  %full_18 = graph.expand %full_17 : tensor<1x2x384x1xf32> -> tensor<1x2x384x384xf32>
  %full_19 = graph.binary div %full_15, %full_18 : tensor<1x2x384x384xf32>
  %full_20 = graph.permute %full_arg2 order = [0, 1, 3, 2] : tensor<1x2x384x64xbf16> -> tensor<1x2x64x384xbf16>
  %full_21 = graph.reshape %full_19 : tensor<1x2x384x384xf32> -> tensor<1x2x384x1x384xf32>
  %full_22 = graph.expand %full_21 : tensor<1x2x384x1x384xf32> -> tensor<1x2x384x64x384xf32>
  %full_23 = graph.reshape %full_20 : tensor<1x2x64x384xbf16> -> tensor<1x2x1x64x384xbf16>
  %full_24 = graph.expand %full_23 : tensor<1x2x1x64x384xbf16> -> tensor<1x2x384x64x384xbf16>
  %full_25 = graph.cast %full_24 : tensor<1x2x384x64x384xbf16> -> tensor<1x2x384x64x384xf32>
  %full_26 = graph.binary mul %full_22, %full_25 : tensor<1x2x384x64x384xf32>
  %full_27 = graph.reduce add %full_26 dims = [4] : tensor<1x2x384x64x384xf32> -> tensor<1x2x384x64xf32>
  %full_28 = graph.cast %full_27 : tensor<1x2x384x64xf32> -> tensor<1x2x384x64xbf16>
  // Causal, heads that share keys and values; edges.
  %causal_1 = graph.reshape %causal_arg1 : tensor<2x2x200x128xbf16> -> tensor<2x2x1x200x128xbf16>
  %causal_2 = graph.expand %causal_1 : tensor<2x2x1x200x128xbf16> -> tensor<2x2x2x200x128xbf16>
  %causal_3 = graph.reshape %causal_2 : tensor<2x2x2x200x128xbf16> -> tensor<2x4x200x128xbf16>
  %causal_4 = graph.reshape %causal_arg2 : tensor<2x2x200x128xbf16> -> tensor<2x2x1x200x128xbf16>
  %causal_5 = graph.expand %causal_4 : tensor<2x2x1x200x128xbf16> -> tensor<2x2x2x200x128xbf16>
  %causal_6 = graph.reshape %causal_5 : tensor<2x2x2x200x128xbf16> -> tensor<2x4x200x128xbf16>
  %causal_7 = graph.reshape %causal_arg0 : tensor<2x4x200x128xbf16> -> tensor<2x4x200x1x128xbf16>
  %causal_8 = graph.expand %causal_7 : tensor<2x4x200x1x128xbf16> -> tensor<2x4x200x200x128xbf16>
  %causal_9 = graph.reshape %causal_3 : tensor<2x4x200x128xbf16> -> tensor<2x4x1x200x128xbf16>
  %causal_10 = graph.expand %causal_9 : tensor<2x4x1x200x128xbf16> -> tensor<2x4x200x200x128xbf16>
  %causal_11 = graph.cast %causal_8 : tensor<2x4x200x200x128xbf16> -> tensor<2x4x200x200x128xf32>
  %causal_12 = graph.cast %causal_10 : tensor<2x4x200x200x128xbf16> -> tensor<2x4x200x200x128xf32>
  %causal_13 = graph.binary mul %causal_11, %causal_12 : tensor<2x4x200x200x128xf32>
  %causal_14 = graph.reduce add %causal_13 dims = [4] : tensor<2x4x200x200x128xf32> -> tensor<2x4x200x200xf32>
  %causal_15 = graph.constant dense<8.838835e-02> : tensor<2x4x200x200xf32>
  %causal_16 = graph.binary mul %causal_14, %causal_15 : tensor<2x4x200x200xf32>
  %causal_17 = graph.iota dim = 2 : tensor<2x4x200x200xi32>
  %causal_18 = graph.iota dim = 3 : tensor<2x4x200x200xi32>
  %causal_19 = graph.binary le %causal_18, %causal_17 : tensor<2x4x200x200xi32>
  %causal_20 = graph.constant dense<0xFF800000> : tensor<2x4x200x200xf32>
  %causal_21 = graph.select %causal_19, %causal_16, %causal_20 : tensor<2x4x200x200xf32>
  %causal_22 = graph.reduce max %causal_21 dims = [3] : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  %causal_23 = graph.reshape %causal_22 : tensor<2x4x200xf32> -> tensor<2x4x200x1xf32>
  %causal_24 = graph.expand %causal_23 : tensor<2x4x200x1xf32> -> tensor<2x4x200x200xf32>
  %causal_25 = graph.binary sub %causal_21, %causal_24 : tensor<2x4x200x200xf32>
  %causal_26 = graph.unary exp %causal_25 : tensor<2x4x200x200xf32>
  %causal_27 = graph.reduce add %causal_26 dims = [3] : tensor<2x4x200x200xf32> -> tensor<2x4x200xf32>
  %causal_28 = graph.reshape %causal_27 : tensor<2x4x200xf32> -> tensor<2x4x200x1xf32>
  %causal_29 = graph.expand %causal_28 : tensor<2x4x200x1xf32> -> tensor<2x4x200x200xf32>
  %causal_30 = graph.binary div %causal_26, %causal_29 : tensor<2x4x200x200xf32>
  %causal_31 = graph.permute %causal_6 order = [0, 1, 3, 2] : tensor<2x4x200x128xbf16> -> tensor<2x4x128x200xbf16>
  %causal_32 = graph.reshape %causal_30 : tensor<2x4x200x200xf32> -> tensor<2x4x200x1x200xf32>
  %causal_33 = graph.expand %causal_32 : tensor<2x4x200x1x200xf32> -> tensor<2x4x200x128x200xf32>
  %causal_34 = graph.reshape %causal_31 : tensor<2x4x128x200xbf16> -> tensor<2x4x1x128x200xbf16>
  %causal_35 = graph.expand %causal_34 : tensor<2x4x1x128x200xbf16> -> tensor<2x4x200x128x200xbf16>
  %causal_36 = graph.cast %causal_35 : tensor<2x4x200x128x200xbf16> -> tensor<2x4x200x128x200xf32>
  %causal_37 = graph.binary mul %causal_33, %causal_36 : tensor<2x4x200x128x200xf32>
  %causal_38 = graph.reduce add %causal_37 dims = [4] : tensor<2x4x200x128x200xf32> -> tensor<2x4x200x128xf32>
  %causal_39 = graph.cast %causal_38 : tensor<2x4x200x128xf32> -> tensor<2x4x200x128xbf16>
  // Blocks that the diagonal crosses more than one of.
  %narrow_1 = graph.reshape %narrow_arg0 : tensor<1x2x400x64xf16> -> tensor<1x2x400x1x64xf16>
  %narrow_2 = graph.expand %narrow_1 : tensor<1x2x400x1x64xf16> -> tensor<1x2x400x400x64xf16>
  %narrow_3 = graph.reshape %narrow_arg1 : tensor<1x2x400x64xf16> -> tensor<1x2x1x400x64xf16>
  %narrow_4 = graph.expand %narrow_3 : tensor<1x2x1x400x64xf16> -> tensor<1x2x400x400x64xf16>
  %narrow_5 = graph.cast %narrow_2 : tensor<1x2x400x400x64xf16> -> tensor<1x2x400x400x64xf32>
  %narrow_6 = graph.cast %narrow_4 : tensor<1x2x400x400x64xf16> -> tensor<1x2x400x400x64xf32>
  %narrow_7 = graph.binary mul %narrow_5, %narrow_6 : tensor<1x2x400x400x64xf32>
  %narrow_8 = graph.reduce add %narrow_7 dims = [4] : tensor<1x2x400x400x64xf32> -> tensor<1x2x400x400xf32>
  %narrow_9 = graph.constant dense<1.250000e-01> : tensor<1x2x400x400xf32>
  %narrow_10 = graph.binary mul %narrow_8, %narrow_9 : tensor<1x2x400x400xf32>
  %narrow_11 = graph.iota dim = 2 : tensor<1x2x400x400xi32>
  %narrow_12 = graph.iota dim = 3 : tensor<1x2x400x400xi32>
  %narrow_13 = graph.binary le %narrow_12, %narrow_11 : tensor<1x2x400x400xi32>
  %narrow_14 = graph.constant dense<0xFF800000> : tensor<1x2x400x400xf32>
  %narrow_15 = graph.select %narrow_13, %narrow_10, %narrow_14 : tensor<1x2x400x400xf32>
  %narrow_16 = graph.reduce max %narrow_15 dims = [3] : tensor<1x2x400x400xf32> -> tensor<1x2x400xf32>
  %narrow_17 = graph.reshape %narrow_16 : tensor<1x2x400xf32> -> tensor<1x2x400x1xf32>
  %narrow_18 = graph.expand %narrow_17 : tensor<1x2x400x1xf32> -> tensor<1x2x400x400xf32>
  %narrow_19 = graph.binary sub %narrow_15, %narrow_18 : tensor<1x2x400x400xf32>
  %narrow_20 = graph.unary exp %narrow_19 : tensor<1x2x400x400xf32>
  %narrow_21 = graph.reduce add %narrow_20 dims = [3] : tensor<1x2x400x400xf32> -> tensor<1x2x400xf32>
  %narrow_22 = graph.reshape %narrow_21 : tensor<1x2x400xf32> -> tensor<1x2x400x1xf32>
  %narrow_23 = graph.expand %narrow_22 : tensor<1x2x400x1xf32> -> tensor<1x2x400x400xf32>
  %narrow_24 = graph.binary div %narrow_20, %narrow_23 : tensor<1x2x400x400xf32>
  %narrow_25 = graph.permute %narrow_arg2 order = [0, 1, 3, 2] : tensor<1x2x400x64xf16> -> tensor<1x2x64x400xf16>
  %narrow_26 = graph.reshape %narrow_24 : tensor<1x2x400x400xf32> -> tensor<1x2x400x1x400xf32>
  %narrow_27 = graph.expand %narrow_26 : tensor<1x2x400x1x400xf32> -> tensor<1x2x400x64x400xf32>
  %narrow_28 = graph.reshape %narrow_25 : tensor<1x2x64x400xf16> -> tensor<1x2x1x64x400xf16>
  %narrow_29 = graph.expand %narrow_28 : tensor<1x2x1x64x400xf16> -> tensor<1x2x400x64x400xf16>
  %narrow_30 = graph.cast %narrow_29 : tensor<1x2x400x64x400xf16> -> tensor<1x2x400x64x400xf32>
  %narrow_31 = graph.binary mul %narrow_27, %narrow_30 : tensor<1x2x400x64x400xf32>
  %narrow_32 = graph.reduce add %narrow_31 dims = [4] : tensor<1x2x400x64x400xf32> -> tensor<1x2x400x64xf32>
  %narrow_33 = graph.cast %narrow_32 : tensor<1x2x400x64xf32> -> tensor<1x2x400x64xf16>
  // Results that leave from where queries came in.
  %wide_1 = graph.reshape %wide_arg0 : tensor<1x2x128x256xbf16> -> tensor<1x2x128x1x256xbf16>
  %wide_2 = graph.expand %wide_1 : tensor<1x2x128x1x256xbf16> -> tensor<1x2x128x128x256xbf16>
  %wide_3 = graph.reshape %wide_arg1 : tensor<1x2x128x256xbf16> -> tensor<1x2x1x128x256xbf16>
  %wide_4 = graph.expand %wide_3 : tensor<1x2x1x128x256xbf16> -> tensor<1x2x128x128x256xbf16>
  %wide_5 = graph.cast %wide_2 : tensor<1x2x128x128x256xbf16> -> tensor<1x2x128x128x256xf32>
  %wide_6 = graph.cast %wide_4 : tensor<1x2x128x128x256xbf16> -> tensor<1x2x128x128x256xf32>
  %wide_7 = graph.binary mul %wide_5, %wide_6 : tensor<1x2x128x128x256xf32>
  %wide_8 = graph.reduce add %wide_7 dims = [4] : tensor<1x2x128x128x256xf32> -> tensor<1x2x128x128xf32>
  %wide_9 = graph.constant dense<6.250000e-02> : tensor<1x2x128x128xf32>
  %wide_10 = graph.binary mul %wide_8, %wide_9 : tensor<1x2x128x128xf32>
  %wide_11 = graph.reduce max %wide_10 dims = [3] : tensor<1x2x128x128xf32> -> tensor<1x2x128xf32>
  %wide_12 = graph.reshape %wide_11 : tensor<1x2x128xf32> -> tensor<1x2x128x1xf32>
  %wide_13 = graph.expand %wide_12 : tensor<1x2x128x1xf32> -> tensor<1x2x128x128xf32>
  %wide_14 = graph.binary sub %wide_10, %wide_13 : tensor<1x2x128x128xf32>
  %wide_15 = graph.unary exp %wide_14 : tensor<1x2x128x128xf32>
  %wide_16 = graph.reduce add %wide_15 dims = [3] : tensor<1x2x128x128xf32> -> tensor<1x2x128xf32>
  %wide_17 = graph.reshape %wide_16 : tensor<1x2x128xf32> -> tensor<1x2x128x1xf32>
  %wide_18 = graph.expand %wide_17 : tensor<1x2x128x1xf32> -> tensor<1x2x128x128xf32>
  %wide_19 = graph.binary div %wide_15, %wide_18 : tensor<1x2x128x128xf32>
  %wide_20 = graph.permute %wide_arg2 order = [0, 1, 3, 2] : tensor<1x2x128x256xbf16> -> tensor<1x2x256x128xbf16>
  %wide_21 = graph.reshape %wide_19 : tensor<1x2x128x128xf32> -> tensor<1x2x128x1x128xf32>
  %wide_22 = graph.expand %wide_21 : tensor<1x2x128x1x128xf32> -> tensor<1x2x128x256x128xf32>
  %wide_23 = graph.reshape %wide_20 : tensor<1x2x256x128xbf16> -> tensor<1x2x1x256x128xbf16>
  %wide_24 = graph.expand %wide_23 : tensor<1x2x1x256x128xbf16> -> tensor<1x2x128x256x128xbf16>
  %wide_25 = graph.cast %wide_24 : tensor<1x2x128x256x128xbf16> -> tensor<1x2x128x256x128xf32>
  %wide_26 = graph.binary mul %wide_22, %wide_25 : tensor<1x2x128x256x128xf32>
  %wide_27 = graph.reduce add %wide_26 dims = [4] : tensor<1x2x128x256x128xf32> -> tensor<1x2x128x256xf32>
  %wide_28 = graph.cast %wide_27 : tensor<1x2x128x256xf32> -> tensor<1x2x128x256xbf16>
  // One group of warps.
  %short_1 = graph.reshape %short_arg0 : tensor<1x2x64x128xbf16> -> tensor<1x2x64x1x128xbf16>
  %short_2 = graph.expand %short_1 : tensor<1x2x64x1x128xbf16> -> tensor<1x2x64x64x128xbf16>
  %short_3 = graph.reshape %short_arg1 : tensor<1x2x64x128xbf16> -> tensor<1x2x1x64x128xbf16>
  %short_4 = graph.expand %short_3 : tensor<1x2x1x64x128xbf16> -> tensor<1x2x64x64x128xbf16>
  %short_5 = graph.cast %short_2 : tensor<1x2x64x64x128xbf16> -> tensor<1x2x64x64x128xf32>
  %short_6 = graph.cast %short_4 : tensor<1x2x64x64x128xbf16> -> tensor<1x2x64x64x128xf32>
  %short_7 = graph.binary mul %short_5, %short_6 : tensor<1x2x64x64x128xf32>
  %short_8 = graph.reduce add %short_7 dims = [4] : tensor<1x2x64x64x128xf32> -> tensor<1x2x64x64xf32>
  %short_9 = graph.constant dense<8.838835e-02> : tensor<1x2x64x64xf32>
  %short_10 = graph.binary mul %short_8, %short_9 : tensor<1x2x64x64xf32>
  %short_11 = graph.reduce max %short_10 dims = [3] : tensor<1x2x64x64xf32> -> tensor<1x2x64xf32>
  %short_12 = graph.reshape %short_11 : tensor<1x2x64xf32> -> tensor<1x2x64x1xf32>
  %short_13 = graph.expand %short_12 : tensor<1x2x64x1xf32> -> tensor<1x2x64x64xf32>
  %short_14 = graph.binary sub %short_10, %short_13 : tensor<1x2x64x64xf32>
  %short_15 = graph.unary exp %short_14 : tensor<1x2x64x64xf32>
  %short_16 = graph.reduce add %short_15 dims = [3] : tensor<1x2x64x64xf32> -> tensor<1x2x64xf32>
  %short_17 = graph.reshape %short_16 : tensor<1x2x64xf32> -> tensor<1x2x64x1xf32>
  %short_18 = graph.expand %short_17 : tensor<1x2x64x1xf32> -> tensor<1x2x64x64xf32>
  %short_19 = graph.binary div %short_15, %short_18 : tensor<1x2x64x64xf32>
  %short_20 = graph.permute %short_arg2 order = [0, 1, 3, 2] : tensor<1x2x64x128xbf16> -> tensor<1x2x128x64xbf16>
  %short_21 = graph.reshape %short_19 : tensor<1x2x64x64xf32> -> tensor<1x2x64x1x64xf32>
  %short_22 = graph.expand %short_21 : tensor<1x2x64x1x64xf32> -> tensor<1x2x64x128x64xf32>
  %short_23 = graph.reshape %short_20 : tensor<1x2x128x64xbf16> -> tensor<1x2x1x128x64xbf16>
  %short_24 = graph.expand %short_23 : tensor<1x2x1x128x64xbf16> -> tensor<1x2x64x128x64xbf16>
  %short_25 = graph.cast %short_24 : tensor<1x2x64x128x64xbf16> -> tensor<1x2x64x128x64xf32>
  %short_26 = graph.binary mul %short_22, %short_25 : tensor<1x2x64x128x64xf32>
  %short_27 = graph.reduce add %short_26 dims = [4] : tensor<1x2x64x128x64xf32> -> tensor<1x2x64x128xf32>
  %short_28 = graph.cast %short_27 : tensor<1x2x64x128xf32> -> tensor<1x2x64x128xbf16>
  // Something to read for each of the scores.
  %masked_1 = graph.reshape %masked_arg0 : tensor<1x2x200x128xbf16> -> tensor<1x2x200x1x128xbf16>
  %masked_2 = graph.expand %masked_1 : tensor<1x2x200x1x128xbf16> -> tensor<1x2x200x200x128xbf16>
  %masked_3 = graph.reshape %masked_arg1 : tensor<1x2x200x128xbf16> -> tensor<1x2x1x200x128xbf16>
  %masked_4 = graph.expand %masked_3 : tensor<1x2x1x200x128xbf16> -> tensor<1x2x200x200x128xbf16>
  %masked_5 = graph.cast %masked_2 : tensor<1x2x200x200x128xbf16> -> tensor<1x2x200x200x128xf32>
  %masked_6 = graph.cast %masked_4 : tensor<1x2x200x200x128xbf16> -> tensor<1x2x200x200x128xf32>
  %masked_7 = graph.binary mul %masked_5, %masked_6 : tensor<1x2x200x200x128xf32>
  %masked_8 = graph.reduce add %masked_7 dims = [4] : tensor<1x2x200x200x128xf32> -> tensor<1x2x200x200xf32>
  %masked_9 = graph.constant dense<8.838835e-02> : tensor<1x2x200x200xf32>
  %masked_10 = graph.binary mul %masked_8, %masked_9 : tensor<1x2x200x200xf32>
  %masked_11 = graph.reshape %masked_arg3 : tensor<200x200xf32> -> tensor<1x1x200x200xf32>
  %masked_12 = graph.expand %masked_11 : tensor<1x1x200x200xf32> -> tensor<1x2x200x200xf32>
  %masked_13 = graph.binary add %masked_10, %masked_12 : tensor<1x2x200x200xf32>
  %masked_14 = graph.constant dense<0xFF800000> : tensor<1x2x200x200xf32>
  %masked_15 = graph.reshape %masked_arg4 : tensor<200xi1> -> tensor<1x1x1x200xi1>
  %masked_16 = graph.expand %masked_15 : tensor<1x1x1x200xi1> -> tensor<1x2x200x200xi1>
  %masked_17 = graph.select %masked_16, %masked_13, %masked_14 : tensor<1x2x200x200xf32>
  %masked_18 = graph.reduce max %masked_17 dims = [3] : tensor<1x2x200x200xf32> -> tensor<1x2x200xf32>
  %masked_19 = graph.reshape %masked_18 : tensor<1x2x200xf32> -> tensor<1x2x200x1xf32>
  %masked_20 = graph.expand %masked_19 : tensor<1x2x200x1xf32> -> tensor<1x2x200x200xf32>
  %masked_21 = graph.binary sub %masked_17, %masked_20 : tensor<1x2x200x200xf32>
  %masked_22 = graph.unary exp %masked_21 : tensor<1x2x200x200xf32>
  %masked_23 = graph.reduce add %masked_22 dims = [3] : tensor<1x2x200x200xf32> -> tensor<1x2x200xf32>
  %masked_24 = graph.reshape %masked_23 : tensor<1x2x200xf32> -> tensor<1x2x200x1xf32>
  %masked_25 = graph.expand %masked_24 : tensor<1x2x200x1xf32> -> tensor<1x2x200x200xf32>
  %masked_26 = graph.binary div %masked_22, %masked_25 : tensor<1x2x200x200xf32>
  %masked_27 = graph.permute %masked_arg2 order = [0, 1, 3, 2] : tensor<1x2x200x128xbf16> -> tensor<1x2x128x200xbf16>
  %masked_28 = graph.reshape %masked_26 : tensor<1x2x200x200xf32> -> tensor<1x2x200x1x200xf32>
  %masked_29 = graph.expand %masked_28 : tensor<1x2x200x1x200xf32> -> tensor<1x2x200x128x200xf32>
  %masked_30 = graph.reshape %masked_27 : tensor<1x2x128x200xbf16> -> tensor<1x2x1x128x200xbf16>
  %masked_31 = graph.expand %masked_30 : tensor<1x2x1x128x200xbf16> -> tensor<1x2x200x128x200xbf16>
  %masked_32 = graph.cast %masked_31 : tensor<1x2x200x128x200xbf16> -> tensor<1x2x200x128x200xf32>
  %masked_33 = graph.binary mul %masked_29, %masked_32 : tensor<1x2x200x128x200xf32>
  %masked_34 = graph.reduce add %masked_33 dims = [4] : tensor<1x2x200x128x200xf32> -> tensor<1x2x200x128xf32>
  %masked_35 = graph.cast %masked_34 : tensor<1x2x200x128xf32> -> tensor<1x2x200x128xbf16>
  return %full_28, %causal_39, %narrow_33, %wide_28, %short_28, %masked_35 : tensor<1x2x384x64xbf16>, tensor<2x4x200x128xbf16>, tensor<1x2x400x64xf16>, tensor<1x2x128x256xbf16>, tensor<1x2x64x128xbf16>, tensor<1x2x200x128xbf16>
}
