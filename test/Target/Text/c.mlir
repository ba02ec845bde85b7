// RUN: zyx-translate --kernel-to-c %s -o %t.c
// RUN: FileCheck %s < %t.c
// RUN: cc -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only %t.c

// What is used of the helpers comes first, and nothing else.
// CHECK: typedef struct
// CHECK-NOT: zyx_maximum
// CHECK: static inline float zyx_f32(uint32_t bits)
// CHECK-NOT: zyx_to_
// CHECK: static inline uint64_t zyx_shl(
// CHECK: static inline float zyx_f16_to_f32(
// CHECK: static inline uint16_t zyx_f16_from_f64(
// CHECK-NOT: static

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
#rows = #kernel.map<[#kernel.block<[s0, 64] strides [64, 1] offset 3>]>
!f32 = !kernel.buffer<f32, global>
!i1 = !kernel.buffer<i1, global>
!f16 = !kernel.buffer<f16, global>
!i32 = !kernel.buffer<i32, global>

// A buffer that is not written is const. Bools are bytes in memory.
// CHECK-LABEL: void scale(const zyx_args *args, int64_t begin, int64_t end) {
// CHECK: const float *restrict b0 = args->buffers[0];
// CHECK: uint8_t *restrict b1 = args->buffers[1];
// CHECK: for (uint64_t [[G:g[0-9]+]] = (uint64_t)begin; (int64_t)[[G]] < end; ++[[G]]) {
// CHECK: const uint64_t [[I:v[0-9]+]] = [[G]] * UINT64_C(2);
// CHECK: const float [[X:v[0-9]+]] = b0[[[I]]];
// CHECK: const float [[P:v[0-9]+]] = [[X]] * 0x1.99999ap-4f;
// CHECK: const bool [[L:v[0-9]+]] = !([[P]] >= zyx_f32(0x7f800000u));
// CHECK: b1[[[I]]] = [[L]];
kernel.func @scale(%x: !f32, %y: !i1) attributes {form = #kernel.form<lowered>} {
  %tenth = arith.constant 0.1 : f32
  %inf = arith.constant 0x7F800000 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !i1 -> !kernel.view<1000xi1, global>
  kernel.grid (%i) in [1000] step [2] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %p = arith.mulf %v, %tenth : f32
    %l = arith.cmpf ult, %p, %inf : f32
    kernel.store %l, %ys[%i] : i1, !kernel.view<1000xi1, global>
  }
  kernel.return
}

// Small floats are bits, computed with in float and rounded after every op. The size is known to the
// caller's grid only.
// CHECK-LABEL: void halves(
// CHECK-NOT: scalars
// CHECK: for (uint64_t [[G:g[0-9]+]] =
// CHECK: const uint64_t [[J:v[0-9]+]] = (uint64_t)([[G]] % UINT64_C(64));
// CHECK: const uint64_t [[I:v[0-9]+]] = (uint64_t)([[G]] / UINT64_C(64));
// CHECK: const uint64_t [[ROW:v[0-9]+]] = [[I]] * UINT64_C(64);
// CHECK: const uint64_t [[FIRST:v[0-9]+]] = (uint64_t)([[ROW]] + UINT64_C(3));
// CHECK: const uint64_t [[AT:v[0-9]+]] = (uint64_t)([[FIRST]] + [[J]]);
// CHECK: const uint16_t [[H:v[0-9]+]] = b0[[[AT]]];
// CHECK: const uint16_t [[S:v[0-9]+]] = zyx_f16_from_f64(zyx_f16_to_f32([[H]]) + zyx_f16_to_f32((uint16_t)15360u));
// CHECK: b0[[[AT]]] = [[S]];
kernel.func @halves(%x: !f16, %n: index) attributes {form = #kernel.form<lowered>} {
  %one = arith.constant 1.0 : f16
  %xs = kernel.view %x[%n] map #rows : !f16 -> !kernel.view<?x64xf16, global>
  kernel.grid (%i, %j) in [%n, 64] step [1, 1] {
    %v = kernel.load %xs[%i, %j] : !kernel.view<?x64xf16, global> -> f16
    %s = arith.addf %v, %one : f16
    kernel.store %s, %xs[%i, %j] : f16, !kernel.view<?x64xf16, global>
  }
  kernel.return
}

// Loops and branches are structured; without a grid there is one program.
// CHECK-LABEL: void structured(
// CHECK: if (begin < end) {
// CHECK: _Alignas(64) uint32_t [[PRIVATE:p[0-9]+]][4];
// CHECK: uint32_t [[SUM:a[0-9]+]] = 0u;
// CHECK: for (uint64_t [[I:k[0-9]+]] = UINT64_C(0); (int64_t)[[I]] < (int64_t)UINT64_C(4); [[I]] += UINT64_C(1)) {
// CHECK: const bool [[C:v[0-9]+]] = ((int32_t){{v[0-9]+}} < (int32_t)0u);
// CHECK: uint32_t [[R:a[0-9]+]];
// CHECK: if ([[C]]) {
// CHECK: [[R]] = {{v[0-9]+}};
// CHECK: } else {
// CHECK: [[R]] = {{v[0-9]+}};
// CHECK: }
// CHECK: [[PRIVATE]][[[I]]] = [[R]];
// CHECK: const uint32_t [[Q:v[0-9]+]] = [[PRIVATE]][[[I]]];
// CHECK: [[SUM]] = {{v[0-9]+}};
// CHECK: }
// CHECK: b0[UINT64_C(0)] = [[SUM]];
kernel.func @structured(%x: !i32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %xs = kernel.view %x map #all : !i32 -> !kernel.view<1000xi32, global>
  %p = kernel.alloc : !kernel.view<4xi32, private>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (i32) {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi32, global> -> i32
    %negative = arith.cmpi slt, %v, %zero : i32
    %r = scf.if %negative -> i32 {
      %n = arith.subi %zero, %v : i32
      scf.yield %n : i32
    } else {
      %n = arith.shli %v, %three : i32
      scf.yield %n : i32
    }
    kernel.store %r, %p[%i] : i32, !kernel.view<4xi32, private>
    %q = kernel.load %p[%i] : !kernel.view<4xi32, private> -> i32
    %t = arith.addi %s, %q : i32
    scf.yield %t : i32
  }
  kernel.store %sum, %xs[%c0] : i32, !kernel.view<1000xi32, global>
  kernel.return
}

// A piece of an array begins at its indices.
// CHECK-LABEL: void piece(
// CHECK: uint32_t [[P:p[0-9]+]][12];
// CHECK: [[P]][UINT64_C(10)] = 7u;
// CHECK: = [[P]][UINT64_C(10)];
kernel.func @piece(%x: !i32) attributes {form = #kernel.form<lowered>} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %xs = kernel.view %x map #all : !i32 -> !kernel.view<1000xi32, global>
  %p = kernel.alloc : !kernel.view<3x4xi32, private>
  %slot = kernel.subview %p[%c2, %c1] : !kernel.view<3x4xi32, private> -> !kernel.view<2xi32, private>
  kernel.store %seven, %slot[%c1] : i32, !kernel.view<2xi32, private>
  %v = kernel.load %p[%c2, %c2] : !kernel.view<3x4xi32, private> -> i32
  kernel.store %v, %xs[%c1] : i32, !kernel.view<1000xi32, global>
  kernel.return
}

// A signed minimum is that of unsigned numbers in the same order: GCC 12 gets several chains wrong.
// CHECK-LABEL: void smaller(
// CHECK: const uint16_t [[A:v[0-9]+]] = b0[UINT64_C(1)];
// CHECK: const uint16_t [[B:v[0-9]+]] = b0[UINT64_C(2)];
// CHECK: = (zyx_order([[A]], 16) < zyx_order([[B]], 16) ? [[A]] : [[B]]);
kernel.func @smaller(%x: !kernel.buffer<i16, global>) attributes {form = #kernel.form<lowered>} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %xs = kernel.view %x map #all : !kernel.buffer<i16, global> -> !kernel.view<1000xi16, global>
  %a = kernel.load %xs[%c1] : !kernel.view<1000xi16, global> -> i16
  %b = kernel.load %xs[%c2] : !kernel.view<1000xi16, global> -> i16
  %least = arith.minsi %a, %b : i16
  kernel.store %least, %xs[%c1] : i16, !kernel.view<1000xi16, global>
  kernel.return
}
