// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-convert-graph-to-kernel | FileCheck %s --check-prefixes=CHECK,CARD
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v3 -zyx-convert-graph-to-kernel | FileCheck %s --check-prefixes=CHECK,HOST

// The gradient of a filter with four channels a group: on a card a sum of products, each element of the window by itself.
// CHECK-LABEL: kernel.func @filter_0
// CARD-NOT: kernel.dot
// CARD: kernel.reduce add {{.*}} : tensor<{{.*}}> -> tensor<3x4x4x3x3xf32>
// HOST: kernel.dot
func.func @filter(%dy: tensor<2x3x4x32x32xf32>, %x: tensor<2x3x4x34x34xf32>) -> tensor<3x4x4x3x3xf32> {
  %0 = graph.group(%a = %dy : tensor<2x3x4x32x32xf32>, %b = %x : tensor<2x3x4x34x34xf32>) -> tensor<3x4x4x3x3xf32> {
    %1 = graph.window %b dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x3x4x34x34xf32> -> tensor<2x3x4x32x32x3x3xf32>
    %2 = graph.reshape %1 : tensor<2x3x4x32x32x3x3xf32> -> tensor<2x3x1x4x32x32x3x3xf32>
    %3 = graph.expand %2 : tensor<2x3x1x4x32x32x3x3xf32> -> tensor<2x3x4x4x32x32x3x3xf32>
    %4 = graph.reshape %a : tensor<2x3x4x32x32xf32> -> tensor<2x3x4x1x32x32x1x1xf32>
    %5 = graph.expand %4 : tensor<2x3x4x1x32x32x1x1xf32> -> tensor<2x3x4x4x32x32x3x3xf32>
    %6 = graph.binary mul %5, %3 : tensor<2x3x4x4x32x32x3x3xf32>
    %7 = graph.reduce add %6 dims = [0, 4, 5] : tensor<2x3x4x4x32x32x3x3xf32> -> tensor<3x4x4x3x3xf32>
    graph.yield %7 : tensor<3x4x4x3x3xf32>
  }
  return %0 : tensor<3x4x4x3x3xf32>
}

// Rows of pairs are such sums, too.
// CHECK-LABEL: kernel.func @pairs_0
// CARD-NOT: kernel.dot
// CARD: kernel.reduce add {{.*}} : tensor<{{.*}}> -> tensor<3x4x4x3x3xf32>
// HOST: kernel.dot
func.func @pairs(%dy: tensor<4x3x4x32x30xf32>, %x: tensor<4x3x4x34x32xf32>) -> tensor<3x4x4x3x3xf32> {
  %0 = graph.group(%a = %dy : tensor<4x3x4x32x30xf32>, %b = %x : tensor<4x3x4x34x32xf32>) -> tensor<3x4x4x3x3xf32> {
    %1 = graph.window %b dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<4x3x4x34x32xf32> -> tensor<4x3x4x32x30x3x3xf32>
    %2 = graph.reshape %1 : tensor<4x3x4x32x30x3x3xf32> -> tensor<4x3x1x4x32x30x3x3xf32>
    %3 = graph.expand %2 : tensor<4x3x1x4x32x30x3x3xf32> -> tensor<4x3x4x4x32x30x3x3xf32>
    %4 = graph.reshape %a : tensor<4x3x4x32x30xf32> -> tensor<4x3x4x1x32x30x1x1xf32>
    %5 = graph.expand %4 : tensor<4x3x4x1x32x30x1x1xf32> -> tensor<4x3x4x4x32x30x3x3xf32>
    %6 = graph.binary mul %5, %3 : tensor<4x3x4x4x32x30x3x3xf32>
    %7 = graph.reduce add %6 dims = [0, 4, 5] : tensor<4x3x4x4x32x30x3x3xf32> -> tensor<3x4x4x3x3xf32>
    graph.yield %7 : tensor<3x4x4x3x3xf32>
  }
  return %0 : tensor<3x4x4x3x3xf32>
}

// Rows that pairs do not divide stay a product, and so do many outputs a group.
// CHECK-LABEL: kernel.func @odd_0
// CHECK: kernel.dot
func.func @odd(%dy: tensor<4x3x4x32x31xf32>, %x: tensor<4x3x4x34x33xf32>) -> tensor<3x4x4x3x3xf32> {
  %0 = graph.group(%a = %dy : tensor<4x3x4x32x31xf32>, %b = %x : tensor<4x3x4x34x33xf32>) -> tensor<3x4x4x3x3xf32> {
    %1 = graph.window %b dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<4x3x4x34x33xf32> -> tensor<4x3x4x32x31x3x3xf32>
    %2 = graph.reshape %1 : tensor<4x3x4x32x31x3x3xf32> -> tensor<4x3x1x4x32x31x3x3xf32>
    %3 = graph.expand %2 : tensor<4x3x1x4x32x31x3x3xf32> -> tensor<4x3x4x4x32x31x3x3xf32>
    %4 = graph.reshape %a : tensor<4x3x4x32x31xf32> -> tensor<4x3x4x1x32x31x1x1xf32>
    %5 = graph.expand %4 : tensor<4x3x4x1x32x31x1x1xf32> -> tensor<4x3x4x4x32x31x3x3xf32>
    %6 = graph.binary mul %5, %3 : tensor<4x3x4x4x32x31x3x3xf32>
    %7 = graph.reduce add %6 dims = [0, 4, 5] : tensor<4x3x4x4x32x31x3x3xf32> -> tensor<3x4x4x3x3xf32>
    graph.yield %7 : tensor<3x4x4x3x3xf32>
  }
  return %0 : tensor<3x4x4x3x3xf32>
}

// CHECK-LABEL: kernel.func @many_0
// CHECK: kernel.dot
func.func @many(%dy: tensor<2x3x16x32x32xf32>, %x: tensor<2x3x4x34x34xf32>) -> tensor<3x16x4x3x3xf32> {
  %0 = graph.group(%a = %dy : tensor<2x3x16x32x32xf32>, %b = %x : tensor<2x3x4x34x34xf32>) -> tensor<3x16x4x3x3xf32> {
    %1 = graph.window %b dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x3x4x34x34xf32> -> tensor<2x3x4x32x32x3x3xf32>
    %2 = graph.reshape %1 : tensor<2x3x4x32x32x3x3xf32> -> tensor<2x3x1x4x32x32x3x3xf32>
    %3 = graph.expand %2 : tensor<2x3x1x4x32x32x3x3xf32> -> tensor<2x3x16x4x32x32x3x3xf32>
    %4 = graph.reshape %a : tensor<2x3x16x32x32xf32> -> tensor<2x3x16x1x32x32x1x1xf32>
    %5 = graph.expand %4 : tensor<2x3x16x1x32x32x1x1xf32> -> tensor<2x3x16x4x32x32x3x3xf32>
    %6 = graph.binary mul %5, %3 : tensor<2x3x16x4x32x32x3x3xf32>
    %7 = graph.reduce add %6 dims = [0, 4, 5] : tensor<2x3x16x4x32x32x3x3xf32> -> tensor<3x16x4x3x3xf32>
    graph.yield %7 : tensor<3x16x4x3x3xf32>
  }
  return %0 : tensor<3x16x4x3x3xf32>
}
