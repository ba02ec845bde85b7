// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s

// The gradient of one of three projections, zero in the places of the other two, times their weights: in the place of
// the one the factor stays where it is, whatever the row and the column are: no window of the copy engine reads that, and it
// is laid out before.
// CHECK-LABEL: kernel.func @main_0(
// CHECK: kernel.view %{{.*}} map <[<[308, 3072] strides [3072, 1]>]>
// CHECK: kernel.dot
// CHECK-LABEL: kernel.func @main_0_lhs(
// CHECK: kernel.view %{{.*}} map <[<[308, 3072] strides [3072, 1]>, <[4, 77, 3, 16, 64] strides [78848, 64, 0, 4928, 1] valid
func.func @main(%g: tensor<4x16x77x64xbf16>, %w: tensor<3072x1024xbf16>) -> tensor<308x1024xbf16> {
  %z = graph.constant dense<0.0> : tensor<bf16>
  %t = graph.permute %g order = [0, 2, 1, 3] : tensor<4x16x77x64xbf16> -> tensor<4x77x16x64xbf16>
  %r = graph.reshape %t : tensor<4x77x16x64xbf16> -> tensor<4x77x1x16x64xbf16>
  %p = graph.pad %r, %z low = [0, 0, 0, 0, 0] high = [0, 0, 2, 0, 0] interior = [0, 0, 0, 0, 0] : tensor<4x77x1x16x64xbf16> -> tensor<4x77x3x16x64xbf16>
  %m = graph.reshape %p : tensor<4x77x3x16x64xbf16> -> tensor<308x3072x1xbf16>
  %f = graph.cast %m : tensor<308x3072x1xbf16> -> tensor<308x3072x1xf32>
  %fe = graph.expand %f : tensor<308x3072x1xf32> -> tensor<308x3072x1024xf32>
  %v = graph.reshape %w : tensor<3072x1024xbf16> -> tensor<1x3072x1024xbf16>
  %vf = graph.cast %v : tensor<1x3072x1024xbf16> -> tensor<1x3072x1024xf32>
  %ve = graph.expand %vf : tensor<1x3072x1024xf32> -> tensor<308x3072x1024xf32>
  %q = graph.binary mul %fe, %ve : tensor<308x3072x1024xf32>
  %s = graph.reduce add %q dims = [1] : tensor<308x3072x1024xf32> -> tensor<308x1024xf32>
  %y = graph.cast %s : tensor<308x1024xf32> -> tensor<308x1024xbf16>
  return %y : tensor<308x1024xbf16>
}
