// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm | FileCheck %s
// RUN: zyx-translate --kernel-to-asm --target=sapphirerapids %s | FileCheck %s --check-prefix=ASM
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-convert-kernel-to-llvm | FileCheck %s --check-prefix=VECTORS
// RUN: zyx-translate --kernel-to-asm --target=znver4 %s | FileCheck %s --check-prefix=VNNI

// Two by one registers of sums; a row of the right factor's panel has 64 bytes.
// CHECK-LABEL: llvm.func internal @multiply.body
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilezero.internal"
// CHECK: llvm.br
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbsud.internal"
// CHECK: llvm.br
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64.internal"
// CHECK: llvm.return

// Without the unit: i8 by u8, so that the right factors are the unsigned side, eight rows at a time.
// VECTORS-LABEL: llvm.func internal @multiply.body
// VECTORS: %[[RIGHT:.*]] = llvm.load {{.*}} -> vector<16xi32>
// VECTORS: %[[LEFT:.*]] = llvm.shufflevector
// VECTORS-DAG: %[[A:.*]] = llvm.bitcast %[[RIGHT]] : vector<16xi32> to vector<64xi8>
// VECTORS-DAG: %[[B:.*]] = llvm.bitcast %[[LEFT]] : vector<16xi32> to vector<64xi8>
// VECTORS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[A]], %[[B]])
// VECTORS-COUNT-7: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS-NOT: vpdpbusd
// VECTORS: llvm.return
// VNNI-LABEL: multiply.body:
// VNNI-COUNT-8: vpdpbusd

// ASM: ldtilecfg
// ASM-COUNT-2: tdpbsud
// ASM-NOT: tdpbsud
// ASM: tilerelease
kernel.func @multiply(%out: !kernel.buffer<i32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %sums = kernel.alloc : !kernel.view<32x16xi32, private>
  %a = kernel.alloc : !kernel.view<32x128xi8, private>
  %b = kernel.alloc : !kernel.view<1x32x16xi32, private>
  kernel.matrix_multiply %sums, %a[%c0, %c0], %b[%c0, %c0, %c0] depth %c128 {rhs_unsigned} : !kernel.view<32x128xi8, private>, !kernel.view<1x32x16xi32, private> -> !kernel.view<32x16xi32, private>
  %first = kernel.load %sums[%c0, %c0] : !kernel.view<32x16xi32, private> -> vector<16xi32>
  %to = kernel.view %out map <[<[16] strides [1]>]> : !kernel.buffer<i32, global> -> !kernel.view<16xi32, global>
  kernel.store %first, %to[%c0] : vector<16xi32>, !kernel.view<16xi32, global>
  kernel.return
}

// Rows of the left factor may lie anywhere: here 600 bytes apart, from the second batch's fourth row on.
// CHECK-LABEL: llvm.func internal @in_place.body
// CHECK: llvm.mlir.constant(600 : i64) : i64
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"
// VECTORS-LABEL: llvm.func internal @in_place.body
// VECTORS-COUNT-8: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// VNNI-LABEL: in_place.body:
// VNNI-COUNT-8: vdpbf16ps
// Two lines of rows behind it are asked for in each step.
// CHECK-COUNT-2: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
kernel.func @in_place(%x: !kernel.buffer<bf16, global>, %out: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %sums = kernel.alloc : !kernel.view<16x16xf32, private>
  %a = kernel.view %x map <[<[2, 32, 300] strides [9600, 300, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<2x32x300xbf16, global>
  %b = kernel.alloc : !kernel.view<1x32x16xi32, private>
  kernel.matrix_multiply %sums, %a[%c1, %c4, %c0], %b[%c0, %c0, %c0] depth %c64 ahead %c4 {ahead_rows = 2 : i64} : !kernel.view<2x32x300xbf16, global>, !kernel.view<1x32x16xi32, private> -> !kernel.view<16x16xf32, private>
  %first = kernel.load %sums[%c0, %c0] : !kernel.view<16x16xf32, private> -> vector<16xf32>
  %to = kernel.view %out map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  kernel.store %first, %to[%c0] : vector<16xf32>, !kernel.view<16xf32, global>
  kernel.return
}

// Both sides signed: left factors are moved to the unsigned side, and one more product per vector counts the right
// ones.
// VECTORS-LABEL: llvm.func internal @signed.body
// VECTORS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS: llvm.xor
// VECTORS-COUNT-8: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VECTORS-NOT: vpdpbusd
// VECTORS-COUNT-8: llvm.sub
// VNNI-LABEL: signed.body:
// VNNI: vpdpbusd
kernel.func @signed(%out: !kernel.buffer<i32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %sums = kernel.alloc : !kernel.view<16x16xi32, private>
  %a = kernel.alloc : !kernel.view<16x64xi8, private>
  %b = kernel.alloc : !kernel.view<1x16x16xi32, private>
  kernel.matrix_multiply %sums, %a[%c0, %c0], %b[%c0, %c0, %c0] depth %c64 : !kernel.view<16x64xi8, private>, !kernel.view<1x16x16xi32, private> -> !kernel.view<16x16xi32, private>
  %first = kernel.load %sums[%c0, %c0] : !kernel.view<16x16xi32, private> -> vector<16xi32>
  %to = kernel.view %out map <[<[16] strides [1]>]> : !kernel.buffer<i32, global> -> !kernel.view<16xi32, global>
  kernel.store %first, %to[%c0] : vector<16xi32>, !kernel.view<16xi32, global>
  kernel.return
}
