// RUN: zyx-opt %s -zyx-fusion-sort-once | FileCheck %s
// RUN: zyx-opt %s -zyx-fuse | FileCheck %s --check-prefix=FUSED

// Top-k: the values are what the indices name, as many as are read.
// CHECK-LABEL: func.func @top
// CHECK:       %[[I:.*]] = graph.sort indices %arg0 dim = 1 descending : tensor<4x32xf32> -> tensor<4x32xi64>
// CHECK-NOT:   graph.sort
// CHECK:       %[[FIRST:.*]] = graph.pad %[[I]], {{.*}} high = [0, -29] {{.*}} -> tensor<4x3xi64>
// CHECK:       %[[ROW:.*]] = graph.iota dim = 0 : tensor<4x3xi64>
// CHECK:       %[[BEGIN:.*]] = graph.binary mul %[[ROW]]
// CHECK:       %[[PLACES:.*]] = graph.binary add %[[FIRST]], %[[BEGIN]]
// CHECK:       %[[V:.*]] = graph.gather %{{.*}}[%[[PLACES]]] dim = 0 : (tensor<128xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
// CHECK:       graph.pad %[[V]], {{.*}} high = [0, -1] {{.*}} -> tensor<4x2xf32>
// CHECK:       return %[[V]], {{.*}} : tensor<4x3xf32>
// Values and their places are one kernel.
// FUSED-LABEL: func.func @top
// FUSED:       graph.group
// FUSED:         graph.sort indices {{.*}} {zyx.first = 4 : i64}
// FUSED:       graph.group
// FUSED:         graph.iota
// FUSED:         graph.gather
// FUSED-NOT:   graph.sort
// FUSED:       func.func @middle
func.func @top(%x: tensor<4x32xf32>) -> (tensor<4x3xf32>, tensor<4x4xi64>, tensor<4x2xf32>) {
  %v = graph.sort values %x dim = 1 descending : tensor<4x32xf32> -> tensor<4x32xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %values = graph.pad %v, %zero low = [0, 0] high = [0, -29] interior = [0, 0] : tensor<4x32xf32> -> tensor<4x3xf32>
  %two = graph.pad %v, %zero low = [0, 0] high = [0, -30] interior = [0, 0] : tensor<4x32xf32> -> tensor<4x2xf32>
  %i = graph.sort indices %x dim = 1 descending : tensor<4x32xf32> -> tensor<4x32xi64>
  %none = graph.constant dense<0> : tensor<i64>
  %indices = graph.pad %i, %none low = [0, 0] high = [0, -28] interior = [0, 0] : tensor<4x32xi64> -> tensor<4x4xi64>
  return %values, %indices, %two : tensor<4x3xf32>, tensor<4x4xi64>, tensor<4x2xf32>
}

// All elements, along a dimension in the middle.
// CHECK-LABEL: func.func @middle
// CHECK:       %[[I:.*]] = graph.sort indices %arg0 dim = 1 : tensor<2x8x3xf16> -> tensor<2x8x3xi64>
// CHECK:       graph.binary mul %[[I]]
// CHECK:       graph.iota dim = 2 : tensor<2x8x3xi64>
// CHECK:       graph.iota dim = 0 : tensor<2x8x3xi64>
// CHECK:       %[[V:.*]] = graph.gather {{.*}} : (tensor<48xf16>, tensor<2x8x3xi64>) -> tensor<2x8x3xf16>
// CHECK-NOT:   graph.sort
// CHECK:       return %[[V]], %[[I]]
func.func @middle(%x: tensor<2x8x3xf16>) -> (tensor<2x8x3xf16>, tensor<2x8x3xi64>) {
  %i = graph.sort indices %x dim = 1 : tensor<2x8x3xf16> -> tensor<2x8x3xi64>
  %v = graph.sort values %x dim = 1 : tensor<2x8x3xf16> -> tensor<2x8x3xf16>
  return %v, %i : tensor<2x8x3xf16>, tensor<2x8x3xi64>
}

// The other order, other rows, and a pad that puts something between elements, which is no slice of the first ones.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: graph.sort
// CHECK-NOT:   graph.gather
// CHECK-LABEL: func.func @between
// CHECK:       graph.gather {{.*}} -> tensor<8xf32>
// CHECK:       graph.pad {{.*}} interior = [1] : tensor<8xf32> -> tensor<10xf32>
func.func @others(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xi64>, tensor<8x8xi64>) {
  %v = graph.sort values %x dim = 1 : tensor<8x8xf32> -> tensor<8x8xf32>
  %i = graph.sort indices %x dim = 1 descending : tensor<8x8xf32> -> tensor<8x8xi64>
  %j = graph.sort indices %x dim = 0 : tensor<8x8xf32> -> tensor<8x8xi64>
  return %v, %i, %j : tensor<8x8xf32>, tensor<8x8xi64>, tensor<8x8xi64>
}
func.func @between(%x: tensor<8xf32>) -> (tensor<10xf32>, tensor<8xi64>) {
  %v = graph.sort values %x dim = 0 : tensor<8xf32> -> tensor<8xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %p = graph.pad %v, %zero low = [0] high = [-5] interior = [1] : tensor<8xf32> -> tensor<10xf32>
  %i = graph.sort indices %x dim = 0 : tensor<8xf32> -> tensor<8xi64>
  return %p, %i : tensor<10xf32>, tensor<8xi64>
}
