// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse -zyx-kernel-attach-target='target=znver4 facts=arithmetic.hasMaximum=true' \
// RUN:   -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// A result whose neighbours in memory are rows of the product, as the gradient of a filter has whose windows are rows:
// 16 rows of 16 sums are transposed in registers, and written in vectors along rows.
// CHECK-LABEL: kernel.func @written
// CHECK: kernel.matrix_multiply
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16 {
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: kernel.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : vector<16xf32>, <40x64xf32, global>
// CHECK-NOT: vector.extract
// CHECK: kernel.return
kernel.func @written(%x: !kernel.buffer<bf16, global>, %w: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<32 x 32, rows 64, depth 64, pack lhs rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x64xbf16, global>
  %b = kernel.view %w map <[<[64, 40] strides [40, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x40xbf16, global>
  %c = kernel.view %y map <[<[64, 40] strides [1, 64]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x40xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x64xbf16, global> -> tensor<64x64xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x40xbf16, global> -> tensor<64x40xbf16>
  %z = arith.constant dense<0.0> : tensor<64x40xf32>
  %d = kernel.dot %at, %bt, %z : tensor<64x64xbf16>, tensor<64x40xbf16> -> tensor<64x40xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<64x40xf32>, !kernel.view<64x40xf32, global>
  kernel.return
}

// What is added in that order is read in vectors along rows and transposed; the sum is written along columns. Of 40 rows
// the last 8 are no square.
// CHECK-LABEL: kernel.func @read
// CHECK: kernel.matrix_multiply
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16 {
// CHECK-COUNT-16: kernel.load %{{.*}}[%{{.*}}, %{{.*}}] : <32x40xf32, global> -> vector<16xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK: arith.addf
// CHECK: kernel.store {{.*}} : vector<16xf32>, <40x32xf32, global>
// CHECK: kernel.return
kernel.func @read(%x: !kernel.buffer<bf16, global>, %w: !kernel.buffer<bf16, global>, %r: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.block_step<<32 x 32, rows 64, depth 64, pack lhs rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[40, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<40x64xbf16, global>
  %b = kernel.view %w map <[<[64, 32] strides [32, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x32xbf16, global>
  %s = kernel.view %r map <[<[40, 32] strides [1, 40]>]> : !kernel.buffer<f32, global> -> !kernel.view<40x32xf32, global>
  %c = kernel.view %y map <[<[40, 32] strides [32, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<40x32xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<40x64xbf16, global> -> tensor<40x64xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x32xbf16, global> -> tensor<64x32xbf16>
  %st = kernel.load %s[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !kernel.view<40x32xf32, global> -> tensor<40x32xf32>
  %z = arith.constant dense<0.0> : tensor<40x32xf32>
  %d = kernel.dot %at, %bt, %z : tensor<40x64xbf16>, tensor<64x32xbf16> -> tensor<40x32xf32>
  %e = arith.addf %d, %st : tensor<40x32xf32>
  kernel.store %e, %c[%c0, %c0] in_bounds [true, true] : tensor<40x32xf32>, !kernel.view<40x32xf32, global>
  kernel.return
}
