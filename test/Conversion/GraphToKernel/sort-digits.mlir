// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-convert-graph-to-kernel | FileCheck %s

// Four digits of 8 bits are counted in one pass over a row, and each moves keys and indices once at most.
// CHECK-LABEL: kernel.func @digits_0
// CHECK-SAME:  !kernel.buffer<i32, global>, %{{.*}}: !kernel.buffer<i32, global>
// CHECK:       kernel.grid (%{{.*}}, %{{.*}}) in [3, 1] step [1, 1]
// CHECK:       kernel.alloc : <1024xi32, private>
// CHECK-COUNT-5: arith.shrui
func.func @digits(%x: tensor<3x5000xf32>) -> tensor<3x5000xf32> {
  %y = graph.sort values %x dim = 1 descending : tensor<3x5000xf32> -> tensor<3x5000xf32>
  return %y : tensor<3x5000xf32>
}

// Few elements are merged.
// CHECK-LABEL: kernel.func @few_0
// CHECK-NOT:   arith.shrui
func.func @few(%x: tensor<3x20xf32>) -> tensor<3x20xf32> {
  %y = graph.sort values %x dim = 1 descending : tensor<3x20xf32> -> tensor<3x20xf32>
  return %y : tensor<3x20xf32>
}
