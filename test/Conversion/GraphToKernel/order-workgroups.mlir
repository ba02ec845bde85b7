// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-convert-graph-to-kernel | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=lowered \
// RUN:   --zyx-kernel-apply-schedule --zyx-kernel-attach-target='target=aarch64 facts=vector.bytes=64,simt.sharedBytes=232448' --zyx-kernel-settle-memory --zyx-kernel-lower-tiles --zyx-kernel-verify-form=form=lowered -o /dev/null
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=65536' --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=SMALL
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-convert-graph-to-kernel --mlir-disable-threading \
// RUN:   --remarks-filter=zyx-scalar --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=8192' --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=LITTLE
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=simt.workgroupThreads=0' --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=LITTLE
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.workgroupThreads=128' --zyx-convert-graph-to-kernel \
// RUN:   | FileCheck %s --check-prefix=LIMIT --implicit-check-not=' threads = {{(129|1[3-9][0-9]|[2-9][0-9][0-9])}}'

// No workgroup has more threads than the record's.
// LIMIT: threads = 128 : i64

// Where there is no room, and where no threads run together, each row is a program's.
// LITTLE-NOT: threads =

// Vectors of a row: each thread has two, and what all have before it goes through shared memory in ten steps. Few workgroups
// have as many threads as there may be.
// REMARK: scan_0: 'graph.scan' is computed by workgroups of 1024 threads
// CHECK-LABEL: kernel.func @scan_0
// CHECK-SAME: threads = 1024
// CHECK: kernel.grid (%[[ROW:.*]], %{{.*}}) in [4, 1] step [1, 1]
// CHECK: %[[SHARED:.*]] = kernel.alloc : <2048xf32, shared>
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = {{.*}}) -> (f32)
// CHECK-COUNT-2: kernel.load {{.*}} -> vector<4xf32>
// CHECK: kernel.store %{{.*}}, %[[SHARED]]
// CHECK-COUNT-11: kernel.barrier workgroup
// CHECK-COUNT-2: kernel.store {{.*}} : vector<4xf32>
// CHECK: kernel.barrier workgroup
// CHECK: scf.yield
func.func @scan(%x: tensor<4x8192xf32>) -> tensor<4x8192xf32> {
  %y = graph.scan add %x dim = 1 reverse : tensor<4x8192xf32>
  return %y : tensor<4x8192xf32>
}

// Of few columns a workgroup has all, and the last elements of the last round are none: they do not change a sum.
// CHECK-LABEL: kernel.func @columns_0
// CHECK-SAME: threads = 256
// CHECK: kernel.grid (%{{.*}}, %{{.*}}) in [2, 3] step [1, 4]
// CHECK: arith.select %{{.*}} : f32
// CHECK: scf.if
func.func @columns(%x: tensor<2x100x3xf16>) -> tensor<2x100x3xf16> {
  %y = graph.scan add %x dim = 1 exclusive : tensor<2x100x3xf16>
  return %y : tensor<2x100x3xf16>
}

// Rows that fit are sorted in shared memory, as words of an element and its place; of 64 bits places are apart.
// CHECK-LABEL: plan.func @sort
// CHECK-NOT: plan.alloc
// CHECK: plan.return
// CHECK-LABEL: kernel.func @sort_0_sort
// CHECK-SAME: threads = 160
// CHECK: kernel.alloc : <2242xi64, shared>
// CHECK-NOT: kernel.alloc
// CHECK: arith.shli
// CHECK: arith.cmpi ult, {{.*}} : i64
// CHECK-LABEL: kernel.func @sort_1_sort
// CHECK: kernel.alloc : <2242xi64, shared>
// CHECK: kernel.alloc : <2242xi32, shared>
func.func @sort(%x: tensor<4x1024xf32>, %z: tensor<4x1024xf64>) -> (tensor<4x1024xi64>, tensor<4x1024xf64>) {
  %y = graph.sort indices %x dim = 1 descending : tensor<4x1024xf32> -> tensor<4x1024xi64>
  %v = graph.sort values %z dim = 1 : tensor<4x1024xf64> -> tensor<4x1024xf64>
  return %y, %v : tensor<4x1024xi64>, tensor<4x1024xf64>
}

// Longer ones are merged in memory of the kernel's own, through shared memory: pairs of tiles of many rows, in one step here,
// which writes the result. A word is its element, but for zeros and NaN. With less to share tiles are smaller.
// CHECK-LABEL: plan.func @long
// CHECK: plan.alloc : !plan.buffer<i64[5200000]>
// CHECK-LABEL: kernel.func @long_0_sort
// CHECK-SAME: min_resident_threads = 1024
// CHECK-SAME: threads = 512
// CHECK: kernel.alloc : <13314xi64, shared>
// CHECK: kernel.alloc : <512xi32, shared>
// CHECK: kernel.store {{.*}} <5200000xi64, global>
// CHECK: kernel.alloc : <512xi32, shared>
// CHECK-NOT: kernel.store {{.*}} <5200000xi64, global>
// CHECK: arith.cmpf one, {{.*}} : bf16
// CHECK: kernel.store {{.*}} <2600000xbf16, global>
// SMALL-LABEL: kernel.func @long_0_sort
// SMALL-SAME: threads = 128
// SMALL: kernel.alloc : <3330xi64, shared>
func.func @long(%x: tensor<200x13000xbf16>) -> tensor<200x13000xbf16> {
  %y = graph.sort values %x dim = 1 : tensor<200x13000xbf16> -> tensor<200x13000xbf16>
  return %y : tensor<200x13000xbf16>
}

// Few of them are a cluster's each, whose workgroups read tiles of each other: three levels of eight.
// CHECK-LABEL: plan.func @clusters
// CHECK-NOT: plan.alloc
// CHECK: plan.return
// CHECK-LABEL: kernel.func @clusters_0_sort
// CHECK-SAME: cluster = 8
// CHECK-SAME: threads = 320
// CHECK: kernel.alloc : <8322xi64, shared>
// CHECK: kernel.id cluster_rank
// CHECK: kernel.barrier cluster
// CHECK-COUNT-3: kernel.alloc : <2xi32, shared>
// SMALL-LABEL: kernel.func @clusters_0_sort
// SMALL-NOT: cluster =
// SMALL: kernel.func
func.func @clusters(%x: tensor<64x32000xf32>) -> tensor<64x32000xi64> {
  %y = graph.sort indices %x dim = 1 : tensor<64x32000xf32> -> tensor<64x32000xi64>
  return %y : tensor<64x32000xi64>
}

// Of wide rows a workgroup has some for each multiprocessor. It lists its updates in their order, and then by rows; teams of threads
// have vectors of some rows each, and write a row once.
// REMARK: scatter_0: 'graph.scatter' is computed by workgroups of 960 threads
// CHECK-LABEL: kernel.func @scatter_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 5000, 768] step [1, 36, 768]
// CHECK: kernel.alloc : <{{.*}}xi32, shared>
// CHECK-COUNT-2: kernel.alloc : <{{.*}}xi16, shared>
// CHECK: arith.addf {{.*}} : vector<4xf32>
func.func @scatter(%x: tensor<5000x768xf32>, %i: tensor<100xi64>, %u: tensor<100x768xf32>) -> tensor<5000x768xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<5000x768xf32>, tensor<100xi64>, tensor<100x768xf32>) -> tensor<5000x768xf32>
  return %y : tensor<5000x768xf32>
}

// Of fewer rows than all teams have, workgroups share columns: a thread has one of some rows.
// REMARK: characters_0: 'graph.scatter' is computed by workgroups of 256 threads
// CHECK-LABEL: kernel.func @characters_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 65, 1024] step [1, 1, 256]
// CHECK-COUNT-2: kernel.alloc {{.*}}i32, shared>
// CHECK: kernel.barrier workgroup
// CHECK: kernel.barrier workgroup
// CHECK: arith.addf
// CHECK: kernel.barrier workgroup
func.func @characters(%x: tensor<65x1024xf32>, %i: tensor<4096xi64>, %u: tensor<4096x1024xf32>) -> tensor<65x1024xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<65x1024xf32>, tensor<4096xi64>, tensor<4096x1024xf32>) -> tensor<65x1024xf32>
  return %y : tensor<65x1024xf32>
}

// Of a few hundred wide rows each has a workgroup, of one team: more of them would have no rows.
// REMARK: letters_0: 'graph.scatter' is computed by workgroups of 192 threads
// CHECK-LABEL: kernel.func @letters_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 256, 768] step [1, 1, 768]
// CHECK: arith.addf {{.*}} : vector<4xf32>
func.func @letters(%x: tensor<256x768xf32>, %i: tensor<4096xi64>, %u: tensor<4096x768xf32>) -> tensor<256x768xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<256x768xf32>, tensor<4096xi64>, tensor<4096x768xf32>) -> tensor<256x768xf32>
  return %y : tensor<256x768xf32>
}

// Of one-element rows a workgroup has as many as there may be threads, so that few read all indices; a thread has its own
// updates behind each other.
// REMARK: ones_0: 'graph.scatter' is computed by workgroups of 1024 threads
// CHECK-LABEL: kernel.func @ones_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 131072, 1] step [1, 1024, 1]
// CHECK-COUNT-4: kernel.alloc {{.*}}i32, shared>
func.func @ones(%x: tensor<131072xf32>, %i: tensor<8192x2xi64>, %u: tensor<8192x2xf32>) -> tensor<131072xf32> {
  %y = graph.scatter set %x[%i], %u dim = 0 : (tensor<131072xf32>, tensor<8192x2xi64>, tensor<8192x2xf32>) -> tensor<131072xf32>
  return %y : tensor<131072xf32>
}

// Many updates of few short rows, as those of a table of positions: with 64 rows each thread would walk two thirds of all
// updates for its own. Each row is a workgroup's. Of fewer updates a workgroup has a row for each turn.
// CHECK-LABEL: kernel.func @table_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 97, 4] step [1, 1, 4]
func.func @table(%x: tensor<97x4xf32>, %i: tensor<49x49xi64>, %u: tensor<49x49x4xf32>) -> tensor<97x4xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<97x4xf32>, tensor<49x49xi64>, tensor<49x49x4xf32>) -> tensor<97x4xf32>
  return %y : tensor<97x4xf32>
}
// CHECK-LABEL: kernel.func @fewer_0
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 97, 4] step [1, 64, 4]
func.func @fewer(%x: tensor<97x4xf32>, %i: tensor<90xi64>, %u: tensor<90x4xf32>) -> tensor<97x4xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<97x4xf32>, tensor<90xi64>, tensor<90x4xf32>) -> tensor<97x4xf32>
  return %y : tensor<97x4xf32>
}

// Few columns of long rows: a workgroup has a sector of them.
// CHECK-LABEL: kernel.func @sectors_0
// CHECK-SAME: threads = 1024
// CHECK: kernel.grid (%{{.*}}, %{{.*}}) in [8, 16] step [1, 8]
func.func @sectors(%x: tensor<8x8192x16xf32>) -> tensor<8x8192x16xf32> {
  %y = graph.scan max %x dim = 1 : tensor<8x8192x16xf32>
  return %y : tensor<8x8192x16xf32>
}

// Rows that begin at no vector go through shared memory, with a slot more for each subgroup; of exclusive, reversed and rounded scans,
// too. Rows of vectors do not.
// CHECK-LABEL: kernel.func @odd_0
// CHECK-SAME: threads = 1024
// CHECK: kernel.alloc : <2048xf32, shared>
// CHECK: kernel.alloc : <16896xf32, shared>
// CHECK-LABEL: kernel.func @odd_1
// CHECK: kernel.alloc : <{{[0-9]+}}xbf16, shared>
// CHECK-LABEL: kernel.func @odd_2
// CHECK: kernel.alloc {{.*}}, shared>
// CHECK-NOT: kernel.alloc
// CHECK: kernel.load {{.*}} -> vector<4xf32>
func.func @odd(%x: tensor<64x50257xf32>, %y: tensor<300x4097xbf16>, %z: tensor<64x50256xf32>) -> (tensor<64x50257xf32>, tensor<300x4097xbf16>, tensor<64x50256xf32>) {
  %a = graph.scan add %x dim = 1 : tensor<64x50257xf32>
  %b = graph.scan add %y dim = 1 exclusive reverse : tensor<300x4097xbf16>
  %c = graph.scan max %z dim = 1 : tensor<64x50256xf32>
  return %a, %b, %c : tensor<64x50257xf32>, tensor<300x4097xbf16>, tensor<64x50256xf32>
}

// Of the first elements alone candidates are sorted: what those threads have, in vectors, whose own first ones come first, up to
// the last of these. There is room for as many as there are threads. Of many rows workgroups have half as many, and few are ranked
// by all; rows that begin at no vector are read element by element.
// CHECK-LABEL: kernel.func @first_0_sort
// CHECK-SAME: threads = 1024
// CHECK: kernel.alloc : <2060xi64, shared>
// CHECK: kernel.alloc : <10xi32, shared>
// CHECK: scf.for
// CHECK-COUNT-4: kernel.load {{.*}} -> vector<4xf32>
// CHECK: arith.cmpi ule
// CHECK: kernel.alloc : <2048xi64, shared>
// CHECK: scf.if
// CHECK-LABEL: kernel.func @first_1_sort
// CHECK-SAME: threads = 512
// CHECK: kernel.load {{.*}} -> bf16
// CHECK-LABEL: kernel.func @first_2_sort
// CHECK-SAME: threads = 64
// CHECK: kernel.alloc : <268xi64, shared>
// CHECK: kernel.alloc : <20xi32, shared>
// CHECK-COUNT-8: arith.extui {{.*}} : i1 to i32
// CHECK: kernel.alloc : <1xi64, shared>
func.func @first(%x: tensor<64x32000xf32>, %y: tensor<512x50257xbf16>, %z: tensor<512x400xf32>) -> (tensor<64x32000xf32>, tensor<512x50257xi64>, tensor<512x400xf32>) {
  %a = graph.sort values %x dim = 1 descending {zyx.first = 10 : i64} : tensor<64x32000xf32> -> tensor<64x32000xf32>
  %b = graph.sort indices %y dim = 1 {zyx.first = 100 : i64} : tensor<512x50257xbf16> -> tensor<512x50257xi64>
  %c = graph.sort values %z dim = 1 {zyx.first = 20 : i64} : tensor<512x400xf32> -> tensor<512x400xf32>
  return %a, %b, %c : tensor<64x32000xf32>, tensor<512x50257xi64>, tensor<512x400xf32>
}

// Of many short rows a workgroup has few threads, with 32 elements each: others have rows of their own meanwhile. Of few
// such rows there are more, with eight each.
// CHECK-LABEL: kernel.func @many_first_0_sort
// CHECK-SAME: threads = 64
// CHECK-LABEL: kernel.func @many_first_1_sort
// CHECK-SAME: threads = 256
func.func @many_first(%x: tensor<4096x2048xf32>, %y: tensor<40x2048xf32>) -> (tensor<4096x2048xf32>, tensor<40x2048xf32>) {
  %a = graph.sort values %x dim = 1 descending {zyx.first = 8 : i64} : tensor<4096x2048xf32> -> tensor<4096x2048xf32>
  %b = graph.sort values %y dim = 1 descending {zyx.first = 8 : i64} : tensor<40x2048xf32> -> tensor<40x2048xf32>
  return %a, %b : tensor<4096x2048xf32>, tensor<40x2048xf32>
}
// Of short rows each lane of a subgroup sorts eight elements or more in registers: words of 32 bits, with places in their last
// bits. Lists are merged in as many steps as halve the lanes, by reading each other's registers; rows share workgroups of whole
// subgroups. Of f32 a word lacks some bits: where more than six may come first, words of 64 bits are sorted. All of a bf16 is in
// a word. Where more first ones are wanted than registers have room for, all candidates are sorted.
// CHECK-LABEL: kernel.func @lists_0_sort
// CHECK-SAME: threads = 128
// CHECK-NOT: kernel.alloc
// CHECK: kernel.grid (%{{.*}}) in [4000] step [16]
// CHECK-COUNT-2: kernel.load {{.*}} -> vector<4xf32>
// CHECK: arith.minui {{.*}} : i32
// CHECK-COUNT-24: kernel.shuffle {{.*}} : i32
// CHECK-COUNT-5: kernel.shuffle {{.*}} : i32
// CHECK: scf.if
// CHECK-COUNT-24: kernel.shuffle {{.*}} : i64
// CHECK: } else {
// CHECK-COUNT-7: kernel.shuffle {{.*}} : i64
// CHECK-NOT: kernel.barrier
// CHECK-LABEL: kernel.func @lists_1_sort
// CHECK-SAME: threads = 128
// CHECK: kernel.grid (%{{.*}}) in [7] step [4]
// CHECK-COUNT-5: kernel.shuffle {{.*}} : i32
// CHECK-NOT: kernel.shuffle
// CHECK-LABEL: kernel.func @lists_2_sort
// CHECK-SAME: threads = 64
// CHECK: kernel.alloc : <268xi64, shared>
func.func @lists(%x: tensor<4000x64xf32>, %y: tensor<7x200xbf16>, %z: tensor<7x512xf32>) -> (tensor<4000x64xi64>, tensor<7x200xbf16>, tensor<7x512xf32>) {
  %i = graph.sort indices %x dim = 1 descending {zyx.first = 6 : i64} : tensor<4000x64xf32> -> tensor<4000x64xi64>
  %v = graph.sort values %y dim = 1 {zyx.first = 1 : i64} : tensor<7x200xbf16> -> tensor<7x200xbf16>
  %w = graph.sort values %z dim = 1 {zyx.first = 17 : i64} : tensor<7x512xf32> -> tensor<7x512xf32>
  return %i, %v, %w : tensor<4000x64xi64>, tensor<7x200xbf16>, tensor<7x512xf32>
}

// Of sorted runs each element is put where it belongs by a thread of its own.
// CHECK-LABEL: kernel.func @runs_0_sort
// CHECK-SAME: threads = 256
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [1, 8192, 1] step [1, 256, 1]
// CHECK-NOT: kernel.alloc
// CHECK-NOT: kernel.barrier
func.func @runs(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %y = graph.sort values %x dim = 0 {zyx.runs = 4 : i64} : tensor<8192xf32> -> tensor<8192xf32>
  return %y : tensor<8192xf32>
}

// Of many runs a workgroup sorts what belongs to its tile, and has room for more: a bisection of pivots stops when that
// is enough. A thread looks after a run, and only tiles of the first elements are made.
// REMARK: many_runs_0_sort: 'graph.sort' is computed by workgroups of 256 threads
// CHECK-LABEL: kernel.func @many_runs_0_sort
// CHECK-SAME: threads = 256
// CHECK: kernel.grid (%{{.*}}, %{{.*}}, %{{.*}}) in [2, 20000, 1] step [1, 1280, 1]
// CHECK: kernel.alloc : <3586xi64, shared>
// CHECK: scf.while
// CHECK: scf.while
// CHECK: kernel.barrier
// Words of 64 bits have their places beside them.
// CHECK-LABEL: kernel.func @many_runs_1_sort
// CHECK: kernel.alloc : <{{.*}}xi64, shared>
// CHECK: kernel.alloc : <{{.*}}xi32, shared>
// CHECK: scf.while
func.func @many_runs(%x: tensor<2x32768xf32>, %y: tensor<1x32768xi64>) -> (tensor<2x32768xi64>, tensor<1x32768xi64>) {
  %i = graph.sort indices %x dim = 1 descending {zyx.first = 20000 : i64, zyx.runs = 16 : i64} : tensor<2x32768xf32> -> tensor<2x32768xi64>
  %v = graph.sort values %y dim = 1 {zyx.runs = 16 : i64} : tensor<1x32768xi64> -> tensor<1x32768xi64>
  return %i, %v : tensor<2x32768xi64>, tensor<1x32768xi64>
}

// Short rows, and many columns side by side, are walked by a thread each.
// A row of up to 32 elements is in a thread's registers.
// REMARK: short_0_sort: 'graph.sort' is computed element by element, without vectors
// REMARK: short_1: 'graph.scan' is computed element by element, without vectors
// CHECK-LABEL: plan.func @short
// CHECK-NOT: plan.alloc
// CHECK: plan.return
// CHECK-LABEL: kernel.func @short_0_sort
// CHECK-NOT: threads
// CHECK-LABEL: kernel.func @short_1
// CHECK-NOT: threads
func.func @short(%x: tensor<4x16xf32>, %z: tensor<100x100000xf32>) -> (tensor<4x16xf32>, tensor<100x100000xf32>) {
  %y = graph.sort values %x dim = 1 : tensor<4x16xf32> -> tensor<4x16xf32>
  %w = graph.scan add %z dim = 0 : tensor<100x100000xf32>
  return %y, %w : tensor<4x16xf32>, tensor<100x100000xf32>
}
