// RUN: zyx-opt %s --zyx-fusion-narrow-indices | FileCheck %s

// CHECK-LABEL: func.func @masked
// CHECK: %[[FIVE:.*]] = graph.constant dense<5> : tensor<8xi32>
// CHECK: graph.binary lt %{{.*}}, %[[FIVE]] : tensor<8xi32>
func.func @masked() -> tensor<8xi1> {
  %i = graph.iota dim = 0 : tensor<8xi64>
  %five = graph.constant dense<5> : tensor<8xi64>
  %0 = graph.binary lt %i, %five : tensor<8xi64>
  return %0 : tensor<8xi1>
}

// What comes from elsewhere may need all bits.
// CHECK-LABEL: func.func @unknown
// CHECK: graph.binary lt %{{.*}} : tensor<8xi64>
func.func @unknown(%x: tensor<8xi64>) -> tensor<8xi1> {
  %i = graph.iota dim = 0 : tensor<8xi64>
  %0 = graph.binary lt %i, %x : tensor<8xi64>
  return %0 : tensor<8xi1>
}
