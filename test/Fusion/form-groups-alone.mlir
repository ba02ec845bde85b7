// RUN: zyx-opt %s --zyx-fusion-form-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-form-groups=join=false | FileCheck %s --check-prefix=ALONE

// CHECK-LABEL: func.func @joined
// CHECK: graph.group
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.binary add
// CHECK-NEXT: graph.yield
// CHECK-NOT: graph.group
// CHECK: return
// ALONE-LABEL: func.func @joined
// ALONE-COUNT-2: graph.group
func.func @joined(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %unread = graph.unary log %x : tensor<4xf32>
  %0 = graph.unary exp %x : tensor<4xf32>
  %1 = graph.binary add %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Notes of weights that are computed again are believed where they fit the op, and are in no group.
// CHECK-LABEL: func.func @noted
// CHECK-NOT: zyx.recomputed
// CHECK: return
func.func @noted(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = graph.unary exp %x {zyx.recomputed = array<i64: 0, 0, 0>} : tensor<4x8xf32>
  %1 = graph.reduce add %x dims = [1] {zyx.recomputed = array<i64: 0, 0, 0>} : tensor<4x8xf32> -> tensor<4xf32>
  %2 = graph.reduce add %0 dims = [1] {zyx.recomputed = array<i64: 1>} : tensor<4x8xf32> -> tensor<4xf32>
  %3 = graph.binary add %1, %2 {zyx.recomputed = array<i64: 0, 7, 0>} : tensor<4xf32>
  return %3 : tensor<4xf32>
}
