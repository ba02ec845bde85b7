// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-convert-graph-to-kernel | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=lowered --zyx-kernel-apply-schedule \
// RUN:   --zyx-kernel-attach-target='target=aarch64 facts=vector.bytes=64,simt.sharedBytes=232448' --zyx-kernel-settle-memory --zyx-kernel-lower-tiles --zyx-kernel-verify-form=form=lowered -o /dev/null
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-convert-graph-to-kernel --mlir-disable-threading --remarks-filter=zyx-scalar \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A program walks a strip of neighbouring rows, and carries sums in memory; the last vector has five lanes.
// REMARK: columns_0: 'graph.scan' is computed in vectors of 16 elements
// CHECK-LABEL: kernel.func @columns_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}) in [4, 1029] step [1, 1024]
// CHECK: %[[SUMS:.*]] = kernel.alloc : <1024xf32, private>
// CHECK: kernel.load %[[SUMS]]{{.*}} -> vector<16xf32>
// CHECK: kernel.load %{{.*}} -> vector<16xbf16>
// CHECK: arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: arith.addf %{{.*}} : vector<16xf32>
// CHECK: kernel.store %{{.*}}, %[[SUMS]]
// CHECK: scf.if
// CHECK: vector.constant_mask [5] : vector<16xi1>
func.func @columns(%x: tensor<4x20x1029xbf16>) -> tensor<4x20x1029xbf16> {
  %y = graph.scan add %x dim = 1 : tensor<4x20x1029xbf16>
  return %y : tensor<4x20x1029xbf16>
}

// A row whose elements are neighbours is walked a vector at a time: four shuffles, and one sum with what is carried. The rest of
// eight is walked one by one.
// REMARK: rows_0: 'graph.scan' is computed in vectors of 16 elements
// CHECK-LABEL: kernel.func @rows_0
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK-COUNT-4: vector.shuffle
// CHECK: vector.broadcast %[[SO_FAR]] : f32 to vector<16xf32>
// CHECK: vector.extract %{{.*}}[15]
// CHECK: scf.for
// CHECK-NOT: vector<
func.func @rows(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %y = graph.scan add %x dim = 1 : tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}

// Rows of fewer elements than two vectors are walked one by one.
// REMARK: short_0: 'graph.scan' is computed element by element, without vectors
// CHECK-LABEL: kernel.func @short_0
// CHECK-NOT: vector<
func.func @short(%x: tensor<64x20xf32>) -> tensor<64x20xf32> {
  %y = graph.scan add %x dim = 1 : tensor<64x20xf32>
  return %y : tensor<64x20xf32>
}

// The first five of a row: 32 candidates at a time, and no buffer for a sort. What comes before the last of them is looked
// for in vectors.
// REMARK: first_0_sort: 'graph.sort' is computed in vectors of 16 elements
// CHECK-LABEL: plan.func @first
// CHECK-NOT: plan.alloc
// CHECK-LABEL: kernel.func @first_0_sort
// CHECK: kernel.alloc : <48xi32, private>
// CHECK: vector.reduction <or>, %{{.*}} : vector<16xi1> into i1
func.func @first(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
  %y = graph.sort values %x dim = 1 descending {zyx.first = 5 : i64} : tensor<8x1000xf32> -> tensor<8x1000xf32>
  return %y : tensor<8x1000xf32>
}

// More than half of them is as much as all.
// REMARK: half_0_sort: 'graph.sort' is computed element by element, without vectors
// CHECK-LABEL: plan.func @half
// CHECK: plan.alloc
func.func @half(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
  %y = graph.sort values %x dim = 1 {zyx.first = 600 : i64} : tensor<8x1000xf32> -> tensor<8x1000xf32>
  return %y : tensor<8x1000xf32>
}

// Many rows with few updates: a program fills whole rows as one piece of memory, and takes the updates within them.
// REMARK: filled_0: 'graph.scatter' is computed in vectors of 16 elements
// CHECK-LABEL: kernel.func @filled_0
// CHECK: kernel.grid (%{{.*}}, %[[ROW:.*]]) in [1, 4000] step [1, 55]
// CHECK: scf.for
// CHECK:   kernel.store %{{.*}} : vector<16xf32>
// CHECK: scf.for
// CHECK:   kernel.store %{{.*}} : f32
// CHECK: %[[FIRST:.*]] = arith.index_cast %[[ROW]]
// CHECK: %[[COUNT:.*]] = arith.index_cast
// CHECK: scf.for
// CHECK:   %[[CHOSEN:.*]] = kernel.load %{{.*}} -> i64
// CHECK:   %[[INSIDE:.*]] = arith.subi %[[CHOSEN]], %[[FIRST]]
// CHECK:   arith.cmpi ult, %[[INSIDE]], %[[COUNT]]
// CHECK:   scf.if
// CHECK:     scf.for
// CHECK:       arith.addf %{{.*}} : vector<16xf32>
// CHECK:     scf.for
// CHECK:       arith.addf %{{.*}} : f32
func.func @filled(%i: tensor<9xi64>, %u: tensor<9x300xf32>) -> tensor<4000x300xf32> {
  %y = graph.group (%a = %i : tensor<9xi64>, %b = %u : tensor<9x300xf32>) -> tensor<4000x300xf32> {
    %x = graph.constant dense<0.0> : tensor<4000x300xf32>
    %s = graph.scatter add %x[%a], %b dim = 0 : (tensor<4000x300xf32>, tensor<9xi64>, tensor<9x300xf32>) -> tensor<4000x300xf32>
    graph.yield %s : tensor<4000x300xf32>
  }
  return %y : tensor<4000x300xf32>
}

// Few rows: programs are strips of columns, whose copies and updates are vectors.
// CHECK-LABEL: kernel.func @strips_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}) in [1, 300] step [1, 64]
// CHECK: kernel.load %{{.*}} -> vector<16xf32>
// CHECK: kernel.load %{{.*}} -> i64
// CHECK: arith.addf %{{.*}} : vector<16xf32>
func.func @strips(%t: tensor<16x300xf32>, %i: tensor<9xi64>, %u: tensor<9x300xf32>) -> tensor<16x300xf32> {
  %y = graph.group (%x = %t : tensor<16x300xf32>, %a = %i : tensor<9xi64>, %b = %u : tensor<9x300xf32>) -> tensor<16x300xf32> {
    %s = graph.scatter add %x[%a], %b dim = 0 : (tensor<16x300xf32>, tensor<9xi64>, tensor<9x300xf32>) -> tensor<16x300xf32>
    graph.yield %s : tensor<16x300xf32>
  }
  return %y : tensor<16x300xf32>
}
