// RUN: zyx-run %s --device=cpu --no-cache --random=1 --output=%t.cpu.npy
// RUN: zyx-run %s --device=reference --random=1 --output=%t.reference.npy
// RUN: cmp %t.cpu.npy %t.reference.npy

// Bilinear upsampling of channels that come last, whose result leaves the second cache of most processors: vectors of
// columns go on in the next row, and of the last program's channels some are no whole square.
func.func @upsampled(%x: tensor<2x10x10x2008xf32>) -> (tensor<2x2008x20x20xf32>) {
  %images = graph.permute %x order = [0, 3, 1, 2] : tensor<2x10x10x2008xf32> -> tensor<2x2008x10x10xf32>
  %i = graph.iota dim = 0 : tensor<20xi64>
  %two = graph.constant dense<2> : tensor<20xi64>
  %one = graph.constant dense<1> : tensor<20xi64>
  %from = graph.constant dense<10> : tensor<20xi64>
  %to = graph.constant dense<20> : tensor<20xi64>
  %none = graph.constant dense<0> : tensor<20xi64>
  %twice = graph.constant dense<40> : tensor<20xi64>
  %last = graph.constant dense<9> : tensor<20xi64>
  %v5 = graph.binary mul %i, %two : tensor<20xi64>
  %v9 = graph.binary add %v5, %one : tensor<20xi64>
  %v13 = graph.binary mul %v9, %from : tensor<20xi64>
  %v17 = graph.binary sub %v13, %to : tensor<20xi64>
  %v21 = graph.binary max %v17, %none : tensor<20xi64>
  %low = graph.binary div %v21, %twice : tensor<20xi64>
  %v27 = graph.binary rem %v21, %twice : tensor<20xi64>
  %v35 = graph.binary add %low, %one : tensor<20xi64>
  %high = graph.binary min %v35, %last : tensor<20xi64>
  %v26 = graph.gather %images[%low] dim = 2 : (tensor<2x2008x10x10xf32>, tensor<20xi64>) -> tensor<2x2008x20x10xf32>
  %v28 = graph.cast %v27 : tensor<20xi64> -> tensor<20xf32>
  %v29 = graph.reshape %v28 : tensor<20xf32> -> tensor<1x1x20x1xf32>
  %v30 = graph.constant dense<40.0> : tensor<1x1x20x1xf32>
  %v33 = graph.binary div %v29, %v30 : tensor<1x1x20x1xf32>
  %v34 = graph.expand %v33 : tensor<1x1x20x1xf32> -> tensor<2x2008x20x10xf32>
  %v40 = graph.gather %images[%high] dim = 2 : (tensor<2x2008x10x10xf32>, tensor<20xi64>) -> tensor<2x2008x20x10xf32>
  %v41 = graph.binary sub %v40, %v26 : tensor<2x2008x20x10xf32>
  %v42 = graph.binary mul %v34, %v41 : tensor<2x2008x20x10xf32>
  %v43 = graph.binary add %v26, %v42 : tensor<2x2008x20x10xf32>
  %v44 = graph.gather %v43[%low] dim = 3 : (tensor<2x2008x20x10xf32>, tensor<20xi64>) -> tensor<2x2008x20x20xf32>
  %v45 = graph.reshape %v28 : tensor<20xf32> -> tensor<1x1x1x20xf32>
  %v46 = graph.constant dense<40.0> : tensor<1x1x1x20xf32>
  %v47 = graph.binary div %v45, %v46 : tensor<1x1x1x20xf32>
  %v48 = graph.expand %v47 : tensor<1x1x1x20xf32> -> tensor<2x2008x20x20xf32>
  %v49 = graph.gather %v43[%high] dim = 3 : (tensor<2x2008x20x10xf32>, tensor<20xi64>) -> tensor<2x2008x20x20xf32>
  %v50 = graph.binary sub %v49, %v44 : tensor<2x2008x20x20xf32>
  %v51 = graph.binary mul %v48, %v50 : tensor<2x2008x20x20xf32>
  %v52 = graph.binary add %v44, %v51 : tensor<2x2008x20x20xf32>
  return %v52 : tensor<2x2008x20x20xf32>
}
