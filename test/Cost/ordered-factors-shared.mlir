// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sapphirerapids --zyx-cost-cut-groups | FileCheck %s

// Two contractions have one factor, whose cast lies above its views. It is stored once, in one order.
// CHECK-LABEL: func.func @two
// CHECK:       graph.permute %{{.*}} : {{.*}} -> tensor<1x128x1x5x320xbf16>
func.func @two(%x: tensor<2x1504x320xbf16>, %x2: tensor<2x1504x320xbf16>, %w: tensor<128x320x5xbf16>) -> tensor<2x128x750xbf16> {
 %o = graph.group(%x_ = %x : tensor<2x1504x320xbf16>, %x2_ = %x2 : tensor<2x1504x320xbf16>, %w_ = %w : tensor<128x320x5xbf16>) -> tensor<2x128x750xbf16> {
  %f = graph.reshape %w_ : tensor<128x320x5xbf16> -> tensor<1x128x1x320x5xbf16>
  %r0 = graph.expand %f : tensor<1x128x1x320x5xbf16> -> tensor<2x128x750x320x5xbf16>
  %r = graph.cast %r0 : tensor<2x128x750x320x5xbf16> -> tensor<2x128x750x320x5xf32>
  %v = graph.window %x_ dims = [1] size = [5] stride = [2] dilation = [1] : tensor<2x1504x320xbf16> -> tensor<2x750x320x5xbf16>
  %v1 = graph.cast %v : tensor<2x750x320x5xbf16> -> tensor<2x750x320x5xf32>
  %v2 = graph.reshape %v1 : tensor<2x750x320x5xf32> -> tensor<2x1x750x320x5xf32>
  %l = graph.expand %v2 : tensor<2x1x750x320x5xf32> -> tensor<2x128x750x320x5xf32>
  %m = graph.binary mul %l, %r : tensor<2x128x750x320x5xf32>
  %s = graph.reduce add %m dims = [3, 4] : tensor<2x128x750x320x5xf32> -> tensor<2x128x750xf32>
  %a = graph.window %x2_ dims = [1] size = [5] stride = [2] dilation = [1] : tensor<2x1504x320xbf16> -> tensor<2x750x320x5xbf16>
  %a1 = graph.cast %a : tensor<2x750x320x5xbf16> -> tensor<2x750x320x5xf32>
  %a2 = graph.reshape %a1 : tensor<2x750x320x5xf32> -> tensor<2x1x750x320x5xf32>
  %b = graph.expand %a2 : tensor<2x1x750x320x5xf32> -> tensor<2x128x750x320x5xf32>
  %m2 = graph.binary mul %b, %r : tensor<2x128x750x320x5xf32>
  %s2 = graph.reduce add %m2 dims = [3, 4] : tensor<2x128x750x320x5xf32> -> tensor<2x128x750xf32>
  %q = graph.binary add %s, %s2 : tensor<2x128x750xf32>
  %y = graph.cast %q : tensor<2x128x750xf32> -> tensor<2x128x750xbf16>
  graph.yield %y : tensor<2x128x750xbf16>
 }
 return %o : tensor<2x128x750xbf16>
}
