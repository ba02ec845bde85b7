// RUN: zyx-opt %s -zyx-kernel-stage-reused -zyx-kernel-attach-target='target=aarch64 facts=simt.sharedBytes=232448' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -zyx-kernel-expand-math -zyx-kernel-verify-form=form=lowered | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s --check-prefix=GPU
// RUN: zyx-opt %s -zyx-kernel-stage-reused -zyx-kernel-attach-target='target=aarch64 facts=simt.sharedBytes=33000' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles \
// RUN:   --remarks-filter=zyx-shared --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=LITTLE

// Threads take the vectors of a row in turn, each as many further as there are threads. Their sums meet in
// shared memory, in groups of 16 and then all.

// CHECK-LABEL: kernel.func @mean
// CHECK: kernel.grid (%[[ROW:.*]]) in [8]
// CHECK-DAG: %[[PARTS:.*]] = kernel.alloc : <64xf32, shared>
// CHECK-DAG: %[[SUMS:.*]] = kernel.alloc : <4xf32, shared>
// CHECK-DAG: %[[T:.*]] = kernel.id thread
// CHECK: %[[FIRST:.*]] = arith.muli %[[T]], %{{.*}} : index
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %{{.*}} iter_args
// CHECK: kernel.load %{{.*}} -> vector<4xf32>
// The last vector, of which three lanes exist.
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.create_mask
// CHECK: kernel.store %{{.*}}, %[[PARTS]][%[[T]]]
// CHECK: kernel.barrier workgroup
// CHECK: scf.if
// CHECK-COUNT-16: kernel.load %[[PARTS]]
// CHECK: kernel.store %{{.*}}, %[[SUMS]]
// CHECK: kernel.barrier workgroup
// CHECK-COUNT-4: kernel.load %[[SUMS]]
// CHECK: scf.for
// CHECK: kernel.store {{.*}} : vector<4xf32>
#x = #kernel.map<[#kernel.block<[8, 5003] strides [5003, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<8x5003xf32, global>
kernel.func @mean(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !x -> tensor<1x5003xf32>
    %s = kernel.reduce add %t dims [1] : tensor<1x5003xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x5003xf32>
    %d = arith.subf %t, %b : tensor<1x5003xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x5003xf32>, !x
  }
  kernel.return
}

// Exponentials that two loops use are kept in shared memory, with barriers before and behind.

// Where there is too little of it, a program is one thread.
// LITTLE: ProgramIsOneThread | Category:zyx-shared{{.*}}threads of softmax would share 33088 bytes; there are 33000
// LITTLE: kernel.func @mean({{.*}}threads = 64
// LITTLE: kernel.func @softmax
// LITTLE-NOT: threads
// LITTLE: kernel.alloc : <1x8192xf32, private>
// LITTLE-NOT: barrier
// LITTLE: kernel.return

// CHECK-LABEL: kernel.func @softmax
// CHECK: kernel.alloc : <1x8192xf32, shared>
// CHECK: kernel.barrier workgroup
// CHECK: scf.for
// CHECK: kernel.store {{.*}} : vector<4xf32>, <1x8192xf32, shared>
// CHECK: kernel.barrier workgroup
#z = #kernel.map<[#kernel.block<[8, 8192] strides [8192, 1]>]>
!z = !kernel.view<8x8192xf32, global>
kernel.func @softmax(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #z : !buffer -> !z
  %ys = kernel.view %y map #z : !buffer -> !z
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !z -> tensor<1x8192xf32>
    %e = math.exp %t : tensor<1x8192xf32>
    %s = kernel.reduce add %e dims [1] : tensor<1x8192xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x8192xf32>
    %d = arith.divf %e, %b : tensor<1x8192xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x8192xf32>, !z
  }
  kernel.return
}

// A row of which each thread has four vectors stays in registers: no loops, and nothing is kept.

// CHECK-LABEL: kernel.func @short
// CHECK-COUNT-2: kernel.alloc
// CHECK-NOT: kernel.alloc
// CHECK-NOT: scf.for
// CHECK-COUNT-4: kernel.load {{.*}} : <8x1024xf32, global> -> vector<4xf32>
// CHECK: kernel.barrier
// CHECK: kernel.barrier
// CHECK-NOT: kernel.barrier
// CHECK-COUNT-4: kernel.store {{.*}} : vector<4xf32>, <8x1024xf32, global>
#short = #kernel.map<[#kernel.block<[8, 1024] strides [1024, 1]>]>
!short = !kernel.view<8x1024xf32, global>
kernel.func @short(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #short : !buffer -> !short
  %ys = kernel.view %y map #short : !buffer -> !short
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !short -> tensor<1x1024xf32>
    %e = math.exp %t : tensor<1x1024xf32>
    %s = kernel.reduce add %e dims [1] : tensor<1x1024xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x1024xf32>
    %d = arith.divf %e, %b : tensor<1x1024xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x1024xf32>, !short
  }
  kernel.return
}

// All sums meet in the same memory, however many there are.

// CHECK-LABEL: kernel.func @two_sums
// CHECK-COUNT-2: kernel.alloc
// CHECK-NOT: kernel.alloc
// CHECK-COUNT-4: kernel.barrier workgroup
// CHECK-NOT: kernel.barrier workgroup
#one = #kernel.map<[#kernel.block<[1] strides [1]>]>
!one = !kernel.view<1xf32, global>
!row = !kernel.view<1x1024xf32, global>
#row = #kernel.map<[#kernel.block<[1, 1024] strides [1024, 1]>]>
kernel.func @two_sums(%x: !buffer, %z: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #row : !buffer -> !row
  %zs = kernel.view %z map #row : !buffer -> !row
  %ys = kernel.view %y map #one : !buffer -> !one
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !row -> tensor<1x1024xf32>
  %u = kernel.load %zs[%c0, %c0] axes ["r", "d"] in_bounds [true, true] : !row -> tensor<1x1024xf32>
  %s = kernel.reduce add %t dims [1] : tensor<1x1024xf32> -> tensor<1xf32>
  %p = kernel.reduce add %u dims [1] : tensor<1x1024xf32> -> tensor<1xf32>
  %b = arith.addf %s, %p : tensor<1xf32>
  kernel.store %b, %ys[%c0] in_bounds [true] : tensor<1xf32>, !one
  kernel.return
}

// Where the last round has not something for all threads, the others read what its last one has, add nothing and write
// nothing. What has been read is not read again.

// CHECK-LABEL: kernel.func @uneven
// CHECK-NOT: scf.for
// CHECK: %[[IS:.*]] = arith.cmpi ule, %[[AT:.*]], %[[LAST:.*]] : index
// CHECK: %[[OWN:.*]] = arith.minui %[[AT]], %[[LAST]] : index
// CHECK: %[[V:.*]] = kernel.load {{.*}}%[[OWN]]] : <8x1040xf32, global> -> vector<4xf32>
// CHECK: %[[NEXT:.*]] = arith.addf
// CHECK: arith.select %[[IS]], %[[NEXT]], {{.*}} : vector<4xf32>
// CHECK: kernel.barrier
// CHECK: %[[AGAIN:.*]] = arith.cmpi ule
// CHECK-NOT: kernel.load {{.*}}global
// CHECK-COUNT-4: kernel.store {{.*}} : vector<4xf32>, <8x1040xf32, global>
// CHECK: scf.if %[[AGAIN]] {
// CHECK-NEXT: kernel.store {{.*}} : vector<4xf32>, <8x1040xf32, global>
#uneven = #kernel.map<[#kernel.block<[8, 1040] strides [1040, 1]>]>
!uneven = !kernel.view<8x1040xf32, global>
kernel.func @uneven(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #uneven : !buffer -> !uneven
  %ys = kernel.view %y map #uneven : !buffer -> !uneven
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !uneven -> tensor<1x1040xf32>
    %s = kernel.reduce add %t dims [1] : tensor<1x1040xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x1040xf32>
    %d = arith.subf %t, %b : tensor<1x1040xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x1040xf32>, !uneven
  }
  kernel.return
}

// Workgroups of a cluster hand what they have to all of them. With one exchange, nobody comes to the next program's before
// all have read.

// CHECK-LABEL: kernel.func @cluster
// CHECK-DAG: %[[PLACES:.*]] = kernel.alloc : <2xf32, shared>
// CHECK-DAG: %[[T:.*]] = kernel.id thread
// CHECK-DAG: %[[G:.*]] = kernel.id cluster_rank
// CHECK: %[[BEFORE:.*]] = arith.muli %[[G]], %{{.*}} : index
// CHECK: %[[ALL:.*]] = arith.addi %[[BEFORE]], %[[T]] : index
// CHECK-COUNT-4: kernel.load {{.*}} : <8x2048xf32, global> -> vector<4xf32>
// CHECK: kernel.barrier workgroup
// CHECK: kernel.barrier workgroup
// CHECK: %[[OTHER:.*]] = arith.remui %[[T]], %{{.*}} : index
// CHECK: scf.if
// CHECK: %[[PEER:.*]] = kernel.peer %[[PLACES]] of %[[OTHER]]
// CHECK: kernel.store %{{.*}}, %[[PEER]][%[[G]]]
// CHECK: kernel.barrier cluster
// CHECK-COUNT-2: kernel.load %[[PLACES]]
// CHECK-COUNT-4: kernel.store {{.*}} : vector<4xf32>, <8x2048xf32, global>
// CHECK: kernel.barrier cluster
#long = #kernel.map<[#kernel.block<[8, 2048] strides [2048, 1]>]>
!long = !kernel.view<8x2048xf32, global>
kernel.func @cluster(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64, cluster = 2 : i64} {
  %xs = kernel.view %x map #long : !buffer -> !long
  %ys = kernel.view %y map #long : !buffer -> !long
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x2048xf32>
    %s = kernel.reduce add %t dims [1] : tensor<1x2048xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
    %d = arith.subf %t, %b : tensor<1x2048xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x2048xf32>, !long
  }
  kernel.return
}

// One sum belongs to all rows, and has no axis of them; one belongs to each row. Both are one number of a program, which
// each thread has: a cluster has no memory for tiles.

// CHECK-LABEL: kernel.func @sums
// CHECK-SAME: cluster = 2
// CHECK: kernel.grid
// CHECK-COUNT-4: kernel.alloc
// CHECK-NOT: kernel.alloc
// CHECK-COUNT-2: kernel.barrier cluster
// CHECK: kernel.return
#weights = #kernel.map<[#kernel.block<[2048] strides [1]>]>
!weights = !kernel.view<2048xf32, global>
kernel.func @sums(%w: !buffer, %x: !buffer, %y: !buffer) attributes {threads = 64 : i64, cluster = 2 : i64} {
  %ws = kernel.view %w map #weights : !buffer -> !weights
  %xs = kernel.view %x map #long : !buffer -> !long
  %ys = kernel.view %y map #long : !buffer -> !long
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %v = kernel.load %ws[%c0] axes ["c"] in_bounds [true] : !weights -> tensor<2048xf32>
    %all = kernel.reduce add %v dims [0] : tensor<2048xf32> -> tensor<f32>
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x2048xf32>
    %vs = kernel.broadcast %v dims [1] : tensor<2048xf32> -> tensor<1x2048xf32>
    %p = arith.mulf %t, %vs : tensor<1x2048xf32>
    %own = kernel.reduce add %p dims [1] : tensor<1x2048xf32> -> tensor<1xf32>
    %a = kernel.broadcast %all dims [] : tensor<f32> -> tensor<1x2048xf32>
    %b = kernel.broadcast %own dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
    %d = arith.subf %p, %a : tensor<1x2048xf32>
    %e = arith.mulf %d, %b : tensor<1x2048xf32>
    kernel.store %e, %ys[%i, %c0] in_bounds [true, true] : tensor<1x2048xf32>, !long
  }
  kernel.return
}

// What lies in memory that only one workgroup shares would be another one's: then a program is one workgroup's.

// CHECK-LABEL: kernel.func @apart
// CHECK-SAME: attributes {form = #kernel.form<lowered>, threads = 64 : i64}
// CHECK-NOT: barrier cluster
// CHECK: kernel.return
kernel.func @apart(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64, cluster = 2 : i64} {
  %xs = kernel.view %x map #long : !buffer -> !long
  %ys = kernel.view %y map #long : !buffer -> !long
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !long -> tensor<1x2048xf32>
    %m = kernel.convert %t : tensor<1x2048xf32> -> tensor<1x2048xf32, #kernel.memory<shared>>
    %k = kernel.convert %m : tensor<1x2048xf32, #kernel.memory<shared>> -> tensor<1x2048xf32>
    %s = kernel.reduce add %k dims [1] : tensor<1x2048xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
    %d = arith.subf %t, %b : tensor<1x2048xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x2048xf32>, !long
  }
  kernel.return
}

// A thread of a GPU asks for eight vectors before it waits, as often as all threads have so many; and vectors are as long
// as what is read, whatever it is computed in.

// GPU-LABEL: kernel.func @sum
// GPU: scf.for
// GPU-COUNT-8: kernel.load {{.*}} -> vector<8xbf16>
// GPU: scf.yield
// GPU: scf.for
// GPU-COUNT-1: kernel.load {{.*}} -> vector<8xbf16>
// GPU: scf.yield
#sum = #kernel.map<[#kernel.block<[8, 12800] strides [12800, 1]>]>
#out = #kernel.map<[#kernel.block<[8] strides [1]>]>
!half = !kernel.buffer<bf16, global>
!sum = !kernel.view<8x12800xbf16, global>
!out = !kernel.view<8xf32, global>
kernel.func @sum(%x: !half, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #sum : !half -> !sum
  %ys = kernel.view %y map #out : !buffer -> !out
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !sum -> tensor<1x12800xbf16>
    %w = arith.extf %t : tensor<1x12800xbf16> to tensor<1x12800xf32>
    %s = kernel.reduce add %w dims [1] : tensor<1x12800xf32> -> tensor<1xf32>
    kernel.store %s, %ys[%i] in_bounds [true] : tensor<1xf32>, !out
  }
  kernel.return
}

// The maximum of a row and the exponentials of distances to it are had in one walk where the row is no thread's to keep:
// four vectors at once, whose maximum is taken as they are, then what was added up so far shrinks once. What is left is
// one more step, in which threads that have nothing look at what is another's and add nothing.

// GPU-LABEL: kernel.func @log_sum_exp
// GPU: %[[T:.*]] = kernel.id thread
// GPU: %[[BOTH:.*]]:2 = scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (f32, vector<8xf32>)
// GPU-COUNT-4: kernel.load {{.*}} -> vector<8xbf16>
// GPU: arith.maximumf {{.*}} : vector<8xbf16>
// GPU: %[[WIDE:.*]] = arith.extf {{.*}} : bf16 to f32
// GPU: %[[LARGEST:.*]] = arith.maximumf %[[M]], %[[WIDE]] : f32
// GPU: %[[BASE:.*]] = arith.select
// GPU: %[[CHANGE:.*]] = arith.subf %[[M]], %[[BASE]] : f32
// GPU: math.exp %[[CHANGE]] {kernel.nonpositive} : f32
// GPU-COUNT-4: math.exp {{.*}} {kernel.nonpositive} : vector<8xf32>
// GPU: scf.yield %[[LARGEST]], %{{.*}} : f32, vector<8xf32>
// GPU-NOT: scf.for
// GPU: %[[IS:.*]] = arith.cmpi ule
// GPU: %[[HAS:.*]] = arith.cmpi eq, %[[T]]
// GPU: arith.select %[[IS]], {{.*}} : vector<8xf32>
// GPU: arith.select %[[HAS]], {{.*}} : vector<8xf32>
// GPU-COUNT-4: kernel.barrier workgroup
// GPU-NOT: kernel.barrier
// Of the place that is picked alone one element is read.
// GPU: %[[EXISTS:.*]] = arith.cmpi ult, %[[AT:.*]], %{{.*}} : i64
// GPU: %[[PLACE:.*]] = arith.select %[[EXISTS]], %[[AT]]
// GPU: %[[INDEX:.*]] = arith.index_cast %[[PLACE]] : i64 to index
// GPU: kernel.load {{.*}}%[[INDEX]]] : <8x5003xbf16, global> -> bf16
// GPU-NOT: kernel.load
// GPU: kernel.return
#classes = #kernel.map<[#kernel.block<[8, 5003] strides [5008, 1]>]>
!classes = !kernel.view<8x5003xbf16, global>
!targets = !kernel.view<8xi64, global>
!places = !kernel.buffer<i64, global>
kernel.func @log_sum_exp(%x: !half, %p: !places, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #classes : !half -> !classes
  %ps = kernel.view %p map #out : !places -> !targets
  %ys = kernel.view %y map #out : !buffer -> !out
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !classes -> tensor<1x5003xbf16>
    %w = arith.extf %t : tensor<1x5003xbf16> to tensor<1x5003xf32>
    %m = kernel.reduce max %w dims [1] : tensor<1x5003xf32> -> tensor<1xf32>
    %b = kernel.broadcast %m dims [0] : tensor<1xf32> -> tensor<1x5003xf32>
    %d = arith.subf %w, %b : tensor<1x5003xf32>
    %e = math.exp %d : tensor<1x5003xf32>
    %s = kernel.reduce add %e dims [1] : tensor<1x5003xf32> -> tensor<1xf32>
    %n = kernel.iota dim 1 axes ["r", "c"] : tensor<1x5003xi64>
    %at = kernel.load %ps[%i] axes ["r"] in_bounds [true] : !targets -> tensor<1xi64>
    %ats = kernel.broadcast %at dims [0] : tensor<1xi64> -> tensor<1x5003xi64>
    %is = arith.cmpi eq, %n, %ats : tensor<1x5003xi64>
    %zero = arith.constant dense<0.0> : tensor<1x5003xf32>
    %one = arith.select %is, %d, %zero : tensor<1x5003xi1>, tensor<1x5003xf32>
    %picked = kernel.reduce add %one dims [1] : tensor<1x5003xf32> -> tensor<1xf32>
    %r = arith.divf %picked, %s : tensor<1xf32>
    kernel.store %r, %ys[%i] in_bounds [true] : tensor<1xf32>, !out
  }
  kernel.return
}

// Of two rows that a program reads, both are asked for before the first is waited for, and neither is read again.
// GPU-LABEL: kernel.func @ahead
// GPU-COUNT-4: kernel.load {{.*}} : <8x1024xf32, global> -> vector<4xf32>
// GPU-NOT: kernel.load {{.*}}global
// GPU: kernel.barrier
// GPU-NOT: kernel.load {{.*}}global
// GPU: kernel.return
#ahead = #kernel.map<[#kernel.block<[8, 1024] strides [1024, 1]>]>
!ahead = !kernel.view<8x1024xf32, global>
kernel.func @ahead(%x: !buffer, %z: !buffer, %y: !buffer) attributes {threads = 128 : i64} {
  %xs = kernel.view %x map #ahead : !buffer -> !ahead
  %zs = kernel.view %z map #ahead : !buffer -> !ahead
  %ys = kernel.view %y map #ahead : !buffer -> !ahead
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !ahead -> tensor<1x1024xf32>
    %u = kernel.load %zs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !ahead -> tensor<1x1024xf32>
    %s = kernel.reduce add %t dims [1] : tensor<1x1024xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x1024xf32>
    %p = arith.mulf %u, %b : tensor<1x1024xf32>
    %q = kernel.reduce add %p dims [1] : tensor<1x1024xf32> -> tensor<1xf32>
    %c = kernel.broadcast %q dims [0] : tensor<1xf32> -> tensor<1x1024xf32>
    %d = arith.subf %p, %c : tensor<1x1024xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x1024xf32>, !ahead
  }
  kernel.return
}

// In the dimension in front a row is another one each time: none is read before that loop says which.
// GPU-LABEL: kernel.func @images
// GPU: scf.for %[[IMAGE:[a-z0-9]*]] = {{.*}} iter_args({{.*}}) -> (vector<4xf32>)
// GPU-COUNT-4: kernel.load {{.*}}[%[[IMAGE]], {{.*}} : <3x8x1024xf32, global> -> vector<4xf32>
// GPU-NOT: kernel.load {{.*}}global
// GPU: kernel.return
#images = #kernel.map<[#kernel.block<[3, 8, 1024] strides [8192, 1024, 1]>]>
!images = !kernel.view<3x8x1024xf32, global>
#sums = #kernel.map<[#kernel.block<[8] strides [1]>]>
kernel.func @images(%x: !buffer, %z: !buffer, %y: !buffer) attributes {threads = 128 : i64} {
  %xs = kernel.view %x map #images : !buffer -> !images
  %zs = kernel.view %z map #images : !buffer -> !images
  %ys = kernel.view %y map #sums : !buffer -> !out
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%c0, %i, %c0] axes ["n", "r", "c"] in_bounds [true, true, true] : !images -> tensor<3x1x1024xf32>
    %u = kernel.load %zs[%c0, %i, %c0] axes ["n", "r", "c"] in_bounds [true, true, true] : !images -> tensor<3x1x1024xf32>
    %p = arith.mulf %t, %u : tensor<3x1x1024xf32>
    %s = kernel.reduce add %p dims [0, 2] : tensor<3x1x1024xf32> -> tensor<1xf32>
    kernel.store %s, %ys[%i] in_bounds [true] : tensor<1xf32>, !out
  }
  kernel.return
}
