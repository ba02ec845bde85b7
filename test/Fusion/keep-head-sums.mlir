// RUN: zyx-opt %s --zyx-fusion-keep-head-sums --zyx-fusion-merge-reductions | FileCheck %s

// Sums over heads of products with weights stay apart from the sums of each head,
// CHECK-LABEL: func.func @weights
// CHECK: graph.reduce add %{{.*}} dims = [3] : tensor<2x8x32x64x16xf32> -> tensor<2x8x32x16xf32>
// CHECK: graph.reduce add %{{.*}} dims = [1] {zyx.heads} : tensor<2x8x32x16xf32> -> tensor<2x32x16xf32>
func.func @weights(%s: tensor<2x8x32x64xf32>, %v16: tensor<2x8x64x16xf16>) -> tensor<2x32x16xf32> {
  %e = graph.unary exp %s : tensor<2x8x32x64xf32>
  %e1 = graph.reshape %e : tensor<2x8x32x64xf32> -> tensor<2x8x32x64x1xf32>
  %es = graph.expand %e1 : tensor<2x8x32x64x1xf32> -> tensor<2x8x32x64x16xf32>
  %v = graph.cast %v16 : tensor<2x8x64x16xf16> -> tensor<2x8x64x16xf32>
  %v1 = graph.reshape %v : tensor<2x8x64x16xf32> -> tensor<2x8x1x64x16xf32>
  %vs = graph.expand %v1 : tensor<2x8x1x64x16xf32> -> tensor<2x8x32x64x16xf32>
  %p = graph.binary mul %es, %vs : tensor<2x8x32x64x16xf32>
  %own = graph.reduce add %p dims = [3] : tensor<2x8x32x64x16xf32> -> tensor<2x8x32x16xf32>
  %all = graph.reduce add %own dims = [1] : tensor<2x8x32x16xf32> -> tensor<2x32x16xf32>
  return %all : tensor<2x32x16xf32>
}

// others do not.
// CHECK-LABEL: func.func @other
// CHECK: graph.reduce add %{{.*}} dims = [1, 3] : tensor<2x8x32x64x16xf32> -> tensor<2x32x16xf32>
func.func @other(%s: tensor<2x8x32x64xf32>, %v16: tensor<2x8x64x16xf16>) -> tensor<2x32x16xf32> {
  %s1 = graph.reshape %s : tensor<2x8x32x64xf32> -> tensor<2x8x32x64x1xf32>
  %ss = graph.expand %s1 : tensor<2x8x32x64x1xf32> -> tensor<2x8x32x64x16xf32>
  %v = graph.cast %v16 : tensor<2x8x64x16xf16> -> tensor<2x8x64x16xf32>
  %v1 = graph.reshape %v : tensor<2x8x64x16xf32> -> tensor<2x8x1x64x16xf32>
  %vs = graph.expand %v1 : tensor<2x8x1x64x16xf32> -> tensor<2x8x32x64x16xf32>
  %p = graph.binary mul %ss, %vs : tensor<2x8x32x64x16xf32>
  %own = graph.reduce add %p dims = [3] : tensor<2x8x32x64x16xf32> -> tensor<2x8x32x16xf32>
  %all = graph.reduce add %own dims = [1] : tensor<2x8x32x16xf32> -> tensor<2x32x16xf32>
  return %all : tensor<2x32x16xf32>
}
