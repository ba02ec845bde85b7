// RUN: zyx-opt %s --zyx-fusion-simplify-loops | FileCheck %s

// A sum of what no trip carries is computed for all trips in front of the loop, a sum over all trips that no trip reads behind it.
// CHECK-LABEL: func.func @sum
// CHECK: graph.reduce add %{{.*}} dims = [1] : tensor<8x3x4xf32> -> tensor<8x4xf32>
// CHECK: graph.loop(%{{.*}} to 8) carry(%{{[^,]*}} = %{{[^,]*}} : tensor<4xf32>) with
// CHECK-NOT: graph.reduce
// CHECK: graph.yield %{{[^,]*}} : tensor<4xf32>
// CHECK: graph.reduce add %{{.*}} dims = [0] : tensor<8x4xf32> -> tensor<4xf32>
// CHECK: return
func.func @sum(%x: tensor<8x3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %l:2 = graph.loop(%i to 8) carry(%h = %zero : tensor<4xf32>, %sum = %zero : tensor<4xf32>) with(%rows = %x : tensor<8x3x4xf32>) {
    %row = graph.gather %rows[%i] dim = 0 : (tensor<8x3x4xf32>, tensor<i64>) -> tensor<3x4xf32>
    %square = graph.binary mul %row, %row : tensor<3x4xf32>
    %each = graph.reduce add %square dims = [0] : tensor<3x4xf32> -> tensor<4xf32>
    %flipped = graph.flip %h dims = [0] : tensor<4xf32>
    %left = graph.binary sub %each, %flipped : tensor<4xf32>
    %next = graph.binary add %sum, %each : tensor<4xf32>
    graph.yield %left, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %l#0, %l#1 : tensor<4xf32>, tensor<4xf32>
}
