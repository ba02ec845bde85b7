// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm | FileCheck %s
// RUN: zyx-translate --kernel-to-asm --target=sapphirerapids %s | FileCheck %s --check-prefix=ASM

// Two by one registers of sums; a row of the right factor's panel has 64 bytes.
// CHECK-LABEL: llvm.func internal @multiply.body
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilezero.internal"
// CHECK: llvm.br
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbsud.internal"
// CHECK: llvm.br
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilestored64.internal"
// CHECK: llvm.return

// ASM: ldtilecfg
// ASM-COUNT-2: tdpbsud
// ASM-NOT: tdpbsud
// ASM: tilerelease
kernel.func @multiply(%out: !kernel.buffer<i32, global>) {
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
kernel.func @in_place(%x: !kernel.buffer<bf16, global>, %out: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %sums = kernel.alloc : !kernel.view<16x16xf32, private>
  %a = kernel.view %x map <[<[2, 32, 300] strides [9600, 300, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<2x32x300xbf16, global>
  %b = kernel.alloc : !kernel.view<1x32x16xi32, private>
  kernel.matrix_multiply %sums, %a[%c1, %c4, %c0], %b[%c0, %c0, %c0] depth %c64 : !kernel.view<2x32x300xbf16, global>, !kernel.view<1x32x16xi32, private> -> !kernel.view<16x16xf32, private>
  %first = kernel.load %sums[%c0, %c0] : !kernel.view<16x16xf32, private> -> vector<16xf32>
  %to = kernel.view %out map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  kernel.store %first, %to[%c0] : vector<16xf32>, !kernel.view<16xf32, global>
  kernel.return
}
