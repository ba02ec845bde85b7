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

// Few updates of each row, at positions that are known to be in it or that a condition bounds: each result is the last
// one that is put there, or what was there.
// CHECK-LABEL: func.func @put
// CHECK-NOT:   graph.scatter
// CHECK:       %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<300x16xf32>
// CHECK:       graph.pad %{{.*}} low = [0, 0] high = [0, -1]
// CHECK:       %[[FIRST:.*]] = graph.binary eq %{{.*}} : tensor<300x16xi64>
// CHECK:       %[[A:.*]] = graph.select %[[FIRST]], %{{.*}}, %[[ZERO]]
// CHECK:       graph.pad %{{.*}} low = [0, -1] high = [0, 0]
// CHECK:       %[[SECOND:.*]] = graph.binary eq %{{.*}} : tensor<300x16xi64>
// CHECK:       graph.select %[[SECOND]], %{{.*}}, %[[A]]
// ALONE-LABEL: func.func @put
// ALONE:       graph.scatter
func.func @put(%i: tensor<300x2xi64>, %u: tensor<300x2xf32>) -> tensor<4800xf32> {
  %zeros = graph.constant dense<0.0> : tensor<4800xf32>
  %none = graph.constant dense<0> : tensor<300x2xi64>
  %c = graph.constant dense<16> : tensor<300x2xi64>
  %minus = graph.constant dense<-1> : tensor<300x2xi64>
  %low = graph.binary ge %i, %none : tensor<300x2xi64>
  %high = graph.binary lt %i, %c : tensor<300x2xi64>
  %both = graph.binary and %low, %high : tensor<300x2xi1>
  %row = graph.iota dim = 0 : tensor<300x2xi64>
  %first = graph.binary mul %row, %c : tensor<300x2xi64>
  %sum = graph.binary add %i, %first : tensor<300x2xi64>
  %at = graph.select %both, %sum, %minus : tensor<300x2xi64>
  %y = graph.scatter set %zeros[%at], %u dim = 0 : (tensor<4800xf32>, tensor<300x2xi64>, tensor<300x2xf32>) -> tensor<4800xf32>
  return %y : tensor<4800xf32>
}

// Along rows, one each.
// CHECK-LABEL: func.func @put_rows
// CHECK-NOT:   graph.scatter
// CHECK:       graph.iota dim = 0 : tensor<16x300xi64>
// CHECK:       graph.expand %{{.*}} : tensor<1x300xi64> -> tensor<16x300xi64>
func.func @put_rows(%i: tensor<1x300xi64>, %u: tensor<1x300xf32>) -> tensor<4800xf32> {
  %ones = graph.constant dense<1.0> : tensor<4800xf32>
  %none = graph.constant dense<0> : tensor<1x300xi64>
  %c = graph.constant dense<300> : tensor<1x300xi64>
  %rows = graph.constant dense<16> : tensor<1x300xi64>
  %minus = graph.constant dense<-1> : tensor<1x300xi64>
  %low = graph.binary ge %i, %none : tensor<1x300xi64>
  %high = graph.binary lt %i, %rows : tensor<1x300xi64>
  %both = graph.binary and %low, %high : tensor<1x300xi1>
  %column = graph.iota dim = 1 : tensor<1x300xi64>
  %first = graph.binary mul %i, %c : tensor<1x300xi64>
  %sum = graph.binary add %column, %first : tensor<1x300xi64>
  %at = graph.select %both, %sum, %minus : tensor<1x300xi64>
  %y = graph.scatter set %ones[%at], %u dim = 0 : (tensor<4800xf32>, tensor<1x300xi64>, tensor<1x300xf32>) -> tensor<4800xf32>
  return %y : tensor<4800xf32>
}

// Positions that may reach other rows, a bound of another row's length, and what may be updated in place stay a scatter.
// CHECK-LABEL: func.func @put_anywhere
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @put_beyond
// CHECK:       graph.scatter
// CHECK-LABEL: func.func @put_into
// CHECK:       graph.scatter
func.func @put_anywhere(%i: tensor<300x2xi64>, %u: tensor<300x2xf32>) -> tensor<4800xf32> {
  %zeros = graph.constant dense<0.0> : tensor<4800xf32>
  %c = graph.constant dense<16> : tensor<300x2xi64>
  %row = graph.iota dim = 0 : tensor<300x2xi64>
  %first = graph.binary mul %row, %c : tensor<300x2xi64>
  %sum = graph.binary add %i, %first : tensor<300x2xi64>
  %y = graph.scatter set %zeros[%sum], %u dim = 0 : (tensor<4800xf32>, tensor<300x2xi64>, tensor<300x2xf32>) -> tensor<4800xf32>
  return %y : tensor<4800xf32>
}
func.func @put_beyond(%i: tensor<300x2xi64>, %u: tensor<300x2xf32>) -> tensor<4800xf32> {
  %zeros = graph.constant dense<0.0> : tensor<4800xf32>
  %none = graph.constant dense<0> : tensor<300x2xi64>
  %c = graph.constant dense<16> : tensor<300x2xi64>
  %more = graph.constant dense<17> : tensor<300x2xi64>
  %minus = graph.constant dense<-1> : tensor<300x2xi64>
  %low = graph.binary ge %i, %none : tensor<300x2xi64>
  %high = graph.binary lt %i, %more : tensor<300x2xi64>
  %both = graph.binary and %low, %high : tensor<300x2xi1>
  %row = graph.iota dim = 0 : tensor<300x2xi64>
  %first = graph.binary mul %row, %c : tensor<300x2xi64>
  %sum = graph.binary add %i, %first : tensor<300x2xi64>
  %at = graph.select %both, %sum, %minus : tensor<300x2xi64>
  %y = graph.scatter set %zeros[%at], %u dim = 0 : (tensor<4800xf32>, tensor<300x2xi64>, tensor<300x2xf32>) -> tensor<4800xf32>
  return %y : tensor<4800xf32>
}
func.func @put_into(%x: tensor<4800xf32>, %i: tensor<300x2xi64>, %u: tensor<300x2xf32>) -> tensor<4800xf32> {
  %none = graph.constant dense<0> : tensor<300x2xi64>
  %c = graph.constant dense<16> : tensor<300x2xi64>
  %minus = graph.constant dense<-1> : tensor<300x2xi64>
  %low = graph.binary ge %i, %none : tensor<300x2xi64>
  %high = graph.binary lt %i, %c : tensor<300x2xi64>
  %both = graph.binary and %low, %high : tensor<300x2xi1>
  %row = graph.iota dim = 0 : tensor<300x2xi64>
  %first = graph.binary mul %row, %c : tensor<300x2xi64>
  %sum = graph.binary add %i, %first : tensor<300x2xi64>
  %at = graph.select %both, %sum, %minus : tensor<300x2xi64>
  %y = graph.scatter set %x[%at], %u dim = 0 : (tensor<4800xf32>, tensor<300x2xi64>, tensor<300x2xf32>) -> tensor<4800xf32>
  return %y : tensor<4800xf32>
}
