// RUN: zyx-opt %s --zyx-fusion-expand-random-bits | FileCheck %s

// Ten rounds of two products each, of the element's index; the lane chooses one of four words.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: graph.random_bits
// CHECK: graph.iota dim = 1 : tensor<2x3xui64>
// CHECK-DAG: graph.constant dense<3528531795> : tensor<2x3xui64>
// CHECK: graph.binary mul
// CHECK-COUNT-3: graph.select
// CHECK-NEXT: graph.cast %{{.*}} : tensor<2x3xui64> -> tensor<2x3xui32>
// CHECK-NEXT: return
func.func @bits(%seed: tensor<ui64>) -> tensor<2x3xui32> {
  %0 = graph.random_bits %seed : tensor<ui64> -> tensor<2x3xui32>
  return %0 : tensor<2x3xui32>
}
