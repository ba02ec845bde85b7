// RUN: zyx-opt %s --zyx-fusion-separate-sinks --split-input-file | FileCheck %s

// The sums of keys and of a sink are relative to one maximum; the factor of the row comes behind the last sum, and a row
// that sees no key has the others alone.
// CHECK-LABEL: func.func @one_sink(
// CHECK-SAME: %[[Q:[a-z0-9]*]]: {{.*}} %[[SINK:[a-z0-9]*]]: tensor<37x1xf32>
// CHECK-NOT: graph.concat
// CHECK: %[[SCORES:.*]] = graph.reduce add %{{.*}} dims = [1] : tensor<37x16x50xf32>
// CHECK: %[[KEYS:.*]] = graph.reduce max %[[SCORES]] dims = [1]
// CHECK: %[[BESIDE:.*]] = graph.reshape %[[SINK]] : tensor<37x1xf32> -> tensor<37xf32>
// CHECK: %[[MAX:.*]] = graph.binary max %[[KEYS]], %[[BESIDE]]
// CHECK: %[[OTHER:.*]] = graph.binary sub %[[SINK]], %{{.*}}
// CHECK: %[[ROW:.*]] = graph.reshape %[[KEYS]] : tensor<37xf32> -> tensor<37x1xf32>
// CHECK: %[[E:.*]] = graph.unary exp %{{.*}} : tensor<37x50xf32>
// CHECK: %[[HIDDEN:.*]] = graph.binary eq %[[ROW]]
// CHECK: %[[SUM:.*]] = graph.reduce add %[[E]] dims = [1]
// CHECK: graph.select %[[HIDDEN]], %{{.*}}, %{{.*}} : tensor<37x1xf32>
// CHECK: graph.binary add %{{.*}}, %{{.*}} : tensor<37xf32>
// CHECK: %[[FACTOR:.*]] = graph.binary div %{{.*}}, %{{.*}} : tensor<37x1xf32>
// CHECK: %[[OUT:.*]] = graph.reduce add %{{.*}} dims = [1] : tensor<37x50x8xf32> -> tensor<37x8xf32>
// CHECK: graph.binary mul %[[OUT]]
// CHECK: graph.select %{{.*}} : tensor<37x8xf32>
// CHECK-NOT: graph.pad
func.func @one_sink(%q: tensor<37x16xf32> {graph.name = "q"}, %k: tensor<16x50xf32> {graph.name = "k"}, %v: tensor<50x8xf32> {graph.name = "v"}, %sink: tensor<37x1xf32> {graph.name = "sink"}) -> (tensor<37x8xf32> {graph.name = "y"}) {
  %q1 = graph.reshape %q : tensor<37x16xf32> -> tensor<37x16x1xf32>
  %q2 = graph.expand %q1 : tensor<37x16x1xf32> -> tensor<37x16x50xf32>
  %k1 = graph.reshape %k : tensor<16x50xf32> -> tensor<1x16x50xf32>
  %k2 = graph.expand %k1 : tensor<1x16x50xf32> -> tensor<37x16x50xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<37x16x50xf32>
  %s = graph.reduce add %qk dims = [1] : tensor<37x16x50xf32> -> tensor<37x50xf32>
  %c = graph.concat %s, %sink dim = 1 : (tensor<37x50xf32>, tensor<37x1xf32>) -> tensor<37x51xf32>
  %m = graph.reduce max %c dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %m1 = graph.reshape %m : tensor<37xf32> -> tensor<37x1xf32>
  %m2 = graph.expand %m1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %d = graph.binary sub %c, %m2 : tensor<37x51xf32>
  %e = graph.unary exp %d : tensor<37x51xf32>
  %l = graph.reduce add %e dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %l1 = graph.reshape %l : tensor<37xf32> -> tensor<37x1xf32>
  %l2 = graph.expand %l1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %p = graph.binary div %e, %l2 : tensor<37x51xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w = graph.pad %p, %zero low = [0, 0] high = [0, -1] interior = [0, 0] : tensor<37x51xf32> -> tensor<37x50xf32>
  %w1 = graph.reshape %w : tensor<37x50xf32> -> tensor<37x50x1xf32>
  %w2 = graph.expand %w1 : tensor<37x50x1xf32> -> tensor<37x50x8xf32>
  %v1 = graph.reshape %v : tensor<50x8xf32> -> tensor<1x50x8xf32>
  %v2 = graph.expand %v1 : tensor<1x50x8xf32> -> tensor<37x50x8xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<37x50x8xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<37x50x8xf32> -> tensor<37x8xf32>
  return %y : tensor<37x8xf32>
}

// -----

// A softmax may multiply by reciprocals that are repeated along the row.
// CHECK-LABEL: func.func @inverse(
// CHECK-NOT: graph.concat
// CHECK: graph.select %{{.*}} : tensor<37x8xf32>
// CHECK-NOT: graph.pad
func.func @inverse(%q: tensor<37x16xf32> {graph.name = "q"}, %k: tensor<16x50xf32> {graph.name = "k"}, %v: tensor<50x8xf32> {graph.name = "v"}, %sink: tensor<37x1xf32> {graph.name = "sink"}) -> (tensor<37x8xf32> {graph.name = "y"}) {
  %q1 = graph.reshape %q : tensor<37x16xf32> -> tensor<37x16x1xf32>
  %q2 = graph.expand %q1 : tensor<37x16x1xf32> -> tensor<37x16x50xf32>
  %k1 = graph.reshape %k : tensor<16x50xf32> -> tensor<1x16x50xf32>
  %k2 = graph.expand %k1 : tensor<1x16x50xf32> -> tensor<37x16x50xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<37x16x50xf32>
  %s = graph.reduce add %qk dims = [1] : tensor<37x16x50xf32> -> tensor<37x50xf32>
  %c = graph.concat %s, %sink dim = 1 : (tensor<37x50xf32>, tensor<37x1xf32>) -> tensor<37x51xf32>
  %m = graph.reduce max %c dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %m1 = graph.reshape %m : tensor<37xf32> -> tensor<37x1xf32>
  %m2 = graph.expand %m1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %d = graph.binary sub %c, %m2 : tensor<37x51xf32>
  %e = graph.unary exp %d : tensor<37x51xf32>
  %l = graph.reduce add %e dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %l1 = graph.reshape %l : tensor<37xf32> -> tensor<37x1xf32>
  %r = graph.unary recip %l1 : tensor<37x1xf32>
  %l2 = graph.expand %r : tensor<37x1xf32> -> tensor<37x51xf32>
  %p = graph.binary mul %e, %l2 : tensor<37x51xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w = graph.pad %p, %zero low = [0, 0] high = [0, -1] interior = [0, 0] : tensor<37x51xf32> -> tensor<37x50xf32>
  %w1 = graph.reshape %w : tensor<37x50xf32> -> tensor<37x50x1xf32>
  %w2 = graph.expand %w1 : tensor<37x50x1xf32> -> tensor<37x50x8xf32>
  %v1 = graph.reshape %v : tensor<50x8xf32> -> tensor<1x50x8xf32>
  %v2 = graph.expand %v1 : tensor<1x50x8xf32> -> tensor<37x50x8xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<37x50x8xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<37x50x8xf32> -> tensor<37x8xf32>
  return %y : tensor<37x8xf32>
}

// -----

// Of weights that are a result, too, exponentials stay relative to the largest of all scores.
// CHECK-LABEL: func.func @weights_too(
// CHECK-SAME: %[[SINK:[a-z0-9]*]]: tensor<37x1xf32>
// CHECK-NOT: graph.concat
// CHECK: %[[KEYS:.*]] = graph.reduce max %[[SCORES:.*]] dims = [1] : tensor<37x50xf32>
// CHECK: %[[BESIDE:.*]] = graph.reshape %[[SINK]] : tensor<37x1xf32> -> tensor<37xf32>
// CHECK: %[[MAX:.*]] = graph.binary max %[[KEYS]], %[[BESIDE]]
// CHECK: %[[MAX1:.*]] = graph.reshape %[[MAX]]
// CHECK: %[[MAX2:.*]] = graph.expand %[[MAX1]]
// CHECK-DAG: %[[DISTANCE:.*]] = graph.binary sub %[[SCORES]], %[[MAX2]]
// CHECK-DAG: %[[OTHER:.*]] = graph.binary sub %[[SINK]], %[[MAX1]]
// CHECK-DAG: %[[E:.*]] = graph.unary exp %[[DISTANCE]]
// CHECK-DAG: %[[O:.*]] = graph.unary exp %[[OTHER]]
// CHECK: %[[SUM:.*]] = graph.reduce add %[[E]] dims = [1]
// CHECK: %[[O1:.*]] = graph.reshape %[[O]]
// CHECK: %[[S:.*]] = graph.binary add %[[SUM]], %[[O1]]
// CHECK: %[[P:.*]] = graph.binary div %[[E]], %{{.*}} : tensor<37x50xf32>
// CHECK-NOT: graph.pad
// CHECK: return %{{.*}}, %[[P]]
func.func @weights_too(%q: tensor<37x16xf32> {graph.name = "q"}, %k: tensor<16x50xf32> {graph.name = "k"}, %v: tensor<50x8xf32> {graph.name = "v"}, %sink: tensor<37x1xf32> {graph.name = "sink"}) -> (tensor<37x8xf32> {graph.name = "y"}, tensor<37x50xf32> {graph.name = "w"}) {
  %q1 = graph.reshape %q : tensor<37x16xf32> -> tensor<37x16x1xf32>
  %q2 = graph.expand %q1 : tensor<37x16x1xf32> -> tensor<37x16x50xf32>
  %k1 = graph.reshape %k : tensor<16x50xf32> -> tensor<1x16x50xf32>
  %k2 = graph.expand %k1 : tensor<1x16x50xf32> -> tensor<37x16x50xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<37x16x50xf32>
  %s = graph.reduce add %qk dims = [1] : tensor<37x16x50xf32> -> tensor<37x50xf32>
  %c = graph.concat %s, %sink dim = 1 : (tensor<37x50xf32>, tensor<37x1xf32>) -> tensor<37x51xf32>
  %m = graph.reduce max %c dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %m1 = graph.reshape %m : tensor<37xf32> -> tensor<37x1xf32>
  %m2 = graph.expand %m1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %d = graph.binary sub %c, %m2 : tensor<37x51xf32>
  %e = graph.unary exp %d : tensor<37x51xf32>
  %l = graph.reduce add %e dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %l1 = graph.reshape %l : tensor<37xf32> -> tensor<37x1xf32>
  %l2 = graph.expand %l1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %p = graph.binary div %e, %l2 : tensor<37x51xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w = graph.pad %p, %zero low = [0, 0] high = [0, -1] interior = [0, 0] : tensor<37x51xf32> -> tensor<37x50xf32>
  %w1 = graph.reshape %w : tensor<37x50xf32> -> tensor<37x50x1xf32>
  %w2 = graph.expand %w1 : tensor<37x50x1xf32> -> tensor<37x50x8xf32>
  %v1 = graph.reshape %v : tensor<50x8xf32> -> tensor<1x50x8xf32>
  %v2 = graph.expand %v1 : tensor<1x50x8xf32> -> tensor<37x50x8xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<37x50x8xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<37x50x8xf32> -> tensor<37x8xf32>
  return %y, %w : tensor<37x8xf32>, tensor<37x50xf32>
}

// -----

// Weights of keys and sinks that are a result stay in one dimension.
// CHECK-LABEL: func.func @all_weights(
// CHECK: graph.concat
// CHECK: graph.pad
func.func @all_weights(%q: tensor<37x16xf32> {graph.name = "q"}, %k: tensor<16x50xf32> {graph.name = "k"}, %v: tensor<50x8xf32> {graph.name = "v"}, %sink: tensor<37x1xf32> {graph.name = "sink"}) -> (tensor<37x8xf32> {graph.name = "y"}, tensor<37x51xf32> {graph.name = "w"}) {
  %q1 = graph.reshape %q : tensor<37x16xf32> -> tensor<37x16x1xf32>
  %q2 = graph.expand %q1 : tensor<37x16x1xf32> -> tensor<37x16x50xf32>
  %k1 = graph.reshape %k : tensor<16x50xf32> -> tensor<1x16x50xf32>
  %k2 = graph.expand %k1 : tensor<1x16x50xf32> -> tensor<37x16x50xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<37x16x50xf32>
  %s = graph.reduce add %qk dims = [1] : tensor<37x16x50xf32> -> tensor<37x50xf32>
  %c = graph.concat %s, %sink dim = 1 : (tensor<37x50xf32>, tensor<37x1xf32>) -> tensor<37x51xf32>
  %m = graph.reduce max %c dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %m1 = graph.reshape %m : tensor<37xf32> -> tensor<37x1xf32>
  %m2 = graph.expand %m1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %d = graph.binary sub %c, %m2 : tensor<37x51xf32>
  %e = graph.unary exp %d : tensor<37x51xf32>
  %l = graph.reduce add %e dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %l1 = graph.reshape %l : tensor<37xf32> -> tensor<37x1xf32>
  %l2 = graph.expand %l1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %p = graph.binary div %e, %l2 : tensor<37x51xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w = graph.pad %p, %zero low = [0, 0] high = [0, -1] interior = [0, 0] : tensor<37x51xf32> -> tensor<37x50xf32>
  %w1 = graph.reshape %w : tensor<37x50xf32> -> tensor<37x50x1xf32>
  %w2 = graph.expand %w1 : tensor<37x50x1xf32> -> tensor<37x50x8xf32>
  %v1 = graph.reshape %v : tensor<50x8xf32> -> tensor<1x50x8xf32>
  %v2 = graph.expand %v1 : tensor<1x50x8xf32> -> tensor<37x50x8xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<37x50x8xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<37x50x8xf32> -> tensor<37x8xf32>
  return %y, %p : tensor<37x8xf32>, tensor<37x51xf32>
}

// -----

// A slice that is no part of the scores, and a sum along the other dimension, are other programs.
// CHECK-LABEL: func.func @other_part(
// CHECK: graph.concat
// CHECK: graph.pad
func.func @other_part(%q: tensor<37x16xf32> {graph.name = "q"}, %k: tensor<16x50xf32> {graph.name = "k"}, %v: tensor<49x8xf32> {graph.name = "v"}, %sink: tensor<37x1xf32> {graph.name = "sink"}) -> (tensor<37x8xf32> {graph.name = "y"}) {
  %q1 = graph.reshape %q : tensor<37x16xf32> -> tensor<37x16x1xf32>
  %q2 = graph.expand %q1 : tensor<37x16x1xf32> -> tensor<37x16x50xf32>
  %k1 = graph.reshape %k : tensor<16x50xf32> -> tensor<1x16x50xf32>
  %k2 = graph.expand %k1 : tensor<1x16x50xf32> -> tensor<37x16x50xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<37x16x50xf32>
  %s = graph.reduce add %qk dims = [1] : tensor<37x16x50xf32> -> tensor<37x50xf32>
  %c = graph.concat %s, %sink dim = 1 : (tensor<37x50xf32>, tensor<37x1xf32>) -> tensor<37x51xf32>
  %m = graph.reduce max %c dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %m1 = graph.reshape %m : tensor<37xf32> -> tensor<37x1xf32>
  %m2 = graph.expand %m1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %d = graph.binary sub %c, %m2 : tensor<37x51xf32>
  %e = graph.unary exp %d : tensor<37x51xf32>
  %l = graph.reduce add %e dims = [1] : tensor<37x51xf32> -> tensor<37xf32>
  %l1 = graph.reshape %l : tensor<37xf32> -> tensor<37x1xf32>
  %l2 = graph.expand %l1 : tensor<37x1xf32> -> tensor<37x51xf32>
  %p = graph.binary div %e, %l2 : tensor<37x51xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %w = graph.pad %p, %zero low = [0, 0] high = [0, -2] interior = [0, 0] : tensor<37x51xf32> -> tensor<37x49xf32>
  %w1 = graph.reshape %w : tensor<37x49xf32> -> tensor<37x49x1xf32>
  %w2 = graph.expand %w1 : tensor<37x49x1xf32> -> tensor<37x49x8xf32>
  %v1 = graph.reshape %v : tensor<49x8xf32> -> tensor<1x49x8xf32>
  %v2 = graph.expand %v1 : tensor<1x49x8xf32> -> tensor<37x49x8xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<37x49x8xf32>
  %y = graph.reduce add %wv dims = [1] : tensor<37x49x8xf32> -> tensor<37x8xf32>
  return %y : tensor<37x8xf32>
}

// -----

// Numbers of rows that are compared in another order than that of the scores are none that a reshape takes to them.
// CHECK-LABEL: func.func @transposed(
// CHECK: graph.binary max %{{.*}} : tensor<16x8xf32>
// CHECK-NOT: graph.reshape %{{.*}} : tensor<16x8xf32>
// CHECK: return
func.func @transposed(%q: tensor<8x16x32xf32>, %k: tensor<8x50x32xf32>, %sink: tensor<16x8xf32>, %v: tensor<8x50x24xf32>) -> tensor<8x16x24xf32> {
  %q1 = graph.reshape %q : tensor<8x16x32xf32> -> tensor<8x16x1x32xf32>
  %q2 = graph.expand %q1 : tensor<8x16x1x32xf32> -> tensor<8x16x50x32xf32>
  %k1 = graph.reshape %k : tensor<8x50x32xf32> -> tensor<8x1x50x32xf32>
  %k2 = graph.expand %k1 : tensor<8x1x50x32xf32> -> tensor<8x16x50x32xf32>
  %p = graph.binary mul %q2, %k2 : tensor<8x16x50x32xf32>
  %s = graph.reduce add %p dims = [3] : tensor<8x16x50x32xf32> -> tensor<8x16x50xf32>
  %m = graph.reduce max %s dims = [2] : tensor<8x16x50xf32> -> tensor<8x16xf32>
  %mt = graph.permute %m order = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %n = graph.binary max %mt, %sink : tensor<16x8xf32>
  %nt = graph.permute %n order = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %n1 = graph.reshape %nt : tensor<8x16xf32> -> tensor<8x16x1xf32>
  %n2 = graph.expand %n1 : tensor<8x16x1xf32> -> tensor<8x16x50xf32>
  %d = graph.binary sub %s, %n2 : tensor<8x16x50xf32>
  %e = graph.unary exp %d : tensor<8x16x50xf32>
  %l = graph.reduce add %e dims = [2] : tensor<8x16x50xf32> -> tensor<8x16xf32>
  %od = graph.binary sub %sink, %n : tensor<16x8xf32>
  %oe = graph.unary exp %od : tensor<16x8xf32>
  %o = graph.permute %oe order = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %t = graph.binary add %l, %o : tensor<8x16xf32>
  %t1 = graph.reshape %t : tensor<8x16xf32> -> tensor<8x16x1xf32>
  %t2 = graph.expand %t1 : tensor<8x16x1xf32> -> tensor<8x16x50xf32>
  %w = graph.binary div %e, %t2 : tensor<8x16x50xf32>
  %w1 = graph.reshape %w : tensor<8x16x50xf32> -> tensor<8x16x50x1xf32>
  %w2 = graph.expand %w1 : tensor<8x16x50x1xf32> -> tensor<8x16x50x24xf32>
  %v1 = graph.reshape %v : tensor<8x50x24xf32> -> tensor<8x1x50x24xf32>
  %v2 = graph.expand %v1 : tensor<8x1x50x24xf32> -> tensor<8x16x50x24xf32>
  %wv = graph.binary mul %w2, %v2 : tensor<8x16x50x24xf32>
  %y = graph.reduce add %wv dims = [2] : tensor<8x16x50x24xf32> -> tensor<8x16x24xf32>
  return %y : tensor<8x16x24xf32>
}
