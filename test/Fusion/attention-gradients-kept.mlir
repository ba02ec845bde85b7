// RUN: zyx-opt %s --zyx-fuse=tensor=64 --zyx-fusion-verify-groups --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Readers of weights that cannot compute them again: the attention stays as it is.

// Exponentials before they are divided.
// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: what is read is neither a weight nor the gradient of a score
// CHECK: [Passed] FormGroups {{.*}}Function=exponentials 
func.func @exponentials(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x8xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %e, %t2 : tensor<8x8xf32>
  %w1 = graph.reshape %w : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %v2 = graph.expand %v1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %z = graph.unary sin %e : tensor<8x8xf32>
  return %y, %z : tensor<8x4xf32>, tensor<8x8xf32>
}

// One weight of a row beside one of a column.
// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: it reads one weight at two places
// CHECK: [Passed] FormGroups {{.*}}Function=transposed 
func.func @transposed(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x8xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %e, %t2 : tensor<8x8xf32>
  %w1 = graph.reshape %w : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %v2 = graph.expand %v1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %p = graph.permute %w order = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %z0 = graph.binary max %w, %p : tensor<8x8xf32>
  %z = graph.unary sin %z0 : tensor<8x8xf32>
  return %y, %z : tensor<8x4xf32>, tensor<8x8xf32>
}

// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: its weights are stored, and nobody sums up products of them
// CHECK: [Passed] FormGroups {{.*}}Function=flattened 
func.func @flattened(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<64xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %e, %t2 : tensor<8x8xf32>
  %w1 = graph.reshape %w : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %v2 = graph.expand %v1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %z = graph.reshape %w : tensor<8x8xf32> -> tensor<64xf32>
  %z1 = graph.unary sin %z : tensor<64xf32>
  return %y, %z1 : tensor<8x4xf32>, tensor<64xf32>
}

// The product with the values has keys in front of queries.
// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: its product with the values has other dimensions than its weights
// CHECK: [Passed] FormGroups {{.*}}Function=keys_first 
func.func @keys_first(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x8xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %e, %t2 : tensor<8x8xf32>
  %w0 = graph.permute %w order = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %w1 = graph.reshape %w0 : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %v2 = graph.expand %v1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [0] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %z = graph.unary sin %w : tensor<8x8xf32>
  return %y, %z : tensor<8x4xf32>, tensor<8x8xf32>
}

// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: its exponentials have too few digits to be computed from a logarithm
// CHECK: [Passed] FormGroups {{.*}}Function=narrow 
func.func @narrow(%q: tensor<8x4xbf16>, %k: tensor<8x4xbf16>, %v: tensor<8x4xbf16>, %g: tensor<8x4xbf16>) -> (tensor<8x4xbf16>, tensor<8x4xbf16>) {
  %q1 = graph.reshape %q : tensor<8x4xbf16> -> tensor<8x1x4xbf16>
  %q2 = graph.expand %q1 : tensor<8x1x4xbf16> -> tensor<8x8x4xbf16>
  %k1 = graph.reshape %k : tensor<8x4xbf16> -> tensor<1x8x4xbf16>
  %k2 = graph.expand %k1 : tensor<1x8x4xbf16> -> tensor<8x8x4xbf16>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xbf16>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xbf16> -> tensor<8x8xbf16>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xbf16> -> tensor<8xbf16>
  %m1 = graph.reshape %m : tensor<8xbf16> -> tensor<8x1xbf16>
  %m2 = graph.expand %m1 : tensor<8x1xbf16> -> tensor<8x8xbf16>
  %d = graph.binary sub %s, %m2 : tensor<8x8xbf16>
  %e = graph.unary exp %d : tensor<8x8xbf16>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xbf16> -> tensor<8xbf16>
  %t1 = graph.reshape %t : tensor<8xbf16> -> tensor<8x1xbf16>
  %t2 = graph.expand %t1 : tensor<8x1xbf16> -> tensor<8x8xbf16>
  %w = graph.binary div %e, %t2 : tensor<8x8xbf16>
  %w1 = graph.reshape %w : tensor<8x8xbf16> -> tensor<8x8x1xbf16>
  %w2 = graph.expand %w1 : tensor<8x8x1xbf16> -> tensor<8x8x4xbf16>
  %v1 = graph.reshape %v : tensor<8x4xbf16> -> tensor<1x8x4xbf16>
  %v2 = graph.expand %v1 : tensor<1x8x4xbf16> -> tensor<8x8x4xbf16>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xbf16>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xbf16> -> tensor<8x4xbf16>
  %g1 = graph.reshape %g : tensor<8x4xbf16> -> tensor<8x1x4xbf16>
  %g2 = graph.expand %g1 : tensor<8x1x4xbf16> -> tensor<8x8x4xbf16>
  %wg = graph.binary mul %w2, %g2 : tensor<8x8x4xbf16>
  %dv = graph.reduce add %wg dims = [0] : tensor<8x8x4xbf16> -> tensor<8x4xbf16>
  return %y, %dv : tensor<8x4xbf16>, tensor<8x4xbf16>
}

// What weights are multiplied with hangs on another sum of them.
// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: what its weights are multiplied with is not known where they are computed again
// CHECK: [Passed] FormGroups {{.*}}Function=one_after_the_other 
func.func @one_after_the_other(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %e, %t2 : tensor<8x8xf32>
  %w1 = graph.reshape %w : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %v2 = graph.expand %v1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %g1 = graph.reshape %g : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %g2 = graph.expand %g1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %wg = graph.binary mul %w2, %g2 : tensor<8x8x4xf32>
  %dv = graph.reduce add %wg dims = [0] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %n = graph.unary sin %dv : tensor<8x4xf32>
  %n1 = graph.reshape %n : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %n2 = graph.expand %n1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %wn = graph.binary mul %w2, %n2 : tensor<8x8x4xf32>
  %z = graph.reduce add %wn dims = [0] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  return %y, %dv, %z : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// CHECK: [Missed] RecomputeWeights {{.*}}weights of an attention stay in memory: another reduction reads its weights than sums of products along keys or queries
// CHECK: [Passed] FormGroups {{.*}}Function=batches 
func.func @batches(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %t = graph.reduce add %e dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %e, %t2 : tensor<8x8xf32>
  %w1 = graph.reshape %w : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %v2 = graph.expand %v1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %g1 = graph.reshape %g : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %g2 = graph.expand %g1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %wg = graph.binary mul %w2, %g2 : tensor<8x8x4xf32>
  %dv = graph.reduce add %wg dims = [0] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %z = graph.reduce max %wg dims = [0] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  return %y, %dv, %z : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// Both are multiples of the exponentials: the logarithm is that of half the sum.
// CHECK-NOT: [Missed] RecomputeWeights
// CHECK: [Passed] FormGroups {{.*}}Function=doubled 
func.func @doubled(%q: tensor<8x4xf32>, %k: tensor<8x4xf32>, %v: tensor<8x4xf32>, %g: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %q1 = graph.reshape %q : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %q2 = graph.expand %q1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %k1 = graph.reshape %k : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %k2 = graph.expand %k1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<8x8x4xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<8x8x4xf32> -> tensor<8x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %m1 = graph.reshape %m : tensor<8xf32> -> tensor<8x1xf32>
  %m2 = graph.expand %m1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %d = graph.binary sub %s, %m2 : tensor<8x8xf32>
  %e = graph.unary exp %d : tensor<8x8xf32>
  %two = graph.constant dense<2.0> : tensor<8x8xf32>
  %ee = graph.binary mul %e, %two : tensor<8x8xf32>
  %t = graph.reduce add %ee dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %t1 = graph.reshape %t : tensor<8xf32> -> tensor<8x1xf32>
  %t2 = graph.expand %t1 : tensor<8x1xf32> -> tensor<8x8xf32>
  %w = graph.binary div %ee, %t2 : tensor<8x8xf32>
  %w1 = graph.reshape %w : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %w2 = graph.expand %w1 : tensor<8x8x1xf32> -> tensor<8x8x4xf32>
  %v1 = graph.reshape %v : tensor<8x4xf32> -> tensor<1x8x4xf32>
  %v2 = graph.expand %v1 : tensor<1x8x4xf32> -> tensor<8x8x4xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x8x4xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  %g1 = graph.reshape %g : tensor<8x4xf32> -> tensor<8x1x4xf32>
  %g2 = graph.expand %g1 : tensor<8x1x4xf32> -> tensor<8x8x4xf32>
  %wg = graph.binary mul %w2, %g2 : tensor<8x8x4xf32>
  %dv = graph.reduce add %wg dims = [0] : tensor<8x8x4xf32> -> tensor<8x4xf32>
  return %y, %dv : tensor<8x4xf32>, tensor<8x4xf32>
}
