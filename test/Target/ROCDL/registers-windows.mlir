// RUN: zyx-compile %s --target=gfx1100 --stop-after=target | FileCheck %s
// RUN: zyx-compile %s --target=gfx1201 --stop-after=target | FileCheck %s

// A thread reads windows of 7 by 7 once for several rows of results. As LLVM orders its instructions they need more
// registers than there are: they are ordered for the fewest.
// CHECK: .private_segment_fixed_size: 0
// CHECK: .vgpr_spill_count: 0
module {
  func.func @main(%arg0: tensor<1x30x41x72xbf16> {graph.name = "convolution.near-7x7.mixed.bf16.0"}, %arg1: tensor<72x1x7x7xbf16> {graph.name = "convolution.near-7x7.mixed.bf16.1", graph.weight}) -> (tensor<1x30x41x72xf32> {graph.name = "0"}) {
    %0 = graph.permute %arg0 order = [0, 3, 1, 2] : tensor<1x30x41x72xbf16> -> tensor<1x72x30x41xbf16>
    %1 = graph.constant dense<0.000000e+00> : tensor<bf16>
    %2 = graph.pad %0, %1 low = [0, 0, 3, 3] high = [0, 0, 3, 3] interior = [0, 0, 0, 0] : tensor<1x72x30x41xbf16> -> tensor<1x72x36x47xbf16>
    %3 = graph.window %2 dims = [2, 3] size = [7, 7] stride = [1, 1] dilation = [1, 1] : tensor<1x72x36x47xbf16> -> tensor<1x72x30x41x7x7xbf16>
    %4 = graph.reshape %3 : tensor<1x72x30x41x7x7xbf16> -> tensor<1x72x1x30x41x7x7xbf16>
    %5 = graph.permute %4 order = [0, 1, 3, 4, 2, 5, 6] : tensor<1x72x1x30x41x7x7xbf16> -> tensor<1x72x30x41x1x7x7xbf16>
    %6 = graph.reshape %5 : tensor<1x72x30x41x1x7x7xbf16> -> tensor<1x72x1x30x41x1x7x7xbf16>
    %7 = graph.expand %6 : tensor<1x72x1x30x41x1x7x7xbf16> -> tensor<1x72x1x30x41x1x7x7xbf16>
    %8 = graph.reshape %arg1 : tensor<72x1x7x7xbf16> -> tensor<1x72x1x1x1x1x7x7xbf16>
    %9 = graph.expand %8 : tensor<1x72x1x1x1x1x7x7xbf16> -> tensor<1x72x1x30x41x1x7x7xbf16>
    %10 = graph.cast %7 : tensor<1x72x1x30x41x1x7x7xbf16> -> tensor<1x72x1x30x41x1x7x7xf32>
    %11 = graph.cast %9 : tensor<1x72x1x30x41x1x7x7xbf16> -> tensor<1x72x1x30x41x1x7x7xf32>
    %12 = graph.binary mul %10, %11 : tensor<1x72x1x30x41x1x7x7xf32>
    %13 = graph.reduce add %12 dims = [5, 6, 7] : tensor<1x72x1x30x41x1x7x7xf32> -> tensor<1x72x1x30x41xf32>
    %14 = graph.reshape %13 : tensor<1x72x1x30x41xf32> -> tensor<1x72x30x41xf32>
    %15 = graph.permute %14 order = [0, 2, 3, 1] : tensor<1x72x30x41xf32> -> tensor<1x30x41x72xf32>
    %16 = graph.constant dense<0.000000e+00> : tensor<1x30x41x72xf32>
    %17 = graph.binary max %15, %16 : tensor<1x30x41x72xf32>
    return %17 : tensor<1x30x41x72xf32>
  }
}

