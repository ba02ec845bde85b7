// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target='target=sm_90a facts=simt.laneRegisters=64,simt.sharedBytes=100000' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   -zyx-kernel-verify-form=form=lowered | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target='target=sm_75 facts=simt.laneRegisters=64,simt.sharedBytes=100000,arithmetic.hasMaximum=true' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s --check-prefix=NONE

!h = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!a = !kernel.view<100x70xbf16, global>
!b = !kernel.view<70x52xbf16, global>
!c = !kernel.view<100x52xf32, global>

// Each of four warps has 16 x 8 of a tile of 32 x 16, and two groups of them a half of each slice. Both factors are read along
// the contraction: a slice has a row for each element of the tile, and rows are an odd multiple of 16 bytes apart.
// CHECK-LABEL: kernel.func @edges
// CHECK-DAG:     %[[A:.*]] = kernel.alloc : <64x40xbf16, shared>
// CHECK-DAG:     %[[B:.*]] = kernel.alloc : <32x40xbf16, shared>
// CHECK-DAG:     %[[PARTS:.*]] = kernel.alloc : <2x2x256xf32, shared>
// CHECK:         scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args(%{{.*}}) -> (vector<4xf32>) {
// CHECK:           kernel.load {{.*}} -> vector<2xbf16>
// CHECK:           arith.negf
// CHECK:           %[[R:.*]] = kernel.warp_read %[[B]][{{.*}}] : <32x40xbf16, shared> -> vector<4xi32>
// CHECK:           %[[L:.*]] = kernel.warp_read %[[A]][{{.*}}] : <64x40xbf16, shared> -> vector<4xi32>
// CHECK:           %[[W:.*]] = vector.shuffle %[[R]], %[[R]] [0, 1]
// CHECK:           kernel.warp_multiply bf16 %[[L]], %[[W]], %{{.*}} : vector<4xi32>, vector<2xi32>, vector<4xf32>
// CHECK:           kernel.store %{{.*}}, %[[B]]
// CHECK:           kernel.store %{{.*}}, %[[A]]
// CHECK:           kernel.barrier workgroup
// CHECK:         kernel.warp_multiply
// CHECK-COUNT-2: kernel.store %{{.*}}, %[[PARTS]]
// CHECK:         kernel.barrier workgroup
// CHECK:         kernel.store {{.*}} : vector<2xf32>, <100x52xf32, global>
// NONE-LABEL:  kernel.func @edges
// NONE-NOT:    threads
// NONE-NOT:    warp_multiply
kernel.func @edges(%x: !h, %w: !h, %y: !f) attributes {threads = 256 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 32>, #kernel.grid_step<"n", 16>, #kernel.block_step<<16 x 8, rows 16, depth 32, pack lhs rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[100, 70] strides [70, 1]>]> : !h -> !a
  %b = kernel.view %w map <[<[70, 52] strides [1, 70]>]> : !h -> !b
  %c = kernel.view %y map <[<[100, 52] strides [52, 1]>]> : !f -> !c
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !a -> tensor<100x70xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<70x52xbf16>
  %nt = arith.negf %bt : tensor<70x52xbf16>
  %z = arith.constant dense<0.0> : tensor<100x52xf32>
  %d = kernel.dot %at, %nt, %z : tensor<100x70xbf16>, tensor<70x52xbf16> -> tensor<100x52xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<100x52xf32>, !c
  kernel.return
}

// Six rows are columns of the unit's blocks: results are written along the rows of its own. The left factor, whose rows of six lie
// side by side, has a row for each step, of which only six elements are brought.
// CHECK-LABEL: kernel.func @few
// CHECK-DAG:     kernel.alloc : <64x24xbf16, shared>
// CHECK-DAG:     kernel.alloc : <64x40xbf16, shared>
// CHECK:         kernel.warp_read %{{.*}}[{{.*}}] transposed : <64x24xbf16, shared> -> vector<4xi32>
// CHECK:         kernel.warp_read %{{.*}}[{{.*}}] : <64x40xbf16, shared> -> vector<4xi32>
kernel.func @few(%x: !h, %w: !h, %y: !f) attributes {threads = 64 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"n", 32>, #kernel.block_step<<8 x 16, rows 8, depth 32, pack lhs rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[6, 70] strides [1, 6]>]> : !h -> !kernel.view<6x70xbf16, global>
  %b = kernel.view %w map <[<[70, 52] strides [1, 70]>]> : !h -> !b
  %c = kernel.view %y map <[<[6, 52] strides [52, 1]>]> : !f -> !kernel.view<6x52xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<6x70xbf16, global> -> tensor<6x70xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<70x52xbf16>
  %z = arith.constant dense<0.0> : tensor<6x52xf32>
  %d = kernel.dot %at, %bt, %z : tensor<6x70xbf16>, tensor<70x52xbf16> -> tensor<6x52xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<6x52xf32>, !kernel.view<6x52xf32, global>
  kernel.return
}

// Two readers of different axes find the sums in memory. A warp has 24 columns and the tile 7 at most, of which rows take 16: vectors that
// begin behind the last column are not written, for they would be elements of the next row, or lie behind the memory.
// CHECK-LABEL: kernel.func @beyond
// CHECK:         %[[SUMS:.*]] = kernel.alloc : <2x16xf32, shared>
// CHECK:         %[[LEFT:.*]] = arith.subi %c8, %{{.*}} : index
// CHECK:         %[[END:.*]] = arith.minsi %[[LEFT]], %c7 : index
// CHECK:         kernel.warp_multiply
// CHECK:         %[[AT:.*]] = arith.muli %{{.*}}, %c2 : index
// CHECK-NEXT:    %[[INSIDE:.*]] = arith.cmpi slt, %[[AT]], %[[END]] : index
// CHECK-NEXT:    scf.if %[[INSIDE]] {
// CHECK-NEXT:      kernel.store %{{.*}}, %[[SUMS]][%{{.*}}, %[[AT]]]
// CHECK:         %[[NEXT:.*]] = arith.addi %[[AT]], %c16 : index
// CHECK-NEXT:    %[[BEYOND:.*]] = arith.cmpi slt, %[[NEXT]], %[[END]] : index
// CHECK-NEXT:    scf.if %[[BEYOND]] {
// CHECK-NEXT:      kernel.store %{{.*}}, %[[SUMS]][%{{.*}}, %[[NEXT]]]
kernel.func @beyond(%x: !h, %w: !h, %y: !f, %z: !f) attributes {threads = 32 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"n", 7>, #kernel.block_step<<32 x 24, rows 32, depth 16, pack lhs rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[2, 2] strides [2, 1]>]> : !h -> !kernel.view<2x2xbf16, global>
  %b = kernel.view %w map <[<[2, 8] strides [1, 2]>]> : !h -> !kernel.view<2x8xbf16, global>
  %c = kernel.view %y map <[<[2, 8] strides [8, 1]>]> : !f -> !kernel.view<2x8xf32, global>
  %e = kernel.view %z map <[<[2, 8, 5] strides [40, 5, 1]>]> : !f -> !kernel.view<2x8x5xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2x2xbf16, global> -> tensor<2x2xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<2x8xbf16, global> -> tensor<2x8xbf16>
  %zero = arith.constant dense<0.0> : tensor<2x8xf32>
  %d = kernel.dot %at, %bt, %zero : tensor<2x2xbf16>, tensor<2x8xbf16> -> tensor<2x8xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<2x8xf32>, !kernel.view<2x8xf32, global>
  %et = kernel.broadcast %d dims [0, 1] : tensor<2x8xf32> -> tensor<2x8x5xf32>
  kernel.store %et, %e[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x8x5xf32>, !kernel.view<2x8x5xf32, global>
  kernel.return
}
