// RUN: zyx-opt %s | FileCheck %s
// RUN: zyx-opt %s --mlir-print-op-generic | zyx-opt | FileCheck %s
// RUN: zyx-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func.func @leaves
// CHECK-SAME: -> (tensor<2xf32>, tensor<64x32xbf16> {graph.name = "w"}, tensor<4x8xi64>)
func.func @leaves() -> (tensor<2xf32>, tensor<64x32xbf16> {graph.name = "w"}, tensor<4x8xi64>) {
  // CHECK: graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: graph.parameter "weights" : tensor<64x32xbf16>
  %1 = graph.parameter "weights" : tensor<64x32xbf16>
  // CHECK: graph.iota dim = 1 : tensor<4x8xi64>
  %2 = graph.iota dim = 1 : tensor<4x8xi64>
  return %0, %1, %2 : tensor<2xf32>, tensor<64x32xbf16>, tensor<4x8xi64>
}

// CHECK-LABEL: func.func @element_types
func.func @element_types() {
  // CHECK: dense<[true, false]> : tensor<2xi1>
  %0 = graph.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: dense<200> : tensor<2xui8>
  %1 = graph.constant dense<200> : tensor<2xui8>
  // CHECK: dense<1> : tensor<i16>
  %2 = graph.constant dense<1> : tensor<i16>
  // CHECK: dense<1.500000e+00> : tensor<f8E4M3FN>
  %3 = graph.constant dense<1.5> : tensor<f8E4M3FN>
  // CHECK: dense<> : tensor<0xf8E5M2>
  %4 = graph.constant dense<> : tensor<0xf8E5M2>
  // CHECK: dense<{{.*}}> : tensor<2x1xui64>
  %5 = graph.constant dense<[[1], [18446744073709551615]]> : tensor<2x1xui64>
  return
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x6xf32>) -> tensor<6x1x4xf32> {
  // CHECK: graph.reshape %{{.*}} : tensor<4x6xf32> -> tensor<4x1x6xf32>
  %0 = graph.reshape %x : tensor<4x6xf32> -> tensor<4x1x6xf32>
  // CHECK: graph.expand %{{.*}} : tensor<4x1x6xf32> -> tensor<4x3x6xf32>
  %1 = graph.expand %0 : tensor<4x1x6xf32> -> tensor<4x3x6xf32>
  // CHECK: graph.permute %{{.*}} order = [2, 1, 0] : tensor<4x1x6xf32> -> tensor<6x1x4xf32>
  %2 = graph.permute %0 order = [2, 1, 0] : tensor<4x1x6xf32> -> tensor<6x1x4xf32>
  return %2 : tensor<6x1x4xf32>
}

// CHECK-LABEL: func.func @elements
func.func @elements(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xbf16> {
  // CHECK: graph.unary exp %{{.*}} : tensor<4xf32>
  %0 = graph.unary exp %a : tensor<4xf32>
  // CHECK: graph.binary add %{{.*}}, %{{.*}} : tensor<4xf32>
  %1 = graph.binary add %0, %b : tensor<4xf32>
  // CHECK: %[[LESS:.*]] = graph.binary lt %{{.*}}, %{{.*}} : tensor<4xf32>
  %2 = graph.binary lt %0, %b : tensor<4xf32>
  // CHECK: graph.binary and %[[LESS]], %[[LESS]] : tensor<4xi1>
  %3 = graph.binary and %2, %2 : tensor<4xi1>
  // CHECK: graph.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
  %4 = graph.select %3, %1, %0 : tensor<4xf32>
  // CHECK: graph.cast %{{.*}} : tensor<4xf32> -> tensor<4xbf16>
  %5 = graph.cast %4 : tensor<4xf32> -> tensor<4xbf16>
  return %5 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<4x8x3xf32>, %i: tensor<5x2xi32>) -> (tensor<8xf32>, tensor<4x5x2x3xf32>) {
  // CHECK: graph.reduce max %{{.*}} dims = [0, 2] : tensor<4x8x3xf32> -> tensor<8xf32>
  %0 = graph.reduce max %x dims = [0, 2] : tensor<4x8x3xf32> -> tensor<8xf32>
  // CHECK: graph.gather %{{.*}}[%{{.*}}] dim = 1 : (tensor<4x8x3xf32>, tensor<5x2xi32>) -> tensor<4x5x2x3xf32>
  %1 = graph.gather %x[%i] dim = 1 : (tensor<4x8x3xf32>, tensor<5x2xi32>) -> tensor<4x5x2x3xf32>
  return %0, %1 : tensor<8xf32>, tensor<4x5x2x3xf32>
}

// CHECK-LABEL: func.func @group
func.func @group(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: %[[G:.*]]:2 = graph.group(%[[P:.*]] = %{{.*}} : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) attributes {test.note = "kept"} {
  // CHECK-NEXT: %[[E:.*]] = graph.unary exp %[[P]]
  %0:2 = graph.group(%p = %a : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) attributes {test.note = "kept"} {
    %e = graph.unary exp %p : tensor<4xf32>
    %c = graph.binary lt %e, %p : tensor<4xf32>
    // CHECK: graph.yield %[[E]], %{{.*}} : tensor<4xf32>, tensor<4xi1>
    graph.yield %e, %c : tensor<4xf32>, tensor<4xi1>
  }
  // CHECK: graph.group() -> tensor<4xf32> {
  %1 = graph.group() -> tensor<4xf32> {
    %z = graph.constant dense<0.0> : tensor<4xf32>
    graph.yield %z : tensor<4xf32>
  }
  // CHECK: return %[[G]]#0, %[[G]]#1
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @movement
func.func @movement(%x: tensor<4x8xf32>, %fill: tensor<f32>) -> (tensor<6x13xf32>, tensor<3x8x2xf32>, tensor<8x8xf32>, tensor<4x8xui32>) {
  // CHECK: graph.flip %{{.*}} dims = [0, 1] : tensor<4x8xf32>
  %0 = graph.flip %x dims = [0, 1] : tensor<4x8xf32>
  // CHECK: graph.pad %{{.*}}, %{{.*}} low = [1, -2] high = [1, 0] interior = [0, 1] : tensor<4x8xf32> -> tensor<6x13xf32>
  %1 = graph.pad %0, %fill low = [1, -2] high = [1, 0] interior = [0, 1] : tensor<4x8xf32> -> tensor<6x13xf32>
  // CHECK: graph.window %{{.*}} dims = [0] size = [2] stride = [1] dilation = [1] : tensor<4x8xf32> -> tensor<3x8x2xf32>
  %2 = graph.window %x dims = [0] size = [2] stride = [1] dilation = [1] : tensor<4x8xf32> -> tensor<3x8x2xf32>
  // CHECK: graph.concat %{{.*}}, %{{.*}} dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = graph.concat %x, %0 dim = 0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: graph.transfer %{{.*}} to "cuda:1" : tensor<4x8xf32>
  %4 = graph.transfer %x to "cuda:1" : tensor<4x8xf32>
  // CHECK: graph.bitcast %{{.*}} : tensor<4x8xf32> -> tensor<4x8xui32>
  %5 = graph.bitcast %4 : tensor<4x8xf32> -> tensor<4x8xui32>
  return %1, %2, %3, %5 : tensor<6x13xf32>, tensor<3x8x2xf32>, tensor<8x8xf32>, tensor<4x8xui32>
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
