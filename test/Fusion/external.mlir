// A kernel of the user's own is in no group: what it reads is stored, and what reads it is another kernel.
// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=1' --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse=fuse=false --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#own = #graph.implementation<c "own" for "cpu" : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xi32>) text ["x"]>

// REMARK: a kernel of the user's own is no part of another
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = graph.group(
// CHECK: graph.unary exp
// The transposed operand is stored, in front.
// CHECK: %[[T:.*]] = graph.group(
// CHECK: graph.permute
// CHECK: %[[Y:.*]]:2 = graph.external "own" by <c "own" for "cpu" : {{.*}} text ["x"]>(%[[E]], %[[T]])
// CHECK-NEXT: graph.group(%{{.*}} = %[[Y]]#0 : tensor<8x4xf32>)
// CHECK: graph.unary neg
func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8xi32>) {
  %e = graph.unary exp %x : tensor<8x4xf32>
  %t = graph.permute %w order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %y:2 = graph.external "own" by #own(%e, %t) : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xi32>)
  %n = graph.unary neg %y#0 : tensor<8x4xf32>
  return %n, %y#1 : tensor<8x4xf32>, tensor<8xi32>
}

// In the body of a loop, on what the loop carries and on a constant.
// CHECK-LABEL: func.func @looped
// CHECK: graph.loop(
// CHECK: graph.external "one"
// CHECK: graph.yield
#one = #graph.implementation<kernel "one" for "any" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> text ["x"]>
func.func @looped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.loop(%i to 5) carry(%p = %x : tensor<4xf32>) {
    %c = graph.constant dense<2.0> : tensor<4xf32>
    %0 = graph.external "one" by #one(%p, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
