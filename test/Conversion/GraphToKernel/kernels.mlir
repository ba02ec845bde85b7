// RUN: zyx-opt %s --zyx-fuse --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled --verify-roundtrip | FileCheck %s

// Dense tensors of one shape are walked as one row.
// CHECK-LABEL: kernel.func @elementwise_0
// CHECK-SAME: (%[[X:.*]]: !kernel.buffer<f32, global>, %[[Y:.*]]: !kernel.buffer<f32, global>, %[[Z:.*]]: !kernel.buffer<f32, global>)
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[XV:.*]] = kernel.view %[[X]] map <[<[64] strides [1]>]>
// CHECK: %[[XT:.*]] = kernel.load %[[XV]][%[[C0]]] axes ["i0"] in_bounds [true] {{.*}} -> tensor<64xf32>
// CHECK: %[[YT:.*]] = kernel.load
// CHECK: %[[S:.*]] = arith.addf %[[XT]], %[[YT]] : tensor<64xf32>
// CHECK: %[[E:.*]] = math.exp %[[S]]
// CHECK: %[[ZV:.*]] = kernel.view %[[Z]]
// CHECK: kernel.store %[[E]], %[[ZV]][%[[C0]]] in_bounds [true]
func.func @elementwise(%x: tensor<2x4x8xf32>, %y: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %s = graph.binary add %x, %y : tensor<2x4x8xf32>
  %e = graph.unary exp %s : tensor<2x4x8xf32>
  return %e : tensor<2x4x8xf32>
}

// Rows and columns; what a row has in common is repeated where it meets the row.
// CHECK-LABEL: kernel.func @softmax_0
// CHECK: %[[X:.*]] = kernel.load {{.*}} axes ["i0", "i1"] {{.*}} -> tensor<32x64xf32>
// CHECK: %[[M:.*]] = kernel.reduce max %[[X]] dims [1] : tensor<32x64xf32> -> tensor<32xf32>
// CHECK: %[[MB:.*]] = kernel.broadcast %[[M]] dims [0] : tensor<32xf32> -> tensor<32x64xf32>
// CHECK: %[[D:.*]] = arith.subf %[[X]], %[[MB]]
// CHECK: %[[E:.*]] = math.exp %[[D]]
// CHECK: %[[S:.*]] = kernel.reduce add %[[E]] dims [1]
// CHECK: %[[SB:.*]] = kernel.broadcast %[[S]] dims [0]
// CHECK: %[[Y:.*]] = arith.divf %[[E]], %[[SB]]
// CHECK: kernel.store %[[Y]]
func.func @softmax(%x: tensor<4x8x64xf32>) -> tensor<4x8x64xf32> {
  %m = graph.reduce max %x dims = [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
  %m1 = graph.reshape %m : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %m2 = graph.expand %m1 : tensor<4x8x1xf32> -> tensor<4x8x64xf32>
  %d = graph.binary sub %x, %m2 : tensor<4x8x64xf32>
  %e = graph.unary exp %d : tensor<4x8x64xf32>
  %s = graph.reduce add %e dims = [2] : tensor<4x8x64xf32> -> tensor<4x8xf32>
  %s1 = graph.reshape %s : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %s2 = graph.expand %s1 : tensor<4x8x1xf32> -> tensor<4x8x64xf32>
  %y = graph.binary div %e, %s2 : tensor<4x8x64xf32>
  return %y : tensor<4x8x64xf32>
}

// One kernel; the scale is a row that every row shares.
// CHECK-LABEL: kernel.func @layer_norm_0
// CHECK: kernel.reduce add %{{.*}} dims [1] : tensor<32x768xf32> -> tensor<32xf32>
// CHECK: kernel.reduce add %{{.*}} dims [1] : tensor<32x768xf32> -> tensor<32xf32>
// CHECK: math.rsqrt %{{.*}} : tensor<32xf32>
// CHECK: %[[S:.*]] = kernel.load {{.*}} axes ["i1"] {{.*}} -> tensor<768xf32>
// CHECK: kernel.broadcast %[[S]] dims [1] : tensor<768xf32> -> tensor<32x768xf32>
// CHECK-NOT: kernel.func @layer_norm_1
func.func @layer_norm(%x: tensor<32x768xf32>, %scale: tensor<768xf32>) -> tensor<32x768xf32> {
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
  return %ys : tensor<32x768xf32>
}

// The factors are computed as matrices, the second one in the order that the dot wants, from a load
// that steps through memory so. Two batches of rows are one dimension of the product. The cast of
// bf16 is the dot's own.
// CHECK-LABEL: kernel.func @gemm_0
// CHECK-SAME: (%[[X:.*]]: !kernel.buffer<i8, global>, %[[W:.*]]: !kernel.buffer<bf16, global>, %[[B:.*]]: !kernel.buffer<f32, global>, %[[Y:.*]]: !kernel.buffer<bf16, global>)
// CHECK: %[[XT:.*]] = kernel.load %{{.*}} axes ["m", "k"] {{.*}} -> tensor<64x48xi8>
// CHECK: %[[XF:.*]] = arith.sitofp %[[XT]] : tensor<64x48xi8> to tensor<64x48xf32>
// CHECK: %[[XS:.*]] = arith.mulf %[[XF]]
// CHECK: %[[WV:.*]] = kernel.view %[[W]] map <[<[48, 32] strides [1, 48]>]>
// CHECK: %[[WT:.*]] = kernel.load %[[WV]]{{.*}} axes ["k", "n"] {{.*}} -> tensor<48x32xbf16>
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<64x32xf32>
// CHECK: %[[P:.*]] = kernel.dot %[[XS]], %[[WT]], %[[Z]] : tensor<64x48xf32>, tensor<48x32xbf16> -> tensor<64x32xf32>
// CHECK: kernel.broadcast {{.*}} dims [1] : tensor<32xf32> -> tensor<64x32xf32>
// CHECK: arith.addf %[[P]]
// CHECK: math.tanh
// CHECK: arith.truncf
func.func @gemm(%x: tensor<4x16x48xi8>, %w: tensor<32x48xbf16>, %b: tensor<32xf32>) -> tensor<4x16x32xbf16> {
  %xc = graph.cast %x : tensor<4x16x48xi8> -> tensor<4x16x48xf32>
  %scale = graph.constant dense<0.0078125> : tensor<4x16x48xf32>
  %xs = graph.binary mul %xc, %scale : tensor<4x16x48xf32>
  %xr = graph.reshape %xs : tensor<4x16x48xf32> -> tensor<4x16x1x48xf32>
  %xe = graph.expand %xr : tensor<4x16x1x48xf32> -> tensor<4x16x32x48xf32>
  %wc = graph.cast %w : tensor<32x48xbf16> -> tensor<32x48xf32>
  %wr = graph.reshape %wc : tensor<32x48xf32> -> tensor<1x1x32x48xf32>
  %we = graph.expand %wr : tensor<1x1x32x48xf32> -> tensor<4x16x32x48xf32>
  %p = graph.binary mul %xe, %we : tensor<4x16x32x48xf32>
  %h = graph.reduce add %p dims = [3] : tensor<4x16x32x48xf32> -> tensor<4x16x32xf32>
  %br = graph.reshape %b : tensor<32xf32> -> tensor<1x1x32xf32>
  %be = graph.expand %br : tensor<1x1x32xf32> -> tensor<4x16x32xf32>
  %hb = graph.binary add %h, %be : tensor<4x16x32xf32>
  %t = graph.unary tanh %hb : tensor<4x16x32xf32>
  %y = graph.cast %t : tensor<4x16x32xf32> -> tensor<4x16x32xbf16>
  return %y : tensor<4x16x32xbf16>
}

// Batches of products, the result stored with its dimensions in another order.
// CHECK-LABEL: kernel.func @heads_0
// CHECK: kernel.load {{.*}} axes ["b0", "m", "k"] {{.*}} -> tensor<4x16x8xf32>
// CHECK: kernel.load {{.*}} axes ["b0", "k", "n"] {{.*}} -> tensor<4x8x16xf32>
// CHECK: %[[P:.*]] = kernel.dot {{.*}} -> tensor<4x16x16xf32>
// CHECK: %[[V:.*]] = kernel.view %{{.*}} map <[<[4, 16, 16] strides [16, 64, 1]>]>
// CHECK: kernel.store %[[P]], %[[V]]
func.func @heads(%q: tensor<4x16x8xf32>, %k: tensor<4x16x8xf32>) -> tensor<16x4x16xf32> {
  %qr = graph.reshape %q : tensor<4x16x8xf32> -> tensor<4x16x1x8xf32>
  %qe = graph.expand %qr : tensor<4x16x1x8xf32> -> tensor<4x16x16x8xf32>
  %kr = graph.reshape %k : tensor<4x16x8xf32> -> tensor<4x1x16x8xf32>
  %ke = graph.expand %kr : tensor<4x1x16x8xf32> -> tensor<4x16x16x8xf32>
  %p = graph.binary mul %qe, %ke : tensor<4x16x16x8xf32>
  %s = graph.reduce add %p dims = [3] : tensor<4x16x16x8xf32> -> tensor<4x16x16xf32>
  %t = graph.permute %s order = [1, 0, 2] : tensor<4x16x16xf32> -> tensor<16x4x16xf32>
  return %t : tensor<16x4x16xf32>
}

// A product with one column is a reduction.
// CHECK-LABEL: kernel.func @matrix_times_vector_0
// CHECK-NOT: kernel.dot
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: kernel.reduce add %[[P]] dims [1] : tensor<16x8xf32> -> tensor<16xf32>
func.func @matrix_times_vector(%a: tensor<16x8xf32>, %x: tensor<8xf32>) -> tensor<16xf32> {
  %xr = graph.reshape %x : tensor<8xf32> -> tensor<1x8xf32>
  %xe = graph.expand %xr : tensor<1x8xf32> -> tensor<16x8xf32>
  %p = graph.binary mul %a, %xe : tensor<16x8xf32>
  %y = graph.reduce add %p dims = [1] : tensor<16x8xf32> -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// The first index at the smallest value.
// CHECK-LABEL: kernel.func @arg_min_0
// CHECK: %[[X:.*]] = kernel.load {{.*}} axes ["i0", "k0"]
// CHECK: %[[M:.*]] = kernel.reduce min %[[X]] dims [1]
// CHECK: %[[MB:.*]] = kernel.broadcast %[[M]] dims [0]
// CHECK: %[[IS:.*]] = arith.cmpf oeq, %[[X]], %[[MB]]
// CHECK: %[[I:.*]] = kernel.iota dim 0 axes ["k0"] : tensor<100xi64>
// CHECK: %[[IB:.*]] = kernel.broadcast %[[I]] dims [1] : tensor<100xi64> -> tensor<7x100xi64>
// CHECK: arith.select %[[IS]], %[[IB]]
// CHECK: kernel.reduce min
func.func @arg_min(%x: tensor<7x100xf32>) -> tensor<7xi64> {
  %m = graph.reduce min %x dims = [1] : tensor<7x100xf32> -> tensor<7xf32>
  %m1 = graph.reshape %m : tensor<7xf32> -> tensor<7x1xf32>
  %m2 = graph.expand %m1 : tensor<7x1xf32> -> tensor<7x100xf32>
  %is = graph.binary eq %x, %m2 : tensor<7x100xf32>
  %i = graph.iota dim = 1 : tensor<7x100xi64>
  %none = graph.constant dense<100> : tensor<7x100xi64>
  %c = graph.select %is, %i, %none : tensor<7x100xi64>
  %r = graph.reduce min %c dims = [1] : tensor<7x100xi64> -> tensor<7xi64>
  return %r : tensor<7xi64>
}

// Indices are data along one dimension and the tile's own along the others. An unsigned index is
// not negative.
// CHECK-LABEL: kernel.func @gather_rows_0
// CHECK: %[[I:.*]] = kernel.load {{.*}} axes ["i0"] {{.*}} -> tensor<5xi8>
// CHECK: %[[IB:.*]] = kernel.broadcast %[[I]] dims [0] : tensor<5xi8> -> tensor<5x8xi8>
// CHECK: %[[IX:.*]] = arith.extui %[[IB]] : tensor<5x8xi8> to tensor<5x8xi64>
// CHECK: %[[V:.*]] = kernel.view %{{.*}} map <[<[100, 8] strides [8, 1]>]>
// CHECK: %[[J:.*]] = kernel.iota dim 0 axes ["i1"] : tensor<8xi64>
// CHECK: %[[JB:.*]] = kernel.broadcast %[[J]] dims [1] : tensor<8xi64> -> tensor<5x8xi64>
// CHECK: kernel.gather %[[V]][%[[IX]], %[[JB]]]
func.func @gather_rows(%x: tensor<100x8xf32>, %i: tensor<5xui8>) -> tensor<5x8xf32> {
  %g = graph.gather %x[%i] dim = 0 : (tensor<100x8xf32>, tensor<5xui8>) -> tensor<5x8xf32>
  return %g : tensor<5x8xf32>
}

// f16 sums are accumulated in f32 and rounded once.
// CHECK-LABEL: kernel.func @half_sum_0
// CHECK: %[[X:.*]] = arith.extf
// CHECK: %[[S:.*]] = kernel.reduce add %[[X]] dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
// CHECK: arith.truncf %[[S]] : tensor<f32> to tensor<f16>
func.func @half_sum(%x: tensor<4x6xf16>, %y: tensor<6xf16>) -> tensor<f16> {
  %yr = graph.reshape %y : tensor<6xf16> -> tensor<1x6xf16>
  %ye = graph.expand %yr : tensor<1x6xf16> -> tensor<4x6xf16>
  %p = graph.binary mul %x, %ye : tensor<4x6xf16>
  %s = graph.reduce add %p dims = [0, 1] : tensor<4x6xf16> -> tensor<f16>
  return %s : tensor<f16>
}

// A transposition is two views.
// CHECK-LABEL: kernel.func @transposed_sum_0
// CHECK-NOT: kernel.transpose
// CHECK: kernel.view %arg0 map <[<[8, 4] strides [1, 8]>]>
// CHECK: kernel.view %arg1 map <[<[8, 4] strides [4, 1]>]>
func.func @transposed_sum(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = graph.permute %x order = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %s = graph.binary add %t, %y : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// A reduction of what does not vary still counts each element.
// CHECK-LABEL: kernel.func @sum_of_repeats_0
// CHECK: %[[B:.*]] = kernel.broadcast %{{.*}} dims [0] : tensor<4xf32> -> tensor<4x3xf32>
// CHECK: kernel.reduce add %[[B]] dims [1]
func.func @sum_of_repeats(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  %e = graph.unary exp %x : tensor<4x1xf32>
  %r = graph.expand %e : tensor<4x1xf32> -> tensor<4x3xf32>
  %s = graph.reduce add %r dims = [1] : tensor<4x3xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// The sum of nothing is 0.
// CHECK-LABEL: kernel.func @sum_of_nothing_0
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: kernel.store %[[Z]]
func.func @sum_of_nothing(%x: tensor<4x0xf32>) -> tensor<4xf32> {
  %s = graph.reduce add %x dims = [1] : tensor<4x0xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}
