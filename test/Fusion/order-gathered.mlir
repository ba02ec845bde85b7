// RUN: zyx-opt %s --zyx-fusion-order-gathered | FileCheck %s

// Channels that come last in memory stay there while rows are interpolated.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: tensor<2x14x14x64xf32>, %[[I:.*]]: tensor<28xi64>, %[[W:.*]]: tensor<1x1x28x1xf32>)
// CHECK: %[[LOW:.*]] = graph.gather %[[X]][%[[I]]] dim = 1 : (tensor<2x14x14x64xf32>, tensor<28xi64>) -> tensor<2x28x14x64xf32>
// CHECK: %[[WEIGHTS:.*]] = graph.permute %{{.*}} order = [0, 2, 3, 1] : tensor<2x64x28x14xf32> -> tensor<2x28x14x64xf32>
// CHECK: %[[SCALED:.*]] = graph.binary mul %[[LOW]], %[[WEIGHTS]] : tensor<2x28x14x64xf32>
// CHECK: %[[AGAIN:.*]] = graph.permute %[[SCALED]] order = [0, 3, 1, 2]
// CHECK: %[[Y:.*]] = graph.gather %[[AGAIN]][%[[I]]] dim = 3
// CHECK: return %[[Y]]
func.func @rows(%x: tensor<2x14x14x64xf32>, %i: tensor<28xi64>, %w: tensor<1x1x28x1xf32>) -> tensor<2x64x28x28xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<2x14x14x64xf32> -> tensor<2x64x14x14xf32>
  %1 = graph.gather %0[%i] dim = 2 : (tensor<2x64x14x14xf32>, tensor<28xi64>) -> tensor<2x64x28x14xf32>
  %2 = graph.expand %w : tensor<1x1x28x1xf32> -> tensor<2x64x28x14xf32>
  %3 = graph.binary mul %1, %2 : tensor<2x64x28x14xf32>
  %4 = graph.gather %3[%i] dim = 3 : (tensor<2x64x28x14xf32>, tensor<28xi64>) -> tensor<2x64x28x28xf32>
  return %4 : tensor<2x64x28x28xf32>
}

// What is gathered along the channels, what another op reads, and what two orders meet in, stay.
// CHECK-LABEL: func.func @stay
// CHECK: %[[C:.*]] = graph.unary exp %{{.*}} : tensor<2x8x4xf32>
// CHECK: graph.gather %[[C]][%{{.*}}] dim = 1
// CHECK: %[[D:.*]] = graph.unary neg %{{.*}} : tensor<2x8x4xf32>
// CHECK: graph.gather %[[D]][%{{.*}}] dim = 2
// CHECK: %[[E:.*]] = graph.binary add %{{.*}} : tensor<2x8x4xf32>
// CHECK: graph.gather %[[E]][%{{.*}}] dim = 2
func.func @stay(%x: tensor<2x4x8xf32>, %y: tensor<2x8x4xf32>, %i: tensor<3xi64>)
    -> (tensor<2x3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32>, tensor<2x8x3xf32>) {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<2x4x8xf32> -> tensor<2x8x4xf32>
  %1 = graph.unary exp %0 : tensor<2x8x4xf32>
  %2 = graph.gather %1[%i] dim = 1 : (tensor<2x8x4xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %3 = graph.unary neg %0 : tensor<2x8x4xf32>
  %4 = graph.gather %3[%i] dim = 2 : (tensor<2x8x4xf32>, tensor<3xi64>) -> tensor<2x8x3xf32>
  %5 = graph.unary abs %3 : tensor<2x8x4xf32>
  %6 = graph.binary add %0, %y : tensor<2x8x4xf32>
  %7 = graph.gather %6[%i] dim = 2 : (tensor<2x8x4xf32>, tensor<3xi64>) -> tensor<2x8x3xf32>
  return %2, %4, %5, %7 : tensor<2x3x4xf32>, tensor<2x8x3xf32>, tensor<2x8x4xf32>, tensor<2x8x3xf32>
}
