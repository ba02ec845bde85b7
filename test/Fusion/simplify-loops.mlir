// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s

// What no trip carries is multiplied for all trips in front of the loop; the sum over all trips that no trip reads, behind it,
// of rows that the loop leaves. Rows that are read before they are written are those that the loop begins with. Backwards.
// CHECK-LABEL: func.func @backward
// CHECK: graph.group({{.*}}tensor<5x3x4xf32>{{.*}}) -> tensor<5x3x8xf32>
// CHECK: graph.binary mul %{{.*}}, %{{.*}} : tensor<{{.*}}4x8xf32>
// CHECK: graph.loop(%{{.*}} to 5) carry(%{{[^,]*}} = %{{[^,]*}} : tensor<3x4xf32>, %{{[^,]*}} = %{{[^,]*}} : tensor<5x3x8xf32>) with
// CHECK-COUNT-1: graph.reduce
// CHECK-NOT: graph.reduce
// CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<5x3x8xf32>
// CHECK: graph.group({{.*}}tensor<5x3x8xf32>
// CHECK: graph.reduce add
func.func @backward(%xs: tensor<5x3x4xf32>, %w: tensor<4x8xf32>, %d0: tensor<3x4xf32>, %dy: tensor<5x3x4xf32>) -> (tensor<3x4xf32>, tensor<8x4xf32>) {
  %s0 = graph.constant dense<0.0> : tensor<8x4xf32>
  %l:3 = graph.loop(%i to 5) carry(%d = %d0 : tensor<3x4xf32>, %ys = %dy : tensor<5x3x4xf32>, %sum = %s0 : tensor<8x4xf32>)
      with(%x = %xs : tensor<5x3x4xf32>, %v = %w : tensor<4x8xf32>) {
    %four = graph.constant dense<4> : tensor<i64>
    %zero = graph.constant dense<0.0> : tensor<3x4xf32>
    %t = graph.binary sub %four, %i : tensor<i64>
    %0 = graph.gather %ys[%t] dim = 0 : (tensor<5x3x4xf32>, tensor<i64>) -> tensor<3x4xf32>
    %1 = graph.scatter set %ys[%t], %zero dim = 0 : (tensor<5x3x4xf32>, tensor<i64>, tensor<3x4xf32>) -> tensor<5x3x4xf32>
    %2 = graph.binary add %d, %0 : tensor<3x4xf32>
    %3 = graph.gather %x[%t] dim = 0 : (tensor<5x3x4xf32>, tensor<i64>) -> tensor<3x4xf32>
    %4 = graph.reshape %3 : tensor<3x4xf32> -> tensor<3x4x1xf32>
    %5 = graph.expand %4 : tensor<3x4x1xf32> -> tensor<3x4x8xf32>
    %6 = graph.reshape %v : tensor<4x8xf32> -> tensor<1x4x8xf32>
    %7 = graph.expand %6 : tensor<1x4x8xf32> -> tensor<3x4x8xf32>
    %8 = graph.binary mul %5, %7 : tensor<3x4x8xf32>
    %9 = graph.reduce add %8 dims = [1] : tensor<3x4x8xf32> -> tensor<3x8xf32>
    %10 = graph.unary tanh %9 : tensor<3x8xf32>
    %zf = graph.constant dense<0.0> : tensor<f32>
    %13 = graph.pad %2, %zf low = [0, 0] high = [0, 4] interior = [0, 0] : tensor<3x4xf32> -> tensor<3x8xf32>
    %14 = graph.binary mul %10, %13 : tensor<3x8xf32>
    %15 = graph.reshape %14 : tensor<3x8xf32> -> tensor<3x1x8xf32>
    %16 = graph.expand %15 : tensor<3x1x8xf32> -> tensor<3x4x8xf32>
    %17 = graph.binary mul %16, %7 : tensor<3x4x8xf32>
    %18 = graph.reduce add %17 dims = [2] : tensor<3x4x8xf32> -> tensor<3x4xf32>
    %19 = graph.binary mul %16, %5 : tensor<3x4x8xf32>
    %20 = graph.reduce add %19 dims = [0] : tensor<3x4x8xf32> -> tensor<4x8xf32>
    %21 = graph.permute %20 order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    %22 = graph.binary add %sum, %21 : tensor<8x4xf32>
    graph.yield %18, %1, %22 : tensor<3x4xf32>, tensor<5x3x4xf32>, tensor<8x4xf32>
  }
  return %l#0, %l#2 : tensor<3x4xf32>, tensor<8x4xf32>
}

// A loop that another one contains is that one.
// CHECK-LABEL: func.func @contained
// CHECK-COUNT-1: graph.loop(
// CHECK-NOT: graph.loop(
// CHECK: return
func.func @contained(%x: tensor<4x6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) {
  %z = graph.constant dense<0.0> : tensor<6xf32>
  %all = graph.constant dense<0.0> : tensor<4x6xf32>
  %a = graph.loop(%i to 4) carry(%h = %z : tensor<6xf32>) with(%xs = %x : tensor<4x6xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<4x6xf32>, tensor<i64>) -> tensor<6xf32>
    %1 = graph.flip %h dims = [0] : tensor<6xf32>
    %2 = graph.binary sub %0, %1 : tensor<6xf32>
    graph.yield %2 : tensor<6xf32>
  }
  %b:2 = graph.loop(%i to 4) carry(%rows = %all : tensor<4x6xf32>, %h = %z : tensor<6xf32>) with(%xs = %x : tensor<4x6xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<4x6xf32>, tensor<i64>) -> tensor<6xf32>
    %1 = graph.flip %h dims = [0] : tensor<6xf32>
    %2 = graph.binary sub %0, %1 : tensor<6xf32>
    %3 = graph.scatter set %rows[%i], %2 dim = 0 : (tensor<4x6xf32>, tensor<i64>, tensor<6xf32>) -> tensor<4x6xf32>
    graph.yield %3, %2 : tensor<4x6xf32>, tensor<6xf32>
  }
  return %a, %b#1, %b#0 : tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>
}
