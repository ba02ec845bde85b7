// RUN: zyx-opt %s --zyx-fusion-join-gathers | FileCheck %s

// Rows and columns are gathered at once, and what is computed of the rows is computed again for each column.
// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[X:.*]]: tensor<2x14x12x64xf32>, %[[W:.*]]: tensor<1x1x28x1xf32>)
// CHECK-DAG: %[[LOW:.*]] = graph.binary div
// CHECK-DAG: %[[HIGH:.*]] = graph.binary min
// CHECK: %[[WEIGHTS:.*]] = graph.expand %[[W]] : tensor<1x1x28x1xf32> -> tensor<2x64x28x24xf32>
// CHECK: %[[MOVED:.*]] = graph.permute %[[WEIGHTS]] order = [0, 2, 3, 1]
// CHECK: %[[FLAT:.*]] = graph.reshape %[[X]] : tensor<2x14x12x64xf32> -> tensor<2x168x64xf32>
// CHECK: %[[ROWS:.*]] = graph.binary mul
// CHECK: graph.binary add %{{.*}}, %{{.*}} : tensor<28x24xi64>
// CHECK: graph.gather %[[FLAT]][%{{.*}}] dim = 1 {zyx.inside}
// CHECK-SAME: -> tensor<2x28x24x64xf32>
// CHECK: graph.binary mul %[[MOVED]], %{{.*}} : tensor<2x28x24x64xf32>
// CHECK: %[[Y:.*]] = graph.permute %{{.*}} order = [0, 3, 1, 2] : tensor<2x28x24x64xf32> -> tensor<2x64x28x24xf32>
// CHECK: return %[[Y]]
func.func @linear(%x: tensor<2x14x12x64xf32>, %w: tensor<1x1x28x1xf32>) -> tensor<2x64x28x24xf32> {
  %i = graph.iota dim = 0 : tensor<28xi64>
  %two = graph.constant dense<2> : tensor<28xi64>
  %one = graph.constant dense<1> : tensor<28xi64>
  %last = graph.constant dense<13> : tensor<28xi64>
  %low = graph.binary div %i, %two : tensor<28xi64>
  %next = graph.binary add %low, %one : tensor<28xi64>
  %high = graph.binary min %next, %last : tensor<28xi64>
  %j = graph.iota dim = 0 : tensor<24xi64>
  %half = graph.constant dense<2> : tensor<24xi64>
  %column = graph.binary div %j, %half : tensor<24xi64>
  %0 = graph.gather %x[%low] dim = 1 : (tensor<2x14x12x64xf32>, tensor<28xi64>) -> tensor<2x28x12x64xf32>
  %1 = graph.gather %x[%high] dim = 1 : (tensor<2x14x12x64xf32>, tensor<28xi64>) -> tensor<2x28x12x64xf32>
  %2 = graph.binary sub %1, %0 : tensor<2x28x12x64xf32>
  %3 = graph.expand %w : tensor<1x1x28x1xf32> -> tensor<2x64x28x12xf32>
  %4 = graph.permute %3 order = [0, 2, 3, 1] : tensor<2x64x28x12xf32> -> tensor<2x28x12x64xf32>
  %5 = graph.binary mul %4, %2 : tensor<2x28x12x64xf32>
  %6 = graph.binary add %0, %5 : tensor<2x28x12x64xf32>
  %7 = graph.permute %6 order = [0, 3, 1, 2] : tensor<2x28x12x64xf32> -> tensor<2x64x28x12xf32>
  %8 = graph.gather %7[%column] dim = 3 : (tensor<2x64x28x12xf32>, tensor<24xi64>) -> tensor<2x64x28x24xf32>
  return %8 : tensor<2x64x28x24xf32>
}

// Places that are data, or outside; what is contiguous; and what somebody else reads.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: graph.reshape
// CHECK-NOT: zyx.inside
// CHECK: graph.gather %{{.*}}[%{{.*}}] dim = 2 : (tensor<2x28x14x64xf32>
// CHECK: graph.gather %{{.*}}[%{{.*}}] dim = 0 {zyx.inside} : (tensor<14x64xf32>
// CHECK: graph.gather %{{.*}}[%{{.*}}] dim = 1 {zyx.inside} : (tensor<28x64xf32>
// CHECK-NOT: graph.reshape
// CHECK: return
func.func @stay(%x: tensor<2x14x14x64xf32>, %i: tensor<28xi64>, %y: tensor<14x64xf32>)
    -> (tensor<2x28x28x64xf32>, tensor<28x28xf32>) {
  %j = graph.iota dim = 0 : tensor<28xi64>
  %two = graph.constant dense<2> : tensor<28xi64>
  %place = graph.binary div %j, %two : tensor<28xi64>
  %0 = graph.gather %x[%i] dim = 1 : (tensor<2x14x14x64xf32>, tensor<28xi64>) -> tensor<2x28x14x64xf32>
  %1 = graph.gather %0[%j] dim = 2 : (tensor<2x28x14x64xf32>, tensor<28xi64>) -> tensor<2x28x28x64xf32>
  %2 = graph.gather %y[%place] dim = 0 : (tensor<14x64xf32>, tensor<28xi64>) -> tensor<28x64xf32>
  %3 = graph.gather %2[%j] dim = 1 : (tensor<28x64xf32>, tensor<28xi64>) -> tensor<28x28xf32>
  return %1, %3 : tensor<2x28x28x64xf32>, tensor<28x28xf32>
}
