// RUN: zyx-opt %s --zyx-fusion-mark-element-loops --zyx-fusion-erase-unused | FileCheck %s

// Each element goes its own way, and the cast in front of the loop is taken into it.
// CHECK-LABEL: func.func @gated
// CHECK-NOT: graph.cast
// CHECK: graph.loop(%{{.*}} to 16) {{.*}} attributes {zyx.one_kernel}
// CHECK: graph.cast %{{.*}} : tensor<16x8xf16> -> tensor<16x8xf32>
// CHECK: return
func.func @gated(%a: tensor<16x8xf32>, %b: tensor<16x8xf16>) -> tensor<8xf32> {
  %zero = graph.constant dense<0.0> : tensor<8xf32>
  %wide = graph.cast %b : tensor<16x8xf16> -> tensor<16x8xf32>
  %l = graph.loop(%i to 16) carry(%h = %zero : tensor<8xf32>) with(%as = %a : tensor<16x8xf32>, %bs = %wide : tensor<16x8xf32>) {
    %0 = graph.gather %as[%i] dim = 0 : (tensor<16x8xf32>, tensor<i64>) -> tensor<8xf32>
    %1 = graph.binary mul %0, %h : tensor<8xf32>
    %2 = graph.gather %bs[%i] dim = 0 : (tensor<16x8xf32>, tensor<i64>) -> tensor<8xf32>
    %3 = graph.binary add %1, %2 : tensor<8xf32>
    graph.yield %3 : tensor<8xf32>
  }
  return %l : tensor<8xf32>
}
