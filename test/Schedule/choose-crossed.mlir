// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose -zyx-kernel-apply-schedule -cse | FileCheck %s --check-prefix=LOOP
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose -zyx-kernel-apply-schedule -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   | FileCheck %s --check-prefix=THREADS
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.workgroupThreads=128' -zyx-schedule-choose \
// RUN:   | FileCheck %s --check-prefix=LIMIT --implicit-check-not=' threads = {{(129|1[3-9][0-9]|[2-9][0-9][0-9])}}'

// No workgroup has more threads than the record's.
// LIMIT: threads = 128 : i64

// Sums along rows and sums across them: a workgroup has a part of the rows, and walks it row by row.
// CHECK-LABEL: kernel.func @crossed
// CHECK-SAME: min_resident_threads = 1024 : i64
// CHECK-SAME: [#kernel.grid_step<"p", 1>, #kernel.online_step<"r", 1>]
// CHECK-SAME: threads = 256

// What has the rows' axis is stored in the loop, which carries the columns' sums. A sum of one row is that row.
// LOOP-LABEL: kernel.func @crossed
// LOOP: kernel.grid (%[[P:.*]]) in [256]
// LOOP: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<1x8192xf32>
// LOOP: %[[SUMS:.*]] = scf.for %[[R:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[BEFORE:.*]] = %[[ZERO]])
// LOOP:   kernel.load %{{.*}}[%[[P]], %[[R]], %{{.*}}] {{.*}} -> tensor<1x1x8192xf32>
// LOOP:   kernel.reduce add %{{.*}} dims [2] : tensor<1x1x8192xf32> -> tensor<1x1xf32>
// LOOP:   %[[D:.*]] = arith.subf
// LOOP:   %[[ROW:.*]] = kernel.reshape %[[D]] : tensor<1x1x8192xf32> -> tensor<1x8192xf32>
// LOOP:   %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[ROW]]
// LOOP:   kernel.store %[[D]], %{{.*}}[%[[P]], %[[R]],
// LOOP:   scf.yield %[[AFTER]]
// LOOP: kernel.store %[[SUMS]], %{{.*}}[%[[P]],

// Each thread adds to its own places in shared memory: the rows' sums have their barriers, and others read behind the loop.
// Each of its vectors of the row is read once.
// THREADS-LABEL: kernel.func @crossed
// THREADS: %[[SUMS:.*]] = kernel.alloc : <1x8192xf32, shared>
// THREADS: kernel.barrier workgroup
// THREADS: scf.for
// THREADS-COUNT-8: kernel.load {{.*}}256x32x8192xf32, global> -> vector<4xf32>
// THREADS-COUNT-2: kernel.barrier workgroup
// THREADS-NOT: kernel.barrier
// THREADS-NOT: kernel.load {{.*}}global
// THREADS: kernel.load %[[SUMS]]
// THREADS: kernel.store {{.*}}, %[[SUMS]]
// THREADS-NOT: kernel.load {{.*}}global
// THREADS: }
// THREADS-NEXT: kernel.barrier workgroup
// THREADS: kernel.load %[[SUMS]]
!f = !kernel.buffer<f32, global>
#all = #kernel.map<[#kernel.block<[256, 32, 8192] strides [262144, 8192, 1]>]>
!all = !kernel.view<256x32x8192xf32, global>
#columns = #kernel.map<[#kernel.block<[256, 8192] strides [8192, 1]>]>
!columns = !kernel.view<256x8192xf32, global>
kernel.func @crossed(%x: !f, %y: !f, %z: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f -> !all
  %ys = kernel.view %y map #all : !f -> !all
  %zs = kernel.view %z map #columns : !f -> !columns
  %t = kernel.load %xs[%c0, %c0, %c0] axes ["p", "r", "c"] in_bounds [true, true, true] : !all -> tensor<256x32x8192xf32>
  %s = kernel.reduce add %t dims [2] : tensor<256x32x8192xf32> -> tensor<256x32xf32>
  %b = kernel.broadcast %s dims [0, 1] : tensor<256x32xf32> -> tensor<256x32x8192xf32>
  %d = arith.subf %t, %b : tensor<256x32x8192xf32>
  %a = kernel.reduce add %d dims [1] : tensor<256x32x8192xf32> -> tensor<256x8192xf32>
  kernel.store %d, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<256x32x8192xf32>, !all
  kernel.store %a, %zs[%c0, %c0] in_bounds [true, true] : tensor<256x8192xf32>, !columns
  kernel.return
}
