// RUN: zyx-opt %s -split-input-file --pass-pipeline='builtin.module(func.func(zyx-split-groups))' | FileCheck %s
// RUN: zyx-opt %s -split-input-file --zyx-split-groups --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=KERNEL
// RUN: zyx-opt %s -split-input-file --zyx-split-groups --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: [Missed] SplitGroup | Category:zyx-fusion | Remark="two kernels instead of one: 'graph.gather' op gathers from a value that its group computes"
// REMARK: "two kernels instead of one: 'graph.unary' op needs too many copies of what its group computes: views of it meet along different axes"
// REMARK: "two kernels instead of one: 'graph.binary' op needs a value along two of its axes at once"

// A result that the first part computes anyway stays with it.
// CHECK-LABEL: func.func @gather_inside
// CHECK: %[[A:.*]]:2 = graph.group
// CHECK-NEXT: graph.unary neg
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.yield
// CHECK: %[[B:.*]] = graph.group(%{{.*}} = %[[A]]#0 : tensor<4xf32>, %{{.*}} = %arg1 : tensor<2xi64>)
// CHECK-NEXT: graph.gather
// CHECK-NEXT: graph.yield
// CHECK: return %[[B]], %[[A]]#1
// KERNEL: kernel.func @gather_inside_0
// KERNEL: kernel.func @gather_inside_1
// KERNEL-NOT: kernel.func
func.func @gather_inside(%x: tensor<4xf32>, %i: tensor<2xi64>) -> (tensor<2xf32>, tensor<4xf32>) {
  %y:2 = graph.group(%a = %x : tensor<4xf32>, %b = %i : tensor<2xi64>) -> (tensor<2xf32>, tensor<4xf32>) {
    %n = graph.unary neg %a : tensor<4xf32>
    %0 = graph.unary exp %n : tensor<4xf32>
    %1 = graph.gather %0[%b] dim = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    graph.yield %1, %n : tensor<2xf32>, tensor<4xf32>
  }
  return %y#0, %y#1 : tensor<2xf32>, tensor<4xf32>
}

// -----

// Each sum with the own transposition doubles what is computed; halves of the chain are kernels.
// CHECK-LABEL: func.func @transposed_again_and_again
// CHECK-COUNT-2: graph.group
// CHECK-NOT: graph.group
// KERNEL-COUNT-2: kernel.func
// KERNEL-NOT: kernel.func
func.func @transposed_again_and_again(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = graph.group(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e0 = graph.unary exp %a : tensor<4x4xf32>
    %t0 = graph.permute %e0 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e1 = graph.binary add %e0, %t0 : tensor<4x4xf32>
    %t1 = graph.permute %e1 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e2 = graph.binary add %e1, %t1 : tensor<4x4xf32>
    %t2 = graph.permute %e2 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e3 = graph.binary add %e2, %t2 : tensor<4x4xf32>
    %t3 = graph.permute %e3 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e4 = graph.binary add %e3, %t3 : tensor<4x4xf32>
    %t4 = graph.permute %e4 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e5 = graph.binary add %e4, %t4 : tensor<4x4xf32>
    %t5 = graph.permute %e5 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e6 = graph.binary add %e5, %t5 : tensor<4x4xf32>
    %t6 = graph.permute %e6 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e7 = graph.binary add %e6, %t6 : tensor<4x4xf32>
    %t7 = graph.permute %e7 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e8 = graph.binary add %e7, %t7 : tensor<4x4xf32>
    %t8 = graph.permute %e8 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e9 = graph.binary add %e8, %t8 : tensor<4x4xf32>
    %t9 = graph.permute %e9 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e10 = graph.binary add %e9, %t9 : tensor<4x4xf32>
    %t10 = graph.permute %e10 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e11 = graph.binary add %e10, %t10 : tensor<4x4xf32>
    %t11 = graph.permute %e11 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e12 = graph.binary add %e11, %t11 : tensor<4x4xf32>
    %t12 = graph.permute %e12 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e13 = graph.binary add %e12, %t12 : tensor<4x4xf32>
    graph.yield %e13 : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----

// Both products read one repeated row, along different dimensions of the result: it is repeated for
// each, in one kernel.
// CHECK-LABEL: func.func @shared_view
// CHECK-COUNT-1: graph.group
// CHECK-NOT: graph.group
// KERNEL: kernel.func @shared_view_0
// KERNEL-NOT: kernel.func
func.func @shared_view(%x: tensor<3x3xf32>, %w: tensor<3xf32>) -> tensor<3x3xf32> {
  %y = graph.group(%a = %x : tensor<3x3xf32>, %b = %w : tensor<3xf32>) -> tensor<3x3xf32> {
    %e = graph.unary exp %b : tensor<3xf32>
    %e1 = graph.reshape %e : tensor<3xf32> -> tensor<1x1x3xf32>
    %e2 = graph.expand %e1 : tensor<1x1x3xf32> -> tensor<3x3x3xf32>
    %a1 = graph.reshape %a : tensor<3x3xf32> -> tensor<3x1x3xf32>
    %a2 = graph.expand %a1 : tensor<3x1x3xf32> -> tensor<3x3x3xf32>
    %p = graph.binary mul %a2, %e2 : tensor<3x3x3xf32>
    %r = graph.reduce max %p dims = [1] : tensor<3x3x3xf32> -> tensor<3x3xf32>
    %a3 = graph.reshape %a : tensor<3x3xf32> -> tensor<3x3x1xf32>
    %a4 = graph.expand %a3 : tensor<3x3x1xf32> -> tensor<3x3x3xf32>
    %q = graph.binary mul %a4, %e2 : tensor<3x3x3xf32>
    %s = graph.reduce max %q dims = [2] : tensor<3x3x3xf32> -> tensor<3x3xf32>
    %0 = graph.binary add %r, %s : tensor<3x3xf32>
    graph.yield %0 : tensor<3x3xf32>
  }
  return %y : tensor<3x3xf32>
}

// -----

// A product is reduced along two of its dimensions, and what is left of it meets.
// CHECK-LABEL: func.func @reduced_twice
// CHECK-COUNT-2: graph.group
// CHECK-NOT: graph.group
// KERNEL: kernel.func @reduced_twice_0
// KERNEL: kernel.func @reduced_twice_1
func.func @reduced_twice(%x: tensor<3x3xf32>, %w: tensor<3x3x3xf32>) -> tensor<3x3xf32> {
  %y = graph.group(%a = %x : tensor<3x3xf32>, %b = %w : tensor<3x3x3xf32>) -> tensor<3x3xf32> {
    %a1 = graph.reshape %a : tensor<3x3xf32> -> tensor<3x3x1xf32>
    %a2 = graph.expand %a1 : tensor<3x3x1xf32> -> tensor<3x3x3xf32>
    %p = graph.binary mul %a2, %b : tensor<3x3x3xf32>
    %r = graph.reduce max %p dims = [1] : tensor<3x3x3xf32> -> tensor<3x3xf32>
    %s = graph.reduce max %p dims = [2] : tensor<3x3x3xf32> -> tensor<3x3xf32>
    %0 = graph.binary add %r, %s : tensor<3x3xf32>
    graph.yield %0 : tensor<3x3xf32>
  }
  return %y : tensor<3x3xf32>
}
