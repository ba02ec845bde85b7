// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-part-rows | FileCheck %s

// Both sums are of rows in 256 parts; those of columns note which dimension these are.
// CHECK-LABEL: func.func @norm
// CHECK-DAG: graph.reduce add %{{.*}} dims = [2] : tensor<256x32x2048xf32> -> tensor<256x32xf32>
// CHECK-DAG: graph.reduce add %{{.*}} dims = [0, 1] {zyx.parts = array<i64: 0>} : tensor<256x32x2048xf32> -> tensor<2048xf32>
func.func @norm(%seed: tensor<8192x2048xf32>, %x: tensor<8192x2048xf32>) -> (tensor<8192x2048xf32>, tensor<2048xf32>) {
  %p = graph.binary mul %seed, %x : tensor<8192x2048xf32>
  %t = graph.reduce add %p dims = [1] : tensor<8192x2048xf32> -> tensor<8192xf32>
  %t1 = graph.reshape %t : tensor<8192xf32> -> tensor<8192x1xf32>
  %ts = graph.expand %t1 : tensor<8192x1xf32> -> tensor<8192x2048xf32>
  %dx = graph.binary sub %seed, %ts : tensor<8192x2048xf32>
  %share = graph.binary mul %dx, %x : tensor<8192x2048xf32>
  %dw = graph.reduce add %share dims = [0] : tensor<8192x2048xf32> -> tensor<2048xf32>
  return %dx, %dw : tensor<8192x2048xf32>, tensor<2048xf32>
}
