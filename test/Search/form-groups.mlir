// RUN: zyx-opt %s --zyx-search-form-groups --zyx-search-verify-groups --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[G:.*]] = graph.group(%[[X:.*]] = %{{.*}}) -> tensor<256x1024xf32>
// CHECK-NEXT: graph.reduce max %[[X]]
// CHECK: graph.reduce add
// CHECK: %[[Y:.*]] = graph.binary div
// CHECK-NEXT: graph.yield %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[G]]
func.func @softmax(%x: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %m = graph.reduce max %x dims = [1] : tensor<256x1024xf32> -> tensor<256xf32>
  %m1 = graph.reshape %m : tensor<256xf32> -> tensor<256x1xf32>
  %m2 = graph.expand %m1 : tensor<256x1xf32> -> tensor<256x1024xf32>
  %d = graph.binary sub %x, %m2 : tensor<256x1024xf32>
  %e = graph.unary exp %d : tensor<256x1024xf32>
  %s = graph.reduce add %e dims = [1] : tensor<256x1024xf32> -> tensor<256xf32>
  %s1 = graph.reshape %s : tensor<256xf32> -> tensor<256x1xf32>
  %s2 = graph.expand %s1 : tensor<256x1xf32> -> tensor<256x1024xf32>
  %y = graph.binary div %e, %s2 : tensor<256x1024xf32>
  return %y : tensor<256x1024xf32>
}

// The scale is one more input; the mean and the variance stay inside.
// CHECK-LABEL: func.func @layer_norm
// CHECK-NEXT: graph.group(%{{.*}} = %arg0 : tensor<32x768xf32>, %{{.*}} = %arg1 : tensor<768xf32>, %{{.*}} = %arg2 : tensor<768xf32>) -> tensor<32x768xf32>
// CHECK-COUNT-2: graph.reduce add
// CHECK: graph.unary rsqrt
// CHECK-NOT: graph.group
// CHECK: return
func.func @layer_norm(%x: tensor<32x768xf32>, %scale: tensor<768xf32>, %shift: tensor<768xf32>) -> tensor<32x768xf32> {
  %n = graph.constant dense<0.00130208337> : tensor<32xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<32xf32>
  %sum = graph.reduce add %x dims = [1] : tensor<32x768xf32> -> tensor<32xf32>
  %mean = graph.binary mul %sum, %n : tensor<32xf32>
  %mean1 = graph.reshape %mean : tensor<32xf32> -> tensor<32x1xf32>
  %mean2 = graph.expand %mean1 : tensor<32x1xf32> -> tensor<32x768xf32>
  %d = graph.binary sub %x, %mean2 : tensor<32x768xf32>
  %d2 = graph.binary mul %d, %d : tensor<32x768xf32>
  %ss = graph.reduce add %d2 dims = [1] : tensor<32x768xf32> -> tensor<32xf32>
  %v = graph.binary mul %ss, %n : tensor<32xf32>
  %ve = graph.binary add %v, %eps : tensor<32xf32>
  %r = graph.unary rsqrt %ve : tensor<32xf32>
  %r1 = graph.reshape %r : tensor<32xf32> -> tensor<32x1xf32>
  %r2 = graph.expand %r1 : tensor<32x1xf32> -> tensor<32x768xf32>
  %y = graph.binary mul %d, %r2 : tensor<32x768xf32>
  %s1 = graph.reshape %scale : tensor<768xf32> -> tensor<1x768xf32>
  %s2 = graph.expand %s1 : tensor<1x768xf32> -> tensor<32x768xf32>
  %ys = graph.binary mul %y, %s2 : tensor<32x768xf32>
  %t1 = graph.reshape %shift : tensor<768xf32> -> tensor<1x768xf32>
  %t2 = graph.expand %t1 : tensor<1x768xf32> -> tensor<32x768xf32>
  %z = graph.binary add %ys, %t2 : tensor<32x768xf32>
  return %z : tensor<32x768xf32>
}

// CHECK-LABEL: func.func @rms_norm
// CHECK-NEXT: graph.group(%{{.*}} = %arg0 : tensor<4x8x64xbf16>) -> tensor<4x8x64xbf16>
// CHECK: graph.reduce add %{{.*}} dims = [2]
// CHECK: graph.unary rsqrt
// CHECK-NOT: graph.group
// CHECK: return
func.func @rms_norm(%x: tensor<4x8x64xbf16>) -> tensor<4x8x64xbf16> {
  %n = graph.constant dense<0.015625> : tensor<4x8x1xf32>
  %c = graph.cast %x : tensor<4x8x64xbf16> -> tensor<4x8x64xf32>
  %c2 = graph.binary mul %c, %c : tensor<4x8x64xf32>
  %s = graph.reduce add %c2 dims = [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
  %s1 = graph.reshape %s : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %m = graph.binary mul %s1, %n : tensor<4x8x1xf32>
  %r = graph.unary rsqrt %m : tensor<4x8x1xf32>
  %r2 = graph.expand %r : tensor<4x8x1xf32> -> tensor<4x8x64xf32>
  %y = graph.binary mul %c, %r2 : tensor<4x8x64xf32>
  %z = graph.cast %y : tensor<4x8x64xf32> -> tensor<4x8x64xbf16>
  return %z : tensor<4x8x64xbf16>
}

// Casts and scale before the product, bias and activation after it. The second product begins
// where the first one's result is smallest.
// CHECK-LABEL: func.func @two_layers
// CHECK-NEXT: %[[H:.*]] = graph.group(%{{.*}} = %arg0 : tensor<64x784xi8>, %{{.*}} = %arg1 : tensor<784x512xbf16>, %{{.*}} = %arg2 : tensor<512xf32>) -> tensor<64x512xbf16>
// CHECK: graph.cast %{{.*}} : tensor<64x784xi8> -> tensor<64x784xf32>
// CHECK: graph.reduce add
// CHECK: graph.binary add
// CHECK: graph.binary max
// CHECK-NEXT: graph.cast %{{.*}} : tensor<64x512xf32> -> tensor<64x512xbf16>
// CHECK-NEXT: graph.yield
// CHECK: graph.group(%{{.*}} = %[[H]] : tensor<64x512xbf16>, %{{.*}} = %arg3 : tensor<512x10xbf16>) -> tensor<64x10xf32>
// CHECK: graph.reduce add
// CHECK-NEXT: graph.yield
// CHECK-NOT: graph.group
// CHECK: return
func.func @two_layers(%x: tensor<64x784xi8>, %w1: tensor<784x512xbf16>, %b1: tensor<512xf32>, %w2: tensor<512x10xbf16>) -> tensor<64x10xf32> {
  %xc = graph.cast %x : tensor<64x784xi8> -> tensor<64x784xf32>
  %scale = graph.constant dense<0.0078125> : tensor<64x784xf32>
  %xs = graph.binary mul %xc, %scale : tensor<64x784xf32>
  %xr = graph.reshape %xs : tensor<64x784xf32> -> tensor<64x1x784xf32>
  %xe = graph.expand %xr : tensor<64x1x784xf32> -> tensor<64x512x784xf32>
  %wt = graph.permute %w1 order = [1, 0] : tensor<784x512xbf16> -> tensor<512x784xbf16>
  %wr = graph.reshape %wt : tensor<512x784xbf16> -> tensor<1x512x784xbf16>
  %we = graph.expand %wr : tensor<1x512x784xbf16> -> tensor<64x512x784xbf16>
  %wc = graph.cast %we : tensor<64x512x784xbf16> -> tensor<64x512x784xf32>
  %p = graph.binary mul %xe, %wc : tensor<64x512x784xf32>
  %h = graph.reduce add %p dims = [2] : tensor<64x512x784xf32> -> tensor<64x512xf32>
  %br = graph.reshape %b1 : tensor<512xf32> -> tensor<1x512xf32>
  %be = graph.expand %br : tensor<1x512xf32> -> tensor<64x512xf32>
  %hb = graph.binary add %h, %be : tensor<64x512xf32>
  %z = graph.constant dense<0.0> : tensor<64x512xf32>
  %a = graph.binary max %hb, %z : tensor<64x512xf32>
  %ab = graph.cast %a : tensor<64x512xf32> -> tensor<64x512xbf16>
  %ac = graph.cast %ab : tensor<64x512xbf16> -> tensor<64x512xf32>
  %ar = graph.reshape %ac : tensor<64x512xf32> -> tensor<64x1x512xf32>
  %ae = graph.expand %ar : tensor<64x1x512xf32> -> tensor<64x10x512xf32>
  %vt = graph.permute %w2 order = [1, 0] : tensor<512x10xbf16> -> tensor<10x512xbf16>
  %vc = graph.cast %vt : tensor<10x512xbf16> -> tensor<10x512xf32>
  %vr = graph.reshape %vc : tensor<10x512xf32> -> tensor<1x10x512xf32>
  %ve = graph.expand %vr : tensor<1x10x512xf32> -> tensor<64x10x512xf32>
  %q = graph.binary mul %ae, %ve : tensor<64x10x512xf32>
  %o = graph.reduce add %q dims = [2] : tensor<64x10x512xf32> -> tensor<64x10xf32>
  return %o : tensor<64x10xf32>
}
