// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=33000' -zyx-kernel-settle-memory | FileCheck %s
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=33000' -zyx-kernel-settle-memory \
// RUN:   --remarks-filter=zyx-shared --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=33088' -zyx-kernel-settle-memory \
// RUN:   | FileCheck %s --check-prefix=ENOUGH

// What is counted before a kernel is lowered is what it shares then.
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles \
// RUN:   | zyx-translate --split-input-file --kernel-to-launch-info | FileCheck %s --check-prefix=LAUNCH
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=1' -zyx-kernel-settle-memory \
// RUN:   --remarks-filter=zyx-shared --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNTED

// A row that is kept, and sums that meet: where they are more than there is, the program is one thread, to which the row
// belongs.
// REMARK: ProgramIsOneThread | Category:zyx-shared{{.*}}threads of softmax would share 33088 bytes; there are 33000
// CHECK-LABEL: kernel.func @softmax
// CHECK-NOT:     threads
// CHECK:         kernel.convert %{{.*}} : tensor<1x8192xf32> -> tensor<1x8192xf32, #kernel.memory<private>>
// ENOUGH-LABEL: kernel.func @softmax
// ENOUGH-SAME:    threads = 64
// ENOUGH:         kernel.convert %{{.*}} : tensor<1x8192xf32> -> tensor<1x8192xf32, #kernel.memory<shared>>
// LAUNCH:  kernel softmax
// LAUNCH-NEXT: threads 64 shared 33088
// COUNTED: softmax would share 33088 bytes
#z = #kernel.map<[#kernel.block<[8, 8192] strides [8192, 1]>]>
!z = !kernel.view<8x8192xf32, global>
!buffer = !kernel.buffer<f32, global>
kernel.func @softmax(%x: !buffer, %y: !buffer) attributes {threads = 64 : i64} {
  %xs = kernel.view %x map #z : !buffer -> !z
  %ys = kernel.view %y map #z : !buffer -> !z
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %t = kernel.load %xs[%i, %c0] axes ["r", "c"] in_bounds [true, true] : !z -> tensor<1x8192xf32>
    %e = math.exp %t : tensor<1x8192xf32>
    %k = kernel.convert %e : tensor<1x8192xf32> -> tensor<1x8192xf32, #kernel.memory<shared>>
    %r = kernel.convert %k : tensor<1x8192xf32, #kernel.memory<shared>> -> tensor<1x8192xf32>
    %s = kernel.reduce add %r dims [1] : tensor<1x8192xf32> -> tensor<1xf32>
    %b = kernel.broadcast %s dims [0] : tensor<1xf32> -> tensor<1x8192xf32>
    %d = arith.divf %r, %b : tensor<1x8192xf32>
    kernel.store %d, %ys[%i, %c0] in_bounds [true, true] : tensor<1x8192xf32>, !z
  }
  kernel.return
}

// -----

// Two stages of both factors, and sums of both groups. Its result is stored out of registers.
// LAUNCH:  kernel dot
// LAUNCH-NEXT: threads 64 shared 12800
// COUNTED: dot would share 12800 bytes
!f = !kernel.buffer<f32, global>
kernel.func @dot(%x: !f, %w: !f, %y: !f) attributes {threads = 64 : i64} {
  %a = kernel.view %x map <[<[64, 70] strides [70, 1]>]> : !f -> !kernel.view<64x70xf32, global>
  %b = kernel.view %w map <[<[70, 32] strides [32, 1]>]> : !f -> !kernel.view<70x32xf32, global>
  %c = kernel.view %y map <[<[64, 32] strides [32, 1]>]> : !f -> !kernel.view<64x32xf32, global>
  kernel.grid (%i) in [64] step [32] {
    %c0 = arith.constant 0 : index
    %at = kernel.load %a[%i, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x70xf32, global> -> tensor<32x70xf32>
    %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x32xf32, global> -> tensor<70x32xf32>
    %z = arith.constant dense<0.0> : tensor<32x32xf32>
    %d = kernel.dot %at, %bt, %z {blocking = #kernel.blocking<8 x 4, rows 8, depth 8, pack lhs rhs>} : tensor<32x70xf32>, tensor<70x32xf32> -> tensor<32x32xf32>
    kernel.store %d, %c[%i, %c0] in_bounds [true, true] : tensor<32x32xf32>, !kernel.view<64x32xf32, global>
  }
  kernel.return
}

// -----

// Nobody has said how threads multiply it together.
// REMARK: ProgramIsOneThread | Category:zyx-shared{{.*}}threads of plain do not multiply together what it multiplies
// CHECK-LABEL: kernel.func @plain
// CHECK-NOT:     threads
// CHECK:         kernel.return
!f = !kernel.buffer<f32, global>
kernel.func @plain(%x: !f, %w: !f, %y: !f) attributes {threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !f -> !kernel.view<8x16xf32, global>
  %b = kernel.view %w map <[<[16, 8] strides [8, 1]>]> : !f -> !kernel.view<16x8xf32, global>
  %c = kernel.view %y map <[<[8, 8] strides [8, 1]>]> : !f -> !kernel.view<8x8xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<16x8xf32, global> -> tensor<16x8xf32>
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %d = kernel.dot %at, %bt, %z : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<8x8xf32>, !kernel.view<8x8xf32, global>
  kernel.return
}

// -----

// The other workgroup of the cluster could not read the row.
// REMARK: ProgramIsOneWorkgroup | Category:zyx-shared{{.*}}workgroups of a cluster would read tiles of apart of each other
// CHECK-LABEL: kernel.func @apart
// CHECK-SAME:    attributes {threads = 64 : i64}
// CHECK:         -> tensor<1x2048xf32, #kernel.memory<shared>>
#long = #kernel.map<[#kernel.block<[8, 2048] strides [2048, 1]>]>
!long = !kernel.view<8x2048xf32, global>
!buffer = !kernel.buffer<f32, global>
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

// -----

// What a loop begins with and yields lies in memory.
// CHECK-LABEL: kernel.func @carried
// CHECK:         %[[ZERO:.*]] = kernel.convert %{{.*}} : tensor<8x16xf32> -> tensor<8x16xf32, #kernel.memory<private>>
// CHECK:         %[[BEGIN:.*]] = kernel.convert %[[ZERO]]
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[BEGIN]])
// CHECK:           %[[NEXT:.*]] = kernel.convert %{{.*}} : tensor<8x16xf32> -> tensor<8x16xf32, #kernel.memory<private>>
// CHECK:           %[[YIELDED:.*]] = kernel.convert %[[NEXT]]
// CHECK:           scf.yield %[[YIELDED]]
!buffer = !kernel.buffer<f32, global>
kernel.func @carried(%x: !buffer, %y: !buffer) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %v = kernel.view %x map <[<[8, 16] strides [16, 1]>]> : !buffer -> !kernel.view<8x16xf32, global>
  %w = kernel.view %y map <[<[8, 16] strides [16, 1]>]> : !buffer -> !kernel.view<8x16xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x16xf32, global> -> tensor<8x16xf32>
  %z = arith.constant dense<0.0> : tensor<8x16xf32>
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %z) -> (tensor<8x16xf32>) {
    %b = arith.addf %a, %t : tensor<8x16xf32>
    scf.yield %b : tensor<8x16xf32>
  }
  kernel.store %s, %w[%c0, %c0] in_bounds [true, true] : tensor<8x16xf32>, !kernel.view<8x16xf32, global>
  kernel.return
}

// -----

// Two sums of the same columns, of which groups of threads have rows in turns: rows lie along what the results keep, so
// that no thread has all columns as it has the taps of a window.
// LAUNCH:  kernel columns
// LAUNCH-NEXT: threads 512 shared 16896
!f = !kernel.buffer<f32, global>
!rows = !kernel.view<577x64xf32, global>
kernel.func @columns(%x: !f, %w: !f, %y: !f, %z: !f) attributes {row_groups, threads = 512 : i64} {
  %a = kernel.view %x map <[<[577, 64] strides [64, 1]>]> : !f -> !rows
  %b = kernel.view %w map <[<[577] strides [1]>]> : !f -> !kernel.view<577xf32, global>
  %c = kernel.view %y map <[<[64] strides [1]>]> : !f -> !kernel.view<64xf32, global>
  %d = kernel.view %z map <[<[64] strides [1]>]> : !f -> !kernel.view<64xf32, global>
  kernel.grid (%i) in [64] step [64] {
    %c0 = arith.constant 0 : index
    %at = kernel.load %a[%c0, %i] axes ["k", "n"] in_bounds [true, true] : !rows -> tensor<577x64xf32>
    %bt = kernel.load %b[%c0] axes ["k"] in_bounds [true] : !kernel.view<577xf32, global> -> tensor<577xf32>
    %e = kernel.broadcast %bt dims [0] : tensor<577xf32> -> tensor<577x64xf32>
    %m = arith.mulf %at, %e : tensor<577x64xf32>
    %s = kernel.reduce add %m dims [0] : tensor<577x64xf32> -> tensor<64xf32>
    %t = kernel.reduce add %at dims [0] : tensor<577x64xf32> -> tensor<64xf32>
    kernel.store %s, %c[%i] in_bounds [true] : tensor<64xf32>, !kernel.view<64xf32, global>
    kernel.store %t, %d[%i] in_bounds [true] : tensor<64xf32>, !kernel.view<64xf32, global>
  }
  kernel.return
}
