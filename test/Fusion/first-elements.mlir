// RUN: zyx-opt %s -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s -zyx-fuse=fuse=false | FileCheck %s --check-prefix=PLAIN

// PLAIN-NOT: zyx.first

// Two slices: the longer one says how much of the sort is read.
// CHECK-LABEL: func.func @slices
// CHECK: graph.sort values %{{.*}} dim = 1 descending {zyx.first = 7 : i64}
func.func @slices(%x: tensor<4x100xf32>) -> (tensor<4x3xf32>, tensor<4x7xf32>) {
  %s = graph.sort values %x dim = 1 descending : tensor<4x100xf32> -> tensor<4x100xf32>
  %z = graph.constant dense<0.0> : tensor<f32>
  %a = graph.pad %s, %z low = [0, 0] high = [0, -97] interior = [0, 0] : tensor<4x100xf32> -> tensor<4x3xf32>
  %b = graph.pad %s, %z low = [0, -2] high = [0, -93] interior = [0, 0] : tensor<4x100xf32> -> tensor<4x5xf32>
  %c = graph.pad %b, %z low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<4x5xf32> -> tensor<4x7xf32>
  return %a, %c : tensor<4x3xf32>, tensor<4x7xf32>
}

// A slice of the other dimension, and one that leaves out the first elements, read all to the end.
// CHECK-LABEL: func.func @others
// CHECK-NOT: zyx.first
func.func @others(%x: tensor<4x100xf32>) -> (tensor<2x100xf32>, tensor<4x90xf32>) {
  %s = graph.sort values %x dim = 1 : tensor<4x100xf32> -> tensor<4x100xf32>
  %z = graph.constant dense<0.0> : tensor<f32>
  %a = graph.pad %s, %z low = [0, 0] high = [-2, 0] interior = [0, 0] : tensor<4x100xf32> -> tensor<2x100xf32>
  %b = graph.pad %s, %z low = [0, -10] high = [0, 0] interior = [0, 0] : tensor<4x100xf32> -> tensor<4x90xf32>
  return %a, %b : tensor<2x100xf32>, tensor<4x90xf32>
}

// What a text says is not believed.
// CHECK-LABEL: func.func @said
// CHECK-NOT: zyx.first
func.func @said(%x: tensor<100xf32>) -> tensor<100xf32> {
  %s = graph.sort values %x dim = 0 {zyx.first = 2 : i64} : tensor<100xf32> -> tensor<100xf32>
  return %s : tensor<100xf32>
}
