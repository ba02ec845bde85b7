// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s

// The gradient of a depthwise filter reads what comes to the results for each element of the window: where that lies across rows
// of windows, channels last, it is turned once.
// CHECK: plan.launch @main_0_window_and_main_0_term0
// CHECK: plan.launch @main_0 ins
// CHECK: kernel.func @main_0(
// CHECK: kernel.view {{.*}} map <[<[{{.*}}] strides [{{[0-9]+(, [0-9]+)*}}, 1]>]>
// CHECK: kernel.func @main_0_term0(
func.func @main(%x: tensor<8x72x30x41xf32> {graph.name = "x"}, %dy: tensor<8x30x41x72xf32> {graph.name = "dy"}) -> (tensor<72x7x7xf32> {graph.name = "dw"}) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 3, 3] high = [0, 0, 3, 3] interior = [0, 0, 0, 0] : tensor<8x72x30x41xf32> -> tensor<8x72x36x47xf32>
  %1 = graph.window %0 dims = [2, 3] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<8x72x36x47xf32> -> tensor<8x72x30x41x7x7xf32>
  %2 = graph.permute %dy order = [0, 3, 1, 2] : tensor<8x30x41x72xf32> -> tensor<8x72x30x41xf32>
  %3 = graph.reshape %2 : tensor<8x72x30x41xf32> -> tensor<8x72x30x41x1x1xf32>
  %4 = graph.expand %3 : tensor<8x72x30x41x1x1xf32> -> tensor<8x72x30x41x7x7xf32>
  %5 = graph.binary mul %4, %1 : tensor<8x72x30x41x7x7xf32>
  %6 = graph.reduce add %5 dims = [0, 2, 3] : tensor<8x72x30x41x7x7xf32> -> tensor<72x7x7xf32>
  return %6 : tensor<72x7x7xf32>
}
