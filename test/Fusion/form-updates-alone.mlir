// RUN: zyx-opt %s --zyx-fusion-form-updates | FileCheck %s

// A row of what is given up is exchanged by a scatter.
// CHECK-LABEL: func.func @row
// CHECK: graph.scatter set %arg0[%{{.*}}], %{{.*}} dim = 0 {zyx.apart} : (tensor<64x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<64x8xf32>
func.func @row(%cache: tensor<64x8xf32> {graph.name = "cache"}, %row: tensor<1x8xf32> {graph.name = "row"}, %start: tensor<1x1xi64> {graph.name = "start"}) -> (tensor<64x8xf32> {graph.name = "next"}) {
  %i = graph.iota dim = 0 : tensor<64x8xi64>
  %position = graph.expand %start : tensor<1x1xi64> -> tensor<64x8xi64>
  %is = graph.binary eq %i, %position : tensor<64x8xi64>
  %rows = graph.expand %row : tensor<1x8xf32> -> tensor<64x8xf32>
  %next = graph.select %is, %rows, %cache : tensor<64x8xf32>
  return %next : tensor<64x8xf32>
}

// A cache that is returned as it was is not overwritten.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: graph.scatter
func.func @kept(%cache: tensor<64x8xf32> {graph.name = "cache"}, %row: tensor<1x8xf32> {graph.name = "row"}, %start: tensor<1x1xi64> {graph.name = "start"}) -> (tensor<64x8xf32> {graph.name = "next"}, tensor<64x8xf32> {graph.name = "old"}) {
  %i = graph.iota dim = 0 : tensor<64x8xi64>
  %position = graph.expand %start : tensor<1x1xi64> -> tensor<64x8xi64>
  %is = graph.binary eq %i, %position : tensor<64x8xi64>
  %rows = graph.expand %row : tensor<1x8xf32> -> tensor<64x8xf32>
  %next = graph.select %is, %rows, %cache : tensor<64x8xf32>
  return %next, %cache : tensor<64x8xf32>, tensor<64x8xf32>
}
