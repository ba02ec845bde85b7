// RUN: zyx-opt %s -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// A convolution of 3x3, channels last, padded by one. Rows of the left factor are positions; along them
// are three runs of 3 * 32 elements, one for each row of the window. A run that exists from end to end
// is copied without masks, others under a mask of what exists.
// CHECK-LABEL: kernel.func @channels_last
// CHECK: %[[X:.*]] = kernel.view %arg0 map <[<[2336] strides [1]>]>
// CHECK-NOT: kernel.gather
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK-NEXT: scf.if %[[WHOLE]] {
// CHECK: %[[V:.*]] = kernel.load %[[X]][%{{.*}}] : <2336xf32, global> -> vector<16xf32>
// CHECK: kernel.store %[[V]], %{{.*}}[%{{.*}}, %{{.*}}] : vector<16xf32>, <64x288xf32, private>
// CHECK: } else {
// CHECK: kernel.load %[[X]][%{{.*}}] mask
// CHECK-NOT: kernel.gather
// CHECK: math.fma
kernel.func @channels_last(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 288] strides [288, 1]>, <[8, 8, 3, 3, 32] strides [320, 32, 320, 32, 1]>, <[10, 10, 32] strides [256, 32, 1] offset -288 valid [1 : 9, 1 : 9, 0 : 32]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x288xf32, global>
  %ws = kernel.view %w map <[<[288, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<288x32xf32, global>
  %ys = kernel.view %y map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x32xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x288xf32, global> -> tensor<64x288xf32>
  %b = kernel.load %ws[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<288x32xf32, global> -> tensor<288x32xf32>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = kernel.dot %a, %b, %zero blocking <8 x 32, rows 64, depth 288, pack lhs rhs> : tensor<64x288xf32>, tensor<288x32xf32> -> tensor<64x32xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x32xf32>, !kernel.view<64x32xf32, global>
  kernel.return
}

// Channels first, with a stride of 2: columns of the right factor are positions, runs are rows of 8, and
// every second element of two vectors is taken.
// CHECK-LABEL: kernel.func @channels_first
// CHECK: %[[X:.*]] = kernel.view %arg1
// CHECK: kernel.load %[[X]][%{{.*}}] mask
// CHECK: kernel.load %[[X]][%{{.*}}] mask
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK-NOT: kernel.gather
// CHECK: math.fma
kernel.func @channels_first(%w: !kernel.buffer<f32, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ws = kernel.view %w map <[<[4, 27] strides [27, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x27xf32, global>
  %xs = kernel.view %x map <[<[27, 64] strides [64, 1]>, <[3, 3, 3, 8, 8] strides [324, 18, 1, 36, 2]>, <[3, 18, 18] strides [256, 16, 1] offset -17 valid [0 : 3, 1 : 17, 1 : 17]>]> : !kernel.buffer<f32, global> -> !kernel.view<27x64xf32, global>
  %ys = kernel.view %y map <[<[4, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x64xf32, global>
  %a = kernel.load %ws[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<4x27xf32, global> -> tensor<4x27xf32>
  %b = kernel.load %xs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<27x64xf32, global> -> tensor<27x64xf32>
  %zero = arith.constant dense<0.0> : tensor<4x64xf32>
  %d = kernel.dot %a, %b, %zero blocking <4 x 32, rows 4, depth 27, pack rhs> : tensor<4x27xf32>, tensor<27x64xf32> -> tensor<4x64xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<4x64xf32>, !kernel.view<4x64xf32, global>
  kernel.return
}

// A gradient of filters, channels first: the contraction is over positions, and columns are channels and places of the window, of
// which three are neighbours. Rows of the right factor are runs of 28: sixteen columns are read along them, and transposed.
// CHECK-LABEL: kernel.func @filters
// CHECK: %[[X:.*]] = kernel.view %arg1
// CHECK-COUNT-16: kernel.load %[[X]][%{{.*}}] mask
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: kernel.store %{{.*}} : vector<16xf32>, <{{.*}}, private>
// CHECK: math.fma
kernel.func @filters(%g: !kernel.buffer<f32, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %gs = kernel.view %g map <[<[8, 784] strides [784, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x784xf32, global>
  %xs = kernel.view %x map <[<[784, 72] strides [72, 1]>, <[28, 28, 8, 3, 3] strides [30, 1, 900, 30, 1]>, <[8, 30, 30] strides [784, 28, 1] offset -29 valid [0 : 8, 1 : 29, 1 : 29]>]> : !kernel.buffer<f32, global> -> !kernel.view<784x72xf32, global>
  %ys = kernel.view %y map <[<[8, 72] strides [72, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x72xf32, global>
  %a = kernel.load %gs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x784xf32, global> -> tensor<8x784xf32>
  %b = kernel.load %xs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<784x72xf32, global> -> tensor<784x72xf32>
  %zero = arith.constant dense<0.0> : tensor<8x72xf32>
  %d = kernel.dot %a, %b, %zero blocking <8 x 48, rows 8, depth 400, pack rhs> : tensor<8x784xf32>, tensor<784x72xf32> -> tensor<8x72xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<8x72xf32>, !kernel.view<8x72xf32, global>
  kernel.return
}

// A depthwise convolution whose windows hardly overlap: nine steps, whose positions in the window are numbers, and no branch.
// CHECK-LABEL: kernel.func @depthwise
// CHECK-NOT: scf.if
// CHECK-NOT: arith.divui
// CHECK-COUNT-9: kernel.load %{{.*}}[%{{.*}}] mask
// CHECK-NOT: scf.if
// CHECK: kernel.return
kernel.func @depthwise(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8, 8, 16, 3, 3] strides [576, 32, 1, 288, 16]>, <[18, 18, 16] strides [256, 16, 1] offset -272 valid [1 : 17, 1 : 17, 0 : 16]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x8x16x3x3xf32, global>
  %ws = kernel.view %w map <[<[16, 3, 3] strides [1, 48, 16]>]> : !kernel.buffer<f32, global> -> !kernel.view<16x3x3xf32, global>
  %ys = kernel.view %y map <[<[8, 8, 16] strides [128, 16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x8x16xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0, %c0] axes ["i", "j", "c", "p", "q"] in_bounds [true, true, true, true, true] : !kernel.view<8x8x16x3x3xf32, global> -> tensor<8x8x16x3x3xf32>
  %f = kernel.load %ws[%c0, %c0, %c0] axes ["c", "p", "q"] in_bounds [true, true, true] : !kernel.view<16x3x3xf32, global> -> tensor<16x3x3xf32>
  %b = kernel.broadcast %f dims [2, 3, 4] : tensor<16x3x3xf32> -> tensor<8x8x16x3x3xf32>
  %p = arith.mulf %a, %b : tensor<8x8x16x3x3xf32>
  %s = kernel.reduce add %p dims [3, 4] : tensor<8x8x16x3x3xf32> -> tensor<8x8x16xf32>
  kernel.store %s, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<8x8x16xf32>, !kernel.view<8x8x16xf32, global>
  kernel.return
}

// Runs of seven, which are shorter than a vector: the nine places of a channel's window are written out, so that masks along the
// runs are constants, and only whether a row of the image exists is asked. No run has a branch of its own.
// CHECK-LABEL: kernel.func @short
// CHECK: %[[X:.*]] = kernel.view %arg1
// CHECK-COUNT-9: kernel.load %[[X]][%{{.*}}] mask %{{.*}} : vector<16xi1>
// CHECK-NOT: } else {
// CHECK: math.fma
kernel.func @short(%w: !kernel.buffer<f32, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ws = kernel.view %w map <[<[4, 36] strides [36, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x36xf32, global>
  %xs = kernel.view %x map <[<[36, 49] strides [49, 1]>, <[4, 3, 3, 7, 7] strides [121, 22, 2, 11, 1]>, <[4, 11, 11] strides [49, 7, 1] offset -16 valid [0 : 4, 2 : 9, 2 : 9]>]> : !kernel.buffer<f32, global> -> !kernel.view<36x49xf32, global>
  %ys = kernel.view %y map <[<[4, 49] strides [49, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x49xf32, global>
  %a = kernel.load %ws[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<4x36xf32, global> -> tensor<4x36xf32>
  %b = kernel.load %xs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<36x49xf32, global> -> tensor<36x49xf32>
  %zero = arith.constant dense<0.0> : tensor<4x49xf32>
  %d = kernel.dot %a, %b, %zero blocking <4 x 64, rows 4, depth 36, pack rhs> : tensor<4x36xf32>, tensor<36x49xf32> -> tensor<4x49xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<4x49xf32>, !kernel.view<4x49xf32, global>
  kernel.return
}
