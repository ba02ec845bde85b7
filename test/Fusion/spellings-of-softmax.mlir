// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s

// However a softmax is written, it is one kernel.

// CHECK-LABEL: func.func @plain
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @plain(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<8x1xf32>
  %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x16xf32>
  %3 = graph.binary sub %x, %2 : tensor<8x16xf32>
  %4 = graph.unary exp %3 : tensor<8x16xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %6 = graph.reshape %5 : tensor<8xf32> -> tensor<8x1xf32>
  %7 = graph.expand %6 : tensor<8x1xf32> -> tensor<8x16xf32>
  %8 = graph.binary div %4, %7 : tensor<8x16xf32>
  return %8 : tensor<8x16xf32>
}

// Not the quotient, but the product with the reciprocal.
// CHECK-LABEL: func.func @times_reciprocal
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @times_reciprocal(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<8x1xf32>
  %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x16xf32>
  %3 = graph.binary sub %x, %2 : tensor<8x16xf32>
  %4 = graph.unary exp %3 : tensor<8x16xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %6 = graph.reshape %5 : tensor<8xf32> -> tensor<8x1xf32>
  %7 = graph.unary recip %6 : tensor<8x1xf32>
  %8 = graph.expand %7 : tensor<8x1xf32> -> tensor<8x16xf32>
  %9 = graph.binary mul %4, %8 : tensor<8x16xf32>
  return %9 : tensor<8x16xf32>
}

// By the logarithm of the sum.
// CHECK-LABEL: func.func @log_sum_exp
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @log_sum_exp(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<8x1xf32>
  %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x16xf32>
  %3 = graph.binary sub %x, %2 : tensor<8x16xf32>
  %4 = graph.unary exp %3 : tensor<8x16xf32>
  %5 = graph.reduce add %4 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %6 = graph.reshape %5 : tensor<8xf32> -> tensor<8x1xf32>
  %7 = graph.unary log %6 : tensor<8x1xf32>
  %8 = graph.binary add %1, %7 : tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary sub %x, %9 : tensor<8x16xf32>
  %11 = graph.unary exp %10 : tensor<8x16xf32>
  return %11 : tensor<8x16xf32>
}

// The sum as an einsum: a matrix times a vector of ones.
// CHECK-LABEL: func.func @sum_by_ones
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @sum_by_ones(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<8x1xf32>
  %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x16xf32>
  %3 = graph.binary sub %x, %2 : tensor<8x16xf32>
  %4 = graph.unary exp %3 : tensor<8x16xf32>
  %5 = graph.constant dense<1.0> : tensor<8x16xf32>
  %6 = graph.binary mul %4, %5 : tensor<8x16xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary div %4, %9 : tensor<8x16xf32>
  return %10 : tensor<8x16xf32>
}

// Of the transposed, transposed; and along the columns.
// CHECK-LABEL: func.func @transposed
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @transposed(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = graph.permute %x order = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %1 = graph.reduce max %0 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %2 = graph.reshape %1 : tensor<8xf32> -> tensor<8x1xf32>
  %3 = graph.expand %2 : tensor<8x1xf32> -> tensor<8x16xf32>
  %4 = graph.binary sub %0, %3 : tensor<8x16xf32>
  %5 = graph.unary exp %4 : tensor<8x16xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %7 = graph.reshape %6 : tensor<8xf32> -> tensor<8x1xf32>
  %8 = graph.expand %7 : tensor<8x1xf32> -> tensor<8x16xf32>
  %9 = graph.binary div %5, %8 : tensor<8x16xf32>
  %10 = graph.permute %9 order = [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  return %10 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @of_columns
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @of_columns(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = graph.reduce max %x dims = [0] : tensor<16x8xf32> -> tensor<8xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<1x8xf32>
  %2 = graph.expand %1 : tensor<1x8xf32> -> tensor<16x8xf32>
  %3 = graph.binary sub %x, %2 : tensor<16x8xf32>
  %4 = graph.unary exp %3 : tensor<16x8xf32>
  %5 = graph.reduce add %4 dims = [0] : tensor<16x8xf32> -> tensor<8xf32>
  %6 = graph.reshape %5 : tensor<8xf32> -> tensor<1x8xf32>
  %7 = graph.expand %6 : tensor<1x8xf32> -> tensor<16x8xf32>
  %8 = graph.binary div %4, %7 : tensor<16x8xf32>
  return %8 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @scaled_before
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_before(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.constant dense<0.125> : tensor<8x16xf32>
  %1 = graph.binary mul %x, %0 : tensor<8x16xf32>
  %2 = graph.reduce max %1 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %3 = graph.reshape %2 : tensor<8xf32> -> tensor<8x1xf32>
  %4 = graph.expand %3 : tensor<8x1xf32> -> tensor<8x16xf32>
  %5 = graph.binary sub %1, %4 : tensor<8x16xf32>
  %6 = graph.unary exp %5 : tensor<8x16xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary div %6, %9 : tensor<8x16xf32>
  return %10 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @scaled_after_maximum
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_after_maximum(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %1 = graph.reshape %0 : tensor<8xf32> -> tensor<8x1xf32>
  %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x16xf32>
  %3 = graph.binary sub %x, %2 : tensor<8x16xf32>
  %4 = graph.constant dense<0.125> : tensor<8x16xf32>
  %5 = graph.binary mul %3, %4 : tensor<8x16xf32>
  %6 = graph.unary exp %5 : tensor<8x16xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary div %6, %9 : tensor<8x16xf32>
  return %10 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @masked_by_add
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @masked_by_add(%x: tensor<8x16xf32>, %m: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.binary add %x, %m : tensor<8x16xf32>
  %1 = graph.reduce max %0 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %2 = graph.reshape %1 : tensor<8xf32> -> tensor<8x1xf32>
  %3 = graph.expand %2 : tensor<8x1xf32> -> tensor<8x16xf32>
  %4 = graph.binary sub %0, %3 : tensor<8x16xf32>
  %5 = graph.unary exp %4 : tensor<8x16xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %7 = graph.reshape %6 : tensor<8xf32> -> tensor<8x1xf32>
  %8 = graph.expand %7 : tensor<8x1xf32> -> tensor<8x16xf32>
  %9 = graph.binary div %5, %8 : tensor<8x16xf32>
  return %9 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @masked_by_select
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @masked_by_select(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>) -> tensor<8x16xf32> {
  %0 = graph.constant dense<-1.0e+30> : tensor<8x16xf32>
  %1 = graph.select %m, %x, %0 : tensor<8x16xf32>
  %2 = graph.reduce max %1 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %3 = graph.reshape %2 : tensor<8xf32> -> tensor<8x1xf32>
  %4 = graph.expand %3 : tensor<8x1xf32> -> tensor<8x16xf32>
  %5 = graph.binary sub %1, %4 : tensor<8x16xf32>
  %6 = graph.unary exp %5 : tensor<8x16xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary div %6, %9 : tensor<8x16xf32>
  return %10 : tensor<8x16xf32>
}

// A mask that is computed from the places.
// CHECK-LABEL: func.func @causal_by_add
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @causal_by_add(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.iota dim = 0 : tensor<8x16xi32>
  %1 = graph.iota dim = 1 : tensor<8x16xi32>
  %2 = graph.binary ge %0, %1 : tensor<8x16xi32>
  %3 = graph.constant dense<0.0> : tensor<8x16xf32>
  %4 = graph.constant dense<-1.0e+30> : tensor<8x16xf32>
  %5 = graph.select %2, %3, %4 : tensor<8x16xf32>
  %6 = graph.binary add %x, %5 : tensor<8x16xf32>
  %7 = graph.reduce max %6 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary sub %6, %9 : tensor<8x16xf32>
  %11 = graph.unary exp %10 : tensor<8x16xf32>
  %12 = graph.reduce add %11 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %13 = graph.reshape %12 : tensor<8xf32> -> tensor<8x1xf32>
  %14 = graph.expand %13 : tensor<8x1xf32> -> tensor<8x16xf32>
  %15 = graph.binary div %11, %14 : tensor<8x16xf32>
  return %15 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @causal_by_select
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @causal_by_select(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.iota dim = 0 : tensor<8x16xi32>
  %1 = graph.iota dim = 1 : tensor<8x16xi32>
  %2 = graph.binary ge %0, %1 : tensor<8x16xi32>
  %3 = graph.constant dense<-1.0e+30> : tensor<8x16xf32>
  %4 = graph.select %2, %x, %3 : tensor<8x16xf32>
  %5 = graph.reduce max %4 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %6 = graph.reshape %5 : tensor<8xf32> -> tensor<8x1xf32>
  %7 = graph.expand %6 : tensor<8x1xf32> -> tensor<8x16xf32>
  %8 = graph.binary sub %4, %7 : tensor<8x16xf32>
  %9 = graph.unary exp %8 : tensor<8x16xf32>
  %10 = graph.reduce add %9 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %11 = graph.reshape %10 : tensor<8xf32> -> tensor<8x1xf32>
  %12 = graph.expand %11 : tensor<8x1xf32> -> tensor<8x16xf32>
  %13 = graph.binary div %9, %12 : tensor<8x16xf32>
  return %13 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @upcast
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @upcast(%x: tensor<8x16xbf16>) -> tensor<8x16xbf16> {
  %0 = graph.cast %x : tensor<8x16xbf16> -> tensor<8x16xf32>
  %1 = graph.reduce max %0 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %2 = graph.reshape %1 : tensor<8xf32> -> tensor<8x1xf32>
  %3 = graph.expand %2 : tensor<8x1xf32> -> tensor<8x16xf32>
  %4 = graph.binary sub %0, %3 : tensor<8x16xf32>
  %5 = graph.unary exp %4 : tensor<8x16xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %7 = graph.reshape %6 : tensor<8xf32> -> tensor<8x1xf32>
  %8 = graph.expand %7 : tensor<8x1xf32> -> tensor<8x16xf32>
  %9 = graph.binary div %5, %8 : tensor<8x16xf32>
  %10 = graph.cast %9 : tensor<8x16xf32> -> tensor<8x16xbf16>
  return %10 : tensor<8x16xbf16>
}

// A reshape of what is returned shows the same bytes.
// CHECK-LABEL: func.func @rank_three
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @rank_three(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.reshape %x : tensor<8x16xf32> -> tensor<2x4x16xf32>
  %1 = graph.reduce max %0 dims = [2] : tensor<2x4x16xf32> -> tensor<2x4xf32>
  %2 = graph.reshape %1 : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %3 = graph.expand %2 : tensor<2x4x1xf32> -> tensor<2x4x16xf32>
  %4 = graph.binary sub %0, %3 : tensor<2x4x16xf32>
  %5 = graph.unary exp %4 : tensor<2x4x16xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<2x4x16xf32> -> tensor<2x4xf32>
  %7 = graph.reshape %6 : tensor<2x4xf32> -> tensor<2x4x1xf32>
  %8 = graph.expand %7 : tensor<2x4x1xf32> -> tensor<2x4x16xf32>
  %9 = graph.binary div %5, %8 : tensor<2x4x16xf32>
  %10 = graph.reshape %9 : tensor<2x4x16xf32> -> tensor<8x16xf32>
  return %10 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @by_powers_of_two
// CHECK: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @by_powers_of_two(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = graph.constant dense<1.4426950408889634> : tensor<8x16xf32>
  %1 = graph.binary mul %x, %0 : tensor<8x16xf32>
  %2 = graph.reduce max %1 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %3 = graph.reshape %2 : tensor<8xf32> -> tensor<8x1xf32>
  %4 = graph.expand %3 : tensor<8x1xf32> -> tensor<8x16xf32>
  %5 = graph.binary sub %1, %4 : tensor<8x16xf32>
  %6 = graph.unary exp2 %5 : tensor<8x16xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %8 = graph.reshape %7 : tensor<8xf32> -> tensor<8x1xf32>
  %9 = graph.expand %8 : tensor<8x1xf32> -> tensor<8x16xf32>
  %10 = graph.binary div %6, %9 : tensor<8x16xf32>
  return %10 : tensor<8x16xf32>
}
