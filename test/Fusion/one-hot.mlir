// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s -zyx-fuse | FileCheck %s

// A product with one-hot rows is a gather; what is not finite makes NaN of the others in its column.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:   tensor<20x12x72xf32>
// CHECK-DAG:      graph.binary ne
// CHECK-DAG:      graph.reduce add %{{.*}} dims = [0] : tensor<12x72xf32> -> tensor<72xf32>
// CHECK-DAG:      graph.gather %{{.*}}[%{{.*}}] dim = 0 : (tensor<12x72xf32>, tensor<20xi64>) -> tensor<20x72xf32>
// CHECK:       graph.select
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

// Both factors have the batch: rows of all tables are one dimension.
// CHECK-LABEL: func.func @batch
// CHECK:       graph.gather %{{.*}}[%{{.*}}] dim = 0 : (tensor<240x72xf32>, tensor<20xi64>) -> tensor<20x72xf32>
func.func @batch(%ids: tensor<20xi64>, %table: tensor<20x12x72xf32>) -> tensor<20x72xf32> {
  %0 = graph.reshape %ids : tensor<20xi64> -> tensor<20x1xi64>
  %1 = graph.expand %0 : tensor<20x1xi64> -> tensor<20x12xi64>
  %2 = graph.iota dim = 1 : tensor<20x12xi64>
  %3 = graph.binary eq %1, %2 : tensor<20x12xi64>
  %4 = graph.cast %3 : tensor<20x12xi1> -> tensor<20x12xf32>
  %5 = graph.reshape %4 : tensor<20x12xf32> -> tensor<20x12x1xf32>
  %6 = graph.expand %5 : tensor<20x12x1xf32> -> tensor<20x12x72xf32>
  %9 = graph.binary mul %6, %table : tensor<20x12x72xf32>
  %10 = graph.reduce add %9 dims = [1] : tensor<20x12x72xf32> -> tensor<20x72xf32>
  return %10 : tensor<20x72xf32>
}
