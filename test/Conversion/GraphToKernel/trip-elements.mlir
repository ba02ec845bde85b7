// RUN: zyx-opt %s --zyx-compile='target=sm_80 stop-after=kernel' | FileCheck %s

// A trip is a product and one kernel more, which reads the row that the trip's number chooses, puts parts together, and
// updates rows of two carried tensors where they lie. On a GPU with clusters this loop is one kernel.
// CHECK-LABEL: plan.func @main
// CHECK: plan.loop trips 5
// CHECK: plan.launch @main_0
// CHECK-NEXT: plan.launch @main_1 {{.*}} updates
// CHECK-NEXT: }
// CHECK-NEXT: plan.return
// CHECK: kernel.func @main_1
// CHECK: kernel.grid (%{{.*}}) in [3, 8] step [1, 1]
// CHECK: kernel.load %{{.*}} -> i64
// CHECK: arith.maximumf
// CHECK-COUNT-4: kernel.store
func.func @main(%x: tensor<5x3x16xf32>, %w: tensor<8x16xf32>, %h0: tensor<3x8xf32>, %a0: tensor<5x3x8xf32>, %b0: tensor<6x3x16xf32>)
    -> (tensor<3x8xf32>, tensor<5x3x8xf32>, tensor<6x3x16xf32>) {
  %l:3 = graph.loop(%i to 5) carry(%h = %h0 : tensor<3x8xf32>, %a = %a0 : tensor<5x3x8xf32>, %b = %b0 : tensor<6x3x16xf32>)
      with(%xs = %x : tensor<5x3x16xf32>, %v = %w : tensor<8x16xf32>) {
    %one = graph.constant dense<1> : tensor<i64>
    %zero = graph.constant dense<0.0> : tensor<f32>
    %1 = graph.reshape %h : tensor<3x8xf32> -> tensor<3x8x1xf32>
    %2 = graph.expand %1 : tensor<3x8x1xf32> -> tensor<3x8x16xf32>
    %3 = graph.reshape %v : tensor<8x16xf32> -> tensor<1x8x16xf32>
    %4 = graph.expand %3 : tensor<1x8x16xf32> -> tensor<3x8x16xf32>
    %5 = graph.binary mul %2, %4 : tensor<3x8x16xf32>
    %6 = graph.reduce add %5 dims = [1] : tensor<3x8x16xf32> -> tensor<3x16xf32>
    %7 = graph.gather %xs[%i] dim = 0 : (tensor<5x3x16xf32>, tensor<i64>) -> tensor<3x16xf32>
    %8 = graph.pad %6, %zero low = [0, 0] high = [0, -8] interior = [0, 0] : tensor<3x16xf32> -> tensor<3x8xf32>
    %9 = graph.pad %7, %zero low = [0, -8] high = [0, 0] interior = [0, 0] : tensor<3x16xf32> -> tensor<3x8xf32>
    %10 = graph.binary max %8, %9 : tensor<3x8xf32>
    %11 = graph.scatter set %a[%i], %10 dim = 0 : (tensor<5x3x8xf32>, tensor<i64>, tensor<3x8xf32>) -> tensor<5x3x8xf32>
    %12 = graph.pad %10, %zero low = [0, 8] high = [0, 0] interior = [0, 0] : tensor<3x8xf32> -> tensor<3x16xf32>
    %13 = graph.binary add %i, %one : tensor<i64>
    %14 = graph.scatter set %b[%13], %12 dim = 0 : (tensor<6x3x16xf32>, tensor<i64>, tensor<3x16xf32>) -> tensor<6x3x16xf32>
    graph.yield %10, %11, %14 : tensor<3x8xf32>, tensor<5x3x8xf32>, tensor<6x3x16xf32>
  }
  return %l#0, %l#1, %l#2 : tensor<3x8xf32>, tensor<5x3x8xf32>, tensor<6x3x16xf32>
}
