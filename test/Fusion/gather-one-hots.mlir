// RUN: zyx-opt %s --zyx-fusion-gather-one-hots | FileCheck %s

// Rows are gathered; another number of a column that is not finite makes NaN of the result.
// CHECK-LABEL: func.func @rows
// CHECK: graph.gather %{{.*}} dim = 0 : (tensor<12x72xf32>, tensor<20xi64>) -> tensor<20x72xf32>
// CHECK: graph.select
// CHECK-NOT: graph.reduce add %{{.*}} : tensor<20x12x72xf32>
// CHECK: return
func.func @rows(%ids: tensor<20xi64>, %table: tensor<12x72xf32>) -> tensor<20x72xf32> {
  %0 = graph.reshape %ids : tensor<20xi64> -> tensor<20x1xi64>
  %1 = graph.expand %0 : tensor<20x1xi64> -> tensor<20x12xi64>
  %2 = graph.iota dim = 1 : tensor<20x12xi64>
  %3 = graph.binary eq %1, %2 : tensor<20x12xi64>
  %4 = graph.cast %3 : tensor<20x12xi1> -> tensor<20x12xf32>
  %5 = graph.reshape %4 : tensor<20x12xf32> -> tensor<20x12x1xf32>
  %6 = graph.expand %5 : tensor<20x12x1xf32> -> tensor<20x12x72xf32>
  %7 = graph.reshape %table : tensor<12x72xf32> -> tensor<1x12x72xf32>
  %8 = graph.expand %7 : tensor<1x12x72xf32> -> tensor<20x12x72xf32>
  %9 = graph.binary mul %6, %8 : tensor<20x12x72xf32>
  %10 = graph.reduce add %9 dims = [1] : tensor<20x12x72xf32> -> tensor<20x72xf32>
  return %10 : tensor<20x72xf32>
}
