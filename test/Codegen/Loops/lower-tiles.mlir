// RUN: zyx-opt %s -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=aarch64 facts=vector.bytes=0,simt.sharedBytes=232448' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s --check-prefix=SCALAR

// Six elements are no vector of sixteen: one vector of eight under a mask.
// CHECK-LABEL: kernel.func @tail
// CHECK:       %[[MASK:.*]] = vector.constant_mask [6] : vector<8xi1>
// CHECK:       %[[X:.*]] = kernel.load %{{.*}} mask %[[MASK]] : vector<8xi1> : {{.*}} -> vector<8xf32>
// CHECK:       %[[S:.*]] = arith.addf %[[X]], %[[X]] : vector<8xf32>
// CHECK:       kernel.store %[[S]], %{{.*}} mask %[[MASK]]
// SCALAR-LABEL: kernel.func @tail
// SCALAR:       scf.for
// SCALAR:         kernel.load {{.*}} -> f32
kernel.func @tail(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[6] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %w = kernel.view %y map <[<[6] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<6xf32, global> -> tensor<6xf32>
  %s = arith.addf %t, %t : tensor<6xf32>
  kernel.store %s, %w[%c0] in_bounds [true] : tensor<6xf32>, !kernel.view<6xf32, global>
  kernel.return
}

// A sum and a sum of squares of the same row share one loop of four vectors each.
// CHECK-LABEL: kernel.func @moments
// CHECK:       scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK-NOT:   scf.for
// CHECK:       kernel.return
kernel.func @moments(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[640] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<640xf32, global>
  %w = kernel.view %y map <[<[] strides []>]> : !kernel.buffer<f32, global> -> !kernel.view<f32, global>
  %u = kernel.view %z map <[<[] strides []>]> : !kernel.buffer<f32, global> -> !kernel.view<f32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<640xf32, global> -> tensor<640xf32>
  %q = arith.mulf %t, %t : tensor<640xf32>
  %a = kernel.reduce add %t dims [0] : tensor<640xf32> -> tensor<f32>
  %b = kernel.reduce add %q dims [0] : tensor<640xf32> -> tensor<f32>
  kernel.store %a, %w[] : tensor<f32>, !kernel.view<f32, global>
  kernel.store %b, %u[] : tensor<f32>, !kernel.view<f32, global>
  kernel.return
}

// A dot's sums stay in registers, and so does what follows it; two steps of the contraction are a round.
// CHECK-LABEL: kernel.func @dot
// CHECK:       %[[SUMS:.*]]:4 = scf.for %[[K:.*]] = %c0 to %c64 step %c2 iter_args
// CHECK-COUNT-8: math.fma {{.*}} : vector<16xf32>
// CHECK:       arith.maximumf %[[SUMS]]#0
// CHECK:       arith.maximumf %[[SUMS]]#3
kernel.func @dot(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[2, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x64xf32, global>
  %b = kernel.view %w map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x32xf32, global>
  %c = kernel.view %y map <[<[2, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x32xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2x64xf32, global> -> tensor<2x64xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x32xf32, global> -> tensor<64x32xf32>
  %z = arith.constant dense<0.0> : tensor<2x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<2x64xf32>, tensor<64x32xf32> -> tensor<2x32xf32>
  %r = arith.maximumf %d, %z : tensor<2x32xf32>
  kernel.store %r, %c[%c0, %c0] in_bounds [true, true] : tensor<2x32xf32>, !kernel.view<2x32xf32, global>
  kernel.return
}

// A map of two blocks is a transposed buffer read as one row: indices are computed, which here are known.
// CHECK-LABEL: kernel.func @blocks
// CHECK:       arith.constant dense<[0, 2, 4, 1, 3, 5, 2, 4]> : vector<8xi32>
// CHECK:       kernel.gather {{.*}} -> vector<8xf32>
// SCALAR-LABEL: kernel.func @blocks
// SCALAR:       scf.for %[[I:.*]] = %c0 to %c6
// SCALAR:         arith.remui %[[I]], %c3
// SCALAR:         arith.divui %[[I]], %c3
// SCALAR:         kernel.load {{.*}} -> f32
kernel.func @blocks(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[6] strides [1]>, <[2, 3] strides [1, 2]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %w = kernel.view %y map <[<[6] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<6xf32, global> -> tensor<6xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<6xf32>, !kernel.view<6xf32, global>
  kernel.return
}

// The same numbers repeated along rows here and along columns there: two axes in spite of one op.
// The last two lanes of a sum are added as scalars.
// CHECK-LABEL: kernel.func @broadcast_in_two_roles
// CHECK:       scf.for %[[I:.*]] =
// CHECK:         scf.for %[[J:.*]] =
// CHECK:           kernel.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %{{.*}}]
// CHECK-NOT:   vector<1x
kernel.func @broadcast_in_two_roles(%x: !kernel.buffer<f32, global>, %k: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[40, 5] strides [5, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<40x5xf32, global>
  %kv = kernel.view %k map <[<[5] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<5xf32, global>
  %w = kernel.view %y map <[<[40, 40, 5] strides [200, 5, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<40x40x5xf32, global>
  %a = kernel.load %v[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<40x5xf32, global> -> tensor<40x5xf32>
  %b = kernel.load %v[%c0, %c0] axes ["n", "k"] in_bounds [true, true] : !kernel.view<40x5xf32, global> -> tensor<40x5xf32>
  %kt = kernel.load %kv[%c0] axes ["k"] in_bounds [true] : !kernel.view<5xf32, global> -> tensor<5xf32>
  %kb = kernel.broadcast %kt dims [1] : tensor<5xf32> -> tensor<40x5xf32>
  %ak = arith.mulf %a, %kb : tensor<40x5xf32>
  %bk = arith.addf %b, %kb : tensor<40x5xf32>
  %ab = kernel.broadcast %ak dims [0, 2] : tensor<40x5xf32> -> tensor<40x40x5xf32>
  %bb = kernel.broadcast %bk dims [1, 2] : tensor<40x5xf32> -> tensor<40x40x5xf32>
  %s = arith.subf %ab, %bb : tensor<40x40x5xf32>
  kernel.store %s, %w[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<40x40x5xf32>, !kernel.view<40x40x5xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @sum_of_byte_products
// CHECK:       vector.shuffle
// CHECK-NOT:   vector<1x
// CHECK:       kernel.return
kernel.func @sum_of_byte_products(%x: !kernel.buffer<i8, global>, %y: !kernel.buffer<i8, global>, %z: !kernel.buffer<i32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<i8, global> -> !kernel.view<64xi8, global>
  %w = kernel.view %y map <[<[64] strides [1]>]> : !kernel.buffer<i8, global> -> !kernel.view<64xi8, global>
  %u = kernel.view %z map <[<[] strides []>]> : !kernel.buffer<i32, global> -> !kernel.view<i32, global>
  %a = kernel.load %v[%c0] axes ["k"] in_bounds [true] : !kernel.view<64xi8, global> -> tensor<64xi8>
  %b = kernel.load %w[%c0] axes ["k"] in_bounds [true] : !kernel.view<64xi8, global> -> tensor<64xi8>
  %ae = arith.extui %a : tensor<64xi8> to tensor<64xi32>
  %be = arith.extsi %b : tensor<64xi8> to tensor<64xi32>
  %p = arith.muli %ae, %be : tensor<64xi32>
  %s = kernel.reduce add %p dims [0] : tensor<64xi32> -> tensor<i32>
  kernel.store %s, %u[] in_bounds [] : tensor<i32>, !kernel.view<i32, global>
  kernel.return
}
