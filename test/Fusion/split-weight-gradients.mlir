// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-split-contractions | FileCheck %s

// A gradient of weights in f32 follows a sum, and has nine tiles for 132 cores, each of 6272 steps: each image is a part.
// CHECK-LABEL: func.func @few
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<32x96x96x196xf32> -> tensor<32x96x96xf32>
// CHECK-NEXT: graph.reduce add %[[PARTS]] dims = [0] : tensor<32x96x96xf32> -> tensor<96x96xf32>
func.func @few(%a: tensor<32x96x196xf32>, %b: tensor<32x96x196xf32>) -> tensor<96x96xf32> {
  %sum = graph.reduce add %a dims = [0, 2] : tensor<32x96x196xf32> -> tensor<96xf32>
  %sum1 = graph.reshape %sum : tensor<96xf32> -> tensor<1x96x1xf32>
  %sums = graph.expand %sum1 : tensor<1x96x1xf32> -> tensor<32x96x196xf32>
  %less = graph.binary sub %a, %sums : tensor<32x96x196xf32>
  %a1 = graph.reshape %less : tensor<32x96x196xf32> -> tensor<32x96x1x196xf32>
  %as = graph.expand %a1 : tensor<32x96x1x196xf32> -> tensor<32x96x96x196xf32>
  %b1 = graph.reshape %b : tensor<32x96x196xf32> -> tensor<32x1x96x196xf32>
  %bs = graph.expand %b1 : tensor<32x1x96x196xf32> -> tensor<32x96x96x196xf32>
  %p = graph.binary mul %as, %bs : tensor<32x96x96x196xf32>
  %y = graph.reduce add %p dims = [0, 3] : tensor<32x96x96x196xf32> -> tensor<96x96xf32>
  return %y : tensor<96x96xf32>
}

// With a batch it may be a step of an attention, and fewer steps are not worth a launch.
// CHECK-LABEL: func.func @batch
// CHECK: graph.reduce add %{{.*}} dims = [1, 4] : tensor<4x32x48x48x196xf32> -> tensor<4x48x48xf32>
// CHECK-NEXT: return
func.func @batch(%a: tensor<4x32x48x196xf32>, %b: tensor<4x32x48x196xf32>) -> tensor<4x48x48xf32> {
  %sum = graph.reduce add %a dims = [1, 3] : tensor<4x32x48x196xf32> -> tensor<4x48xf32>
  %sum1 = graph.reshape %sum : tensor<4x48xf32> -> tensor<4x1x48x1xf32>
  %sums = graph.expand %sum1 : tensor<4x1x48x1xf32> -> tensor<4x32x48x196xf32>
  %less = graph.binary sub %a, %sums : tensor<4x32x48x196xf32>
  %a1 = graph.reshape %less : tensor<4x32x48x196xf32> -> tensor<4x32x48x1x196xf32>
  %as = graph.expand %a1 : tensor<4x32x48x1x196xf32> -> tensor<4x32x48x48x196xf32>
  %b1 = graph.reshape %b : tensor<4x32x48x196xf32> -> tensor<4x32x1x48x196xf32>
  %bs = graph.expand %b1 : tensor<4x32x1x48x196xf32> -> tensor<4x32x48x48x196xf32>
  %p = graph.binary mul %as, %bs : tensor<4x32x48x48x196xf32>
  %y = graph.reduce add %p dims = [1, 4] : tensor<4x32x48x48x196xf32> -> tensor<4x48x48xf32>
  return %y : tensor<4x48x48xf32>
}
