// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-schedule-choose | FileCheck %s --check-prefix=CHOSEN
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-schedule-choose -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target='target=znver4 facts=arithmetic.hasMaximum=true' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-schedule-choose -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target='target=aarch64 facts=vector.bytes=64,simt.sharedBytes=232448' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse --remarks-filter=zyx-schedule --remark-format=emitRemark \
// RUN:   2>%t.remarks | FileCheck %s --check-prefix=WITHOUT
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// A machine without the unit takes its vectors, whatever the blocking says.
// WITHOUT-NOT: matrix_multiply
// WITHOUT: math.fma
// REMARK: SlowerDot | Category:zyx-schedule{{.*}}a dot is multiplied by vectors: the matrix unit takes no such factors, or is not there

!a = !kernel.view<70x100xbf16, global>
!b = !kernel.view<100x40xbf16, global>
!c = !kernel.view<70x40xf32, global>

// Of 100 steps four registers are filled, the last with 28 zeros. Rows are packed as they are, columns in
// pairs. Where the smallest factors could make a denormal, the same memory is multiplied in f32.
// CHOSEN-LABEL: kernel.func @bf16
// CHOSEN-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 100, pack lhs rhs, narrow>>
// CHECK-LABEL: kernel.func @bf16
// CHECK-DAG: %[[SUMS:.*]] = kernel.alloc : <32x32xf32, private>
// CHECK-DAG: %[[B:.*]] = kernel.alloc : <2x65x32xi32, private>
// CHECK-DAG: %[[A:.*]] = kernel.alloc : <96x160xbf16, private>
// CHECK: arith.minui
// CHECK: kernel.store %{{.*}}, %[[B]][%{{.*}}] : vector<16xi32>
// CHECK: kernel.store %{{.*}}, %[[A]][%{{.*}}] : vector<32xbf16>
// CHECK: scf.if
// CHECK: kernel.matrix_multiply %[[SUMS]], %[[A]][%{{.*}}, %c0], %[[B]][%{{.*}}, %c0, %c0] depth %c128 :
// CHECK: } else {
// CHECK: math.fma
kernel.func @bf16(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[70, 100] strides [100, 1]>]> : !kernel.buffer<bf16, global> -> !a
  %ys = kernel.view %y map <[<[100, 40] strides [40, 1]>]> : !kernel.buffer<bf16, global> -> !b
  %zs = kernel.view %z map <[<[70, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !c
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !a -> tensor<70x100xbf16>
  %b = kernel.load %ys[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !b -> tensor<100x40xbf16>
  %zero = arith.constant dense<0.0> : tensor<70x40xf32>
  %d = kernel.dot %a, %b, %zero : tensor<70x100xbf16>, tensor<100x40xbf16> -> tensor<70x40xf32>
  kernel.store %d, %zs[%c0, %c0] in_bounds [true, true] : tensor<70x40xf32>, !c
  kernel.return
}

// Whose numbers are unsigned is the instruction's to know; integers have no second way. The right factor
// lies along the contraction: squares of groups are transposed.
// CHOSEN-LABEL: kernel.func @u8_by_i8
// CHOSEN-SAME: pack rhs, narrow>
// CHECK-LABEL: kernel.func @u8_by_i8
// CHECK: vector.bitcast %{{.*}} : vector<64xi8> to vector<16xi32>
// CHECK: vector.shuffle
// CHECK-NOT: scf.if
// CHECK: kernel.matrix_multiply {{.*}} depth %c64 ahead %{{.*}} {ahead_rows = 16 : i64, lhs_unsigned} : <64x64xi8, global>, <2x17x32xi32, private> -> <32x32xi32, private>
// CHECK-NOT: muli
// CHECK: kernel.return
kernel.func @u8_by_i8(%x: !kernel.buffer<i8, global>, %y: !kernel.buffer<i8, global>, %z: !kernel.buffer<i32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<i8, global> -> !kernel.view<64x64xi8, global>
  %ys = kernel.view %y map <[<[64, 64] strides [1, 64]>]> : !kernel.buffer<i8, global> -> !kernel.view<64x64xi8, global>
  %zs = kernel.view %z map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<i32, global> -> !kernel.view<64x64xi32, global>
  %u = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x64xi8, global> -> tensor<64x64xi8>
  %a = arith.extui %u : tensor<64x64xi8> to tensor<64x64xi32>
  %b = kernel.load %ys[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x64xi8, global> -> tensor<64x64xi8>
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %d = kernel.dot %a, %b, %zero : tensor<64x64xi32>, tensor<64x64xi8> -> tensor<64x64xi32>
  kernel.store %d, %zs[%c0, %c0] in_bounds [true, true] : tensor<64x64xi32>, !kernel.view<64x64xi32, global>
  kernel.return
}

// Rows that fill the registers are read where they lie, once before to find the smallest factor. Eight steps of
// all panels are packed at a time: two rows become a vector of pairs and the next one.
// CHOSEN-LABEL: kernel.func @in_place
// CHOSEN-SAME: rows 32, depth 128, pack rhs, narrow>
// CHECK-LABEL: kernel.func @in_place
// CHECK-NOT: alloc{{.*}}bf16
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c8
// CHECK: vector.shuffle %[[EVEN:.*]], %[[ODD:.*]] [0, 32, 1, 33, 2, 34, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK: vector.shuffle %[[EVEN]], %[[ODD]] [16, 48, 17, 49,
// CHECK: scf.for
// CHECK: kernel.load %[[A:.*]][%{{.*}}, %{{.*}}] : <64x128xbf16, global> -> vector<32xbf16>
// CHECK: scf.if
// CHECK: kernel.matrix_multiply %{{.*}}, %[[A]][%{{.*}}, %c0], {{.*}} ahead %{{.*}} {ahead_rows = 16 : i64} : <64x128xbf16, global>, <2x65x32xi32, private>
kernel.func @in_place(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x128xbf16, global>
  %ys = kernel.view %y map <[<[128, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<128x64xbf16, global>
  %zs = kernel.view %z map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x64xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x128xbf16, global> -> tensor<64x128xbf16>
  %b = kernel.load %ys[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<128x64xbf16, global> -> tensor<128x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = kernel.dot %a, %b, %zero : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
  kernel.store %d, %zs[%c0, %c0] in_bounds [true, true] : tensor<64x64xf32>, !kernel.view<64x64xf32, global>
  kernel.return
}

// Windows of a padded image are packed in runs of 3 * 32 elements, and looked through for their smallest element then.
// CHOSEN-LABEL: kernel.func @window
// CHOSEN-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 288, pack lhs rhs, narrow>>
// CHECK-LABEL: kernel.func @window
// CHECK-DAG: %[[X:.*]] = kernel.view %arg0 map <[<[2336] strides [1]>]>
// CHECK-DAG: %[[A:.*]] = kernel.alloc : <64x320xbf16, private>
// CHECK: kernel.load %[[X]][%{{.*}}] : <2336xbf16, global> -> vector<32xbf16>
// CHECK: kernel.store %{{.*}}, %[[A]][%{{.*}}] : vector<32xbf16>
// CHECK: kernel.load %[[A]][%{{.*}}] : <64x320xbf16, private> -> vector<32xbf16>
// CHECK: arith.minui
// CHECK: kernel.matrix_multiply %{{.*}}, %[[A]]
kernel.func @window(%x: !kernel.buffer<bf16, global>, %w: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 288] strides [288, 1]>, <[8, 8, 3, 3, 32] strides [320, 32, 320, 32, 1]>, <[10, 10, 32] strides [256, 32, 1] offset -288 valid [1 : 9, 1 : 9, 0 : 32]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x288xbf16, global>
  %ws = kernel.view %w map <[<[288, 32] strides [32, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<288x32xbf16, global>
  %ys = kernel.view %y map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x32xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x288xbf16, global> -> tensor<64x288xbf16>
  %b = kernel.load %ws[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<288x32xbf16, global> -> tensor<288x32xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = kernel.dot %a, %b, %zero : tensor<64x288xbf16>, tensor<288x32xbf16> -> tensor<64x32xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x32xf32>, !kernel.view<64x32xf32, global>
  kernel.return
}

// A gradient of filters: rows of 7 positions are copied in vectors of half a register's lanes. Behind the last step are zeros.
// CHOSEN-LABEL: kernel.func @short_rows
// CHOSEN-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 98, pack lhs rhs, narrow>>
// CHECK-LABEL: kernel.func @short_rows
// CHECK-DAG: %[[X:.*]] = kernel.view %arg0 map <[<[3144] strides [1]>]>
// CHECK-DAG: %[[A:.*]] = kernel.alloc : <96x160xbf16, private>
// CHECK: kernel.store %{{.*}}, %[[A]][%{{.*}}, %{{.*}}] : vector<32xbf16>
// CHECK: %[[PART:.*]] = kernel.load %[[X]][%{{.*}}] mask %{{.*}} : vector<16xi1> : <3144xbf16, global> -> vector<16xbf16>
// CHECK: kernel.store %[[PART]], %[[A]][%{{.*}}] mask %{{.*}} : vector<16xi1> : vector<16xbf16>
// CHECK-NOT: kernel.gather
// CHECK: kernel.matrix_multiply %{{.*}}, %[[A]]
kernel.func @short_rows(%x: !kernel.buffer<bf16, global>, %g: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[288, 98] strides [98, 1]>, <[32, 3, 3, 2, 7, 7] strides [81, 9, 1, 2592, 9, 1]>, <[2, 32, 9, 9] strides [1568, 49, 7, 1] offset -8 valid [0 : 2, 0 : 32, 1 : 8, 1 : 8]>]> : !kernel.buffer<bf16, global> -> !kernel.view<288x98xbf16, global>
  %gs = kernel.view %g map <[<[98, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<98x64xbf16, global>
  %ys = kernel.view %y map <[<[288, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<288x64xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<288x98xbf16, global> -> tensor<288x98xbf16>
  %b = kernel.load %gs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<98x64xbf16, global> -> tensor<98x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<288x64xf32>
  %d = kernel.dot %a, %b, %zero : tensor<288x98xbf16>, tensor<98x64xbf16> -> tensor<288x64xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<288x64xf32>, !kernel.view<288x64xf32, global>
  kernel.return
}

// Windows that are the right factor, as those of images whose channels come first, wait in the order of their runs, here
// eight of their windows at a time, and are joined in pairs from there. Filters that images share are read in place.
// CHOSEN-LABEL: kernel.func @columns
// CHOSEN-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 288, pack rhs, narrow>>
// CHECK-LABEL: kernel.func @columns
// CHECK-DAG: %[[X:.*]] = kernel.view %arg1 map <[<[4105] strides [1]>]>
// CHECK-DAG: %[[B:.*]] = kernel.alloc : <1x145x32xi32, private>
// CHECK-DAG: %[[RUNS:.*]] = kernel.alloc : <72x32xbf16, private>
// CHECK-DAG: %[[WHOLE:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false]> : vector<16xi1>
// The first run and the last one may be cut; of those between them all is wanted, by one mask for all.
// CHECK: %[[LAST:.*]] = arith.subi %[[NUMBER:.*]], %c1
// CHECK: %[[BY:.*]] = arith.maxsi %[[LAST]], %c1
// CHECK: scf.for %{{.*}} = %c0 to %[[NUMBER]] step %[[BY]] {
// CHECK: kernel.load %[[X]][%{{.*}}] mask %{{.*}} : <4105xbf16, global> -> vector<16xbf16>
// CHECK: kernel.store %{{.*}}, %[[RUNS]][%{{.*}}] mask %{{.*}} : vector<16xbf16>, <72x32xbf16, private>
// CHECK: scf.for %{{.*}} = %c1 to %[[LAST]] step %c1 {
// CHECK: kernel.store %{{.*}}, %[[RUNS]][%{{.*}}] mask %[[WHOLE]] : vector<16xi1>
// CHECK: kernel.load %[[RUNS]][%{{.*}}] : <72x32xbf16, private> -> vector<32xbf16>
// CHECK: arith.minui
// CHECK: kernel.store %{{.*}}, %[[B]][%{{.*}}] : vector<16xi32>
// CHECK: kernel.matrix_multiply %{{.*}}, %{{.*}}, %[[B]]{{.*}} : <32x288xbf16, global>
kernel.func @columns(%w: !kernel.buffer<bf16, global>, %x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ws = kernel.view %w map <[<[32, 288] strides [288, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<32x288xbf16, global>
  %xs = kernel.view %x map <[<[2, 288, 64] strides [18432, 64, 1]>, <[2, 32, 3, 3, 8, 8] strides [3200, 100, 10, 1, 10, 1]>, <[2, 32, 10, 10] strides [2048, 64, 8, 1] offset -9 valid [0 : 2, 0 : 32, 1 : 9, 1 : 9]>]> : !kernel.buffer<bf16, global> -> !kernel.view<2x288x64xbf16, global>
  %ys = kernel.view %y map <[<[2, 32, 64] strides [2048, 64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x32x64xf32, global>
  %a = kernel.load %ws[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<32x288xbf16, global> -> tensor<32x288xbf16>
  %all = kernel.broadcast %a dims [1, 2] : tensor<32x288xbf16> -> tensor<2x32x288xbf16>
  %b = kernel.load %xs[%c0, %c0, %c0] axes ["b", "k", "n"] in_bounds [true, true, true] : !kernel.view<2x288x64xbf16, global> -> tensor<2x288x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<2x32x64xf32>
  %d = kernel.dot %all, %b, %zero : tensor<2x32x288xbf16>, tensor<2x288x64xbf16> -> tensor<2x32x64xf32>
  kernel.store %d, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x32x64xf32>, !kernel.view<2x32x64xf32, global>
  kernel.return
}

// What lies across the contraction is packed in squares, turned in registers. Behind the last step, which squares read
// again, are zeros: it may be infinite.
// CHOSEN-LABEL: kernel.func @across
// CHOSEN-SAME: #kernel.block_step<<32 x 32, rows {{[0-9]+}}, depth 72, pack lhs rhs, narrow>>
// CHECK-LABEL: kernel.func @across
// CHECK-DAG: %[[X:.*]] = kernel.view %arg0 map <[<[4608] strides [1]>]>
// CHECK-DAG: %[[A:.*]] = kernel.alloc : <64x128xbf16, private>
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, false
// CHECK-COUNT-32: kernel.load %[[X]][%{{.*}}] : <4608xbf16, global> -> vector<32xbf16>
// CHECK: vector.shuffle
// CHECK-COUNT-32: kernel.store %{{.*}}, %[[A]][%{{.*}}] : vector<32xbf16>, <64x128xbf16, private>
// CHECK: %[[READ:.*]] = kernel.load %[[A]][%{{.*}}] : <64x128xbf16, private> -> vector<32xbf16>
// CHECK: %[[CLEARED:.*]] = arith.select %[[LAST]], %[[READ]], %{{.*}} : vector<32xi1>, vector<32xbf16>
// CHECK: kernel.store %[[CLEARED]], %[[A]]
// CHECK: kernel.matrix_multiply
kernel.func @across(%x: !kernel.buffer<bf16, global>, %w: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 72] strides [1, 64]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x72xbf16, global>
  %ws = kernel.view %w map <[<[72, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<72x64xbf16, global>
  %ys = kernel.view %y map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x64xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x72xbf16, global> -> tensor<64x72xbf16>
  %b = kernel.load %ws[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<72x64xbf16, global> -> tensor<72x64xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = kernel.dot %a, %b, %zero : tensor<64x72xbf16>, tensor<72x64xbf16> -> tensor<64x64xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x64xf32>, !kernel.view<64x64xf32, global>
  kernel.return
}
