// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=264' --zyx-fusion-sum-segments | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-sum-segments | FileCheck %s --check-prefix=FEW

// The gradient of a running maximum along the middle of three dimensions: places are marked in 32 bits.
// CHECK-LABEL: func.func @middle
// CHECK-DAG:   %[[MARKS:.*]] = graph.reshape %arg0 : tensor<4x512x8xi1> -> tensor<4x1x512x8xi1>
// CHECK:       %[[MARKED:.*]] = graph.select %[[MARKS]], %{{.*}}, %{{.*}} : tensor<4x1x512x8xi32>
// CHECK-NEXT:  %[[LAST:.*]] = graph.scan max %[[MARKED]] dim = 2 : tensor<4x1x512x8xi32>
// CHECK:       %[[AT:.*]] = graph.reshape %[[LAST]] : tensor<4x1x512x8xi32> -> tensor<16384xi32>
// CHECK:       graph.scatter add %{{.*}}[%[[AT]]], %{{.*}} dim = 0 {zyx.segments = array<i64: 4, 512, 8>}
// FEW-LABEL:   func.func @middle
// FEW-NOT:     zyx.segments
func.func @middle(%marks: tensor<4x512x8xi1>, %u: tensor<4x512x8xf32>) -> tensor<16384xf32> {
  %zeros = graph.constant dense<0.000000e+00> : tensor<16384xf32>
  %zero = graph.constant dense<0> : tensor<4x512x8xi64>
  %step = graph.constant dense<8> : tensor<4x512x8xi64>
  %row = graph.constant dense<4096> : tensor<4x512x8xi64>
  %i = graph.iota dim = 0 : tensor<4x512x8xi64>
  %j = graph.iota dim = 1 : tensor<4x512x8xi64>
  %k = graph.iota dim = 2 : tensor<4x512x8xi64>
  %0 = graph.select %marks, %j, %zero : tensor<4x512x8xi64>
  %1 = graph.scan max %0 dim = 1 : tensor<4x512x8xi64>
  %2 = graph.binary mul %1, %step : tensor<4x512x8xi64>
  %3 = graph.binary add %k, %2 : tensor<4x512x8xi64>
  %4 = graph.binary mul %i, %row : tensor<4x512x8xi64>
  %5 = graph.binary add %3, %4 : tensor<4x512x8xi64>
  %6 = graph.reshape %5 : tensor<4x512x8xi64> -> tensor<16384xi64>
  %7 = graph.reshape %u : tensor<4x512x8xf32> -> tensor<16384xf32>
  %8 = graph.scatter add %zeros[%6], %7 dim = 0 : (tensor<16384xf32>, tensor<16384xi64>, tensor<16384xf32>) -> tensor<16384xf32>
  return %8 : tensor<16384xf32>
}

// One long row in parts: what a part's first element has, unless it is marked, goes to the last marked place of the parts
// before.
// CHECK-LABEL: func.func @row
// CHECK:       %[[LOCAL:.*]] = graph.scan max %{{.*}} dim = 2 : tensor<1x64x1024x1xi32>
// CHECK:       %[[SUMS:.*]] = graph.scatter add {{.*}} {zyx.segments = array<i64: 64, 1024, 1>}
// CHECK:       %[[APART:.*]] = graph.reshape %[[SUMS]]
// CHECK:       %[[FIRST:.*]] = graph.pad %[[APART]], %{{.*}} low = [0, 0, 0, 0] high = [0, 0, -1023, 0]
// CHECK:       graph.pad %[[LOCAL]], %{{.*}} low = [0, 0, -1023, 0] high = [0, 0, 0, 0]
// CHECK:       %[[BEFORE:.*]] = graph.scan max %{{.*}} dim = 1 exclusive : tensor<1x64x1x1xi32>
// CHECK:       %[[TARGET:.*]] = graph.select %{{.*}}, %{{.*}}, %[[BEFORE]]
// CHECK:       %[[KEPT:.*]] = graph.select %{{.*}}, %{{.*}}, %[[APART]]
// CHECK:       %[[ALL:.*]] = graph.reshape %[[KEPT]]
// CHECK:       %[[AT:.*]] = graph.reshape %[[TARGET]] : tensor<1x64x1x1xi32> -> tensor<64xi32>
// CHECK:       %[[TERMS:.*]] = graph.reshape %[[FIRST]] : tensor<1x64x1x1xf32> -> tensor<64xf32>
// CHECK:       graph.scatter add %[[ALL]][%[[AT]]], %[[TERMS]] dim = 0 :
func.func @row(%marks: tensor<65536xi1>, %u: tensor<65536xf32>) -> tensor<65536xf32> {
  %zeros = graph.constant dense<0.000000e+00> : tensor<65536xf32>
  %zero = graph.constant dense<0> : tensor<65536xi64>
  %j = graph.iota dim = 0 : tensor<65536xi64>
  %0 = graph.select %marks, %j, %zero : tensor<65536xi64>
  %1 = graph.scan max %0 dim = 0 : tensor<65536xi64>
  %2 = graph.scatter add %zeros[%1], %u dim = 0 : (tensor<65536xf32>, tensor<65536xi64>, tensor<65536xf32>) -> tensor<65536xf32>
  return %2 : tensor<65536xf32>
}

// 2^32 places are counted by 32 bits without a sign.
// CHECK-LABEL: func.func @many
// CHECK:       graph.scan max %{{.*}} dim = 2 : tensor<64x1x65536x1024xui32>
// CHECK:       graph.scatter add %{{.*}} dim = 0 {zyx.segments = array<i64: 64, 65536, 1024>}
func.func @many(%marks: tensor<64x65536x1024xi1>, %u: tensor<64x65536x1024xf32>) -> tensor<4294967296xf32> {
  %zeros = graph.constant dense<0.000000e+00> : tensor<4294967296xf32>
  %zero = graph.constant dense<0> : tensor<64x65536x1024xi64>
  %step = graph.constant dense<1024> : tensor<64x65536x1024xi64>
  %row = graph.constant dense<67108864> : tensor<64x65536x1024xi64>
  %i = graph.iota dim = 0 : tensor<64x65536x1024xi64>
  %j = graph.iota dim = 1 : tensor<64x65536x1024xi64>
  %k = graph.iota dim = 2 : tensor<64x65536x1024xi64>
  %0 = graph.select %marks, %j, %zero : tensor<64x65536x1024xi64>
  %1 = graph.scan max %0 dim = 1 : tensor<64x65536x1024xi64>
  %2 = graph.binary mul %1, %step : tensor<64x65536x1024xi64>
  %3 = graph.binary add %k, %2 : tensor<64x65536x1024xi64>
  %4 = graph.binary mul %i, %row : tensor<64x65536x1024xi64>
  %5 = graph.binary add %3, %4 : tensor<64x65536x1024xi64>
  %6 = graph.reshape %5 : tensor<64x65536x1024xi64> -> tensor<4294967296xi64>
  %7 = graph.reshape %u : tensor<64x65536x1024xf32> -> tensor<4294967296xf32>
  %8 = graph.scatter add %zeros[%6], %7 dim = 0 : (tensor<4294967296xf32>, tensor<4294967296xi64>, tensor<4294967296xf32>) -> tensor<4294967296xf32>
  return %8 : tensor<4294967296xf32>
}

// More places, or parts of a row whose firsts are looked for by numbers below 0, are counted by 64 bits.
// CHECK-LABEL: func.func @most
// CHECK:       graph.scan max %{{.*}} dim = 2 : tensor<1x264x16777216x1xi64>
// CHECK:       graph.scatter add %{{.*}} dim = 0 {zyx.segments = array<i64: 264, 16777216, 1>}
func.func @most(%marks: tensor<4429185024xi1>, %u: tensor<4429185024xf32>) -> tensor<4429185024xf32> {
  %zeros = graph.constant dense<0.000000e+00> : tensor<4429185024xf32>
  %zero = graph.constant dense<0> : tensor<4429185024xi64>
  %j = graph.iota dim = 0 : tensor<4429185024xi64>
  %0 = graph.select %marks, %j, %zero : tensor<4429185024xi64>
  %1 = graph.scan max %0 dim = 0 : tensor<4429185024xi64>
  %2 = graph.scatter add %zeros[%1], %u dim = 0 : (tensor<4429185024xf32>, tensor<4429185024xi64>, tensor<4429185024xf32>) -> tensor<4429185024xf32>
  return %2 : tensor<4429185024xf32>
}

// Another step, an offset, other scans, other numbers that are marked, something to add to, another kind:
// nothing is done.
// CHECK-LABEL: func.func @others
// CHECK-NOT:   zyx.segments
// CHECK:       return
func.func @others(%marks: tensor<64xi1>, %u: tensor<64xf32>, %x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zeros = graph.constant dense<0.000000e+00> : tensor<64xf32>
  %zero = graph.constant dense<0> : tensor<64xi64>
  %one = graph.constant dense<1> : tensor<64xi64>
  %two = graph.constant dense<2> : tensor<64xi64>
  %j = graph.iota dim = 0 : tensor<64xi64>
  %0 = graph.select %marks, %j, %zero : tensor<64xi64>
  %1 = graph.scan max %0 dim = 0 : tensor<64xi64>
  %2 = graph.binary mul %1, %two : tensor<64xi64>
  %3 = graph.scatter add %zeros[%2], %u dim = 0 : (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64xf32>
  %4 = graph.binary add %1, %one : tensor<64xi64>
  %5 = graph.scatter add %zeros[%4], %u dim = 0 : (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64xf32>
  %6 = graph.scan max %0 dim = 0 exclusive : tensor<64xi64>
  %7 = graph.scatter add %zeros[%6], %u dim = 0 : (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64xf32>
  %8 = graph.select %marks, %j, %one : tensor<64xi64>
  %9 = graph.scan max %8 dim = 0 : tensor<64xi64>
  %10 = graph.scatter add %zeros[%9], %u dim = 0 : (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64xf32>
  %11 = graph.scatter add %x[%1], %u dim = 0 : (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64xf32>
  %12 = graph.scatter max %zeros[%1], %u dim = 0 : (tensor<64xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64xf32>
  return %3, %5, %7, %10, %11, %12 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
