// RUN: zyx-opt %s --zyx-fusion-separate-iotas | FileCheck %s

// Each reader has an iota of its own.
// CHECK-LABEL: func.func @two
// CHECK-COUNT-2: graph.iota dim = 0 : tensor<8xi32>
// CHECK-NOT: graph.iota
// CHECK: return
func.func @two(%a: tensor<8xi32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %i = graph.iota dim = 0 : tensor<8xi32>
  %0 = graph.binary add %a, %i : tensor<8xi32>
  %1 = graph.binary mul %b, %i : tensor<8xi32>
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// A sort reads memory, which others may share.
// CHECK-LABEL: func.func @stored
// CHECK: graph.iota
// CHECK-NOT: graph.iota
// CHECK: return
func.func @stored() -> (tensor<8xi32>, tensor<8xi32>) {
  %i = graph.iota dim = 0 : tensor<8xi32>
  %0 = graph.sort values %i dim = 0 : tensor<8xi32> -> tensor<8xi32>
  %1 = graph.sort values %i dim = 0 descending : tensor<8xi32> -> tensor<8xi32>
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}
