// RUN: zyx-opt %s --zyx-fusion-split-group-sums | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-split-group-sums | FileCheck %s --check-prefix=CARD

// CHECK-LABEL: func.func @sum
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16x6xf32>
// CHECK: %[[SUM:.*]] = graph.reduce add %[[PARTS]] dims = [2] : tensor<2x16x6xf32> -> tensor<2x16xf32>
// CHECK: return %[[SUM]]
// What a card reads for nothing of so little takes less than launches.
// CARD-LABEL: func.func @sum
// CARD: graph.reduce add %{{.*}} dims = [2, 3, 4] : tensor<2x16x6x56x56xf32> -> tensor<2x16xf32>
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

// Four elements of 16 bits are a quarter of a sector, and there are many.
// CARD-LABEL: func.func @large
// CARD: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3, 4] : tensor<512x16x4x64x64xf32> -> tensor<512x16x4xf32>
// CARD: graph.reduce add %[[PARTS]] dims = [2] : tensor<512x16x4xf32> -> tensor<512x16xf32>
func.func @large(%x: tensor<512x64x64x64xbf16>) -> tensor<512x16xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<512x64x64x64xbf16> -> tensor<512x64x64x64xbf16>
  %1 = graph.cast %0 : tensor<512x64x64x64xbf16> -> tensor<512x64x64x64xf32>
  %2 = graph.reshape %1 : tensor<512x64x64x64xf32> -> tensor<512x16x4x64x64xf32>
  %3 = graph.binary mul %2, %2 : tensor<512x16x4x64x64xf32>
  %4 = graph.reduce add %3 dims = [2, 3, 4] : tensor<512x16x4x64x64xf32> -> tensor<512x16xf32>
  return %4 : tensor<512x16xf32>
}

// Eight of 32 bits fill one.
// CARD-LABEL: func.func @sector
// CARD: graph.reduce add %{{.*}} dims = [2, 3, 4] : tensor<512x8x8x64x64xf32> -> tensor<512x8xf32>
func.func @sector(%x: tensor<512x64x64x64xf32>) -> tensor<512x8xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<512x64x64x64xf32> -> tensor<512x64x64x64xf32>
  %1 = graph.reshape %0 : tensor<512x64x64x64xf32> -> tensor<512x8x8x64x64xf32>
  %2 = graph.reduce add %1 dims = [2, 3, 4] : tensor<512x8x8x64x64xf32> -> tensor<512x8xf32>
  return %2 : tensor<512x8xf32>
}
