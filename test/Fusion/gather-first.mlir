// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s

// One element of each row is taken of what all are computed for: the row's numbers are gathered, and nothing is stored.
// CHECK-LABEL: func.func @chosen
// CHECK-NOT:   -> tensor<8x1000xf32> {
// CHECK:       graph.yield
// CHECK:       graph.group({{.*}}) -> tensor<8xf32> {
// CHECK-DAG:   graph.gather %{{.*}} dim = 0 : (tensor<8000xbf16>, tensor<8xi64>) -> tensor<8xbf16>
// CHECK-DAG:   graph.gather %{{.*}} dim = 0 : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
// CHECK:       graph.select
func.func @chosen(%x: tensor<8x1000xbf16>, %i: tensor<8xi64>) -> tensor<8xf32> {
  %0 = graph.cast %x : tensor<8x1000xbf16> -> tensor<8x1000xf32>
  %1 = graph.reduce max %0 dims = [1] : tensor<8x1000xf32> -> tensor<8xf32>
  %2 = graph.reshape %1 : tensor<8xf32> -> tensor<8x1xf32>
  %3 = graph.expand %2 : tensor<8x1xf32> -> tensor<8x1000xf32>
  %4 = graph.binary sub %0, %3 : tensor<8x1000xf32>
  %5 = graph.reshape %4 : tensor<8x1000xf32> -> tensor<8000xf32>
  %6 = graph.gather %5[%i] dim = 0 : (tensor<8000xf32>, tensor<8xi64>) -> tensor<8xf32>
  return %6 : tensor<8xf32>
}

// All that is computed is returned, too: it is stored anyway.
// CHECK-LABEL: func.func @both
// CHECK:       graph.gather %{{.*}} : (tensor<8000xf32>, tensor<8xi64>)
func.func @both(%x: tensor<8x1000xf32>, %i: tensor<8xi64>) -> (tensor<8x1000xf32>, tensor<8xf32>) {
  %4 = graph.unary exp %x : tensor<8x1000xf32>
  %5 = graph.reshape %4 : tensor<8x1000xf32> -> tensor<8000xf32>
  %6 = graph.gather %5[%i] dim = 0 : (tensor<8000xf32>, tensor<8xi64>) -> tensor<8xf32>
  return %4, %6 : tensor<8x1000xf32>, tensor<8xf32>
}
