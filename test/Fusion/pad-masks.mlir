// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fuse=tensor=16 --zyx-fusion-pad-masks | FileCheck %s

// Eight heads read a bias whose rows have an odd number of elements: its rows are copied to begin on 16 bytes.
// CHECK-LABEL: func.func @odd
// CHECK: %[[ROWS:.*]] = graph.group(%{{.*}} = %arg3 : tensor<64x65xbf16>) -> tensor<64x72xbf16> {
// CHECK: graph.pad %{{.*}} high = [0, 7]
// CHECK: graph.group({{.*}} = %[[ROWS]] : tensor<64x72xbf16>{{.*}}) -> tensor<8x64x32xf32> {
// CHECK: graph.pad %{{.*}} high = [0, -7] {{.*}} : tensor<64x72xbf16> -> tensor<64x65xbf16>
func.func @odd(%q: tensor<8x64x32xf32>, %k: tensor<8x65x32xf32>, %v: tensor<8x65x32xf32>, %bias: tensor<64x65xbf16>) -> tensor<8x64x32xf32> {
  %q1 = graph.reshape %q : tensor<8x64x32xf32> -> tensor<8x64x32x1xf32>
  %qs = graph.expand %q1 : tensor<8x64x32x1xf32> -> tensor<8x64x32x65xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<8x65x32xf32> -> tensor<8x32x65xf32>
  %k1 = graph.reshape %kt : tensor<8x32x65xf32> -> tensor<8x1x32x65xf32>
  %ks = graph.expand %k1 : tensor<8x1x32x65xf32> -> tensor<8x64x32x65xf32>
  %p = graph.binary mul %qs, %ks : tensor<8x64x32x65xf32>
  %s = graph.reduce add %p dims = [2] : tensor<8x64x32x65xf32> -> tensor<8x64x65xf32>
  %wide = graph.cast %bias : tensor<64x65xbf16> -> tensor<64x65xf32>
  %b1 = graph.reshape %wide : tensor<64x65xf32> -> tensor<1x64x65xf32>
  %bs = graph.expand %b1 : tensor<1x64x65xf32> -> tensor<8x64x65xf32>
  %x = graph.binary add %s, %bs : tensor<8x64x65xf32>
  %m = graph.reduce max %x dims = [2] : tensor<8x64x65xf32> -> tensor<8x64xf32>
  %m1 = graph.reshape %m : tensor<8x64xf32> -> tensor<8x64x1xf32>
  %ms = graph.expand %m1 : tensor<8x64x1xf32> -> tensor<8x64x65xf32>
  %d = graph.binary sub %x, %ms : tensor<8x64x65xf32>
  %e = graph.unary exp %d : tensor<8x64x65xf32>
  %l = graph.reduce add %e dims = [2] : tensor<8x64x65xf32> -> tensor<8x64xf32>
  %l1 = graph.reshape %l : tensor<8x64xf32> -> tensor<8x64x1xf32>
  %ls = graph.expand %l1 : tensor<8x64x1xf32> -> tensor<8x64x65xf32>
  %w = graph.binary div %e, %ls : tensor<8x64x65xf32>
  %w1 = graph.reshape %w : tensor<8x64x65xf32> -> tensor<8x64x65x1xf32>
  %ws = graph.expand %w1 : tensor<8x64x65x1xf32> -> tensor<8x64x65x32xf32>
  %v1 = graph.reshape %v : tensor<8x65x32xf32> -> tensor<8x1x65x32xf32>
  %vs = graph.expand %v1 : tensor<8x1x65x32xf32> -> tensor<8x64x65x32xf32>
  %t = graph.binary mul %ws, %vs : tensor<8x64x65x32xf32>
  %y = graph.reduce add %t dims = [2] : tensor<8x64x65x32xf32> -> tensor<8x64x32xf32>
  return %y : tensor<8x64x32xf32>
}

// Two neighbours lie in one word.
// CHECK-LABEL: func.func @even
// CHECK-NOT: graph.pad
// CHECK: return
func.func @even(%q: tensor<8x64x32xf32>, %k: tensor<8x66x32xf32>, %v: tensor<8x66x32xf32>, %bias: tensor<64x66xbf16>) -> tensor<8x64x32xf32> {
  %q1 = graph.reshape %q : tensor<8x64x32xf32> -> tensor<8x64x32x1xf32>
  %qs = graph.expand %q1 : tensor<8x64x32x1xf32> -> tensor<8x64x32x66xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<8x66x32xf32> -> tensor<8x32x66xf32>
  %k1 = graph.reshape %kt : tensor<8x32x66xf32> -> tensor<8x1x32x66xf32>
  %ks = graph.expand %k1 : tensor<8x1x32x66xf32> -> tensor<8x64x32x66xf32>
  %p = graph.binary mul %qs, %ks : tensor<8x64x32x66xf32>
  %s = graph.reduce add %p dims = [2] : tensor<8x64x32x66xf32> -> tensor<8x64x66xf32>
  %wide = graph.cast %bias : tensor<64x66xbf16> -> tensor<64x66xf32>
  %b1 = graph.reshape %wide : tensor<64x66xf32> -> tensor<1x64x66xf32>
  %bs = graph.expand %b1 : tensor<1x64x66xf32> -> tensor<8x64x66xf32>
  %x = graph.binary add %s, %bs : tensor<8x64x66xf32>
  %m = graph.reduce max %x dims = [2] : tensor<8x64x66xf32> -> tensor<8x64xf32>
  %m1 = graph.reshape %m : tensor<8x64xf32> -> tensor<8x64x1xf32>
  %ms = graph.expand %m1 : tensor<8x64x1xf32> -> tensor<8x64x66xf32>
  %d = graph.binary sub %x, %ms : tensor<8x64x66xf32>
  %e = graph.unary exp %d : tensor<8x64x66xf32>
  %l = graph.reduce add %e dims = [2] : tensor<8x64x66xf32> -> tensor<8x64xf32>
  %l1 = graph.reshape %l : tensor<8x64xf32> -> tensor<8x64x1xf32>
  %ls = graph.expand %l1 : tensor<8x64x1xf32> -> tensor<8x64x66xf32>
  %w = graph.binary div %e, %ls : tensor<8x64x66xf32>
  %w1 = graph.reshape %w : tensor<8x64x66xf32> -> tensor<8x64x66x1xf32>
  %ws = graph.expand %w1 : tensor<8x64x66x1xf32> -> tensor<8x64x66x32xf32>
  %v1 = graph.reshape %v : tensor<8x66x32xf32> -> tensor<8x1x66x32xf32>
  %vs = graph.expand %v1 : tensor<8x1x66x32xf32> -> tensor<8x64x66x32xf32>
  %t = graph.binary mul %ws, %vs : tensor<8x64x66x32xf32>
  %y = graph.reduce add %t dims = [2] : tensor<8x64x66x32xf32> -> tensor<8x64x32xf32>
  return %y : tensor<8x64x32xf32>
}

// One score for each element does not pay for a copy.
// CHECK-LABEL: func.func @own
// CHECK-NOT: graph.pad
// CHECK: return
func.func @own(%q: tensor<8x64x32xf32>, %k: tensor<8x65x32xf32>, %v: tensor<8x65x32xf32>, %bias: tensor<8x64x65xbf16>) -> tensor<8x64x32xf32> {
  %q1 = graph.reshape %q : tensor<8x64x32xf32> -> tensor<8x64x32x1xf32>
  %qs = graph.expand %q1 : tensor<8x64x32x1xf32> -> tensor<8x64x32x65xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<8x65x32xf32> -> tensor<8x32x65xf32>
  %k1 = graph.reshape %kt : tensor<8x32x65xf32> -> tensor<8x1x32x65xf32>
  %ks = graph.expand %k1 : tensor<8x1x32x65xf32> -> tensor<8x64x32x65xf32>
  %p = graph.binary mul %qs, %ks : tensor<8x64x32x65xf32>
  %s = graph.reduce add %p dims = [2] : tensor<8x64x32x65xf32> -> tensor<8x64x65xf32>
  %wide = graph.cast %bias : tensor<8x64x65xbf16> -> tensor<8x64x65xf32>
  %x = graph.binary add %s, %wide : tensor<8x64x65xf32>
  %m = graph.reduce max %x dims = [2] : tensor<8x64x65xf32> -> tensor<8x64xf32>
  %m1 = graph.reshape %m : tensor<8x64xf32> -> tensor<8x64x1xf32>
  %ms = graph.expand %m1 : tensor<8x64x1xf32> -> tensor<8x64x65xf32>
  %d = graph.binary sub %x, %ms : tensor<8x64x65xf32>
  %e = graph.unary exp %d : tensor<8x64x65xf32>
  %l = graph.reduce add %e dims = [2] : tensor<8x64x65xf32> -> tensor<8x64xf32>
  %l1 = graph.reshape %l : tensor<8x64xf32> -> tensor<8x64x1xf32>
  %ls = graph.expand %l1 : tensor<8x64x1xf32> -> tensor<8x64x65xf32>
  %w = graph.binary div %e, %ls : tensor<8x64x65xf32>
  %w1 = graph.reshape %w : tensor<8x64x65xf32> -> tensor<8x64x65x1xf32>
  %ws = graph.expand %w1 : tensor<8x64x65x1xf32> -> tensor<8x64x65x32xf32>
  %v1 = graph.reshape %v : tensor<8x65x32xf32> -> tensor<8x1x65x32xf32>
  %vs = graph.expand %v1 : tensor<8x1x65x32xf32> -> tensor<8x64x65x32xf32>
  %t = graph.binary mul %ws, %vs : tensor<8x64x65x32xf32>
  %y = graph.reduce add %t dims = [2] : tensor<8x64x65x32xf32> -> tensor<8x64x32xf32>
  return %y : tensor<8x64x32xf32>
}
