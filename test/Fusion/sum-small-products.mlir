// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-sum-small-products | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-sum-small-products --zyx-fusion-form-groups --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=KERNEL
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_80 --zyx-fusion-sum-small-products | FileCheck %s --check-prefix=OTHERS
// RUN: zyx-opt %s --zyx-fusion-sum-small-products | FileCheck %s --check-prefix=OTHERS
// RUN: zyx-opt %s --zyx-fusion-sum-small-products --zyx-fusion-check-entry | FileCheck %s --check-prefix=OTHERS

// OTHERS-NOT: {zyx.sum}

// A product of few rows, as of the gate of each channel, is a sum like any other.
// CHECK-LABEL: func.func @small
// CHECK:       graph.reduce add %{{.*}} dims = [2] {zyx.sum}
// KERNEL-LABEL: kernel.func @small_0
// KERNEL-NOT:   kernel.dot
// KERNEL:       kernel.reduce add
func.func @small(%x: tensor<16x192xbf16>, %w: tensor<48x192xbf16>) -> tensor<16x48xbf16> {
  %0 = graph.cast %x : tensor<16x192xbf16> -> tensor<16x192xf32>
  %1 = graph.reshape %0 : tensor<16x192xf32> -> tensor<16x1x192xf32>
  %2 = graph.expand %1 : tensor<16x1x192xf32> -> tensor<16x48x192xf32>
  %3 = graph.cast %w : tensor<48x192xbf16> -> tensor<48x192xf32>
  %4 = graph.reshape %3 : tensor<48x192xf32> -> tensor<1x48x192xf32>
  %5 = graph.expand %4 : tensor<1x48x192xf32> -> tensor<16x48x192xf32>
  %6 = graph.binary mul %2, %5 : tensor<16x48x192xf32>
  %7 = graph.reduce add %6 dims = [2] : tensor<16x48x192xf32> -> tensor<16x48xf32>
  %8 = graph.cast %7 : tensor<16x48xf32> -> tensor<16x48xbf16>
  return %8 : tensor<16x48xbf16>
}

// One of more multiplications is for tensor cores.
// CHECK-LABEL: func.func @large
// CHECK:       graph.reduce add %{{.*}} dims = [2] :
// KERNEL-LABEL: kernel.func @large_0
// KERNEL:       kernel.dot
func.func @large(%x: tensor<64x192xbf16>, %w: tensor<48x192xbf16>) -> tensor<64x48xf32> {
  %0 = graph.cast %x : tensor<64x192xbf16> -> tensor<64x192xf32>
  %1 = graph.reshape %0 : tensor<64x192xf32> -> tensor<64x1x192xf32>
  %2 = graph.expand %1 : tensor<64x1x192xf32> -> tensor<64x48x192xf32>
  %3 = graph.cast %w : tensor<48x192xbf16> -> tensor<48x192xf32>
  %4 = graph.reshape %3 : tensor<48x192xf32> -> tensor<1x48x192xf32>
  %5 = graph.expand %4 : tensor<1x48x192xf32> -> tensor<64x48x192xf32>
  %6 = graph.binary mul %2, %5 : tensor<64x48x192xf32>
  %7 = graph.reduce add %6 dims = [2] : tensor<64x48x192xf32> -> tensor<64x48xf32>
  return %7 : tensor<64x48xf32>
}

// Numbers are no memory, and a window is read in ways of its own.
// CHECK-LABEL: func.func @others
// CHECK-NOT:   zyx.sum
// CHECK:       return
func.func @others(%x: tensor<16x32xf32>, %w: tensor<34x24xf32>) -> (tensor<16x24xf32>, tensor<16x32xf32>) {
  %0 = graph.reshape %x : tensor<16x32xf32> -> tensor<16x1x32xf32>
  %1 = graph.expand %0 : tensor<16x1x32xf32> -> tensor<16x24x32xf32>
  %2 = graph.window %w dims = [0] size = [32] stride = [4] dilation = [1] : tensor<34x24xf32> -> tensor<1x24x32xf32>
  %3 = graph.expand %2 : tensor<1x24x32xf32> -> tensor<16x24x32xf32>
  %4 = graph.binary mul %1, %3 : tensor<16x24x32xf32>
  %5 = graph.reduce add %4 dims = [2] : tensor<16x24x32xf32> -> tensor<16x24xf32>
  %6 = graph.iota dim = 1 : tensor<32x32xf32>
  %7 = graph.reshape %6 : tensor<32x32xf32> -> tensor<1x32x32xf32>
  %8 = graph.expand %7 : tensor<1x32x32xf32> -> tensor<16x32x32xf32>
  %9 = graph.expand %0 : tensor<16x1x32xf32> -> tensor<16x32x32xf32>
  %10 = graph.binary mul %9, %8 : tensor<16x32x32xf32>
  %11 = graph.reduce add %10 dims = [2] : tensor<16x32x32xf32> -> tensor<16x32xf32>
  return %5, %11 : tensor<16x24xf32>, tensor<16x32xf32>
}
