// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s

// No axis of a kernel counts along a split dimension.
// CHECK-LABEL: func.func @grid
// CHECK: graph.group
// CHECK: %[[I:.*]] = graph.iota
// CHECK-NEXT: graph.unary abs %[[I]]
// CHECK: graph.group(%[[A:.*]] = %{{.*}} : tensor<12xi32>)
// CHECK-NEXT: graph.reshape %[[A]]
func.func @grid() -> tensor<3x4xi32> {
  %i = graph.iota dim = 0 : tensor<12xi32>
  %g = graph.reshape %i : tensor<12xi32> -> tensor<3x4xi32>
  %y = graph.binary mul %g, %g : tensor<3x4xi32>
  return %y : tensor<3x4xi32>
}
