// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=36864' -zyx-kernel-settle-memory \
// RUN:   --remarks-filter=zyx-shared --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=36864' -zyx-kernel-settle-memory \
// RUN:   -zyx-kernel-lower-tiles | zyx-translate --split-input-file --kernel-to-launch-info | FileCheck %s --check-prefix=LAUNCH
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles \
// RUN:   | zyx-translate --split-input-file --kernel-to-launch-info | FileCheck %s --check-prefix=ENOUGH

// Memory of sums of taps is counted where a nest has its vectors along what is combined, and nowhere else: one rule
// chooses that axis for those who count and for those who emit.

// As much lies along the rows as along what is kept. Vectors are along the axis that comes last, and that is kept.
// CHECK-NOT: threads of kept_last
// LAUNCH:      kernel kept_last
// LAUNCH-NEXT: threads 256 shared 4224
!f = !kernel.buffer<f64, global>
!v = !kernel.view<1000x16xf64, global>
kernel.func @kept_last(%x: !f, %w: !f, %y: !f) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[1000, 16] strides [16, 1]>]> : !f -> !v
  %b = kernel.view %w map <[<[1000, 16] strides [1, 1000]>]> : !f -> !v
  %c = kernel.view %y map <[<[16] strides [1]>]> : !f -> !kernel.view<16xf64, global>
  %at = kernel.load %a[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !v -> tensor<1000x16xf64>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !v -> tensor<1000x16xf64>
  %m = arith.mulf %at, %bt : tensor<1000x16xf64>
  %s = kernel.reduce add %m dims [0] : tensor<1000x16xf64> -> tensor<16xf64>
  kernel.store %s, %c[%c0] in_bounds [true] : tensor<16xf64>, !kernel.view<16xf64, global>
  kernel.return
}

// -----

// Here the last axis is combined.
// CHECK: threads of combined_last would share 39168 bytes; there are 36864
// ENOUGH:      kernel combined_last
// ENOUGH-NEXT: threads 256 shared 36992
!f = !kernel.buffer<f64, global>
!v = !kernel.view<16x1000xf64, global>
kernel.func @combined_last(%x: !f, %w: !f, %y: !f) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[16, 1000] strides [1, 16]>]> : !f -> !v
  %b = kernel.view %w map <[<[16, 1000] strides [1000, 1]>]> : !f -> !v
  %c = kernel.view %y map <[<[16] strides [1]>]> : !f -> !kernel.view<16xf64, global>
  %at = kernel.load %a[%c0, %c0] axes ["n", "k"] in_bounds [true, true] : !v -> tensor<16x1000xf64>
  %bt = kernel.load %b[%c0, %c0] axes ["n", "k"] in_bounds [true, true] : !v -> tensor<16x1000xf64>
  %m = arith.mulf %at, %bt : tensor<16x1000xf64>
  %s = kernel.reduce add %m dims [1] : tensor<16x1000xf64> -> tensor<16xf64>
  kernel.store %s, %c[%c0] in_bounds [true] : tensor<16xf64>, !kernel.view<16xf64, global>
  kernel.return
}

// -----

// Rows that are looked up lie along what is kept.
// CHECK-NOT: threads of looked_up
// LAUNCH:      kernel looked_up
// LAUNCH-NEXT: threads 256 shared 4224
!f = !kernel.buffer<f64, global>
!i = !kernel.buffer<i64, global>
kernel.func @looked_up(%x: !f, %i: !i, %y: !f) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[500, 16] strides [16, 1]>]> : !f -> !kernel.view<500x16xf64, global>
  %b = kernel.view %i map <[<[1000] strides [1]>]> : !i -> !kernel.view<1000xi64, global>
  %c = kernel.view %y map <[<[16] strides [1]>]> : !f -> !kernel.view<16xf64, global>
  %it = kernel.load %b[%c0] axes ["k"] in_bounds [true] : !kernel.view<1000xi64, global> -> tensor<1000xi64>
  %rows = kernel.broadcast %it dims [0] : tensor<1000xi64> -> tensor<1000x16xi64>
  %column = kernel.iota dim 0 axes ["n"] : tensor<16xi64>
  %columns = kernel.broadcast %column dims [1] : tensor<16xi64> -> tensor<1000x16xi64>
  %t = kernel.gather %a[%rows, %columns] : !kernel.view<500x16xf64, global>, tensor<1000x16xi64>, tensor<1000x16xi64> -> tensor<1000x16xf64>
  %s = kernel.reduce add %t dims [0] : tensor<1000x16xf64> -> tensor<16xf64>
  kernel.store %s, %c[%c0] in_bounds [true] : tensor<16xf64>, !kernel.view<16xf64, global>
  kernel.return
}

// -----

// A result of another nest will lie along what is kept; both nests have their groups of threads.
// CHECK-NOT: threads of result
// LAUNCH:      kernel result
// LAUNCH-NEXT: threads 256 shared 8448
!f = !kernel.buffer<f64, global>
!v = !kernel.view<1000x16xf64, global>
kernel.func @result(%x: !f, %y: !f) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[1000, 16] strides [16, 1]>]> : !f -> !v
  %c = kernel.view %y map <[<[16] strides [1]>]> : !f -> !kernel.view<16xf64, global>
  %at = kernel.load %a[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !v -> tensor<1000x16xf64>
  %s = kernel.reduce add %at dims [0] : tensor<1000x16xf64> -> tensor<16xf64>
  %b = kernel.broadcast %s dims [1] : tensor<16xf64> -> tensor<1000x16xf64>
  %d = arith.subf %at, %b : tensor<1000x16xf64>
  %e = arith.mulf %d, %d : tensor<1000x16xf64>
  %t = kernel.reduce add %e dims [0] : tensor<1000x16xf64> -> tensor<16xf64>
  kernel.store %t, %c[%c0] in_bounds [true] : tensor<16xf64>, !kernel.view<16xf64, global>
  kernel.return
}
