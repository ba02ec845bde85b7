// RUN: zyx-opt %s --zyx-fusion-note-first-elements | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-note-first-elements=note=false | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: func.func @top
// CHECK: graph.sort values %arg0 dim = 0 descending {zyx.first = 5 : i64}
// NONE-LABEL: func.func @top
// NONE-NOT: zyx.first
func.func @top(%x: tensor<1000xf32>) -> tensor<5xf32> {
  %0 = graph.sort values %x dim = 0 descending {zyx.first = 2 : i64} : tensor<1000xf32> -> tensor<1000xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %1 = graph.pad %0, %zero low = [0] high = [-995] interior = [0] : tensor<1000xf32> -> tensor<5xf32>
  return %1 : tensor<5xf32>
}
