// RUN: zyx-opt %s --zyx-fusion-check-entry | FileCheck %s

// What a text says for other passes of the room is removed.
// CHECK-LABEL: func.func @notes
// CHECK-NOT: zyx.
func.func @notes(%x: tensor<4x8xf32>) -> tensor<f32> {
  %0 = graph.reduce add %x dims = [1] {zyx.parts = array<i64: 0>, zyx.last = 1 : i64} : tensor<4x8xf32> -> tensor<4xf32>
  %1 = graph.reduce add %0 dims = [0] {zyx.heads, zyx.recomputed = array<i64: 0, 1, 0>} : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
