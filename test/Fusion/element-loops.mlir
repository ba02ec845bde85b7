// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s

// Each element goes its own way: one kernel, with the casts around it, and without a kernel for what it begins with.
// CHECK-LABEL: func.func @gated
// CHECK-NOT: graph.group
// CHECK: graph.loop(%{{.*}} to 16)
// CHECK-SAME: tensor<16x8xf32>, %{{.*}} = %{{.*}} : tensor<16x8xf16>) attributes {zyx.one_kernel}
// CHECK: graph.cast %{{.*}} : tensor<16x8xf16> -> tensor<16x8xf32>
// CHECK: graph.cast %{{.*}} : tensor<8xf32> -> tensor<8xf16>
// CHECK-NEXT: graph.scatter set
// CHECK: return %{{.*}}#1
func.func @gated(%a: tensor<16x8xf32>, %b: tensor<16x8xf16>) -> tensor<16x8xf16> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %z1 = graph.reshape %zero : tensor<f32> -> tensor<1xf32>
  %h0 = graph.expand %z1 : tensor<1xf32> -> tensor<8xf32>
  %z2 = graph.reshape %zero : tensor<f32> -> tensor<1x1xf32>
  %all0 = graph.expand %z2 : tensor<1x1xf32> -> tensor<16x8xf32>
  %wide = graph.cast %b : tensor<16x8xf16> -> tensor<16x8xf32>
  %l:2 = graph.loop(%i to 16) carry(%h = %h0 : tensor<8xf32>, %all = %all0 : tensor<16x8xf32>)
      with(%as = %a : tensor<16x8xf32>, %bs = %wide : tensor<16x8xf32>) {
    %0 = graph.gather %as[%i] dim = 0 : (tensor<16x8xf32>, tensor<i64>) -> tensor<8xf32>
    %1 = graph.binary mul %0, %h : tensor<8xf32>
    %2 = graph.gather %bs[%i] dim = 0 : (tensor<16x8xf32>, tensor<i64>) -> tensor<8xf32>
    %3 = graph.binary add %1, %2 : tensor<8xf32>
    %4 = graph.scatter set %all[%i], %3 dim = 0 : (tensor<16x8xf32>, tensor<i64>, tensor<8xf32>) -> tensor<16x8xf32>
    graph.yield %3, %4 : tensor<8xf32>, tensor<16x8xf32>
  }
  %y = graph.cast %l#1 : tensor<16x8xf32> -> tensor<16x8xf16>
  return %y : tensor<16x8xf16>
}

// A trip that reads neighbours, rows that may not exist, rows that others read, more trips than are known: loops of the host.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: zyx.one_kernel
// CHECK: return
func.func @apart(%x: tensor<6x4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4xf32>) {
  %h = graph.constant dense<1.0> : tensor<4xf32>
  %all = graph.constant dense<0.0> : tensor<6x4xf32>
  %a = graph.loop(%i to 6) carry(%p = %h : tensor<4xf32>) {
    %0 = graph.flip %p dims = [0] : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  %b = graph.loop(%i to 7) carry(%p = %h : tensor<4xf32>) with(%xs = %x : tensor<6x4xf32>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<6x4xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = graph.binary add %p, %0 : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  %c:2 = graph.loop(%i to 6) carry(%p = %h : tensor<4xf32>, %q = %all : tensor<6x4xf32>) {
    %0 = graph.gather %q[%i] dim = 0 : (tensor<6x4xf32>, tensor<i64>) -> tensor<4xf32>
    %1 = graph.binary add %p, %0 : tensor<4xf32>
    %2 = graph.constant dense<0> : tensor<i64>
    %3 = graph.scatter set %q[%2], %1 dim = 0 : (tensor<6x4xf32>, tensor<i64>, tensor<4xf32>) -> tensor<6x4xf32>
    graph.yield %1, %3 : tensor<4xf32>, tensor<6x4xf32>
  }
  %d = graph.loop(%i to %n) carry(%p = %h : tensor<4xf32>) {
    %0 = graph.binary add %p, %p : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %a, %b, %c#0, %c#1, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<6x4xf32>, tensor<4xf32>
}
