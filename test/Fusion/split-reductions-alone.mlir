// RUN: zyx-opt %s --zyx-fusion-split-reductions | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-split-reductions | FileCheck %s --check-prefix=CARD

// Rows are programs of their own, on a processor.
// CHECK-LABEL: func.func @matrix
// CHECK-NEXT: %[[ROWS:.*]] = graph.reduce add %arg0 dims = [1] : tensor<1024x512xf32> -> tensor<1024xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[ROWS]] dims = [0] : tensor<1024xf32> -> tensor<f32>
// CHECK-NEXT: return %[[ALL]]
func.func @matrix(%x: tensor<1024x512xf32>) -> tensor<f32> {
  %y = graph.reduce add %x dims = [0, 1] : tensor<1024x512xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// On a card, the dimensions that are noted.
// CARD-LABEL: func.func @noted
// CARD-NEXT: %[[PARTS:.*]] = graph.reduce max %arg0 dims = [0] : tensor<16x32xf32> -> tensor<32xf32>
// CARD-NEXT: graph.reduce max %[[PARTS]] dims = [0] : tensor<32xf32> -> tensor<f32>
func.func @noted(%x: tensor<16x32xf32>) -> tensor<f32> {
  %y = graph.reduce max %x dims = [0, 1] {zyx.parts = array<i64: 1>} : tensor<16x32xf32> -> tensor<f32>
  return %y : tensor<f32>
}
