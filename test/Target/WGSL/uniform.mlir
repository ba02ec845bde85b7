// RUN: zyx-translate --kernel-to-target --target=webgpu %s | FileCheck %s

// WGSL wants to know of a branch around a barrier that all threads take it: what comes out of memory is handed around by
// one of them. What is computed of arguments is known to be uniform.
#all = #kernel.map<[#kernel.block<[64] strides [1]>]>
!i32 = !kernel.buffer<i32, global>
!view = !kernel.view<64xi32, global>
!mine = !kernel.view<64xi32, shared>

// CHECK: var<workgroup> zyx_uniform: u32;
// CHECK-LABEL: fn k_branches(
// CHECK: let [[N:v[0-9]+]]: u32 = b0_branches[0u];
// CHECK: let [[C:v[0-9]+]]: bool = (i32([[N]]) > i32(7u));
// CHECK: if (thread == 0u) { zyx_uniform = u32([[C]]); }
// CHECK-NEXT: let [[U:u[0-9]+]]: u32 = workgroupUniformLoad(&zyx_uniform);
// CHECK-NEXT: if (([[U]] != 0u)) {
// CHECK: workgroupBarrier();
// CHECK: let [[B:v[0-9]+]]: u32 = [[N]];
// CHECK: if (thread == 0u) { zyx_uniform = [[B]]; }
// CHECK-NEXT: let [[T:u[0-9]+]]: u32 = workgroupUniformLoad(&zyx_uniform);
// CHECK-NEXT: for (var [[K:k[0-9]+]]: u32 = 0u; i32([[K]]) < i32([[T]]); [[K]] += 1u) {
// CHECK: workgroupBarrier();
// CHECK-NOT: zyx_uniform
// CHECK: for (var {{k[0-9]+}}: u32 = 0u; i32({{k[0-9]+}}) < i32(n0); {{k[0-9]+}} += 1u) {
// CHECK: workgroupBarrier();
// CHECK-NOT: zyx_uniform
kernel.func @branches(%x: !i32, %n: index) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %xs = kernel.view %x map #all : !i32 -> !view
  kernel.grid (%i) in [1] step [1] {
    %thread = kernel.id thread
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %seven = arith.constant 7 : i32
    %mine = kernel.alloc : !mine
    %first = kernel.load %xs[%c0] : !view -> i32
    %more = arith.cmpi sgt, %first, %seven : i32
    scf.if %more {
      kernel.store %first, %mine[%thread] : i32, !mine
      kernel.barrier workgroup
    }
    %bound = arith.index_cast %first : i32 to index
    scf.for %k = %c0 to %bound step %c1 {
      kernel.store %seven, %mine[%thread] : i32, !mine
      kernel.barrier workgroup
    }
    scf.for %k = %c0 to %n step %c1 {
      kernel.store %seven, %mine[%thread] : i32, !mine
      kernel.barrier workgroup
    }
    scf.if %more {
      %v = kernel.load %mine[%thread] : !mine -> i32
      kernel.store %v, %xs[%thread] : i32, !view
    }
  }
  kernel.return
}
