// RUN: zyx-opt %s --zyx-fuse | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fuse | FileCheck %s --check-prefix=CARD

// Six channels of each group lie side by side: positions are summed up for each of them, then the channels, and what
// these read is stored for each. The result is permuted before its channels are joined.
// CHECK-LABEL: func.func @norm
// CHECK:         graph.reduce add %{{.*}} dims = [3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16x6xf32>
// CHECK:         graph.yield
// CHECK:         graph.reduce add %{{.*}} dims = [2] : tensor<2x96x6xf32> -> tensor<2x96xf32>
// CHECK:         graph.yield
// CHECK:         graph.binary sub
// CHECK:         graph.permute %{{.*}} order = [0, 3, 4, 1, 2] : tensor<2x16x6x56x56xf32> -> tensor<2x56x56x16x6xf32>
// CHECK-NEXT:    graph.yield
// CHECK:       graph.reshape %{{.*}} : tensor<2x56x56x16x6xf32> -> tensor<2x56x56x96xf32>
// CARD-LABEL:  func.func @norm
// CARD-NOT:    tensor<2x96x6xf32>
func.func @norm(%x: tensor<2x56x56x96xf32>) -> tensor<2x56x56x96xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<2x56x56x96xf32> -> tensor<2x96x56x56xf32>
  %1 = graph.reshape %0 : tensor<2x96x56x56xf32> -> tensor<2x16x6x56x56xf32>
  %2 = graph.reduce add %1 dims = [2, 3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16xf32>
  %3 = graph.reshape %2 : tensor<2x16xf32> -> tensor<2x16x1x1x1xf32>
  %4 = graph.constant dense<5.0e-5> : tensor<2x16x1x1x1xf32>
  %5 = graph.binary mul %3, %4 : tensor<2x16x1x1x1xf32>
  %6 = graph.expand %5 : tensor<2x16x1x1x1xf32> -> tensor<2x16x6x56x56xf32>
  %7 = graph.binary sub %1, %6 : tensor<2x16x6x56x56xf32>
  %8 = graph.reshape %7 : tensor<2x16x6x56x56xf32> -> tensor<2x96x56x56xf32>
  %9 = graph.permute %8 order = [0, 2, 3, 1] : tensor<2x96x56x56xf32> -> tensor<2x56x56x96xf32>
  return %9 : tensor<2x56x56x96xf32>
}

// Rows of images lie side by side, and are all combined.
// CHECK-LABEL: func.func @first
// CHECK:         graph.reduce add %{{.*}} dims = [2, 3] : tensor<2x16x600x12xf32> -> tensor<2x16xf32>
func.func @first(%x: tensor<2x16x600x12xf32>) -> tensor<2x16xf32> {
  %0 = graph.reduce add %x dims = [2, 3] : tensor<2x16x600x12xf32> -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}
