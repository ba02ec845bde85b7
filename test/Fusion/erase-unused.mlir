// RUN: zyx-opt %s --zyx-fusion-erase-unused | FileCheck %s

// What only unread ops read goes with them, in the body of a loop too.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: graph.unary
// CHECK: graph.loop
// CHECK-NOT: graph.unary exp
// CHECK: graph.unary neg
// CHECK: return
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.unary exp %x : tensor<4xf32>
  %1 = graph.unary sqrt %0 : tensor<4xf32>
  %l = graph.loop(%i to 3) carry(%c = %x : tensor<4xf32>) {
    %2 = graph.unary exp %c : tensor<4xf32>
    %3 = graph.unary neg %c : tensor<4xf32>
    graph.yield %3 : tensor<4xf32>
  }
  return %l : tensor<4xf32>
}
