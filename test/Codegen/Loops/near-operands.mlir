// RUN: zyx-opt %s --zyx-kernel-settle-memory --zyx-kernel-lower-tiles --canonicalize --cse --zyx-kernel-verify-form=form=lowered \
// RUN:   | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=aarch64 facts=vector.bytes=0,simt.sharedBytes=232448' --zyx-kernel-settle-memory --zyx-kernel-lower-tiles | FileCheck %s --check-prefix=SCALAR

// SCALAR-NOT: kernel.alloc : <{{[0-9]*}}xf32, private>

// Channels first: the padded plane is copied row by row, [26][48] with whole vectors. Then six rows of results are added up at a
// time from vectors that all exist, and the factor is one number for all of them.
// CHECK-LABEL: kernel.func @first
// CHECK: %[[NEAR:.*]] = kernel.alloc : <1264xf32, private>
// CHECK: scf.for %{{.*}} = %c0 to %c26
// CHECK: scf.if
// CHECK: kernel.load %{{.*}} mask {{.*}} -> vector<16xf32>
// CHECK: kernel.store %{{.*}}, %[[NEAR]]
// CHECK: } else {
// CHECK: kernel.store %{{.*}}, %[[NEAR]]
// CHECK: scf.for %{{.*}} = %c0 to %c24 step %c6
// CHECK: kernel.load %[[NEAR]][{{.*}}] : <1264xf32, private> -> vector<16xf32>
// CHECK-NOT: mask
// CHECK: math.fma
kernel.func @first(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[24, 32, 3, 3] strides [34, 1, 34, 1]>, <[26, 34] strides [32, 1] offset -33 valid [1 : 25, 1 : 33]>]> : <f32, global> -> <24x32x3x3xf32, global>
  %ws = kernel.view %w map <[<[3, 3] strides [3, 1]>]> : <f32, global> -> <3x3xf32, global>
  %ys = kernel.view %y map <[<[24, 32] strides [32, 1]>]> : <f32, global> -> <24x32xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0] axes ["i", "j", "p", "q"] in_bounds [true, true, true, true] : <24x32x3x3xf32, global> -> tensor<24x32x3x3xf32>
  %f = kernel.load %ws[%c0, %c0] axes ["p", "q"] in_bounds [true, true] : <3x3xf32, global> -> tensor<3x3xf32>
  %b = kernel.broadcast %f dims [2, 3] : tensor<3x3xf32> -> tensor<24x32x3x3xf32>
  %p = arith.mulf %a, %b : tensor<24x32x3x3xf32>
  %s = kernel.reduce add %p dims [2, 3] : tensor<24x32x3x3xf32> -> tensor<24x32xf32>
  kernel.store %s, %ys[%c0, %c0] in_bounds [true, true] : tensor<24x32xf32>, <24x32xf32, global>
  kernel.return
}

// Channels last with filters in the order of PyTorch: those are copied, too, element by element, so that channels are neighbours.
// What is added up lies in memory with the channels innermost.
// CHECK-LABEL: kernel.func @last
// CHECK: kernel.alloc
// CHECK: kernel.alloc
// CHECK: kernel.alloc : <12288xf32, private>
// CHECK: kernel.load %{{.*}} : <{{.*}}, global> -> f32
// CHECK: math.fma %{{.*}} : vector<16xf32>
kernel.func @last(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[16, 24, 32, 3, 3] strides [884, 34, 1, 34, 1]>, <[16, 26, 34] strides [1, 512, 16] offset -528 valid [0 : 16, 1 : 25, 1 : 33]>]> : <f32, global> -> <16x24x32x3x3xf32, global>
  %ws = kernel.view %w map <[<[16, 3, 3] strides [9, 3, 1]>]> : <f32, global> -> <16x3x3xf32, global>
  %ys = kernel.view %y map <[<[16, 24, 32] strides [1, 512, 16]>]> : <f32, global> -> <16x24x32xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0, %c0] axes ["c", "i", "j", "p", "q"] in_bounds [true, true, true, true, true] : <16x24x32x3x3xf32, global> -> tensor<16x24x32x3x3xf32>
  %f = kernel.load %ws[%c0, %c0, %c0] axes ["c", "p", "q"] in_bounds [true, true, true] : <16x3x3xf32, global> -> tensor<16x3x3xf32>
  %b = kernel.broadcast %f dims [0, 3, 4] : tensor<16x3x3xf32> -> tensor<16x24x32x3x3xf32>
  %p = arith.mulf %a, %b : tensor<16x24x32x3x3xf32>
  %s = kernel.reduce add %p dims [3, 4] : tensor<16x24x32x3x3xf32> -> tensor<16x24x32xf32>
  kernel.store %s, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<16x24x32xf32>, <16x24x32xf32, global>
  kernel.return
}

// Windows that do not overlap are read once: nothing is copied.
// CHECK-LABEL: kernel.func @apart
// CHECK-NOT: kernel.store %{{.*}} : vector<16xf32>, <{{[0-9]*}}xf32, private>
// CHECK: kernel.load %{{.*}} mask
kernel.func @apart(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[32, 12, 12, 2, 2] strides [576, 48, 2, 24, 1]>, <[32, 24, 24] strides [1, 704, 32] offset -736 valid [0 : 32, 1 : 23, 1 : 23]>]> : <f32, global> -> <32x12x12x2x2xf32, global>
  %ys = kernel.view %y map <[<[32, 12, 12] strides [1, 384, 32]>]> : <f32, global> -> <32x12x12xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0, %c0] axes ["c", "i", "j", "p", "q"] in_bounds [true, true, true, true, true] : <32x12x12x2x2xf32, global> -> tensor<32x12x12x2x2xf32>
  %s = kernel.reduce max %a dims [3, 4] : tensor<32x12x12x2x2xf32> -> tensor<32x12x12xf32>
  kernel.store %s, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<32x12x12xf32>, <32x12x12xf32, global>
  kernel.return
}
