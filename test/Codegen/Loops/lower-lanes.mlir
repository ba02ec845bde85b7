// RUN: zyx-opt %s -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// A row between five elements that do not exist on either side.
// CHECK-LABEL: kernel.func @padded
// CHECK-DAG:   %[[HEAD:.*]] = arith.constant dense<[false, false, false, false, false, true, true, true, true, true, true, true, true, true, true, true]>
// CHECK-DAG:   %[[TAIL:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, true, true, true, false, false, false, false, false]>
// CHECK:       kernel.load %{{.*}}[%c-5] mask %[[HEAD]] : vector<16xi1> other %{{.*}} : f32
// CHECK:       kernel.load %{{.*}}[%c43] mask %[[TAIL]] : vector<16xi1> other %{{.*}} : f32
kernel.func @padded(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>) {
  %x = kernel.view %arg0 map <[<[64] strides [1] offset -5 valid [5 : 59]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %y = kernel.view %arg1 map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %t = kernel.load %x[%c0] other %one : f32 axes ["i"] : !kernel.view<64xf32, global> -> tensor<64xf32>
  kernel.store %t, %y[%c0] : tensor<64xf32>, !kernel.view<64xf32, global>
  kernel.return
}

// Rows of 40 in a buffer of rows of 50: now and then 16 lanes cross the end of a row.
// CHECK-LABEL: kernel.func @rows_merged
// CHECK:       scf.for %[[I:.*]] = %c0 to %c400 step %c16
// CHECK:         %[[REST:.*]] = arith.remui %[[I]], %c40
// CHECK:         %[[LAST:.*]] = arith.addi %[[REST]], %c15
// CHECK:         %[[FITS:.*]] = arith.cmpi ult, %[[LAST]], %c40
// CHECK:         scf.if %[[FITS]]
// CHECK:           kernel.load {{.*}} -> vector<16xf32>
// CHECK:         else
// CHECK:           arith.remui {{.*}} : vector<16xi32>
// CHECK:           kernel.gather {{.*}}, vector<16xi32> -> vector<16xf32>
kernel.func @rows_merged(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>) {
  %x = kernel.view %arg0 map <[<[400] strides [1]>, <[10, 40] strides [50, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<400xf32, global>
  %y = kernel.view %arg1 map <[<[400] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<400xf32, global>
  %c0 = arith.constant 0 : index
  %t = kernel.load %x[%c0] axes ["i"] : !kernel.view<400xf32, global> -> tensor<400xf32>
  kernel.store %t, %y[%c0] : tensor<400xf32>, !kernel.view<400xf32, global>
  kernel.return
}

// A transposed padded matrix read as one row of its columns: lanes cross rows all the time, and those
// that do not exist are no index.
// CHECK-LABEL: kernel.func @short_rows
// CHECK-NOT:   scf.if
// CHECK:       %[[AT:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xi32>
// CHECK:       kernel.gather %{{.*}}[%[[AT]]]
kernel.func @short_rows(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>) {
  %x = kernel.view %arg0 map <[<[400] strides [1]>, <[80, 5] strides [1, 80] offset -80 valid [0 : 80, 1 : 5]>]> : !kernel.buffer<f32, global> -> !kernel.view<400xf32, global>
  %y = kernel.view %arg1 map <[<[400] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<400xf32, global>
  %c0 = arith.constant 0 : index
  %t = kernel.load %x[%c0] axes ["i"] : !kernel.view<400xf32, global> -> tensor<400xf32>
  kernel.store %t, %y[%c0] : tensor<400xf32>, !kernel.view<400xf32, global>
  kernel.return
}

// Rows chosen by data: one test for each row, by a branch that a processor foresees, and whole vectors of it.
// CHECK-LABEL: kernel.func @chosen_rows
// CHECK:       %[[ROW:.*]] = kernel.load {{.*}} -> i64
// CHECK:       %[[AT:.*]] = arith.index_cast %[[ROW]]
// CHECK:       %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]], %c100
// CHECK:       scf.if %[[INSIDE]] -> (vector<16xf32>) {
// CHECK-NEXT:    kernel.load {{[^:]*}} : {{.*}} -> vector<16xf32>
kernel.func @chosen_rows(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<i64, global>, %arg2: !kernel.buffer<f32, global>) {
  %x = kernel.view %arg0 map <[<[100, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100x32xf32, global>
  %n = kernel.view %arg1 map <[<[7] strides [1]>]> : !kernel.buffer<i64, global> -> !kernel.view<7xi64, global>
  %y = kernel.view %arg2 map <[<[7, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<7x32xf32, global>
  %c0 = arith.constant 0 : index
  %i = kernel.load %n[%c0] axes ["n"] : !kernel.view<7xi64, global> -> tensor<7xi64>
  %ib = kernel.broadcast %i dims [0] : tensor<7xi64> -> tensor<7x32xi64>
  %d = kernel.iota dim 0 axes ["d"] : tensor<32xi64>
  %db = kernel.broadcast %d dims [1] : tensor<32xi64> -> tensor<7x32xi64>
  %t = kernel.gather %x[%ib, %db] : !kernel.view<100x32xf32, global>, tensor<7x32xi64>, tensor<7x32xi64> -> tensor<7x32xf32>
  kernel.store %t, %y[%c0, %c0] : tensor<7x32xf32>, !kernel.view<7x32xf32, global>
  kernel.return
}

// Elements chosen by data. An index is compared in all its bits before it gets fewer.
// CHECK-LABEL: kernel.func @chosen_elements
// CHECK:       %[[I:.*]] = kernel.load {{.*}} -> vector<8xi64>
// CHECK:       %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %{{.*}} : vector<8xi64>
// CHECK:       %[[SHORT:.*]] = arith.trunci %[[I]] : vector<8xi64> to vector<8xi32>
// CHECK:       %[[AT:.*]] = arith.select %[[INSIDE]], %[[SHORT]], %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK:       kernel.gather %{{.*}}[%[[AT]]]
kernel.func @chosen_elements(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<i64, global>, %arg2: !kernel.buffer<f32, global>) {
  %x = kernel.view %arg0 map <[<[100] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100xf32, global>
  %n = kernel.view %arg1 map <[<[8] strides [1]>]> : !kernel.buffer<i64, global> -> !kernel.view<8xi64, global>
  %y = kernel.view %arg2 map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %c0 = arith.constant 0 : index
  %i = kernel.load %n[%c0] axes ["n"] : !kernel.view<8xi64, global> -> tensor<8xi64>
  %t = kernel.gather %x[%i] : !kernel.view<100xf32, global>, tensor<8xi64> -> tensor<8xf32>
  kernel.store %t, %y[%c0] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// Of the rows of a chosen matrix, a processor adds up vectors along the columns, which are neighbours in memory, though the factors
// of rows lie along these: to gather lanes takes longer.
// CHECK-LABEL: kernel.func @gathered_rows
// CHECK: scf.for
// CHECK: kernel.load %{{.*}} : <{{.*}}, global> -> vector<16xf32>
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
kernel.func @gathered_rows(%n: !kernel.buffer<i64, global>, %w: !kernel.buffer<f32, global>, %x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ns = kernel.view %n map <[<[2] strides [1]>]> : <i64, global> -> <2xi64, global>
  %ws = kernel.view %w map <[<[8, 128, 64] strides [8192, 64, 1]>]> : <f32, global> -> <8x128x64xf32, global>
  %xs = kernel.view %x map <[<[2, 128] strides [128, 1]>]> : <f32, global> -> <2x128xf32, global>
  %ys = kernel.view %y map <[<[2, 64] strides [64, 1]>]> : <f32, global> -> <2x64xf32, global>
  %i = kernel.load %ns[%c0] axes ["r"] in_bounds [true] : <2xi64, global> -> tensor<2xi64>
  %j = kernel.broadcast %i dims [0] : tensor<2xi64> -> tensor<2x128x64xi64>
  %k = kernel.iota dim 0 axes ["k"] : tensor<128xi64>
  %l = kernel.broadcast %k dims [1] : tensor<128xi64> -> tensor<2x128x64xi64>
  %o = kernel.iota dim 0 axes ["n"] : tensor<64xi64>
  %q = kernel.broadcast %o dims [2] : tensor<64xi64> -> tensor<2x128x64xi64>
  %g = kernel.gather %ws[%j, %l, %q] : <8x128x64xf32, global>, tensor<2x128x64xi64>, tensor<2x128x64xi64>, tensor<2x128x64xi64> -> tensor<2x128x64xf32>
  %a = kernel.load %xs[%c0, %c0] axes ["r", "k"] in_bounds [true, true] : <2x128xf32, global> -> tensor<2x128xf32>
  %b = kernel.broadcast %a dims [0, 1] : tensor<2x128xf32> -> tensor<2x128x64xf32>
  %p = arith.mulf %b, %g : tensor<2x128x64xf32>
  %s = kernel.reduce add %p dims [1] : tensor<2x128x64xf32> -> tensor<2x64xf32>
  kernel.store %s, %ys[%c0, %c0] in_bounds [true, true] : tensor<2x64xf32>, <2x64xf32, global>
  kernel.return
}

// Neighbours of an upsampled row are those of two rows in turn: halves of a vector are read, and their lanes taken in turn.
// CHECK-LABEL: kernel.func @in_turn
// CHECK: %[[A:.*]] = kernel.load %{{.*}} -> vector<8xf32>
// CHECK: %[[B:.*]] = kernel.load %{{.*}} -> vector<8xf32>
// CHECK: vector.interleave %[[A]], %[[B]] : vector<8xf32> -> vector<16xf32>
// CHECK-NOT: kernel.gather
// CHECK: kernel.return
kernel.func @in_turn(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[4, 48] strides [48, 1]>, <[4, 24, 2] strides [24, 1, 96]>]> : <f32, global> -> <4x48xf32, global>
  %ys = kernel.view %y map <[<[4, 48] strides [48, 1]>]> : <f32, global> -> <4x48xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : <4x48xf32, global> -> tensor<4x48xf32>
  kernel.store %a, %ys[%c0, %c0] in_bounds [true, true] : tensor<4x48xf32>, <4x48xf32, global>
  kernel.return
}
