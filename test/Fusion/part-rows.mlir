// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a' -zyx-fuse=tensor=16 | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s --check-prefix=APART
// RUN: zyx-opt %s -zyx-fuse | FileCheck %s --check-prefix=FEW

// The gradients of a norm and of its weights: rows fall into 256 parts, and one kernel has for each part the gradients of
// its rows and the sums of its columns. Those of all parts are added up in one more.
// CHECK-LABEL: func.func @norm
// CHECK: graph.group
// CHECK-DAG: graph.reduce add {{.*}} dims = [2] : tensor<256x32x2048xf32> -> tensor<256x32xf32>
// CHECK-DAG: graph.reduce add {{.*}} dims = [1] : tensor<256x32x2048xf32> -> tensor<256x2048xf32>
// CHECK: graph.yield {{.*}} : tensor<256x32x2048xf32>, tensor<256x2048xf32>
// CHECK: graph.group
// CHECK: graph.reduce add {{.*}} dims = [0] : tensor<256x2048xf32> -> tensor<2048xf32>
// CHECK-NOT: graph.group
// CHECK: return

// Sums along and across rows are kernels of their own where threads share too little memory.
// APART-LABEL: func.func @norm
// APART: graph.reduce add {{.*}} dims = [2] : tensor<256x32x2048xf32> -> tensor<256x32xf32>
// APART: graph.group
// APART: graph.reduce add {{.*}} dims = [1] : tensor<256x32x2048xf32> -> tensor<256x2048xf32>
// APART-NEXT: graph.yield

// Nothing is parted for a machine of few threads.
// FEW-LABEL: func.func @norm
// FEW-NOT: tensor<256x
// FEW: return
func.func @norm(%seed: tensor<8192x2048xf32>, %weight: tensor<2048xf32>, %x: tensor<8192x2048xf32>) -> (tensor<8192x2048xf32>, tensor<2048xf32>) {
  %w1 = graph.reshape %weight : tensor<2048xf32> -> tensor<1x2048xf32>
  %w = graph.expand %w1 : tensor<1x2048xf32> -> tensor<8192x2048xf32>
  %xx = graph.binary mul %x, %x : tensor<8192x2048xf32>
  %s = graph.reduce add %xx dims = [1] : tensor<8192x2048xf32> -> tensor<8192xf32>
  %r = graph.unary rsqrt %s : tensor<8192xf32>
  %r1 = graph.reshape %r : tensor<8192xf32> -> tensor<8192x1xf32>
  %rs = graph.expand %r1 : tensor<8192x1xf32> -> tensor<8192x2048xf32>
  %unit = graph.binary mul %x, %rs : tensor<8192x2048xf32>
  %own = graph.binary mul %seed, %w : tensor<8192x2048xf32>
  %p = graph.binary mul %own, %unit : tensor<8192x2048xf32>
  %t = graph.reduce add %p dims = [1] : tensor<8192x2048xf32> -> tensor<8192xf32>
  %t1 = graph.reshape %t : tensor<8192xf32> -> tensor<8192x1xf32>
  %ts = graph.expand %t1 : tensor<8192x1xf32> -> tensor<8192x2048xf32>
  %along = graph.binary mul %unit, %ts : tensor<8192x2048xf32>
  %dx = graph.binary sub %own, %along : tensor<8192x2048xf32>
  %share = graph.binary mul %seed, %unit : tensor<8192x2048xf32>
  %dw = graph.reduce add %share dims = [0] : tensor<8192x2048xf32> -> tensor<2048xf32>
  return %dx, %dw : tensor<8192x2048xf32>, tensor<2048xf32>
}

// Nothing is summed up along rows: columns alone fall into parts, as always.
// CHECK-LABEL: func.func @columns
// CHECK: graph.reduce add {{.*}} dims = [1] : tensor<16x512x2048xf32> -> tensor<16x2048xf32>
func.func @columns(%x: tensor<8192x2048xf32>) -> tensor<2048xf32> {
  %q = graph.binary mul %x, %x : tensor<8192x2048xf32>
  %y = graph.reduce add %q dims = [0] : tensor<8192x2048xf32> -> tensor<2048xf32>
  return %y : tensor<2048xf32>
}

// What another kernel computes in f32 is not read from memory that nobody would need.
// CHECK-LABEL: func.func @behind_product
// CHECK-NOT: tensor<256x
// CHECK: return
func.func @behind_product(%a: tensor<8192x64xf32>, %b: tensor<64x2048xf32>) -> (tensor<8192xf32>, tensor<2048xf32>) {
  %a1 = graph.reshape %a : tensor<8192x64xf32> -> tensor<8192x64x1xf32>
  %as = graph.expand %a1 : tensor<8192x64x1xf32> -> tensor<8192x64x2048xf32>
  %b1 = graph.reshape %b : tensor<64x2048xf32> -> tensor<1x64x2048xf32>
  %bs = graph.expand %b1 : tensor<1x64x2048xf32> -> tensor<8192x64x2048xf32>
  %ab = graph.binary mul %as, %bs : tensor<8192x64x2048xf32>
  %x = graph.reduce add %ab dims = [1] : tensor<8192x64x2048xf32> -> tensor<8192x2048xf32>
  %rows = graph.reduce add %x dims = [1] : tensor<8192x2048xf32> -> tensor<8192xf32>
  %columns = graph.reduce add %x dims = [0] : tensor<8192x2048xf32> -> tensor<2048xf32>
  return %rows, %columns : tensor<8192xf32>, tensor<2048xf32>
}

// What is rounded to 16 bits is stored so, though a contraction and others read it: the product is not computed in parts.
// CHECK-LABEL: func.func @in_front_of_product
// CHECK: graph.yield {{.*}} : tensor<256x2048xf32>, tensor<256x32x2048xbf16>
// CHECK-NOT: tensor<256x32x2048x64xf32>
// CHECK: graph.reduce add {{.*}} : tensor<8192x2048x64xf32> -> tensor<8192x64xf32>
// CHECK: return
func.func @in_front_of_product(%seed16: tensor<8192x2048xbf16>, %x16: tensor<8192x2048xbf16>, %w16: tensor<2048x64xbf16>)
    -> (tensor<8192x64xbf16>, tensor<8192x2048xf32>, tensor<2048xf32>) {
  %seed = graph.cast %seed16 : tensor<8192x2048xbf16> -> tensor<8192x2048xf32>
  %x = graph.cast %x16 : tensor<8192x2048xbf16> -> tensor<8192x2048xf32>
  %p = graph.binary mul %seed, %x : tensor<8192x2048xf32>
  %t = graph.reduce add %p dims = [1] : tensor<8192x2048xf32> -> tensor<8192xf32>
  %t1 = graph.reshape %t : tensor<8192xf32> -> tensor<8192x1xf32>
  %ts = graph.expand %t1 : tensor<8192x1xf32> -> tensor<8192x2048xf32>
  %along = graph.binary mul %x, %ts : tensor<8192x2048xf32>
  %dx = graph.binary sub %seed, %along : tensor<8192x2048xf32>
  %dw = graph.reduce add %p dims = [0] : tensor<8192x2048xf32> -> tensor<2048xf32>
  %narrow = graph.cast %dx : tensor<8192x2048xf32> -> tensor<8192x2048xbf16>
  %wide = graph.cast %narrow : tensor<8192x2048xbf16> -> tensor<8192x2048xf32>
  %a1 = graph.reshape %wide : tensor<8192x2048xf32> -> tensor<8192x2048x1xf32>
  %as = graph.expand %a1 : tensor<8192x2048x1xf32> -> tensor<8192x2048x64xf32>
  %w = graph.cast %w16 : tensor<2048x64xbf16> -> tensor<2048x64xf32>
  %b1 = graph.reshape %w : tensor<2048x64xf32> -> tensor<1x2048x64xf32>
  %bs = graph.expand %b1 : tensor<1x2048x64xf32> -> tensor<8192x2048x64xf32>
  %ab = graph.binary mul %as, %bs : tensor<8192x2048x64xf32>
  %sum = graph.reduce add %ab dims = [1] : tensor<8192x2048x64xf32> -> tensor<8192x64xf32>
  %product = graph.cast %sum : tensor<8192x64xf32> -> tensor<8192x64xbf16>
  %more = graph.unary abs %wide : tensor<8192x2048xf32>
  return %product, %more, %dw : tensor<8192x64xbf16>, tensor<8192x2048xf32>, tensor<2048xf32>
}
