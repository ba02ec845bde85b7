// RUN: env ZYX_CUDA_DRIVER=%binary_dir/test/fake-cuda/libZyxFakeCuda.so ZYX_PTXAS= FAKE_CUDA_CAPABILITY=90 zyx-run %s --device=cuda --no-cache --random=1 --output=%t.cuda.npy --remarks 2>&1 | FileCheck %s
// RUN: zyx-run %s --device=cpu --no-cache --random=1 --output=%t.cpu.npy
// RUN: cmp %t.cuda.npy %t.cpu.npy

// Each row has a document of its own: all blocks but those of a tile's own rows are left out, and each result is the value of its row. There are so many
// scores that it is worth a kernel to find that.
// CHECK: documents_1_visible finds which blocks data hides
func.func @documents(%q: tensor<2x16x1000x16xf16>, %k: tensor<2x16x1000x16xf16>, %v: tensor<2x16x1000x16xf16>, %document: tensor<2x1000xi64>) -> tensor<2x16x1000x16xf16> {
  %iota = graph.iota dim = 1 : tensor<2x1000xi64>
  %far = graph.constant dense<4096> : tensor<2x1000xi64>
  %number = graph.binary mul %iota, %far : tensor<2x1000xi64>
  %own = graph.binary add %number, %document : tensor<2x1000xi64>
  %0 = graph.reshape %own : tensor<2x1000xi64> -> tensor<2x1x1000x1xi64>
  %1 = graph.expand %0 : tensor<2x1x1000x1xi64> -> tensor<2x16x1000x1000xi64>
  %2 = graph.reshape %own : tensor<2x1000xi64> -> tensor<2x1x1x1000xi64>
  %3 = graph.expand %2 : tensor<2x1x1x1000xi64> -> tensor<2x16x1000x1000xi64>
  %4 = graph.binary eq %1, %3 : tensor<2x16x1000x1000xi64>
  %qw = graph.cast %q : tensor<2x16x1000x16xf16> -> tensor<2x16x1000x16xf32>
  %q1 = graph.reshape %qw : tensor<2x16x1000x16xf32> -> tensor<2x16x1000x1x16xf32>
  %q2 = graph.expand %q1 : tensor<2x16x1000x1x16xf32> -> tensor<2x16x1000x1000x16xf32>
  %kw = graph.cast %k : tensor<2x16x1000x16xf16> -> tensor<2x16x1000x16xf32>
  %k1 = graph.reshape %kw : tensor<2x16x1000x16xf32> -> tensor<2x16x1x1000x16xf32>
  %k2 = graph.expand %k1 : tensor<2x16x1x1000x16xf32> -> tensor<2x16x1000x1000x16xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x16x1000x1000x16xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x16x1000x1000x16xf32> -> tensor<2x16x1000x1000xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %h1 = graph.reshape %hidden : tensor<f32> -> tensor<1x1x1x1xf32>
  %h2 = graph.expand %h1 : tensor<1x1x1x1xf32> -> tensor<2x16x1000x1000xf32>
  %masked = graph.select %4, %scores, %h2 : tensor<2x16x1000x1000xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x16x1000x1000xf32> -> tensor<2x16x1000xf32>
  %m1 = graph.reshape %max : tensor<2x16x1000xf32> -> tensor<2x16x1000x1xf32>
  %m2 = graph.expand %m1 : tensor<2x16x1000x1xf32> -> tensor<2x16x1000x1000xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x16x1000x1000xf32>
  %weights = graph.unary exp %distance : tensor<2x16x1000x1000xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x16x1000x1000xf32> -> tensor<2x16x1000xf32>
  %s1 = graph.reshape %sum : tensor<2x16x1000xf32> -> tensor<2x16x1000x1xf32>
  %s2 = graph.expand %s1 : tensor<2x16x1000x1xf32> -> tensor<2x16x1000x1000xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x16x1000x1000xf32>
  %p1 = graph.reshape %p : tensor<2x16x1000x1000xf32> -> tensor<2x16x1000x1000x1xf32>
  %p2 = graph.expand %p1 : tensor<2x16x1000x1000x1xf32> -> tensor<2x16x1000x1000x16xf32>
  %vw = graph.cast %v : tensor<2x16x1000x16xf16> -> tensor<2x16x1000x16xf32>
  %v1 = graph.reshape %vw : tensor<2x16x1000x16xf32> -> tensor<2x16x1x1000x16xf32>
  %v2 = graph.expand %v1 : tensor<2x16x1x1000x16xf32> -> tensor<2x16x1000x1000x16xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x16x1000x1000x16xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x16x1000x1000x16xf32> -> tensor<2x16x1000x16xf32>
  %y = graph.cast %o : tensor<2x16x1000x16xf32> -> tensor<2x16x1000x16xf16>
  return %y : tensor<2x16x1000x16xf16>
}
