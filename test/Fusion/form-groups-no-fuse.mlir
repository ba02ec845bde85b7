// RUN: zyx-opt %s --zyx-fuse=fuse=false --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse=join=false --zyx-fusion-verify-groups | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK: graph.group
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK-NEXT: graph.binary add
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK-NEXT: graph.reduce max
// CHECK-NEXT: graph.yield
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %e = graph.unary exp %x : tensor<4x8xf32>
  %s = graph.binary add %e, %x : tensor<4x8xf32>
  %m = graph.reduce max %s dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %m : tensor<4xf32>
}

// Nobody stores the products of a matrix product.
// CHECK-LABEL: func.func @matmul
// CHECK: graph.group
// CHECK: graph.binary mul
// CHECK-NEXT: graph.reduce add
// CHECK-NEXT: graph.yield
// CHECK-NOT: graph.group
// CHECK: return
func.func @matmul(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %a1 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x16x1xf32>
  %a2 = graph.expand %a1 : tensor<8x16x1xf32> -> tensor<8x16x4xf32>
  %b1 = graph.reshape %b : tensor<16x4xf32> -> tensor<1x16x4xf32>
  %b2 = graph.expand %b1 : tensor<1x16x4xf32> -> tensor<8x16x4xf32>
  %p = graph.binary mul %a2, %b2 : tensor<8x16x4xf32>
  %y = graph.reduce add %p dims = [1] : tensor<8x16x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
