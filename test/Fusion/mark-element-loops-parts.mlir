// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-mark-element-loops --zyx-fusion-erase-unused | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-mark-element-loops --zyx-fusion-erase-unused | FileCheck %s --check-prefix=FEW

// Each point of a state space has 64 numbers: eight parts of eight have a thread each. Each trip writes their sums,
// which are added up behind the loop.
// CHECK-LABEL: func.func @selective
// CHECK: [[LOOP:%.*]]:2 = graph.loop(%{{.*}} to 16) carry({{.*}} : tensor<2x32x8x8xf32>, {{.*}} : tensor<2x16x32x8xf32>) {{.*}} attributes {zyx.one_kernel}
// CHECK: graph.reduce add {{.*}} dims = [3] : tensor<2x32x8x8xf32> -> tensor<2x32x8xf32>
// CHECK: graph.reduce add [[LOOP]]#1 dims = [3] : tensor<2x16x32x8xf32> -> tensor<2x16x32xf32>
// FEW-LABEL: func.func @selective
// FEW: graph.loop(%{{.*}} to 16) carry({{.*}} : tensor<2x32x64xf32>, {{.*}} : tensor<2x16x32xf32>) {{.*}} attributes {zyx.one_kernel}
func.func @selective(%x: tensor<2x16x32xf32>, %c: tensor<2x16x64xf32>, %rate: tensor<32x64xf32>) -> tensor<2x16x32xf32> {
  %h0 = graph.constant dense<0.0> : tensor<2x32x64xf32>
  %y0 = graph.constant dense<0.0> : tensor<2x16x32xf32>
  %l:2 = graph.loop(%i to 16) carry(%h = %h0 : tensor<2x32x64xf32>, %y = %y0 : tensor<2x16x32xf32>) with(%xs = %x : tensor<2x16x32xf32>, %cs = %c : tensor<2x16x64xf32>, %r = %rate : tensor<32x64xf32>) {
    %0 = graph.gather %xs[%i] dim = 1 : (tensor<2x16x32xf32>, tensor<i64>) -> tensor<2x32xf32>
    %1 = graph.reshape %0 : tensor<2x32xf32> -> tensor<2x32x1xf32>
    %2 = graph.expand %1 : tensor<2x32x1xf32> -> tensor<2x32x64xf32>
    %3 = graph.reshape %r : tensor<32x64xf32> -> tensor<1x32x64xf32>
    %4 = graph.expand %3 : tensor<1x32x64xf32> -> tensor<2x32x64xf32>
    %5 = graph.binary mul %4, %h : tensor<2x32x64xf32>
    %6 = graph.binary add %5, %2 : tensor<2x32x64xf32>
    %7 = graph.gather %cs[%i] dim = 1 : (tensor<2x16x64xf32>, tensor<i64>) -> tensor<2x64xf32>
    %8 = graph.reshape %7 : tensor<2x64xf32> -> tensor<2x1x64xf32>
    %9 = graph.expand %8 : tensor<2x1x64xf32> -> tensor<2x32x64xf32>
    %10 = graph.binary mul %6, %9 : tensor<2x32x64xf32>
    %11 = graph.reduce add %10 dims = [2] : tensor<2x32x64xf32> -> tensor<2x32xf32>
    %12 = graph.scatter set %y[%i], %11 dim = 1 : (tensor<2x16x32xf32>, tensor<i64>, tensor<2x32xf32>) -> tensor<2x16x32xf32>
    graph.yield %6, %12 : tensor<2x32x64xf32>, tensor<2x16x32xf32>
  }
  return %l#1 : tensor<2x16x32xf32>
}

// Sums of 16 bits are not parted: parts would be rounded.
// CHECK-LABEL: func.func @narrow
// CHECK: carry({{.*}} : tensor<8x16xf16>, {{.*}} : tensor<4x8xf16>)
func.func @narrow(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %h0 = graph.constant dense<0.0> : tensor<8x16xf16>
  %y0 = graph.constant dense<0.0> : tensor<4x8xf16>
  %l:2 = graph.loop(%i to 4) carry(%h = %h0 : tensor<8x16xf16>, %y = %y0 : tensor<4x8xf16>) with(%xs = %x : tensor<4x8xf16>) {
    %0 = graph.gather %xs[%i] dim = 0 : (tensor<4x8xf16>, tensor<i64>) -> tensor<8xf16>
    %1 = graph.reshape %0 : tensor<8xf16> -> tensor<8x1xf16>
    %2 = graph.expand %1 : tensor<8x1xf16> -> tensor<8x16xf16>
    %3 = graph.binary add %h, %2 : tensor<8x16xf16>
    %4 = graph.reduce add %3 dims = [1] : tensor<8x16xf16> -> tensor<8xf16>
    %5 = graph.scatter set %y[%i], %4 dim = 0 : (tensor<4x8xf16>, tensor<i64>, tensor<8xf16>) -> tensor<4x8xf16>
    graph.yield %3, %5 : tensor<8x16xf16>, tensor<4x8xf16>
  }
  return %l#1 : tensor<4x8xf16>
}
