// RUN: zyx-opt %s --zyx-fusion-split-group-sums | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16x6xf32>
// CHECK: %[[SUM:.*]] = graph.reduce add %[[PARTS]] dims = [2] : tensor<2x16x6xf32> -> tensor<2x16xf32>
// CHECK: return %[[SUM]]
func.func @sum(%x: tensor<2x56x56x96xf32>) -> tensor<2x16xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<2x56x56x96xf32> -> tensor<2x96x56x56xf32>
  %1 = graph.reshape %0 : tensor<2x96x56x56xf32> -> tensor<2x16x6x56x56xf32>
  %2 = graph.reduce add %1 dims = [2, 3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}

// Wide groups have whole vectors of channels.
// CHECK-LABEL: func.func @wide
// CHECK: graph.reduce add %{{.*}} dims = [2, 3, 4] : tensor<2x2x48x56x56xf32> -> tensor<2x2xf32>
// CHECK-NEXT: return
func.func @wide(%x: tensor<2x56x56x96xf32>) -> tensor<2x2xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<2x56x56x96xf32> -> tensor<2x96x56x56xf32>
  %1 = graph.reshape %0 : tensor<2x96x56x56xf32> -> tensor<2x2x48x56x56xf32>
  %2 = graph.reduce add %1 dims = [2, 3, 4] : tensor<2x2x48x56x56xf32> -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
