// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target='target=sm_90a facts=simt.laneRegisters=64,simt.sharedBytes=100000' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   -zyx-kernel-verify-form=form=lowered | FileCheck %s

!f = !kernel.buffer<f32, global>
!a = !kernel.view<100x70xf32, global>
!b = !kernel.view<70x52xf32, global>
!c = !kernel.view<100x52xf32, global>

// A workgroup of 64 threads has 32 x 16 of the result, and each thread 4 x 4 of them: two groups, each of which multiplies
// a half of every slice. There are two stages of slices of 16 steps; rows of one begin four banks apart. What is behind the
// end of the contraction is read where something is, and zero. Rows that do not exist are read where the last one is.
// CHECK-LABEL: kernel.func @edges
// CHECK:       kernel.grid (%[[I:.*]], %[[J:.*]]) in [100, 52] step [32, 16] {
// CHECK-DAG:     %[[T:.*]] = kernel.id thread
// CHECK-DAG:     %[[A:.*]] = kernel.alloc : <32x36xf32, shared>
// CHECK-DAG:     %[[B:.*]] = kernel.alloc : <32x20xf32, shared>
// CHECK-DAG:     %[[PARTS:.*]] = kernel.alloc : <2x4x128xf32, shared>
// CHECK:         kernel.barrier workgroup
// CHECK:         arith.negf
// CHECK:         kernel.store %{{.*}}, %[[B]]
// CHECK:         kernel.store %{{.*}}, %[[A]]
// CHECK:         kernel.barrier workgroup
// The next slice is read, this one is multiplied, the next one is written.
// CHECK:         %[[SUMS:.*]]:4 = scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
// CHECK:           arith.cmpi slt, %{{.*}}, %c70
// CHECK:           arith.minsi
// CHECK:           kernel.load %{{.*}} global> -> vector<2xf32>
// CHECK:           arith.negf
// CHECK:           arith.select
// CHECK-NOT:       kernel.store
// CHECK:           kernel.load %[[B]][{{.*}}] : <32x20xf32, shared> -> vector<4xf32>
// CHECK:           kernel.load %[[A]][{{.*}}] : <32x36xf32, shared> -> vector<4xf32>
// CHECK-COUNT-32:  math.fma
// CHECK-NOT:       math.fma
// CHECK:           kernel.store %{{.*}}, %[[B]]
// CHECK:           kernel.store %{{.*}}, %[[A]]
// CHECK:           kernel.barrier workgroup
// CHECK-NEXT:      scf.yield
// CHECK-COUNT-32:math.fma
// Both groups hand over what they have. Then each adds up two of the four vectors, and writes them.
// CHECK-COUNT-4: kernel.store %{{.*}}, %[[PARTS]]
// CHECK:         kernel.barrier workgroup
// CHECK:         scf.if
// CHECK-COUNT-2:   kernel.load %[[PARTS]]
// CHECK:           arith.addf
// CHECK:           kernel.store {{.*}} : vector<4xf32>, <100x52xf32, global>
// CHECK:         scf.if
// CHECK-COUNT-2:   kernel.load %[[PARTS]]
// CHECK:           arith.addf
// CHECK:           kernel.store {{.*}} : vector<4xf32>, <100x52xf32, global>
// CHECK-NOT:     kernel.load %[[PARTS]]
// CHECK:         kernel.return
kernel.func @edges(%x: !f, %w: !f, %y: !f) attributes {threads = 64 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 32>, #kernel.grid_step<"n", 16>, #kernel.block_step<<4 x 4, rows 4, depth 16, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[100, 70] strides [70, 1]>]> : !f -> !a
  %b = kernel.view %w map <[<[70, 52] strides [1, 70]>]> : !f -> !b
  %c = kernel.view %y map <[<[100, 52] strides [52, 1]>]> : !f -> !c
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !a -> tensor<100x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<70x52xf32>
  %nt = arith.negf %bt : tensor<70x52xf32>
  %z = arith.constant dense<0.0> : tensor<100x52xf32>
  %d = kernel.dot %at, %nt, %z : tensor<100x70xf32>, tensor<70x52xf32> -> tensor<100x52xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<100x52xf32>, !c
  kernel.return
}

// Windows with padding are read one by one without a branch: what does not exist is read at the buffer's beginning, and is
// zero. A contraction of one slice has one stage. Sums lie along the rows, along which results do.
// CHECK-LABEL: kernel.func @windows
// CHECK-DAG:     kernel.alloc : <9x20xf32, shared>
// CHECK-DAG:     kernel.alloc : <9x12xf32, shared>
// CHECK:         kernel.barrier workgroup
// CHECK-NOT:     scf.for
// CHECK:         arith.cmpi ult, %{{.*}} : i32
// CHECK:         %[[PLACE:.*]] = arith.select
// CHECK:         arith.index_cast %[[PLACE]] : i32 to index
// CHECK:         kernel.load {{.*}} -> f32
// CHECK:         arith.select {{.*}} : f32
// CHECK:         kernel.barrier workgroup
// CHECK-COUNT-9: math.fma {{.*}} : vector<4xf32>
// CHECK-NOT:     math.fma
// CHECK:         kernel.store {{.*}} : vector<4xf32>
kernel.func @windows(%x: !f, %w: !f, %y: !f) attributes {threads = 32 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 16>, #kernel.grid_step<"n", 8>, #kernel.block_step<<4 x 1, rows 4, depth 16, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[64, 9] strides [9, 1]>, <[8, 8, 3, 3] strides [10, 1, 10, 1]>,
                            <[10, 10] strides [8, 1] offset -9 valid [1 : 9, 1 : 9]>]> : !f -> !kernel.view<64x9xf32, global>
  %b = kernel.view %w map <[<[9, 8] strides [1, 9]>]> : !f -> !kernel.view<9x8xf32, global>
  %c = kernel.view %y map <[<[64, 8] strides [1, 64]>]> : !f -> !kernel.view<64x8xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x9xf32, global> -> tensor<64x9xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<9x8xf32, global> -> tensor<9x8xf32>
  %z = arith.constant dense<0.0> : tensor<64x8xf32>
  %d = kernel.dot %at, %bt, %z : tensor<64x9xf32>, tensor<9x8xf32> -> tensor<64x8xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<64x8xf32>, !kernel.view<64x8xf32, global>
  kernel.return
}

// Sixteen threads of 2 x 2 do not have 32 x 16: a program is one thread, and packs into memory of its own.
// CHECK-LABEL: kernel.func @few
// CHECK-NOT:     threads
// CHECK-NOT:     shared
// CHECK:         kernel.alloc : <{{.*}}xf32, private>
// CHECK-NOT:     shared
// CHECK:         kernel.return
kernel.func @few(%x: !f, %w: !f, %y: !f) attributes {threads = 16 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 32>, #kernel.grid_step<"n", 16>, #kernel.block_step<<2 x 2, rows 2, depth 16, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[64, 70] strides [70, 1]>]> : !f -> !kernel.view<64x70xf32, global>
  %b = kernel.view %w map <[<[70, 32] strides [32, 1]>]> : !f -> !kernel.view<70x32xf32, global>
  %c = kernel.view %y map <[<[64, 32] strides [32, 1]>]> : !f -> !kernel.view<64x32xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x70xf32, global> -> tensor<64x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x32xf32, global> -> tensor<70x32xf32>
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<64x70xf32>, tensor<70x32xf32> -> tensor<64x32xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<64x32xf32>, !kernel.view<64x32xf32, global>
  kernel.return
}

// Of rows that end inside of a tile each is written in a branch: the last slice is multiplied in the loop, as are all,
// and what is behind it is not read.
// CHECK-LABEL: kernel.func @branches
// CHECK-DAG:     kernel.alloc : <32x20xf32, shared>
// CHECK-DAG:     kernel.alloc : <32x20xf32, shared>
// CHECK:         kernel.barrier workgroup
// CHECK:         scf.for %[[SLICE:.*]] = %c0 to %c5 step %c1
// CHECK:           %[[NEXT:.*]] = arith.addi %[[SLICE]], %c1
// CHECK:           %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %c5
// CHECK:           scf.if %[[MORE]] -> (vector<4xf32>,
// CHECK:             kernel.load {{.*}} global>
// CHECK:           } else {
// CHECK:           math.fma
// CHECK:           scf.if %[[MORE]] {
// CHECK:             kernel.store {{.*}} shared>
// CHECK:           }
// CHECK-NEXT:      kernel.barrier workgroup
// CHECK-NEXT:      scf.yield
// CHECK-NOT:     math.fma
// CHECK:         scf.if
// CHECK:           kernel.store {{.*}} : vector<4xf32>, <77x52xf32, global>
// CHECK:         kernel.return
kernel.func @branches(%x: !f, %w: !f, %y: !f) attributes {threads = 16 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 16>, #kernel.grid_step<"n", 16>, #kernel.block_step<<4 x 4, rows 4, depth 16, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[77, 70] strides [1, 77]>]> : !f -> !kernel.view<77x70xf32, global>
  %b = kernel.view %w map <[<[70, 52] strides [52, 1]>]> : !f -> !kernel.view<70x52xf32, global>
  %c = kernel.view %y map <[<[77, 52] strides [52, 1]>]> : !f -> !kernel.view<77x52xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<77x70xf32, global> -> tensor<77x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x52xf32, global> -> tensor<70x52xf32>
  %z = arith.constant dense<0.0> : tensor<77x52xf32>
  %d = kernel.dot %at, %bt, %z : tensor<77x70xf32>, tensor<70x52xf32> -> tensor<77x52xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<77x52xf32>, !kernel.view<77x52xf32, global>
  kernel.return
}
