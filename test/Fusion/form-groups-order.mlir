// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse=fuse=false --zyx-fusion-verify-groups -o /dev/null

// A scan is alone; views of its operand go with it, what is computed before and behind does not.
// CHECK-LABEL: func.func @scan
// CHECK: graph.group
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK-NEXT: graph.permute
// CHECK-NEXT: graph.scan add
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK-NEXT: graph.unary neg
// CHECK-NEXT: graph.unary abs
// CHECK-NEXT: graph.yield
func.func @scan(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = graph.unary exp %x : tensor<4x8xf32>
  %1 = graph.permute %0 order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = graph.scan add %1 dim = 0 : tensor<8x4xf32>
  %3 = graph.unary neg %2 : tensor<8x4xf32>
  %4 = graph.unary abs %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// An iota that such an op reads comes from memory.
// CHECK-LABEL: func.func @iota
// CHECK: %[[STORED:.*]] = graph.group
// CHECK-NEXT: graph.iota
// CHECK-NEXT: graph.unary abs
// CHECK: graph.group(%{{.*}} = %[[STORED]]
// CHECK-NEXT: graph.sort indices
func.func @iota() -> tensor<8xi64> {
  %0 = graph.iota dim = 0 : tensor<8xi32>
  %1 = graph.sort indices %0 dim = 0 descending : tensor<8xi32> -> tensor<8xi64>
  return %1 : tensor<8xi64>
}

// Random bits are element-wise ops of the index: one kernel, with what reads them. The index of an
// element is 8 times its row, plus its column; ten rounds multiply twice each.
// CHECK-LABEL: func.func @random
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK-NOT: graph.random_bits
// CHECK: graph.iota dim = 0 : tensor<4x8xui64>
// CHECK: graph.binary mul
// CHECK: graph.iota dim = 1 : tensor<4x8xui64>
// CHECK-COUNT-20: graph.binary mul
// CHECK-NOT: graph.binary mul
// CHECK: graph.select
// CHECK: graph.cast
// CHECK: graph.binary shr %{{.*}} : tensor<4x8xui32>
func.func @random(%seed: tensor<ui64>, %by: tensor<4x8xui32>) -> tensor<4x8xui32> {
  %0 = graph.random_bits %seed : tensor<ui64> -> tensor<4x8xui32>
  %1 = graph.binary shr %0, %by : tensor<4x8xui32>
  return %1 : tensor<4x8xui32>
}
