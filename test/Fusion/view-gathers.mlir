// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-view-gathers | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-view-gathers | FileCheck %s --check-prefix=ALONE

// CHECK-LABEL: func.func @twice
// CHECK:       %[[APART:.*]] = graph.reshape %arg0 : tensor<4x64xf32> -> tensor<4x1x64xf32>
// CHECK:       %[[TWICE:.*]] = graph.expand %[[APART]] : tensor<4x1x64xf32> -> tensor<4x2x64xf32>
// CHECK:       %[[ROWS:.*]] = graph.reshape %[[TWICE]] : tensor<4x2x64xf32> -> tensor<8x64xf32>
// CHECK:       return %[[ROWS]]
// ALONE-LABEL: func.func @twice
// ALONE:       graph.gather
func.func @twice(%x: tensor<4x64xf32>) -> tensor<8x64xf32> {
  %c2 = graph.constant dense<2> : tensor<8xi64>
  %0 = graph.iota dim = 0 : tensor<8xi64>
  %1 = graph.binary div %0, %c2 : tensor<8xi64>
  %2 = graph.gather %x[%1] dim = 0 : (tensor<4x64xf32>, tensor<8xi64>) -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// Rows may begin and end inside of what is gathered from.
// CHECK-LABEL: func.func @inside
// CHECK:       %[[CUT:.*]] = graph.pad %arg0, %{{.*}} low = [0, -1] high = [0, -2] interior = [0, 0] : tensor<3x5xi32> -> tensor<3x2xi32>
// CHECK:       graph.expand %{{.*}} : tensor<3x2x1xi32> -> tensor<3x2x3xi32>
// CHECK:       graph.reshape %{{.*}} : tensor<3x2x3xi32> -> tensor<3x6xi32>
func.func @inside(%x: tensor<3x5xi32>) -> tensor<3x6xi32> {
  %one = graph.constant dense<1> : tensor<6xi64>
  %three = graph.constant dense<3> : tensor<6xi64>
  %i = graph.iota dim = 0 : tensor<6xi64>
  %row = graph.binary div %i, %three : tensor<6xi64>
  %at = graph.binary add %row, %one : tensor<6xi64>
  %0 = graph.gather %x[%at] dim = 1 : (tensor<3x5xi32>, tensor<6xi64>) -> tensor<3x6xi32>
  return %0 : tensor<3x6xi32>
}

// Rows that stand once, an uneven number of times, in another order, or outside, and positions that are data, stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-6: graph.gather
func.func @others(%x: tensor<4xf32>, %i: tensor<4xi64>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = graph.constant dense<1> : tensor<4xi64>
  %two = graph.constant dense<2> : tensor<4xi64>
  %three = graph.constant dense<3> : tensor<4xi64>
  %four = graph.constant dense<4> : tensor<4xi64>
  %once = graph.iota dim = 0 : tensor<4xi64>
  %square = graph.binary mul %once, %once : tensor<4xi64>
  %uneven = graph.binary div %square, %four : tensor<4xi64>
  %row = graph.binary div %once, %two : tensor<4xi64>
  %back = graph.binary sub %one, %row : tensor<4xi64>
  %before = graph.binary sub %row, %one : tensor<4xi64>
  %behind = graph.binary add %row, %three : tensor<4xi64>
  %0 = graph.gather %x[%once] dim = 0 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  %1 = graph.gather %x[%uneven] dim = 0 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  %2 = graph.gather %x[%back] dim = 0 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  %3 = graph.gather %x[%before] dim = 0 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  %4 = graph.gather %x[%behind] dim = 0 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  %5 = graph.gather %x[%i] dim = 0 : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Sums along two dimensions are one. The zero stays: with it no sum is -0.
// CHECK-LABEL: func.func @gradient
// CHECK:       %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<2x3x8xf32>
// CHECK:       %[[APART:.*]] = graph.reshape %arg0 : tensor<4x6x8xf32> -> tensor<2x2x3x2x8xf32>
// CHECK:       %[[SUM:.*]] = graph.reduce add %[[APART]] dims = [1, 3] : tensor<2x2x3x2x8xf32> -> tensor<2x3x8xf32>
// CHECK:       %[[ALL:.*]] = graph.binary add %[[ZERO]], %[[SUM]]
// CHECK:       return %[[ALL]]
// ALONE-LABEL: func.func @gradient
// ALONE-COUNT-2: graph.scatter
func.func @gradient(%u: tensor<4x6x8xf32>) -> tensor<2x3x8xf32> {
  %columns = graph.constant dense<0.0> : tensor<4x3x8xf32>
  %zeros = graph.constant dense<0.0> : tensor<2x3x8xf32>
  %two = graph.constant dense<2> : tensor<6xi64>
  %half = graph.constant dense<2> : tensor<4xi64>
  %i6 = graph.iota dim = 0 : tensor<6xi64>
  %i4 = graph.iota dim = 0 : tensor<4xi64>
  %i = graph.binary div %i6, %two : tensor<6xi64>
  %j = graph.binary div %i4, %half : tensor<4xi64>
  %0 = graph.scatter add %columns[%i], %u dim = 1 : (tensor<4x3x8xf32>, tensor<6xi64>, tensor<4x6x8xf32>) -> tensor<4x3x8xf32>
  %1 = graph.scatter add %zeros[%j], %0 dim = 0 : (tensor<2x3x8xf32>, tensor<4xi64>, tensor<4x3x8xf32>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// Rows without updates are zero.
// CHECK-LABEL: func.func @rest
// CHECK:       %[[SUM:.*]] = graph.reduce add %{{.*}} dims = [1] : tensor<2x2xf32> -> tensor<2xf32>
// CHECK:       %[[WIDE:.*]] = graph.pad %[[SUM]], %{{.*}} low = [1] high = [1] interior = [0] : tensor<2xf32> -> tensor<4xf32>
// CHECK:       graph.binary add %{{.*}}, %[[WIDE]] : tensor<4xf32>
func.func @rest(%u: tensor<4xf32>) -> tensor<4xf32> {
  %zeros = graph.constant dense<0.0> : tensor<4xf32>
  %one = graph.constant dense<1> : tensor<4xi64>
  %two = graph.constant dense<2> : tensor<4xi64>
  %i4 = graph.iota dim = 0 : tensor<4xi64>
  %row = graph.binary div %i4, %two : tensor<4xi64>
  %i = graph.binary add %row, %one : tensor<4xi64>
  %0 = graph.scatter add %zeros[%i], %u dim = 0 : (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// One that adds to what is there and leaves rows alone, one of 16 bits, and one that keeps the largest, stay.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: graph.scatter
func.func @kept(%x: tensor<4xf32>, %u: tensor<4xf32>, %y: tensor<2xf16>, %v: tensor<4xf16>, %z: tensor<2xf32>)
    -> (tensor<4xf32>, tensor<2xf16>, tensor<2xf32>) {
  %two = graph.constant dense<2> : tensor<4xi64>
  %i4 = graph.iota dim = 0 : tensor<4xi64>
  %i = graph.binary div %i4, %two : tensor<4xi64>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.scatter add %y[%i], %v dim = 0 : (tensor<2xf16>, tensor<4xi64>, tensor<4xf16>) -> tensor<2xf16>
  %2 = graph.scatter max %z[%i], %u dim = 0 : (tensor<2xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<2xf16>, tensor<2xf32>
}
