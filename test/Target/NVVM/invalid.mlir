// RUN: split-file %s %t
// RUN: not zyx-translate --kernel-to-ptx --target=c %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not zyx-translate --kernel-to-ptx %t/untranslated.mlir 2>&1 | FileCheck %s --check-prefix=UNTRANSLATED
// RUN: not zyx-translate --kernel-to-ptx %t/deep.mlir 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not zyx-translate --kernel-to-ptx %t/refused.mlir 2>&1 | FileCheck %s --check-prefix=REFUSED

//--- empty.mlir
// KIND: error: target 'c' does not run NVVM
module {}

//--- untranslated.mlir
// UNTRANSLATED: error: the kernels hold what has no translation to LLVM IR
llvm.func @f(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  llvm.return %y : i32
}

//--- refused.mlir
// REFUSED: refused.mlir:3:{{.*}} error: 'kernel.alloc' op of private memory is not lowered to NVVM
kernel.func @private() attributes {form = #kernel.form<machine>} {
  %a = kernel.alloc : !kernel.view<8xf32, private>
  kernel.return
}

//--- deep.mlir
// DEEP: deep.mlir: error:
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
