// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s

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

// A softmax after a product is a kernel of its own; the scale stays with the product.
// CHECK-LABEL: func.func @scores
// CHECK-NEXT: %[[S:.*]] = graph.group({{.*}}) -> tensor<64x32xf32>
// CHECK: graph.reduce add
// CHECK: graph.binary mul
// CHECK-NEXT: graph.yield
// CHECK: graph.group(%{{.*}} = %[[S]] : tensor<64x32xf32>) -> tensor<64x32xf32>
// CHECK: graph.reduce max
// CHECK: graph.reduce add
// CHECK-NOT: graph.group
// CHECK: return
func.func @scores(%q: tensor<64x16xf32>, %k: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %q1 = graph.reshape %q : tensor<64x16xf32> -> tensor<64x1x16xf32>
  %q2 = graph.expand %q1 : tensor<64x1x16xf32> -> tensor<64x32x16xf32>
  %k1 = graph.reshape %k : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %k2 = graph.expand %k1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %p = graph.binary mul %q2, %k2 : tensor<64x32x16xf32>
  %d = graph.reduce add %p dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  %scale = graph.constant dense<0.25> : tensor<64x32xf32>
  %s = graph.binary mul %d, %scale : tensor<64x32xf32>
  %m = graph.reduce max %s dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
  %m1 = graph.reshape %m : tensor<64xf32> -> tensor<64x1xf32>
  %m2 = graph.expand %m1 : tensor<64x1xf32> -> tensor<64x32xf32>
  %c = graph.binary sub %s, %m2 : tensor<64x32xf32>
  %e = graph.unary exp %c : tensor<64x32xf32>
  %t = graph.reduce add %e dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
  %t1 = graph.reshape %t : tensor<64xf32> -> tensor<64x1xf32>
  %t2 = graph.expand %t1 : tensor<64x1xf32> -> tensor<64x32xf32>
  %y = graph.binary div %e, %t2 : tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// Both branches and the join are one kernel.
// CHECK-LABEL: func.func @diamond
// CHECK-NEXT: graph.group(%{{.*}} = %arg0 : tensor<64xf32>) -> tensor<64xf32>
// CHECK-NOT: graph.group
// CHECK: return
func.func @diamond(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = graph.unary exp %x : tensor<64xf32>
  %a = graph.unary neg %e : tensor<64xf32>
  %b = graph.unary sqrt %e : tensor<64xf32>
  %y = graph.binary add %a, %b : tensor<64xf32>
  return %y : tensor<64xf32>
}

// The sums along columns keep other axes than those along rows. What both read is expensive, so one
// kernel stores it for the other, which does the rest.
// CHECK-LABEL: func.func @rows_and_columns
// CHECK-NEXT: %[[A:.*]]:2 = graph.group({{.*}}) -> (tensor<8x8xf32>, tensor<8xf32>)
// CHECK: graph.group(%{{.*}} = %[[A]]#0 : tensor<8x8xf32>, %{{.*}} = %[[A]]#1 : tensor<8xf32>) -> tensor<8xf32>
// CHECK-NOT: graph.group
// CHECK: return
func.func @rows_and_columns(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %e = graph.unary exp %x : tensor<8x8xf32>
  %e1 = graph.unary tanh %e : tensor<8x8xf32>
  %rows = graph.reduce add %e1 dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %columns = graph.reduce add %e1 dims = [0] : tensor<8x8xf32> -> tensor<8xf32>
  %y = graph.binary mul %rows, %columns : tensor<8xf32>
  return %y : tensor<8xf32>
}

// A cast from a narrow type is computed by each reader, and not stored wide.
// CHECK-LABEL: func.func @clone_cast
// CHECK-NEXT: graph.group(%{{.*}} = %arg0 : tensor<16x32xbf16>) -> tensor<16xf32>
// CHECK-NEXT: graph.cast
// CHECK: graph.group(%{{.*}} = %arg0 : tensor<16x32xbf16>) -> tensor<32xf32>
// CHECK-NEXT: graph.cast
// CHECK: return
func.func @clone_cast(%x: tensor<16x32xbf16>) -> (tensor<16xf32>, tensor<32xf32>) {
  %c = graph.cast %x : tensor<16x32xbf16> -> tensor<16x32xf32>
  %rows = graph.reduce add %c dims = [1] : tensor<16x32xf32> -> tensor<16xf32>
  %columns = graph.reduce add %c dims = [0] : tensor<16x32xf32> -> tensor<32xf32>
  return %rows, %columns : tensor<16xf32>, tensor<32xf32>
}

// What the function returns is stored, so nobody computes it again.
// CHECK-LABEL: func.func @returned_and_read
// CHECK: graph.group({{.*}}) -> (tensor<16x32xf32>, tensor<16xf32>)
// CHECK: graph.group(%{{.*}} = %0#0 : tensor<16x32xf32>) -> tensor<32xf32>
func.func @returned_and_read(%x: tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16xf32>, tensor<32xf32>) {
  %c = graph.unary neg %x : tensor<16x32xf32>
  %rows = graph.reduce add %c dims = [1] : tensor<16x32xf32> -> tensor<16xf32>
  %columns = graph.reduce add %c dims = [0] : tensor<16x32xf32> -> tensor<32xf32>
  return %c, %rows, %columns : tensor<16x32xf32>, tensor<16xf32>, tensor<32xf32>
}

// An expensive function is not computed again for each tile of a product.
// CHECK-LABEL: func.func @expensive_prologue
// CHECK-NEXT: graph.group
// CHECK-NEXT: graph.unary erf
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK-NOT: graph.unary
// CHECK: return
func.func @expensive_prologue(%x: tensor<64x16xf32>, %w: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %g = graph.unary erf %x : tensor<64x16xf32>
  %x1 = graph.reshape %g : tensor<64x16xf32> -> tensor<64x1x16xf32>
  %x2 = graph.expand %x1 : tensor<64x1x16xf32> -> tensor<64x32x16xf32>
  %w1 = graph.reshape %w : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %w2 = graph.expand %w1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %p = graph.binary mul %x2, %w2 : tensor<64x32x16xf32>
  %d = graph.reduce add %p dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @exponential_prologue
// CHECK-NEXT: graph.group
// CHECK-NEXT: graph.unary expm1
// CHECK-NEXT: graph.yield
// CHECK: graph.group
// CHECK-NOT: graph.unary
// CHECK: return
func.func @exponential_prologue(%x: tensor<64x16xf32>, %w: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %g = graph.unary expm1 %x : tensor<64x16xf32>
  %x1 = graph.reshape %g : tensor<64x16xf32> -> tensor<64x1x16xf32>
  %x2 = graph.expand %x1 : tensor<64x1x16xf32> -> tensor<64x32x16xf32>
  %w1 = graph.reshape %w : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %w2 = graph.expand %w1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %p = graph.binary mul %x2, %w2 : tensor<64x32x16xf32>
  %d = graph.reduce add %p dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}

// Norms of two products: each has its own kernel, the sum goes with one of them.
// CHECK-LABEL: func.func @two_products
// CHECK-COUNT-2: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @two_products(%x: tensor<64x16xf32>, %v: tensor<32x16xf32>, %w: tensor<32x16xf32>) -> tensor<64x32xf32> {
  %x1 = graph.reshape %x : tensor<64x16xf32> -> tensor<64x1x16xf32>
  %x2 = graph.expand %x1 : tensor<64x1x16xf32> -> tensor<64x32x16xf32>
  %v1 = graph.reshape %v : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %v2 = graph.expand %v1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %w1 = graph.reshape %w : tensor<32x16xf32> -> tensor<1x32x16xf32>
  %w2 = graph.expand %w1 : tensor<1x32x16xf32> -> tensor<64x32x16xf32>
  %p = graph.binary mul %x2, %v2 : tensor<64x32x16xf32>
  %d = graph.reduce add %p dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  %q = graph.binary mul %x2, %w2 : tensor<64x32x16xf32>
  %e = graph.reduce add %q dims = [2] : tensor<64x32x16xf32> -> tensor<64x32xf32>
  %y = graph.binary add %d, %e : tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// Parameters stay outside; a view that is returned is a copy.
// CHECK-LABEL: func.func @leaves
// CHECK-NEXT: %[[P:.*]] = graph.parameter "w"
// CHECK-NEXT: %[[G:.*]] = graph.group(%{{.*}} = %[[P]] : tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: graph.reshape
// CHECK-NEXT: graph.yield
// CHECK: %[[C:.*]] = graph.group() -> tensor<4xi64>
// CHECK-NEXT: graph.iota
// CHECK: return %arg0, %[[G]], %[[C]]
func.func @leaves(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>, tensor<4xi64>) {
  %w = graph.parameter "w" : tensor<6xf32>
  %v = graph.reshape %w : tensor<6xf32> -> tensor<2x3xf32>
  %i = graph.iota dim = 0 : tensor<4xi64>
  return %x, %v, %i : tensor<6xf32>, tensor<2x3xf32>, tensor<4xi64>
}

// The transposition of a computed value moves axes; its sum with itself would walk one axis along
// two dimensions.
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT: %[[E:.*]] = graph.group
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.unary tanh
// CHECK-NEXT: graph.yield
// CHECK: graph.group(%{{.*}} = %[[E]] : tensor<8x8xf32>)
// CHECK-NEXT: graph.permute
// CHECK-NEXT: graph.binary add
func.func @transposed(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = graph.unary exp %x : tensor<8x8xf32>
  %f = graph.unary tanh %e : tensor<8x8xf32>
  %t = graph.permute %f order = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %y = graph.binary add %f, %t : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// The last op reads the first one around a kernel that neither can join: no group holds both.
// CHECK-LABEL: func.func @no_cycle
// CHECK-NEXT: %[[A:.*]] = graph.group(%{{.*}} = %arg0 : tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = graph.group(%{{.*}} = %[[A]] : tensor<8xf32>) -> tensor<8xf32>
// CHECK: graph.group(%{{.*}} = %[[A]] : tensor<8xf32>, %{{.*}} = %[[B]] : tensor<8xf32>) -> tensor<8xf32>
// CHECK-NOT: graph.group
// CHECK: return
func.func @no_cycle(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = graph.unary exp %x : tensor<8xf32>
  %f = graph.unary tanh %e : tensor<8xf32>
  %r = graph.reduce add %f dims = [0] : tensor<8xf32> -> tensor<f32>
  %r1 = graph.reshape %r : tensor<f32> -> tensor<1xf32>
  %r2 = graph.expand %r1 : tensor<1xf32> -> tensor<8xf32>
  %h = graph.binary sub %f, %r2 : tensor<8xf32>
  %v = graph.flip %h dims = [0] : tensor<8xf32>
  %g = graph.unary sin %v : tensor<8xf32>
  %w = graph.flip %g dims = [0] : tensor<8xf32>
  %y = graph.binary add %h, %w : tensor<8xf32>
  return %y : tensor<8xf32>
}

// What follows an exponential is stored as the product reads it, and not the exponential.
// CHECK-LABEL: func.func @activated
// CHECK: %[[H:.*]] = graph.group({{.*}}) -> tensor<32x1280xbf16>
// CHECK: graph.unary exp
// CHECK: graph.yield
// CHECK: graph.group({{.*}} = %[[H]] : tensor<32x1280xbf16>{{.*}}) -> tensor<32x320xf32>
// CHECK-NOT: graph.group
// CHECK: return
func.func @activated(%x: tensor<32x1280xbf16>, %w: tensor<1280x320xbf16>) -> tensor<32x320xf32> {
  %one = graph.constant dense<1.0> : tensor<32x1280xf32>
  %0 = graph.cast %x : tensor<32x1280xbf16> -> tensor<32x1280xf32>
  %e = graph.unary exp %0 : tensor<32x1280xf32>
  %s = graph.binary add %e, %one : tensor<32x1280xf32>
  %d = graph.binary div %0, %s : tensor<32x1280xf32>
  %h = graph.cast %d : tensor<32x1280xf32> -> tensor<32x1280xbf16>
  %l = graph.cast %h : tensor<32x1280xbf16> -> tensor<32x1280xf32>
  %l1 = graph.reshape %l : tensor<32x1280xf32> -> tensor<32x1280x1xf32>
  %l2 = graph.expand %l1 : tensor<32x1280x1xf32> -> tensor<32x1280x320xf32>
  %r = graph.cast %w : tensor<1280x320xbf16> -> tensor<1280x320xf32>
  %r1 = graph.reshape %r : tensor<1280x320xf32> -> tensor<1x1280x320xf32>
  %r2 = graph.expand %r1 : tensor<1x1280x320xf32> -> tensor<32x1280x320xf32>
  %p = graph.binary mul %l2, %r2 : tensor<32x1280x320xf32>
  %y = graph.reduce add %p dims = [1] : tensor<32x1280x320xf32> -> tensor<32x320xf32>
  return %y : tensor<32x320xf32>
}

// Rows of a chosen matrix are read where they lie: their product with what another sum gives is part of the second sum, and not
// stored behind the first one.
// CHECK-LABEL: func.func @chosen_layers
// CHECK: graph.group({{.*}}) -> tensor<2x96xf32>
// CHECK: graph.gather
// CHECK: graph.reduce add
// CHECK-NEXT: graph.yield
// CHECK: graph.group({{.*}}) -> tensor<2x64xf32>
// CHECK: graph.gather
// CHECK: graph.binary mul
// CHECK: graph.reduce add
// CHECK-NOT: graph.group
// CHECK: return
func.func @chosen_layers(%x: tensor<2x64xf32>, %n: tensor<2xi64>, %w: tensor<8x64x96xf32>, %v: tensor<8x96x64xf32>) -> tensor<2x64xf32> {
  %g = graph.gather %w[%n] dim = 0 : (tensor<8x64x96xf32>, tensor<2xi64>) -> tensor<2x64x96xf32>
  %x1 = graph.reshape %x : tensor<2x64xf32> -> tensor<2x64x1xf32>
  %x2 = graph.expand %x1 : tensor<2x64x1xf32> -> tensor<2x64x96xf32>
  %p = graph.binary mul %x2, %g : tensor<2x64x96xf32>
  %s = graph.reduce add %p dims = [1] : tensor<2x64x96xf32> -> tensor<2x96xf32>
  %h = graph.gather %v[%n] dim = 0 : (tensor<8x96x64xf32>, tensor<2xi64>) -> tensor<2x96x64xf32>
  %s1 = graph.reshape %s : tensor<2x96xf32> -> tensor<2x96x1xf32>
  %s2 = graph.expand %s1 : tensor<2x96x1xf32> -> tensor<2x96x64xf32>
  %q = graph.binary mul %s2, %h : tensor<2x96x64xf32>
  %t = graph.reduce add %q dims = [1] : tensor<2x96x64xf32> -> tensor<2x64xf32>
  return %t : tensor<2x64xf32>
}

// The same of 16 bits, which are widened before they are multiplied.
// CHECK-LABEL: func.func @chosen_layers_widened
// CHECK: graph.group({{.*}}) -> tensor<2x96xbf16>
// CHECK: graph.gather
// CHECK: graph.reduce add
// CHECK-NEXT: graph.cast
// CHECK-NEXT: graph.yield
// CHECK: graph.group({{.*}}) -> tensor<2x64xf32>
// CHECK: graph.gather
// CHECK: graph.binary mul
// CHECK: graph.reduce add
// CHECK-NOT: graph.group
// CHECK: return
func.func @chosen_layers_widened(%x: tensor<2x64xf32>, %n: tensor<2xi64>, %w: tensor<8x64x96xbf16>, %v: tensor<8x96x64xbf16>) -> tensor<2x64xf32> {
  %g = graph.gather %w[%n] dim = 0 : (tensor<8x64x96xbf16>, tensor<2xi64>) -> tensor<2x64x96xbf16>
  %gw = graph.cast %g : tensor<2x64x96xbf16> -> tensor<2x64x96xf32>
  %x1 = graph.reshape %x : tensor<2x64xf32> -> tensor<2x64x1xf32>
  %x2 = graph.expand %x1 : tensor<2x64x1xf32> -> tensor<2x64x96xf32>
  %p = graph.binary mul %x2, %gw : tensor<2x64x96xf32>
  %s = graph.reduce add %p dims = [1] : tensor<2x64x96xf32> -> tensor<2x96xf32>
  %sn = graph.cast %s : tensor<2x96xf32> -> tensor<2x96xbf16>
  %sw = graph.cast %sn : tensor<2x96xbf16> -> tensor<2x96xf32>
  %h = graph.gather %v[%n] dim = 0 : (tensor<8x96x64xbf16>, tensor<2xi64>) -> tensor<2x96x64xbf16>
  %hw = graph.cast %h : tensor<2x96x64xbf16> -> tensor<2x96x64xf32>
  %ht = graph.permute %hw order = [0, 2, 1] : tensor<2x96x64xf32> -> tensor<2x64x96xf32>
  %s1 = graph.reshape %sw : tensor<2x96xf32> -> tensor<2x1x96xf32>
  %s2 = graph.expand %s1 : tensor<2x1x96xf32> -> tensor<2x64x96xf32>
  %q = graph.binary mul %s2, %ht : tensor<2x64x96xf32>
  %t = graph.reduce add %q dims = [2] : tensor<2x64x96xf32> -> tensor<2x64xf32>
  return %t : tensor<2x64xf32>
}

// Gates at positions are no part of the product that they are multiplied with: it would compare them for each element.
// CHECK-LABEL: func.func @gates
// CHECK:       graph.group
// CHECK:         graph.binary eq
// CHECK:         graph.yield %{{.*}} : tensor<512x16xf16>
// CHECK:       graph.group
// CHECK-NOT:     graph.binary eq
// CHECK:         graph.reduce add
// CHECK:       return
func.func @gates(%x: tensor<512x64xf32>, %w: tensor<64x16x32xf32>, %at: tensor<512x1xi64>, %u: tensor<512x1xf32>) -> tensor<512x16x32xf32> {
  %places = graph.expand %at : tensor<512x1xi64> -> tensor<512x16xi64>
  %column = graph.iota dim = 1 : tensor<512x16xi64>
  %is = graph.binary eq %places, %column : tensor<512x16xi64>
  %all = graph.expand %u : tensor<512x1xf32> -> tensor<512x16xf32>
  %zero = graph.constant dense<0.0> : tensor<512x16xf32>
  %gate = graph.select %is, %all, %zero : tensor<512x16xf32>
  %narrow = graph.cast %gate : tensor<512x16xf32> -> tensor<512x16xf16>
  %g = graph.cast %narrow : tensor<512x16xf16> -> tensor<512x16xf32>
  %g1 = graph.reshape %g : tensor<512x16xf32> -> tensor<512x16x1xf32>
  %g2 = graph.expand %g1 : tensor<512x16x1xf32> -> tensor<512x16x32xf32>
  %x1 = graph.reshape %x : tensor<512x64xf32> -> tensor<512x64x1x1xf32>
  %x2 = graph.expand %x1 : tensor<512x64x1x1xf32> -> tensor<512x64x16x32xf32>
  %w1 = graph.reshape %w : tensor<64x16x32xf32> -> tensor<1x64x16x32xf32>
  %w2 = graph.expand %w1 : tensor<1x64x16x32xf32> -> tensor<512x64x16x32xf32>
  %p = graph.binary mul %x2, %w2 : tensor<512x64x16x32xf32>
  %h = graph.reduce add %p dims = [1] : tensor<512x64x16x32xf32> -> tensor<512x16x32xf32>
  %y = graph.binary mul %h, %g2 : tensor<512x16x32xf32>
  return %y : tensor<512x16x32xf32>
}
