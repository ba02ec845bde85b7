// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fuse | FileCheck %s

// Phases of a strided convolution's gradient, whose channels come last: they are put side by side in the order of the
// image, and rounded, by one kernel that reads and writes along channels. Each has neighbours where its product writes
// them, and not where the permute in front of the concat would put them; the places that choose between phases lie nowhere.
// CHECK-LABEL: func.func @phases
// CHECK:         graph.yield %{{.*}} : tensor<2x100x32xf32>
// CHECK:         graph.yield %{{.*}} : tensor<2x100x32xf32>
// CHECK:         graph.select
// CHECK:         graph.permute %{{.*}} order = [0, 2, 3, 1] : tensor<2x32x100x2xf16>
// CHECK:         graph.yield %{{.*}} : tensor<2x100x2x32xf16>
// CHECK:         graph.reshape %{{.*}} : tensor<2x100x2x32xf16> -> tensor<2x200x32xf16>
func.func @phases(%dy: tensor<2x64x100xf16>, %w0: tensor<64x32xf16>, %w1: tensor<64x32xf16>) -> tensor<2x200x32xf16> {
  %0 = graph.cast %dy : tensor<2x64x100xf16> -> tensor<2x64x100xf32>
  %1 = graph.reshape %0 : tensor<2x64x100xf32> -> tensor<2x64x100x1xf32>
  %2 = graph.expand %1 : tensor<2x64x100x1xf32> -> tensor<2x64x100x32xf32>
  %3 = graph.cast %w0 : tensor<64x32xf16> -> tensor<64x32xf32>
  %4 = graph.reshape %3 : tensor<64x32xf32> -> tensor<1x64x1x32xf32>
  %5 = graph.expand %4 : tensor<1x64x1x32xf32> -> tensor<2x64x100x32xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x64x100x32xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<2x64x100x32xf32> -> tensor<2x100x32xf32>
  %8 = graph.permute %7 order = [0, 2, 1] : tensor<2x100x32xf32> -> tensor<2x32x100xf32>
  %9 = graph.reshape %8 : tensor<2x32x100xf32> -> tensor<1x2x32x100xf32>
  %10 = graph.cast %w1 : tensor<64x32xf16> -> tensor<64x32xf32>
  %11 = graph.reshape %10 : tensor<64x32xf32> -> tensor<1x64x1x32xf32>
  %12 = graph.expand %11 : tensor<1x64x1x32xf32> -> tensor<2x64x100x32xf32>
  %13 = graph.binary mul %2, %12 : tensor<2x64x100x32xf32>
  %14 = graph.reduce add %13 dims = [1] : tensor<2x64x100x32xf32> -> tensor<2x100x32xf32>
  %15 = graph.permute %14 order = [0, 2, 1] : tensor<2x100x32xf32> -> tensor<2x32x100xf32>
  %16 = graph.reshape %15 : tensor<2x32x100xf32> -> tensor<1x2x32x100xf32>
  %17 = graph.concat %9, %16 dim = 0 : (tensor<1x2x32x100xf32>, tensor<1x2x32x100xf32>) -> tensor<2x2x32x100xf32>
  %18 = graph.permute %17 order = [1, 2, 3, 0] : tensor<2x2x32x100xf32> -> tensor<2x32x100x2xf32>
  %19 = graph.reshape %18 : tensor<2x32x100x2xf32> -> tensor<2x32x200xf32>
  %20 = graph.permute %19 order = [0, 2, 1] : tensor<2x32x200xf32> -> tensor<2x200x32xf32>
  %21 = graph.cast %20 : tensor<2x200x32xf32> -> tensor<2x200x32xf16>
  return %21 : tensor<2x200x32xf16>
}
