// RUN: split-file %s %t
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/double.mlir 2>&1 | FileCheck %s --check-prefix=DOUBLE
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/constant.mlir 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/number.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/count.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/private.mlir 2>&1 | FileCheck %s --check-prefix=PRIVATE
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/wide.mlir 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/shared.mlir 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/buffers.mlir 2>&1 | FileCheck %s --check-prefix=BUFFERS
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/scalars.mlir 2>&1 | FileCheck %s --check-prefix=SCALARS

//--- double.mlir
// DOUBLE: error: 'kernel.func' has the type f64, which is no scalar of WGSL at {{.*}}double.mlir":2:
kernel.func @k(%x: !kernel.buffer<f64, global>) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- constant.mlir
// What has no place of its own is in its kernel.
// CONSTANT: error: 'arith.constant' has the type f64, which is no scalar of WGSL at {{.*}}constant.mlir":4:{{[0-9]+}}) in kernel 'k'
#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
kernel.func @k(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !kernel.buffer<f32, global> -> !kernel.view<1000xf32, global>
  %third = arith.constant 0.3 : f64 loc(unknown)
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %w = arith.extf %v : f32 to f64
    %p = arith.mulf %w, %third : f64
    %s = arith.truncf %p : f64 to f32
    kernel.store %s, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
//--- nowhere.mlir
// NOWHERE: error: 'kernel.func' has the type f64, which is no scalar of WGSL at loc(unknown) in kernel 'k'
kernel.func @k(%x: !kernel.buffer<f64, global>) attributes {form = #kernel.form<lowered>} {
  kernel.return
} loc(unknown)
//--- number.mlir
// NUMBER: error: 'kernel.func' takes a scalar that has no 32 bits, which WGSL is not given at {{.*}}number.mlir":2:
kernel.func @k(%n: i64) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- count.mlir
// COUNT: error: 'scf.for' counts in a type that has no loops in WGSL at {{.*}}count.mlir":11:
#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!i64 = !kernel.buffer<i64, global>
kernel.func @k(%x: !i64) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %xs = kernel.view %x map #all : !i64 -> !kernel.view<1000xi64, global>
  kernel.grid (%i) in [1000] step [1] {
    %n = kernel.load %xs[%i] : !kernel.view<1000xi64, global> -> i64
    // The place is that of the loop.
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %c0) -> i64 : i64 {
      %b = arith.addi %a, %k : i64
      scf.yield %b : i64
    }
    kernel.store %s, %xs[%i] : i64, !kernel.view<1000xi64, global>
  }
  kernel.return
}
//--- private.mlir
// PRIVATE: error: 'kernel.alloc' brings the kernel's private memory to 12032 bytes; a thread has room for 8192 at {{.*}}private.mlir":8:
#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!f32 = !kernel.buffer<f32, global>
kernel.func @k(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    // The place is that of the allocation.
    %p = kernel.alloc : !kernel.view<3000xf32, private>
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %p[%i] : f32, !kernel.view<3000xf32, private>
    %w = kernel.load %p[%i] : !kernel.view<3000xf32, private> -> f32
    kernel.store %w, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
//--- wide.mlir
// WIDE: error: 'arith.shrui' may have an index of more than 32 bits, which WGSL does not compute with at {{.*}}wide.mlir":10:
#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!f32 = !kernel.buffer<f32, global>
kernel.func @k(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %million = arith.constant 10000000 : index
  %n = arith.constant 7 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %far = arith.muli %i, %million : index
    %j = arith.shrui %far, %n : index
    %v = kernel.load %xs[%j] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
//--- shared.mlir
// SHARED: error: {{.*}}kernel 'k' needs 65536 bytes of shared memory; target 'webgpu' has 32768
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %s = kernel.alloc : !kernel.view<16384xf32, shared>
  kernel.return
}
//--- buffers.mlir
// BUFFERS: kernel 'k' needs 9 buffers; target 'webgpu' has 8
!f = !kernel.buffer<f32, global>
kernel.func @k(%b0: !f, %b1: !f, %b2: !f, %b3: !f, %b4: !f, %b5: !f, %b6: !f, %b7: !f, %b8: !f) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- scalars.mlir
// SCALARS: 'kernel.func' has 31 scalars; a launch has room for 30 at {{.*}}scalars.mlir":2:
kernel.func @k(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index, %i5: index, %i6: index, %i7: index, %i8: index, %i9: index, %i10: index, %i11: index, %i12: index, %i13: index, %i14: index, %i15: index, %i16: index, %i17: index, %i18: index, %i19: index, %i20: index, %i21: index, %i22: index, %i23: index, %i24: index, %i25: index, %i26: index, %i27: index, %i28: index, %i29: index, %i30: index) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
