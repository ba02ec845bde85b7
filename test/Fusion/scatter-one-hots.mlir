// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-scatter-one-hots | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-scatter-one-hots | FileCheck %s --check-prefix=ALONE

// The gradient of a sort: each result chooses among the updates of its row.
// CHECK-LABEL: func.func @sorted
// CHECK:       %[[EQ:.*]] = graph.binary eq %{{.*}} : tensor<8192x16x16xi64>
// CHECK:       %[[TERMS:.*]] = graph.select %[[EQ]]
// CHECK:       graph.reduce add %[[TERMS]] dims = [2] : tensor<8192x16x16xf32> -> tensor<8192x16xf32>
// CHECK-NOT:   graph.scatter
// ALONE-LABEL: func.func @sorted
// ALONE:       graph.scatter
func.func @sorted(%x: tensor<8192x16xf32>, %u: tensor<131072xf32>) -> tensor<131072xf32> {
  %zeros = graph.constant dense<0.0> : tensor<131072xf32>
  %c = graph.constant dense<16> : tensor<8192x16xi64>
  %0 = graph.sort indices %x dim = 1 descending : tensor<8192x16xf32> -> tensor<8192x16xi64>
  %1 = graph.iota dim = 0 : tensor<8192x16xi64>
  %2 = graph.binary mul %1, %c : tensor<8192x16xi64>
  %3 = graph.binary add %0, %2 : tensor<8192x16xi64>
  %4 = graph.reshape %3 : tensor<8192x16xi64> -> tensor<131072xi64>
  %5 = graph.scatter add %zeros[%4], %u dim = 0 : (tensor<131072xf32>, tensor<131072xi64>, tensor<131072xf32>) -> tensor<131072xf32>
  return %5 : tensor<131072xf32>
}

// Of the first elements alone.
// CHECK-LABEL: func.func @first
// CHECK:       graph.reduce add %{{.*}} dims = [2] : tensor<4096x256x8xf32> -> tensor<4096x256xf32>
// CHECK-NOT:   graph.scatter
func.func @first(%x: tensor<4096x256xf32>, %u: tensor<4096x8xf32>) -> tensor<1048576xf32> {
  %zeros = graph.constant dense<0.0> : tensor<1048576xf32>
  %none = graph.constant dense<0> : tensor<i64>
  %c = graph.constant dense<256> : tensor<4096x8xi64>
  %0 = graph.sort indices %x dim = 1 descending : tensor<4096x256xf32> -> tensor<4096x256xi64>
  %1 = graph.pad %0, %none low = [0, 0] high = [0, -248] interior = [0, 0] : tensor<4096x256xi64> -> tensor<4096x8xi64>
  %2 = graph.iota dim = 0 : tensor<4096x8xi64>
  %3 = graph.binary mul %2, %c : tensor<4096x8xi64>
  %4 = graph.binary add %1, %3 : tensor<4096x8xi64>
  %5 = graph.scatter add %zeros[%4], %u dim = 0 : (tensor<1048576xf32>, tensor<4096x8xi64>, tensor<4096x8xf32>) -> tensor<1048576xf32>
  return %5 : tensor<1048576xf32>
}

// Places that may be in another row, rows of another length, and what is added to more than zeros stay a scatter.
// CHECK-LABEL: func.func @any
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @longer
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @onto
// CHECK:       graph.scatter
func.func @any(%i: tensor<8192x16xi64>, %u: tensor<131072xf32>) -> tensor<131072xf32> {
  %zeros = graph.constant dense<0.0> : tensor<131072xf32>
  %c = graph.constant dense<16> : tensor<8192x16xi64>
  %1 = graph.iota dim = 0 : tensor<8192x16xi64>
  %2 = graph.binary mul %1, %c : tensor<8192x16xi64>
  %3 = graph.binary add %i, %2 : tensor<8192x16xi64>
  %4 = graph.reshape %3 : tensor<8192x16xi64> -> tensor<131072xi64>
  %5 = graph.scatter add %zeros[%4], %u dim = 0 : (tensor<131072xf32>, tensor<131072xi64>, tensor<131072xf32>) -> tensor<131072xf32>
  return %5 : tensor<131072xf32>
}
func.func @longer(%x: tensor<8192x16xf32>, %u: tensor<131072xf32>) -> tensor<131072xf32> {
  %zeros = graph.constant dense<0.0> : tensor<131072xf32>
  %c = graph.constant dense<15> : tensor<8192x16xi64>
  %0 = graph.sort indices %x dim = 1 : tensor<8192x16xf32> -> tensor<8192x16xi64>
  %1 = graph.iota dim = 0 : tensor<8192x16xi64>
  %2 = graph.binary mul %1, %c : tensor<8192x16xi64>
  %3 = graph.binary add %0, %2 : tensor<8192x16xi64>
  %4 = graph.reshape %3 : tensor<8192x16xi64> -> tensor<131072xi64>
  %5 = graph.scatter add %zeros[%4], %u dim = 0 : (tensor<131072xf32>, tensor<131072xi64>, tensor<131072xf32>) -> tensor<131072xf32>
  return %5 : tensor<131072xf32>
}
func.func @onto(%x: tensor<8192x16xf32>, %y: tensor<131072xf32>, %u: tensor<131072xf32>) -> tensor<131072xf32> {
  %c = graph.constant dense<16> : tensor<8192x16xi64>
  %0 = graph.sort indices %x dim = 1 : tensor<8192x16xf32> -> tensor<8192x16xi64>
  %1 = graph.iota dim = 0 : tensor<8192x16xi64>
  %2 = graph.binary mul %1, %c : tensor<8192x16xi64>
  %3 = graph.binary add %0, %2 : tensor<8192x16xi64>
  %4 = graph.reshape %3 : tensor<8192x16xi64> -> tensor<131072xi64>
  %5 = graph.scatter add %y[%4], %u dim = 0 : (tensor<131072xf32>, tensor<131072xi64>, tensor<131072xf32>) -> tensor<131072xf32>
  return %5 : tensor<131072xf32>
}

// A padded zero is none: the scatter stays.
// CHECK-LABEL: func.func @padded
// CHECK:       graph.scatter
func.func @padded(%x: tensor<8192x16xf32>, %u: tensor<131072xf32>) -> tensor<131072xf32> {
  %zeros = graph.constant dense<0.0> : tensor<131071xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %sums = graph.pad %zeros, %one low = [0] high = [1] interior = [0] : tensor<131071xf32> -> tensor<131072xf32>
  %c = graph.constant dense<16> : tensor<8192x16xi64>
  %0 = graph.sort indices %x dim = 1 descending : tensor<8192x16xf32> -> tensor<8192x16xi64>
  %1 = graph.iota dim = 0 : tensor<8192x16xi64>
  %2 = graph.binary mul %1, %c : tensor<8192x16xi64>
  %3 = graph.binary add %0, %2 : tensor<8192x16xi64>
  %4 = graph.reshape %3 : tensor<8192x16xi64> -> tensor<131072xi64>
  %5 = graph.scatter add %sums[%4], %u dim = 0 : (tensor<131072xf32>, tensor<131072xi64>, tensor<131072xf32>) -> tensor<131072xf32>
  return %5 : tensor<131072xf32>
}
