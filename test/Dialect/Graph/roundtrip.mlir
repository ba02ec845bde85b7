// RUN: zyx-opt %s --zyx-test-graph-transport --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: zyx-opt %s --zyx-test-graph-transport | zyx-opt --zyx-test-graph-transport | FileCheck %s --check-prefix=AGAIN

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32> {graph.name = "x"} loc({{.*}}roundtrip.mlir":[[@LINE+3]]:17)
// CHECK-SAME: %[[I:.*]]: tensor<3xi32> {graph.name = "arg1"}
// CHECK-SAME: -> (tensor<8x3xf32> {graph.name = "y"}, tensor<8xi1> {graph.name = "result1"})
func.func @main(%x: tensor<4x8xf32> {graph.name = "x"}, %i: tensor<3xi32>)
    -> (tensor<8x3xf32> {graph.name = "y"}, tensor<8xi1>) {
  // CHECK: %[[W:.*]] = graph.parameter "weights" : tensor<4x8xf32> loc({{.*}}roundtrip.mlir":[[@LINE+1]]:8)
  %w = graph.parameter "weights" : tensor<4x8xf32>
  // CHECK: %[[P:.*]] = graph.binary mul %[[X]], %[[W]] : tensor<4x8xf32>
  %p = graph.binary mul %x, %w : tensor<4x8xf32>
  // CHECK: %[[E:.*]] = graph.unary tanh %[[P]] : tensor<4x8xf32>
  %e = graph.unary tanh %p : tensor<4x8xf32>
  // CHECK: %[[T:.*]] = graph.permute %[[E]] order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %t = graph.permute %e order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: %[[G:.*]] = graph.gather %[[T]][%[[I]]] dim = 1
  %g = graph.gather %t[%i] dim = 1 : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<8x3xf32>
  // CHECK: %[[R:.*]] = graph.reduce min %[[T]] dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  %r = graph.reduce min %t dims = [1] : tensor<8x4xf32> -> tensor<8xf32>
  // CHECK: graph.constant dense<5.000000e-01> : tensor<8xf32>
  %h = graph.constant dense<0.5> : tensor<8xf32>
  // CHECK: graph.binary ge
  %c = graph.binary ge %r, %h : tensor<8xf32>
  // CHECK: graph.constant dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>
  %m = graph.constant dense<[true, false, true, true, false, false, false, true]> : tensor<8xi1>
  // CHECK: %[[A:.*]] = graph.binary and
  %a = graph.binary and %c, %m : tensor<8xi1>
  // CHECK: return %[[G]], %[[A]]
  return %g, %a : tensor<8x3xf32>, tensor<8xi1>
}

// CHECK-LABEL: func.func @leaves
// AGAIN-LABEL: func.func @leaves
func.func @leaves(%x: tensor<1x1x6xui8>) -> (tensor<1x5x6xf16>, tensor<4xi64>, tensor<0xf32>, tensor<ui16>) {
  // CHECK: graph.cast %{{.*}} : tensor<1x1x6xui8> -> tensor<1x1x6xf16>
  %0 = graph.cast %x : tensor<1x1x6xui8> -> tensor<1x1x6xf16>
  // CHECK: graph.expand %{{.*}} : tensor<1x1x6xf16> -> tensor<1x5x6xf16>
  %1 = graph.expand %0 : tensor<1x1x6xf16> -> tensor<1x5x6xf16>
  // CHECK: graph.iota dim = 0 : tensor<4xi64>
  %2 = graph.iota dim = 0 : tensor<4xi64>
  // CHECK: dense<[true, false, false, true]> : tensor<4xi1>
  %3 = graph.constant dense<[true, false, false, true]> : tensor<4xi1>
  // CHECK: graph.constant dense<[1, -2, 3, 4]> : tensor<4xi64>
  %4 = graph.constant dense<[1, -2, 3, 4]> : tensor<4xi64>
  // CHECK: graph.select
  %5 = graph.select %3, %2, %4 : tensor<4xi64>
  // AGAIN: graph.constant dense<> : tensor<0xf32>
  %6 = graph.constant dense<> : tensor<0xf32>
  // CHECK: graph.constant dense<7> : tensor<ui16>
  %7 = graph.constant dense<7> : tensor<ui16>
  // CHECK: graph.constant dense<true> : tensor<3xi1>
  %8 = graph.constant dense<true> : tensor<3xi1>
  // CHECK: graph.reshape %{{.*}} : tensor<3xi1> -> tensor<3x1xi1>
  %9 = graph.reshape %8 : tensor<3xi1> -> tensor<3x1xi1>
  return %1, %5, %6, %7 : tensor<1x5x6xf16>, tensor<4xi64>, tensor<0xf32>, tensor<ui16>
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<4x8xf32>, %fill: tensor<f32>) -> (tensor<6x13xf32>, tensor<3x8x2xf32>, tensor<16x8xf32>, tensor<4x8xui32>) {
  // CHECK: %[[F:.*]] = graph.flip %{{.*}} dims = [0, 1] : tensor<4x8xf32>
  %0 = graph.flip %x dims = [0, 1] : tensor<4x8xf32>
  // CHECK: graph.pad %[[F]], %{{.*}} low = [1, -2] high = [1, 0] interior = [0, 1] : tensor<4x8xf32> -> tensor<6x13xf32>
  %1 = graph.pad %0, %fill low = [1, -2] high = [1, 0] interior = [0, 1] : tensor<4x8xf32> -> tensor<6x13xf32>
  // CHECK: graph.window %{{.*}} dims = [0] size = [2] stride = [1] dilation = [1] : tensor<4x8xf32> -> tensor<3x8x2xf32>
  %2 = graph.window %x dims = [0] size = [2] stride = [1] dilation = [1] : tensor<4x8xf32> -> tensor<3x8x2xf32>
  // CHECK: graph.concat %{{.*}}, %[[F]], %[[F]], %{{.*}} dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  %3 = graph.concat %x, %0, %0, %x dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  // CHECK: %[[T:.*]] = graph.transfer %{{.*}} to "cuda:1" : tensor<4x8xf32>
  %4 = graph.transfer %x to "cuda:1" : tensor<4x8xf32>
  // CHECK: graph.bitcast %[[T]] : tensor<4x8xf32> -> tensor<4x8xui32>
  %5 = graph.bitcast %4 : tensor<4x8xf32> -> tensor<4x8xui32>
  return %1, %2, %3, %5 : tensor<6x13xf32>, tensor<3x8x2xf32>, tensor<16x8xf32>, tensor<4x8xui32>
}

// CHECK-LABEL: func.func @order
func.func @order(%x: tensor<4x8xf32>, %i: tensor<3xi64>, %u: tensor<4x3xf32>, %seed: tensor<ui64>) -> (tensor<4x8xf32>, tensor<4x8xi64>, tensor<4x8xf32>, tensor<2x3xui32>) {
  // CHECK: graph.scan add %{{.*}} dim = 1 : tensor<4x8xf32>
  %0 = graph.scan add %x dim = 1 : tensor<4x8xf32>
  // CHECK: graph.scan max %{{.*}} dim = 0 exclusive reverse : tensor<4x8xf32>
  %1 = graph.scan max %0 dim = 0 exclusive reverse : tensor<4x8xf32>
  // CHECK: graph.sort values %{{.*}} dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = graph.sort values %1 dim = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: graph.sort indices %{{.*}} dim = 0 descending : tensor<4x8xf32> -> tensor<4x8xi64>
  %3 = graph.sort indices %2 dim = 0 descending : tensor<4x8xf32> -> tensor<4x8xi64>
  // CHECK: graph.scatter mul %{{.*}}[%{{.*}}], %{{.*}} dim = 1 : (tensor<4x8xf32>, tensor<3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  %4 = graph.scatter mul %2[%i], %u dim = 1 : (tensor<4x8xf32>, tensor<3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
  // CHECK: graph.random_bits %{{.*}} : tensor<ui64> -> tensor<2x3xui32>
  %5 = graph.random_bits %seed : tensor<ui64> -> tensor<2x3xui32>
  return %2, %3, %4, %5 : tensor<4x8xf32>, tensor<4x8xi64>, tensor<4x8xf32>, tensor<2x3xui32>
}

// CHECK-LABEL: func.func @weights
// CHECK-SAME: tensor<f32> {graph.name = "arg0"}
// CHECK-SAME: tensor<f32> {graph.name = "w", graph.weight}
// CHECK-SAME: tensor<f32> {graph.name = "arg2", graph.weight}
func.func @weights(%x: tensor<f32>, %w: tensor<f32> {graph.name = "w", graph.weight}, %v: tensor<f32> {graph.weight})
    -> tensor<f32> {
  return %w : tensor<f32>
}
