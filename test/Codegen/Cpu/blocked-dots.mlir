// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse | FileCheck %s --check-prefix=APPLIED
// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   -zyx-kernel-verify-form=form=lowered | FileCheck %s

!a = !kernel.view<24x64xf32, global>
!b = !kernel.view<64x40xf32, global>
!c = !kernel.view<24x40xf32, global>

// Two pieces of the contraction of 32 steps, both factors packed. Forty columns are a panel of 32 and one of 8,
// of one vector under a mask; twenty-four rows are two tiles. Sums of the first piece wait in the output, the
// bias is added in registers with the second.
// APPLIED-LABEL: kernel.func @packed
// APPLIED-NOT:   schedule
// APPLIED:       kernel.dot {{.*}} blocking <12 x 32, rows 12, depth 32, pack lhs rhs> :

// CHECK-LABEL: kernel.func @packed
// CHECK-DAG:   %[[A:.*]] = kernel.alloc : <16x32xf32, private>
// CHECK-DAG:   %[[B:.*]] = kernel.alloc : <2x32x32xf32, private>
// CHECK:       scf.for %[[K:.*]] = %c0 to %c64 step %c32 {
// CHECK-DAG:     %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK-DAG:     %[[LAST:.*]] = arith.cmpi eq, %[[K]], %c32
// CHECK:         kernel.store %{{.*}}, %[[B]][%c0, %{{.*}}, %{{.*}}] : vector<16xf32>
// CHECK:         kernel.load %{{.*}} mask %{{.*}} -> vector<16xf32>
// CHECK:         kernel.store %{{.*}}, %[[B]][%c1, %{{.*}}, %c0] : vector<16xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c24 step %c12 {
// CHECK:           kernel.store %{{.*}}, %[[A]][%{{.*}}, %{{.*}}] : vector<16xf32>
// CHECK:           %[[SUMS:.*]]:24 = scf.if %[[FIRST]]
// CHECK:           %[[NEXT:.*]]:24 = scf.for %{{.*}} = %c0 to %c32 step %c2 iter_args({{.*}} = %[[SUMS]]#0,
// CHECK-COUNT-2:     kernel.load %[[B]][{{.*}}] : {{.*}} -> vector<16xf32>
// CHECK:             kernel.load %[[A]][{{.*}}] : {{.*}} -> f32
// CHECK-COUNT-24:    math.fma
// CHECK-COUNT-2:     kernel.load %[[B]][{{.*}}] : {{.*}} -> vector<16xf32>
// CHECK-COUNT-24:    math.fma
// CHECK-NOT:         math.fma
// CHECK:           scf.if %[[LAST]] {
// CHECK-COUNT-24:    arith.addf
// CHECK:           } else {
// CHECK-NOT:         arith.addf
// CHECK:           %[[SUMS1:.*]]:12 = scf.if %[[FIRST]]
// CHECK:             kernel.load %{{.*}} mask
// CHECK-COUNT-12:    math.fma
// CHECK:             kernel.store {{.*}} mask
kernel.func @packed(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>,
                    %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 12, depth 32, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !a
  %b = kernel.view %w map <[<[64, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !b
  %r = kernel.view %v map <[<[40] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<40xf32, global>
  %c = kernel.view %y map <[<[24, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !c
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !a -> tensor<24x64xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<64x40xf32>
  %z = arith.constant dense<0.0> : tensor<24x40xf32>
  %d = kernel.dot %at, %bt, %z : tensor<24x64xf32>, tensor<64x40xf32> -> tensor<24x40xf32>
  %rt = kernel.load %r[%c0] axes ["n"] in_bounds [true] : !kernel.view<40xf32, global> -> tensor<40xf32>
  %rb = kernel.broadcast %rt dims [1] : tensor<40xf32> -> tensor<24x40xf32>
  %s = arith.addf %d, %rb : tensor<24x40xf32>
  kernel.store %s, %c[%c0, %c0] in_bounds [true, true] : tensor<24x40xf32>, !c
  kernel.return
}

// The right factor lies along k: squares of sixteen vectors are transposed by 64 shuffles on the way.
// CHECK-LABEL: kernel.func @transposed
// CHECK:       %[[B:.*]] = kernel.alloc : <1x64x32xf32, private>
// CHECK-COUNT-16: kernel.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT:      vector.shuffle
// CHECK-COUNT-16: kernel.store %{{.*}}, %[[B]]
// CHECK:       math.fma
kernel.func @transposed(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 24, depth 64, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !a
  %b = kernel.view %w map <[<[64, 32] strides [1, 64]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x32xf32, global>
  %c = kernel.view %y map <[<[24, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x32xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !a -> tensor<24x64xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x32xf32, global> -> tensor<64x32xf32>
  %z = arith.constant dense<0.0> : tensor<24x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<24x64xf32>, tensor<64x32xf32> -> tensor<24x32xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<24x32xf32>, !kernel.view<24x32xf32, global>
  kernel.return
}

// Both factors lie along k: twelve sums of sixteen lanes each, whose lanes are added up behind the loops, of eight and of
// four of them together; the last six of seventy steps are under a mask, and count for nothing beyond it.
// CHECK-LABEL: kernel.func @along_depth
// CHECK-NOT:   kernel.alloc
// CHECK:       %[[SUMS:.*]]:12 = scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK-COUNT-6: kernel.load {{.*}} -> vector<16xf32>
// CHECK-COUNT-12: math.fma {{.*}} : vector<16xf32>
// CHECK:       kernel.load {{.*}} mask
// CHECK-NEXT:  arith.select
// CHECK-COUNT-12: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT:   math.fma
// CHECK:       vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK:       vector.shuffle {{.*}} [0, 2, 4, 6] : vector<8xf32>
kernel.func @along_depth(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<2 x 6 along depth, rows 2, depth 70>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[2, 70] strides [70, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x70xf32, global>
  %b = kernel.view %w map <[<[70, 12] strides [1, 70]>]> : !kernel.buffer<f32, global> -> !kernel.view<70x12xf32, global>
  %c = kernel.view %y map <[<[2, 12] strides [12, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x12xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2x70xf32, global> -> tensor<2x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x12xf32, global> -> tensor<70x12xf32>
  %z = arith.constant dense<0.0> : tensor<2x12xf32>
  %d = kernel.dot %at, %bt, %z : tensor<2x70xf32>, tensor<70x12xf32> -> tensor<2x12xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<2x12xf32>, !kernel.view<2x12xf32, global>
  kernel.return
}

// A left factor that is computed is packed first, once for all columns. Its last lanes are left out with those of the
// right one.
// CHECK-LABEL: kernel.func @packed_along_depth
// CHECK:       %[[LHS:.*]] = kernel.alloc : <2x80xf32, private>
// CHECK:       arith.mulf {{.*}} : vector<16xf32>
// CHECK:       kernel.store %{{.*}}, %[[LHS]]
// CHECK:       kernel.load %[[LHS]][%{{.*}}, %{{.*}}] : <2x80xf32, private> -> vector<16xf32>
// CHECK-NOT:   arith.mulf
// CHECK-COUNT-12: math.fma {{.*}} : vector<16xf32>
// CHECK:       kernel.load %[[LHS]]
// CHECK:       arith.select
// CHECK:       kernel.return
kernel.func @packed_along_depth(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<2 x 6 along depth, rows 2, depth 70, pack lhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[2, 70] strides [70, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x70xf32, global>
  %b = kernel.view %w map <[<[70, 12] strides [1, 70]>]> : !kernel.buffer<f32, global> -> !kernel.view<70x12xf32, global>
  %c = kernel.view %y map <[<[2, 12] strides [12, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x12xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2x70xf32, global> -> tensor<2x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x12xf32, global> -> tensor<70x12xf32>
  %q = arith.mulf %at, %at : tensor<2x70xf32>
  %z = arith.constant dense<0.0> : tensor<2x12xf32>
  %d = kernel.dot %q, %bt, %z : tensor<2x70xf32>, tensor<70x12xf32> -> tensor<2x12xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<2x12xf32>, !kernel.view<2x12xf32, global>
  kernel.return
}

// Nothing is packed, and blocks of rows are tiles: all columns are passed for the rows of one tile. The fifth step
// of the contraction is left over by rounds of two.
// CHECK-LABEL: kernel.func @in_place
// CHECK-NOT:   kernel.alloc
// CHECK:       scf.for %{{.*}} = %c0 to %c8 step %c4 {
// CHECK:         scf.for %{{.*}} = %c0 to %c32 step %c16 {
// CHECK:           scf.for %{{.*}} = %c0 to %c4 step %c2 iter_args
// CHECK-COUNT-8:     math.fma
// CHECK-NOT:         math.fma
// CHECK:             scf.yield
// CHECK-COUNT-4:   math.fma
// CHECK-NOT:       math.fma
// CHECK-COUNT-4:   kernel.store
kernel.func @in_place(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<4 x 16, rows 4, depth 5>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 5] strides [5, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x5xf32, global>
  %b = kernel.view %w map <[<[5, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<5x32xf32, global>
  %c = kernel.view %y map <[<[8, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x32xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x5xf32, global> -> tensor<8x5xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<5x32xf32, global> -> tensor<5x32xf32>
  %z = arith.constant dense<0.0> : tensor<8x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x5xf32>, tensor<5x32xf32> -> tensor<8x32xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x32xf32>, !kernel.view<8x32xf32, global>
  kernel.return
}
