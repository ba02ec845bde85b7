// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s

// A value without elements is cloned for free, which must come to an end.
// CHECK-LABEL: func.func @zero_size
// CHECK: graph.reduce add
// CHECK: graph.reduce add
func.func @zero_size(%x: tensor<0x4xf32>) -> (tensor<4xf32>, tensor<0xf32>) {
  %e = graph.binary add %x, %x : tensor<0x4xf32>
  %columns = graph.reduce add %e dims = [0] : tensor<0x4xf32> -> tensor<4xf32>
  %rows = graph.reduce add %e dims = [1] : tensor<0x4xf32> -> tensor<0xf32>
  return %columns, %rows : tensor<4xf32>, tensor<0xf32>
}
