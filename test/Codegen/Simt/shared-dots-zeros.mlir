// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s

// Weights of 8 bits with a zero point and a scale for each channel: these two lie along the channels, the weights along the sum.
// What has both axes decides: threads read eight neighbours of the weights, and no thread reads single ones.
// CHECK-LABEL: kernel.func @main_0(
// CHECK:       kernel.load %{{.*}} : <16x11008x256xi8, global> -> vector<8xi8>
// CHECK-NOT:   <16x11008x256xi8, global> -> i8
// CHECK:       kernel.func @main_1(
  func.func @main(%arg0: tensor<2x4096xf32> {graph.name = "x"}, %arg1: tensor<11008x4096xui8> {graph.name = "q", graph.weight}, %arg2: tensor<11008xui8> {graph.name = "zero", graph.weight}, %arg3: tensor<11008xf32> {graph.name = "scale", graph.weight}, %arg4: tensor<11008xf32> {graph.name = "bias", graph.weight}) -> (tensor<2x11008xf32> {graph.name = "result0"}) {
    %0 = graph.reshape %arg0 : tensor<2x4096xf32> -> tensor<2x4096x1xf32>
    %1 = graph.expand %0 : tensor<2x4096x1xf32> -> tensor<2x4096x11008xf32>
    %2 = graph.cast %arg1 : tensor<11008x4096xui8> -> tensor<11008x4096xf32>
    %3 = graph.cast %arg2 : tensor<11008xui8> -> tensor<11008xf32>
    %4 = graph.reshape %3 : tensor<11008xf32> -> tensor<11008x1xf32>
    %5 = graph.expand %4 : tensor<11008x1xf32> -> tensor<11008x4096xf32>
    %6 = graph.binary sub %2, %5 : tensor<11008x4096xf32>
    %7 = graph.reshape %arg3 : tensor<11008xf32> -> tensor<11008x1xf32>
    %8 = graph.expand %7 : tensor<11008x1xf32> -> tensor<11008x4096xf32>
    %9 = graph.binary mul %6, %8 : tensor<11008x4096xf32>
    %10 = graph.permute %9 order = [1, 0] : tensor<11008x4096xf32> -> tensor<4096x11008xf32>
    %11 = graph.reshape %10 : tensor<4096x11008xf32> -> tensor<1x4096x11008xf32>
    %12 = graph.expand %11 : tensor<1x4096x11008xf32> -> tensor<2x4096x11008xf32>
    %13 = graph.binary mul %1, %12 : tensor<2x4096x11008xf32>
    %14 = graph.reduce add %13 dims = [1] : tensor<2x4096x11008xf32> -> tensor<2x11008xf32>
    %15 = graph.reshape %arg4 : tensor<11008xf32> -> tensor<1x11008xf32>
    %16 = graph.expand %15 : tensor<1x11008xf32> -> tensor<2x11008xf32>
    %17 = graph.binary add %14, %16 : tensor<2x11008xf32>
    return %17 : tensor<2x11008xf32>
  }
