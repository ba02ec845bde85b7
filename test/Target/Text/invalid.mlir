// RUN: split-file %s %t
// RUN: not zyx-translate --kernel-to-c %t/name.mlir 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not zyx-translate --kernel-to-c %t/keyword.mlir 2>&1 | FileCheck %s --check-prefix=KEYWORD
// RUN: not zyx-translate --kernel-to-c %t/math.mlir 2>&1 | FileCheck %s --check-prefix=MATH
// RUN: not zyx-translate --kernel-to-c %t/element.mlir 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not zyx-translate --kernel-to-c %t/fma.mlir 2>&1 | FileCheck %s --check-prefix=FMA
// RUN: not zyx-translate --kernel-to-c %t/pad.mlir 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: not zyx-translate --kernel-to-c %t/shared.mlir 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not zyx-translate --kernel-to-c %t/large.mlir 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not zyx-translate --kernel-to-c %t/threads.mlir 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not zyx-translate --kernel-to-c %t/scalar.mlir 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not zyx-translate --kernel-to-c %t/chosen.mlir 2>&1 | FileCheck %s --check-prefix=CHOSEN
// RUN: not zyx-translate --kernel-to-c %t/barrier.mlir 2>&1 | FileCheck %s --check-prefix=BARRIER

//--- name.mlir
// NAME: error: 'kernel.func' is named 'a.b', which no function in C may be
kernel.func @a.b() attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- keyword.mlir
// KEYWORD: error: 'kernel.func' is named 'double', which no function in C may be
kernel.func @double() attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- math.mlir
// MATH: error: 'math.exp' of f32 has no text in C
#x = #kernel.map<[#kernel.block<[] strides []>]>
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<f32, global>
  %v = kernel.load %xs[] : !kernel.view<f32, global> -> f32
  %e = math.exp %v : f32
  kernel.store %e, %xs[] : f32, !kernel.view<f32, global>
  kernel.return
}
//--- element.mlir
// ELEMENT: error: 'kernel.func' has the type i7, which is no scalar of C
#x = #kernel.map<[#kernel.block<[] strides []>]>
!buffer = !kernel.buffer<i8, global>
!odd = !kernel.buffer<i7, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %a = kernel.alloc : !kernel.view<i8, private>
  kernel.return
}
kernel.func @l(%x: !odd) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !odd -> !kernel.view<i7, global>
  %v = kernel.load %xs[] : !kernel.view<i7, global> -> i7
  kernel.store %v, %xs[] : i7, !kernel.view<i7, global>
  kernel.return
}
//--- fma.mlir
// FMA: error: 'math.fma' of a small float would be rounded twice
#x = #kernel.map<[#kernel.block<[] strides []>]>
!buffer = !kernel.buffer<bf16, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<bf16, global>
  %v = kernel.load %xs[] : !kernel.view<bf16, global> -> bf16
  %e = math.fma %v, %v, %v : bf16
  kernel.store %e, %xs[] : bf16, !kernel.view<bf16, global>
  kernel.return
}
//--- pad.mlir
// PAD: error: 'kernel.view' op has a map that is not one whole block
#x = #kernel.map<[#kernel.block<[8] strides [1] valid [1 : 8]>]>
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> f32
  kernel.store %v, %xs[%c0] : f32, !kernel.view<8xf32, global>
  kernel.return
}
//--- shared.mlir
// SHARED: error: 'kernel.alloc' asks for shared memory, which one thread does not have
kernel.func @k() attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = kernel.alloc : !kernel.view<8xf32, shared>
  kernel.store %zero, %a[%c0] : f32, !kernel.view<8xf32, shared>
  kernel.return
}
//--- large.mlir
// LARGE: error: 'kernel.alloc' brings the kernel's private memory to 819200 bytes; the stack has room for 524288
kernel.func @k() attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = kernel.alloc : !kernel.view<200x1024xf32, private>
  kernel.store %zero, %a[%c0, %c0] : f32, !kernel.view<200x1024xf32, private>
  kernel.return
}
//--- threads.mlir
// THREADS: error: 'kernel.func' asks for several threads a program; it is printed for one
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 32} {
  kernel.return
}
//--- scalar.mlir
// SCALAR: error: 'kernel.func' takes a scalar that is no integer; scalars are passed as 64-bit integers
kernel.func @k(%x: f32) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- chosen.mlir
// CHOSEN: error: 'scf.for' op carries a view, which is no scalar
#x = #kernel.map<[#kernel.block<[] strides []>]>
!buffer = !kernel.buffer<i32, global>
!view = !kernel.view<i32, global>
kernel.func @k(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : index
  %p = arith.cmpi eq, %n, %zero : index
  %xs = kernel.view %x map #x : !buffer -> !view
  %ys = kernel.view %y map #x : !buffer -> !view
  scf.for %i = %zero to %n step %n iter_args(%v = %xs) -> (!view) {
    kernel.store %c0, %v[] : i32, !view
    scf.yield %ys : !view
  }
  kernel.return
}
//--- barrier.mlir
// BARRIER: error: 'kernel.barrier' has no form in C
kernel.func @k() attributes {form = #kernel.form<lowered>} {
  kernel.barrier workgroup
  kernel.return
}
