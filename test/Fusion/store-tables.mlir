// RUN: zyx-opt %s --zyx-fusion-store-tables | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-store-tables --zyx-fusion-form-groups | FileCheck %s --check-prefix=GROUPS

// Places of rows are stored once; what a few ops make, and what is made of an input, is not.
// CHECK-LABEL: func.func @rows
// CHECK: graph.binary div %{{.*}} {zyx.table} : tensor<28xi64>
// CHECK-NOT: zyx.table
// GROUPS-LABEL: func.func @rows
// GROUPS: %[[TABLE:.*]] = graph.group() -> tensor<28xi64>
// GROUPS: graph.group(%{{.*}} = %[[TABLE]] : tensor<28xi64>
// GROUPS-NOT: zyx.table
func.func @rows(%x: tensor<14x64xf32>, %n: tensor<28xi64>) -> (tensor<28x64xf32>, tensor<28x64xf32>, tensor<28x64xf32>) {
  %c7 = graph.constant dense<7> : tensor<28xi64>
  %c0 = graph.constant dense<0> : tensor<28xi64>
  %0 = graph.iota dim = 0 : tensor<28xi64>
  %1 = graph.binary mul %0, %c7 : tensor<28xi64>
  %2 = graph.binary sub %1, %c7 : tensor<28xi64>
  %3 = graph.binary max %2, %c0 : tensor<28xi64>
  %4 = graph.binary div %3, %c7 : tensor<28xi64>
  %5 = graph.gather %x[%4] dim = 0 : (tensor<14x64xf32>, tensor<28xi64>) -> tensor<28x64xf32>
  %6 = graph.gather %x[%1] dim = 0 : (tensor<14x64xf32>, tensor<28xi64>) -> tensor<28x64xf32>
  %7 = graph.binary mul %n, %c7 : tensor<28xi64>
  %8 = graph.binary sub %7, %c7 : tensor<28xi64>
  %9 = graph.binary max %8, %c0 : tensor<28xi64>
  %10 = graph.binary div %9, %c7 : tensor<28xi64>
  %11 = graph.gather %x[%10] dim = 0 : (tensor<14x64xf32>, tensor<28xi64>) -> tensor<28x64xf32>
  return %5, %6, %11 : tensor<28x64xf32>, tensor<28x64xf32>, tensor<28x64xf32>
}
