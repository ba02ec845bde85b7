// RUN: split-file %s %t
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/half.mlir 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/bytes.mlir 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/shared-bytes.mlir 2>&1 | FileCheck %s --check-prefix=SHARED-BYTES
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/long.mlir 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/private.mlir 2>&1 | FileCheck %s --check-prefix=PRIVATE
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/wide.mlir 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not zyx-translate --kernel-to-target --target=webgpu %t/shared.mlir 2>&1 | FileCheck %s --check-prefix=SHARED

//--- half.mlir
// HALF: error: 'kernel.func' has the type f16, which is no scalar of WGSL at {{.*}}half.mlir":2:
kernel.func @k(%x: !kernel.buffer<f16, global>) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- bytes.mlir
// BYTES: error: 'kernel.func' has elements of bool, which WGSL keeps in no memory at {{.*}}bytes.mlir":2:
kernel.func @k(%x: !kernel.buffer<i1, global>) attributes {form = #kernel.form<lowered>} {
  kernel.return
}
//--- shared-bytes.mlir
// SHARED-BYTES: error: 'kernel.alloc' has elements of bool, which WGSL keeps in no memory at {{.*}}shared-bytes.mlir":6:
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %t = kernel.id thread
  %true = arith.constant true
  // The place is that of the allocation.
  %s = kernel.alloc : !kernel.view<64xi1, shared>
  kernel.store %true, %s[%t] : i1, !kernel.view<64xi1, shared>
  kernel.return
}
//--- long.mlir
// LONG: error: 'kernel.func' has the type i64, which is no scalar of WGSL at {{.*}}long.mlir":2:
kernel.func @k(%x: !kernel.buffer<i64, global>) attributes {form = #kernel.form<lowered>} {
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
// WIDE: error: 'arith.remui' may have an index of more than 32 bits, which WGSL does not compute with at {{.*}}wide.mlir":10:
#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!f32 = !kernel.buffer<f32, global>
kernel.func @k(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %million = arith.constant 10000000 : index
  %n = arith.constant 977 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %far = arith.muli %i, %million : index
    %j = arith.remui %far, %n : index
    %v = kernel.load %xs[%j] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
//--- shared.mlir
// SHARED: error: {{.*}}kernel 'k' needs 32768 bytes of shared memory; target 'webgpu' has 16384
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %s = kernel.alloc : !kernel.view<8192xf32, shared>
  kernel.return
}
