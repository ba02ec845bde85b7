// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-split-contractions | FileCheck %s

// The sum of each part, and that of all parts.
// CHECK-LABEL: func.func @product
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<32x32x256x256xf32> -> tensor<32x32x256xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[PARTS]] dims = [2] : tensor<32x32x256xf32> -> tensor<32x32xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @product(%a: tensor<32x256x256xf32>, %b: tensor<32x256x256xf32>) -> tensor<32x32xf32> {
  %a1 = graph.reshape %a : tensor<32x256x256xf32> -> tensor<32x1x256x256xf32>
  %as = graph.expand %a1 : tensor<32x1x256x256xf32> -> tensor<32x32x256x256xf32>
  %b1 = graph.reshape %b : tensor<32x256x256xf32> -> tensor<1x32x256x256xf32>
  %bs = graph.expand %b1 : tensor<1x32x256x256xf32> -> tensor<32x32x256x256xf32>
  %p = graph.binary mul %as, %bs : tensor<32x32x256x256xf32>
  %y = graph.reduce add %p dims = [2, 3] : tensor<32x32x256x256xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
