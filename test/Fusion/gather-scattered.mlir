// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-gather-scattered | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-gather-scattered | FileCheck %s --check-prefix=ALONE

// Two updates of a row are two gathers; the last row has none. The zero stays: with it no sum is -0.
// CHECK-LABEL: func.func @pairs
// CHECK:       %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<3x64xf32>
// CHECK:       %[[FIRST:.*]] = graph.constant dense<[0, 2, -1]> : tensor<3xi64>
// CHECK:       %[[A:.*]] = graph.gather %arg0[%[[FIRST]]] dim = 0
// CHECK:       %[[S:.*]] = graph.binary add %[[ZERO]], %[[A]] : tensor<3x64xf32>
// CHECK:       %[[SECOND:.*]] = graph.constant dense<[1, 3, -1]> : tensor<3xi64>
// CHECK:       %[[B:.*]] = graph.gather %arg0[%[[SECOND]]] dim = 0
// CHECK:       graph.binary add %[[S]], %[[B]] : tensor<3x64xf32>
// CHECK-NOT:   graph.scatter
// ALONE-LABEL: func.func @pairs
// ALONE:       graph.scatter
func.func @pairs(%u: tensor<4x64xf32>) -> tensor<3x64xf32> {
  %zeros = graph.constant dense<0.0> : tensor<3x64xf32>
  %c2 = graph.constant dense<2> : tensor<4xi64>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.binary div %0, %c2 : tensor<4xi64>
  %2 = graph.scatter add %zeros[%1], %u dim = 0 : (tensor<3x64xf32>, tensor<4xi64>, tensor<4x64xf32>) -> tensor<3x64xf32>
  return %2 : tensor<3x64xf32>
}

// What is there comes first. What is outside is dropped. Weights are gathered here, and gathers come in front of what makes zeros of zeros.
// CHECK-LABEL: func.func @weighted
// CHECK-DAG:   %[[AT:.*]] = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
// CHECK-DAG:   %[[U:.*]] = graph.gather %arg1[%[[AT]]] dim = 0
// CHECK-DAG:   %[[W:.*]] = graph.constant dense<{{\[\[}}1.000000e+00], [2.000000e+00], [3.000000e+00]]> : tensor<3x1xf32>
// CHECK:       %[[WIDE:.*]] = graph.expand %[[W]]
// CHECK:       %[[P:.*]] = graph.binary mul %[[U]], %[[WIDE]]
// CHECK:       %[[HALF:.*]] = graph.constant dense<5.000000e-01> : tensor<3x64xf32>
// CHECK:       %[[Q:.*]] = graph.binary mul %[[P]], %[[HALF]]
// CHECK:       graph.binary add %arg0, %[[Q]]
// CHECK-NOT:   graph.scatter
func.func @weighted(%x: tensor<3x64xf32>, %u: tensor<4x64xf32>) -> tensor<3x64xf32> {
  %c1 = graph.constant dense<1> : tensor<4xi64>
  %half = graph.constant dense<0.5> : tensor<4x64xf32>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.binary sub %0, %c1 : tensor<4xi64>
  %2 = graph.cast %0 : tensor<4xi64> -> tensor<4xf32>
  %3 = graph.reshape %2 : tensor<4xf32> -> tensor<4x1xf32>
  %4 = graph.expand %3 : tensor<4x1xf32> -> tensor<4x64xf32>
  %5 = graph.binary mul %u, %4 : tensor<4x64xf32>
  %6 = graph.binary mul %5, %half : tensor<4x64xf32>
  %7 = graph.scatter add %x[%1], %6 dim = 0 : (tensor<3x64xf32>, tensor<4xi64>, tensor<4x64xf32>) -> tensor<3x64xf32>
  return %7 : tensor<3x64xf32>
}

// An exponential of zero is none: what is computed is gathered.
// CHECK-LABEL: func.func @exponentials
// CHECK:       %[[E:.*]] = graph.unary exp %arg0
// CHECK:       graph.gather %[[E]]
// CHECK-LABEL: func.func @many
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @unknown
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @few
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @negative_zeros
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @sums
// CHECK-NOT:   graph.scatter
func.func @exponentials(%u: tensor<4x64xf32>) -> tensor<5x64xf32> {
  %zeros = graph.constant dense<0.0> : tensor<5x64xf32>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.unary exp %u : tensor<4x64xf32>
  %2 = graph.scatter add %zeros[%0], %1 dim = 0 : (tensor<5x64xf32>, tensor<4xi64>, tensor<4x64xf32>) -> tensor<5x64xf32>
  return %2 : tensor<5x64xf32>
}

// Nine updates of a row, positions that are data, and few rows of many stay.
func.func @many(%u: tensor<18x64xf32>) -> tensor<2x64xf32> {
  %zeros = graph.constant dense<0.0> : tensor<2x64xf32>
  %c9 = graph.constant dense<9> : tensor<18xi64>
  %0 = graph.iota dim = 0 : tensor<18xi64>
  %1 = graph.binary div %0, %c9 : tensor<18xi64>
  %2 = graph.scatter add %zeros[%1], %u dim = 0 : (tensor<2x64xf32>, tensor<18xi64>, tensor<18x64xf32>) -> tensor<2x64xf32>
  return %2 : tensor<2x64xf32>
}
func.func @unknown(%i: tensor<4xi64>, %u: tensor<4x64xf32>) -> tensor<3x64xf32> {
  %zeros = graph.constant dense<0.0> : tensor<3x64xf32>
  %0 = graph.scatter add %zeros[%i], %u dim = 0 : (tensor<3x64xf32>, tensor<4xi64>, tensor<4x64xf32>) -> tensor<3x64xf32>
  return %0 : tensor<3x64xf32>
}
func.func @few(%x: tensor<20x64xf32>, %u: tensor<4x64xf32>) -> tensor<20x64xf32> {
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.scatter add %x[%0], %u dim = 0 : (tensor<20x64xf32>, tensor<4xi64>, tensor<4x64xf32>) -> tensor<20x64xf32>
  return %1 : tensor<20x64xf32>
}

// A row that gets nothing may be -0, and stays. A sum from +0 on is never -0.
func.func @negative_zeros(%x: tensor<3x64xf32>, %u: tensor<2x64xf32>) -> tensor<3x64xf32> {
  %0 = graph.iota dim = 0 : tensor<2xi64>
  %1 = graph.scatter add %x[%0], %u dim = 0 : (tensor<3x64xf32>, tensor<2xi64>, tensor<2x64xf32>) -> tensor<3x64xf32>
  return %1 : tensor<3x64xf32>
}
func.func @sums(%x: tensor<3x64xf32>, %u: tensor<2x64xf32>) -> tensor<3x64xf32> {
  %zeros = graph.constant dense<0.0> : tensor<3x64xf32>
  %0 = graph.iota dim = 0 : tensor<2xi64>
  %1 = graph.binary add %zeros, %x : tensor<3x64xf32>
  %2 = graph.scatter add %1[%0], %u dim = 0 : (tensor<3x64xf32>, tensor<2xi64>, tensor<2x64xf32>) -> tensor<3x64xf32>
  return %2 : tensor<3x64xf32>
}
