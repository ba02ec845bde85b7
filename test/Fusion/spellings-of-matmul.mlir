// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=KERNEL

// However a matrix product is written, it is one kernel with one dot.
// KERNEL-COUNT-14: kernel.dot
// KERNEL-NOT: kernel.dot

// Every product of a row and a column, summed.
// CHECK-LABEL: func.func @einsum
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @einsum(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %1 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %2 = graph.expand %1 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %3 = graph.reshape %0 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %4 = graph.expand %3 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.binary mul %2, %4 : tensor<8x32x16xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %6 : tensor<8x32xf32>
}

// The sum is not along the last dimension.
// CHECK-LABEL: func.func @sum_in_the_middle
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @sum_in_the_middle(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x16x1xf32>
  %1 = graph.expand %0 : tensor<8x16x1xf32> -> tensor<8x16x32xf32>
  %2 = graph.reshape %b : tensor<16x32xf32> -> tensor<1x16x32xf32>
  %3 = graph.expand %2 : tensor<1x16x32xf32> -> tensor<8x16x32xf32>
  %4 = graph.binary mul %1, %3 : tensor<8x16x32xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<8x16x32xf32> -> tensor<8x32xf32>
  return %5 : tensor<8x32xf32>
}

// The sum along the first, and the factors the other way round.
// CHECK-LABEL: func.func @sum_first_swapped
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @sum_first_swapped(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.permute %a order = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %1 = graph.reshape %0 : tensor<16x8xf32> -> tensor<16x8x1xf32>
  %2 = graph.expand %1 : tensor<16x8x1xf32> -> tensor<16x8x32xf32>
  %3 = graph.reshape %b : tensor<16x32xf32> -> tensor<16x1x32xf32>
  %4 = graph.expand %3 : tensor<16x1x32xf32> -> tensor<16x8x32xf32>
  %5 = graph.binary mul %4, %2 : tensor<16x8x32xf32>
  %6 = graph.reduce add %5 dims = [0] : tensor<16x8x32xf32> -> tensor<8x32xf32>
  return %6 : tensor<8x32xf32>
}

// Both operands lie transposed.
// CHECK-LABEL: func.func @transposed_operands
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @transposed_operands(%a: tensor<16x8xf32>, %b: tensor<32x16xf32>) -> tensor<8x32xf32> {
  %0 = graph.permute %a order = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %1 = graph.permute %b order = [1, 0] : tensor<32x16xf32> -> tensor<16x32xf32>
  %2 = graph.permute %1 order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %3 = graph.reshape %0 : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %4 = graph.expand %3 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.reshape %2 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %7 = graph.binary mul %4, %6 : tensor<8x32x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// The product of the transposed, transposed.
// CHECK-LABEL: func.func @transposed_result
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @transposed_result(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %1 = graph.permute %a order = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %2 = graph.permute %1 order = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %3 = graph.reshape %0 : tensor<32x16xf32> -> tensor<32x1x16xf32>
  %4 = graph.expand %3 : tensor<32x1x16xf32> -> tensor<32x8x16xf32>
  %5 = graph.reshape %2 : tensor<8x16xf32> -> tensor<1x8x16xf32>
  %6 = graph.expand %5 : tensor<1x8x16xf32> -> tensor<32x8x16xf32>
  %7 = graph.binary mul %4, %6 : tensor<32x8x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<32x8x16xf32> -> tensor<32x8xf32>
  %9 = graph.permute %8 order = [1, 0] : tensor<32x8xf32> -> tensor<8x32xf32>
  return %9 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @scaled_before
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_before(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.constant dense<0.5> : tensor<8x16xf32>
  %1 = graph.binary mul %a, %0 : tensor<8x16xf32>
  %2 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %3 = graph.reshape %1 : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %4 = graph.expand %3 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.reshape %2 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %7 = graph.binary mul %4, %6 : tensor<8x32x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @scaled_after
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_after(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %1 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %2 = graph.expand %1 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %3 = graph.reshape %0 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %4 = graph.expand %3 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.binary mul %2, %4 : tensor<8x32x16xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  %7 = graph.constant dense<0.5> : tensor<8x32xf32>
  %8 = graph.binary mul %6, %7 : tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// Behind the expand.
// CHECK-LABEL: func.func @scaled_between
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_between(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %1 = graph.expand %0 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %2 = graph.constant dense<0.5> : tensor<8x32x16xf32>
  %3 = graph.binary mul %1, %2 : tensor<8x32x16xf32>
  %4 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %5 = graph.reshape %4 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %7 = graph.binary mul %3, %6 : tensor<8x32x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @masked_by_add
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @masked_by_add(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, %m: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %1 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %2 = graph.expand %1 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %3 = graph.reshape %0 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %4 = graph.expand %3 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.binary mul %2, %4 : tensor<8x32x16xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  %7 = graph.binary add %6, %m : tensor<8x32xf32>
  return %7 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @masked_by_select
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @masked_by_select(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, %m: tensor<8x32xi1>) -> tensor<8x32xf32> {
  %0 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %1 = graph.reshape %a : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %2 = graph.expand %1 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %3 = graph.reshape %0 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %4 = graph.expand %3 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.binary mul %2, %4 : tensor<8x32x16xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  %7 = graph.constant dense<0.0> : tensor<8x32xf32>
  %8 = graph.select %m, %6, %7 : tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// A mask of what is multiplied.
// CHECK-LABEL: func.func @masked_operand
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @masked_operand(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, %m: tensor<8x16xi1>) -> tensor<8x32xf32> {
  %0 = graph.constant dense<0.0> : tensor<8x16xf32>
  %1 = graph.select %m, %a, %0 : tensor<8x16xf32>
  %2 = graph.permute %b order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %3 = graph.reshape %1 : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %4 = graph.expand %3 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.reshape %2 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %7 = graph.binary mul %4, %6 : tensor<8x32x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// The products of a bf16 matrix product, cast before and behind the expands.
// CHECK-LABEL: func.func @upcast_first
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @upcast_first(%a: tensor<8x16xbf16>, %b: tensor<16x32xbf16>) -> tensor<8x32xf32> {
  %0 = graph.cast %a : tensor<8x16xbf16> -> tensor<8x16xf32>
  %1 = graph.cast %b : tensor<16x32xbf16> -> tensor<16x32xf32>
  %2 = graph.permute %1 order = [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  %3 = graph.reshape %0 : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %4 = graph.expand %3 : tensor<8x1x16xf32> -> tensor<8x32x16xf32>
  %5 = graph.reshape %2 : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %6 = graph.expand %5 : tensor<1x32x16xf32> -> tensor<8x32x16xf32>
  %7 = graph.binary mul %4, %6 : tensor<8x32x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @upcast_expanded
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @upcast_expanded(%a: tensor<8x16xbf16>, %b: tensor<16x32xbf16>) -> tensor<8x32xf32> {
  %0 = graph.reshape %a : tensor<8x16xbf16> -> tensor<8x1x16xbf16>
  %1 = graph.expand %0 : tensor<8x1x16xbf16> -> tensor<8x32x16xbf16>
  %2 = graph.cast %1 : tensor<8x32x16xbf16> -> tensor<8x32x16xf32>
  %3 = graph.permute %b order = [1, 0] : tensor<16x32xbf16> -> tensor<32x16xbf16>
  %4 = graph.reshape %3 : tensor<32x16xbf16> -> tensor<1x32x16xbf16>
  %5 = graph.expand %4 : tensor<1x32x16xbf16> -> tensor<8x32x16xbf16>
  %6 = graph.cast %5 : tensor<8x32x16xbf16> -> tensor<8x32x16xf32>
  %7 = graph.binary mul %2, %6 : tensor<8x32x16xf32>
  %8 = graph.reduce add %7 dims = [2] : tensor<8x32x16xf32> -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @batch_of_one
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @batch_of_one(%a: tensor<8x16xf32>, %b: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %0 = graph.reshape %a : tensor<8x16xf32> -> tensor<1x8x16xf32>
  %1 = graph.reshape %b : tensor<16x32xf32> -> tensor<1x16x32xf32>
  %2 = graph.permute %1 order = [0, 2, 1] : tensor<1x16x32xf32> -> tensor<1x32x16xf32>
  %3 = graph.reshape %0 : tensor<1x8x16xf32> -> tensor<1x8x1x16xf32>
  %4 = graph.expand %3 : tensor<1x8x1x16xf32> -> tensor<1x8x32x16xf32>
  %5 = graph.reshape %2 : tensor<1x32x16xf32> -> tensor<1x1x32x16xf32>
  %6 = graph.expand %5 : tensor<1x1x32x16xf32> -> tensor<1x8x32x16xf32>
  %7 = graph.binary mul %4, %6 : tensor<1x8x32x16xf32>
  %8 = graph.reduce add %7 dims = [3] : tensor<1x8x32x16xf32> -> tensor<1x8x32xf32>
  %9 = graph.reshape %8 : tensor<1x8x32xf32> -> tensor<8x32xf32>
  return %9 : tensor<8x32xf32>
}
