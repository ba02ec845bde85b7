// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-fold-tables | FileCheck %s

// Positions of a linear interpolation of 2 rows to 4, those of the next rows, and weights.
// CHECK-LABEL: func.func @interpolate
// CHECK-DAG:   %[[LOW:.*]] = graph.constant dense<[0, 0, 0, 1]> : tensor<4xi64>
// CHECK-DAG:   %[[HIGH:.*]] = graph.constant dense<1> : tensor<4xi64>
// CHECK-DAG:   %[[W:.*]] = graph.constant dense<{{\[\[}}0.000000e+00], [2.500000e-01], [7.500000e-01], [2.500000e-01]]> : tensor<4x1xf32>
// CHECK-DAG:   graph.gather %arg0[%[[LOW]]]
// CHECK-DAG:   graph.gather %arg0[%[[HIGH]]]
// CHECK-NOT:   graph.iota
// CHECK:       graph.expand %[[W]]
func.func @interpolate(%x: tensor<2x64xf32>) -> tensor<4x64xf32> {
  %c1 = graph.constant dense<1> : tensor<4xi64>
  %c2 = graph.constant dense<2> : tensor<4xi64>
  %c4 = graph.constant dense<4> : tensor<4xi64>
  %c8 = graph.constant dense<8> : tensor<4xi64>
  %c0 = graph.constant dense<0> : tensor<4xi64>
  %f8 = graph.constant dense<8.0> : tensor<4xf32>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.binary mul %0, %c4 : tensor<4xi64>
  %2 = graph.binary sub %1, %c2 : tensor<4xi64>
  %3 = graph.binary max %2, %c0 : tensor<4xi64>
  %4 = graph.binary div %3, %c8 : tensor<4xi64>
  %5 = graph.gather %x[%4] dim = 0 : (tensor<2x64xf32>, tensor<4xi64>) -> tensor<4x64xf32>
  %6 = graph.binary add %4, %c1 : tensor<4xi64>
  %7 = graph.binary min %6, %c1 : tensor<4xi64>
  %8 = graph.gather %x[%7] dim = 0 : (tensor<2x64xf32>, tensor<4xi64>) -> tensor<4x64xf32>
  %9 = graph.binary rem %3, %c8 : tensor<4xi64>
  %10 = graph.cast %9 : tensor<4xi64> -> tensor<4xf32>
  %11 = graph.binary div %10, %f8 : tensor<4xf32>
  %12 = graph.reshape %11 : tensor<4xf32> -> tensor<4x1xf32>
  %13 = graph.expand %12 : tensor<4x1xf32> -> tensor<4x64xf32>
  %14 = graph.binary sub %8, %5 : tensor<4x64xf32>
  %15 = graph.binary mul %13, %14 : tensor<4x64xf32>
  %16 = graph.binary add %5, %15 : tensor<4x64xf32>
  return %16 : tensor<4x64xf32>
}

// Few ops are computed where they are read, and so are positions that nobody gathers at; what would divide a negative number stays.
// CHECK-LABEL: func.func @few
// CHECK: graph.iota
// CHECK-LABEL: func.func @mask
// CHECK: graph.iota
// CHECK-LABEL: func.func @negative
// CHECK: graph.iota
func.func @few(%x: tensor<9x64xf32>) -> tensor<4x64xf32> {
  %c2 = graph.constant dense<2> : tensor<4xi64>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.binary mul %0, %c2 : tensor<4xi64>
  %2 = graph.gather %x[%1] dim = 0 : (tensor<9x64xf32>, tensor<4xi64>) -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}
func.func @mask(%x: tensor<4xi64>) -> tensor<4xi64> {
  %c2 = graph.constant dense<2> : tensor<4xi64>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.binary mul %0, %c2 : tensor<4xi64>
  %2 = graph.binary add %1, %c2 : tensor<4xi64>
  %3 = graph.binary mul %2, %1 : tensor<4xi64>
  %4 = graph.binary max %3, %2 : tensor<4xi64>
  %5 = graph.binary add %4, %x : tensor<4xi64>
  return %5 : tensor<4xi64>
}
func.func @negative(%x: tensor<9x64xf32>) -> tensor<4x64xf32> {
  %c2 = graph.constant dense<2> : tensor<4xi64>
  %c0 = graph.constant dense<0> : tensor<4xi64>
  %0 = graph.iota dim = 0 : tensor<4xi64>
  %1 = graph.binary mul %0, %c2 : tensor<4xi64>
  %2 = graph.binary sub %1, %c2 : tensor<4xi64>
  %3 = graph.binary div %2, %c2 : tensor<4xi64>
  %4 = graph.binary max %3, %c0 : tensor<4xi64>
  %5 = graph.gather %x[%4] dim = 0 : (tensor<9x64xf32>, tensor<4xi64>) -> tensor<4x64xf32>
  return %5 : tensor<4x64xf32>
}
