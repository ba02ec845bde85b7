// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s

// A copy of a factor whose contraction is positions and images: its kernel has both as dimensions, so that it
// transposes squares of them.
// CHECK-LABEL: kernel.func @main_0_rhs(
// CHECK-SAME: #kernel.grid_step<"d1", 8>, #kernel.grid_step<"d0", 8>
// CHECK: kernel.view %arg0 map <[<[64, 40, 512] strides [1, 32768, 64]>]>
// CHECK: kernel.view %arg1 map <[<[64, 40, 512] strides [40, 1, 2560]>]>
func.func @main(%w: tensor<512x64x40xbf16>, %a: tensor<40x512x64xbf16>) -> tensor<512x512xf32> {
  %wf = graph.cast %w : tensor<512x64x40xbf16> -> tensor<512x64x40xf32>
  %w1 = graph.reshape %wf : tensor<512x64x40xf32> -> tensor<512x1x64x40xf32>
  %ws = graph.expand %w1 : tensor<512x1x64x40xf32> -> tensor<512x512x64x40xf32>
  %t = graph.permute %a order = [1, 2, 0] : tensor<40x512x64xbf16> -> tensor<512x64x40xbf16>
  %af = graph.cast %t : tensor<512x64x40xbf16> -> tensor<512x64x40xf32>
  %a1 = graph.reshape %af : tensor<512x64x40xf32> -> tensor<1x512x64x40xf32>
  %as = graph.expand %a1 : tensor<1x512x64x40xf32> -> tensor<512x512x64x40xf32>
  %p = graph.binary mul %ws, %as : tensor<512x512x64x40xf32>
  %y = graph.reduce add %p dims = [2, 3] : tensor<512x512x64x40xf32> -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
