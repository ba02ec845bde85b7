// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target='target=aarch64 facts=simt.sharedBytes=232448' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target='target=aarch64 facts=arithmetic.hasFma=false,simt.sharedBytes=232448' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse | FileCheck %s --check-prefix=PLAIN

// Sums of many columns are kept in memory, and four rows are added to them at once: first pair by pair.
// CHECK-LABEL: kernel.func @columns
// CHECK:       %[[SUMS:.*]] = kernel.alloc : <64xf32, private>
// CHECK:       %[[X:.*]] = kernel.view %arg0
// CHECK:       kernel.store %{{.*}}, %[[SUMS]]
// CHECK:       scf.for %{{.*}} = %c0 to %c40 step %c4 {
// CHECK:         scf.for %{{.*}} = %c0 to %c64 step %c16 {
// CHECK-COUNT-4:   kernel.load %[[X]]
// CHECK:           %[[BEFORE:.*]] = kernel.load %[[SUMS]]
// CHECK:           %[[A:.*]] = arith.addf
// CHECK:           %[[B:.*]] = arith.addf
// CHECK:           %[[ALL:.*]] = arith.addf %[[A]], %[[B]]
// CHECK:           %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[ALL]]
// CHECK:           kernel.store %[[AFTER]], %[[SUMS]]
kernel.func @columns(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[41, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<41x64xf32, global>
  %w = kernel.view %y map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["k", "j"] in_bounds [true, true] : !kernel.view<41x64xf32, global> -> tensor<41x64xf32>
  %r = kernel.reduce add %t dims [0] : tensor<41x64xf32> -> tensor<64xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<64xf32>, !kernel.view<64xf32, global>
  kernel.return
}

// Squares are read along their rows and written along their columns.
// CHECK-LABEL: kernel.func @transposed
// CHECK:       scf.for %[[I:.*]] = %c0 to %c8 step %c4 {
// CHECK-COUNT-4: kernel.load %{{[^ ]*}}[{{[^ ]*}}, {{[^ ]*}}] : {{.*}} -> vector<4xf32>
// CHECK:         vector.shuffle {{.*}} [0, 1, 4, 5]
// CHECK:         vector.shuffle {{.*}} [2, 3, 6, 7]
// CHECK:         vector.shuffle {{.*}} [0, 4, 2, 6]
// CHECK:         vector.shuffle {{.*}} [1, 5, 3, 7]
// CHECK-COUNT-4: kernel.store {{.*}} stream : vector<4xf32>
kernel.func @transposed(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stream_step]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8, 4] strides [1, 8]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %w = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8x4xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !kernel.view<8x4xf32, global> -> tensor<8x4xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !kernel.view<8x4xf32, global>
  kernel.return
}

// A row divided by one number: by its reciprocal, corrected, where no lane is out of range.
// CHECK-LABEL: kernel.func @quotients
// CHECK:       %[[D:.*]] = kernel.load {{.*}} -> f32
// CHECK:       %[[FITS:.*]] = arith.cmpi ule
// CHECK:       arith.select %[[FITS]]
// CHECK:       %[[OUTSIDE:.*]] = vector.reduction <or>
// CHECK:       %[[R:.*]] = arith.divf %{{.*}}, %[[D]] : f32
// CHECK:       scf.if %[[OUTSIDE]]
// CHECK:         arith.divf {{.*}} : vector<4xf32>
// CHECK:       } else {
// CHECK:         %[[REST:.*]] = arith.mulf %[[X:.*]], %{{.*}} : vector<4xf32>
// CHECK:         %[[Q:.*]] = math.fma %[[X]], %[[HIGH:.*]], %[[REST]]
// CHECK:         %[[RESIDUE:.*]] = math.fma %[[Q]], %{{.*}}, %[[X]]
// CHECK:         math.fma %[[RESIDUE]], %[[HIGH]], %[[Q]]
// PLAIN-LABEL: kernel.func @quotients
// PLAIN-NOT:   scf.if
// PLAIN:       arith.divf {{.*}} : vector<4xf32>
kernel.func @quotients(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %u = kernel.view %y map <[<[] strides []>]> : !kernel.buffer<f32, global> -> !kernel.view<f32, global>
  %w = kernel.view %z map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = kernel.load %u[] : !kernel.view<f32, global> -> tensor<f32>
  %e = kernel.broadcast %d dims [] : tensor<f32> -> tensor<4xf32>
  %q = arith.divf %t, %e : tensor<4xf32>
  kernel.store %q, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}

// A sum of squares is a chain of fmas, where the machine has them.
// CHECK-LABEL: kernel.func @squares
// CHECK-COUNT-4: math.fma {{.*}} : vector<4xf32>
// PLAIN-LABEL: kernel.func @squares
// PLAIN-NOT:   math.fma
kernel.func @squares(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %w = kernel.view %y map <[<[] strides []>]> : !kernel.buffer<f32, global> -> !kernel.view<f32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<64xf32, global> -> tensor<64xf32>
  %q = arith.mulf %t, %t : tensor<64xf32>
  %a = kernel.reduce add %q dims [0] : tensor<64xf32> -> tensor<f32>
  kernel.store %a, %w[] : tensor<f32>, !kernel.view<f32, global>
  kernel.return
}
