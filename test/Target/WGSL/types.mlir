// RUN: zyx-translate --kernel-to-target --target=webgpu %s | FileCheck %s

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!i1 = !kernel.buffer<i1, global>
!i16 = !kernel.buffer<i16, global>
!i64 = !kernel.buffer<i64, global>

// Helpers of what is used come first, each in front of those that call it.

// Elements lie side by side in words. Those that others write meanwhile are set by their own bits.
// CHECK-LABEL: @group(0) @binding(0) var<storage, read_write> b0_bytes: array<u32>;
// CHECK-NEXT: @group(0) @binding(1) var<storage, read_write> b1_bytes: array<atomic<u32>>;
// CHECK: = (((b0_bytes[[[G:g[0-9]+]] >> 2u] >> (([[G]] & 3u) << 3u)) & 255u) != 0u);
// CHECK: let [[R:v[0-9]+]]: u32 = {{.*}}
// CHECK: if ({{.*}}) {
// CHECK: atomicAnd(&b1_bytes[[[G]] >> 1u], ~(65535u << (([[G]] & 1u) << 4u))); atomicOr(&b1_bytes[[[G]] >> 1u], {{.*}} << (([[G]] & 1u) << 4u));
kernel.func @bytes(%x: !i1, %y: !i16) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !i1 -> !kernel.view<1000xi1, global>
  %ys = kernel.view %y map #all : !i16 -> !kernel.view<1000xi16, global>
  kernel.grid (%i) in [1000] step [1] {
    %l = kernel.load %xs[%i] : !kernel.view<1000xi1, global> -> i1
    %n = arith.extui %l : i1 to i16
    kernel.store %n, %ys[%i] mask %l : i1 : i16, !kernel.view<1000xi16, global>
  }
  kernel.return
}

// Threads share words, too; a thread's own it writes without atomics. An array has as many words as it takes.
// CHECK: var<workgroup> [[S:p[0-9]+_shared]]: array<atomic<u32>, 17>;
// CHECK: fn k_shared(
// CHECK: var [[P:p[0-9]+]]: array<u32, 2>;
// CHECK: atomicOr(&[[S]][
// CHECK: workgroupBarrier();
// CHECK: = (((atomicLoad(&[[S]][
// CHECK: [[P]][0u >> 1u] = ([[P]][0u >> 1u] & ~(65535u <<
kernel.func @shared(%y: !i16) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %t = kernel.id thread
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %s = kernel.alloc : !kernel.view<66xi1, shared>
  %p = kernel.alloc : !kernel.view<3xi16, private>
  %ys = kernel.view %y map #all : !i16 -> !kernel.view<1000xi16, global>
  kernel.store %true, %s[%t] : i1, !kernel.view<66xi1, shared>
  kernel.barrier workgroup
  %l = kernel.load %s[%c0] : !kernel.view<66xi1, shared> -> i1
  %n = arith.extui %l : i1 to i16
  kernel.store %n, %p[%c0] : i16, !kernel.view<3xi16, private>
  %v = kernel.load %p[%c0] : !kernel.view<3xi16, private> -> i16
  kernel.store %v, %ys[%t] : i16, !kernel.view<1000xi16, global>
  kernel.return
}

// Integers of 64 bits are pairs.
// CHECK-LABEL: @group(0) @binding(0) var<storage, read_write> b0_long: array<vec2<u32>>;
// CHECK: let [[X:v[0-9]+]]: vec2<u32> = b0_long[
// CHECK: let [[M:v[0-9]+]]: vec2<u32> = vec2<u32>([[X]].y, 0u);
// CHECK: let [[XL:v[0-9]+]]: u32 = [[X]].x;
// CHECK: let [[XH:v[0-9]+]]: u32 = [[M]].x;
// CHECK: let [[R:v[0-9]+]]: u32 = ([[TOP:v[0-9]+]] % 3u);
// CHECK: = ([[TOP]] / 3u);
// CHECK-NOT: if (
// CHECK-NOT: for (
// CHECK: let [[E:v[0-9]+]]: bool = ([[XH]] == [[QH:v[0-9]+]]);
// CHECK: let [[H:v[0-9]+]]: bool = (i32([[XH]]) < i32([[QH]]));
// CHECK: let [[B:v[0-9]+]]: bool = ([[XL]] < [[QL:v[0-9]+]]);
// CHECK: let [[C:v[0-9]+]]: bool = ([[E]] && [[B]]);
// CHECK: let [[L:v[0-9]+]]: bool = ([[H]] || [[C]]);
// CHECK: = select({{v[0-9]+}}, [[X]], [[L]]);
kernel.func @long(%x: !i64) attributes {form = #kernel.form<lowered>} {
  %three = arith.constant -3 : i64
  %xs = kernel.view %x map #all : !i64 -> !kernel.view<1000xi64, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi64, global> -> i64
    %q = arith.divsi %v, %three : i64
    %l = arith.cmpi slt, %v, %q : i64
    %r = arith.select %l, %v, %q : i64
    kernel.store %r, %xs[%i] : i64, !kernel.view<1000xi64, global>
  }
  kernel.return
}

// Quotients are guessed by f32, four times, and have no loop: lavapipe ends all loops of a thread after 65,535 trips.
// CHECK-LABEL: fn k_quotient(
// CHECK: for (var g0: u32
// CHECK-NOT: for (
// CHECK: if ({{v[0-9]+}}) {
// CHECK: = ({{v[0-9]+}} / {{v[0-9]+}});
// CHECK: } else {
// The divisor is one f32, and what is left in front of each guess.
// CHECK-COUNT-5: = zyx_f32(bitcast<u32>({{v[0-9]+}})) + {{v[0-9]+}};
// CHECK-NOT: for (
// CHECK: b0_quotient[{{.*}}] =
kernel.func @quotient(%x: !i64) attributes {form = #kernel.form<lowered>} {
  %c7 = arith.constant 7 : index
  %xs = kernel.view %x map #all : !i64 -> !kernel.view<1000xi64, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi64, global> -> i64
    %by = kernel.load %xs[%c7] : !kernel.view<1000xi64, global> -> i64
    %q = arith.divui %v, %by : i64
    kernel.store %q, %xs[%i] : i64, !kernel.view<1000xi64, global>
  }
  kernel.return
}
