// RUN: zyx-translate --kernel-to-target --target=opencl %s -o %t.cl
// RUN: FileCheck %s < %t.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Wall -Wextra -Werror -Wno-unused-parameter -Wno-unused-variable -fsyntax-only %t.cl

// What is used of the helpers comes first, and nothing else.
// CHECK: #pragma OPENCL FP_CONTRACT OFF
// CHECK-NOT: cl_khr_fp64
// CHECK-NOT: zyx_maximum
// CHECK: static inline float zyx_f16_to_f32(ushort x) { return vload_half(0, (const half *)&x); }
// CHECK: static inline ushort zyx_f16_from_f32(
// CHECK: vstore_half_rte(x, 0, (half *)&nearest);
// CHECK-NOT: static

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
#rows = #kernel.map<[#kernel.block<[s0, 64] strides [64, 1] offset 3>]>
#row = #kernel.map<[#kernel.block<[64, 128] strides [128, 1]>]>
#sums = #kernel.map<[#kernel.block<[64] strides [1]>]>
#one = #kernel.map<[#kernel.block<[] strides []>]>
!f32 = !kernel.buffer<f32, global>
!i1 = !kernel.buffer<i1, global>
!f16 = !kernel.buffer<f16, global>

// A program is a thread. A buffer is an object and an offset; one that is not written is const.
// CHECK-LABEL: __kernel void k_scale(__global uchar *m0, ulong o0, __global uchar *m1, ulong o1, __global uchar *scratch, ulong scratch_begin, ulong programs) {
// CHECK: const ulong begin = get_global_id(0), stride = get_global_size(0);
// CHECK: __global const float *restrict b0 = (__global const float *)(m0 + o0);
// CHECK: __global uchar *restrict b1 = (__global uchar *)(m1 + o1);
// CHECK: for (ulong [[G:g[0-9]+]] = begin; [[G]] < programs; [[G]] += stride) {
// Behind a line is its place here, where that is another one than of the line before.
// CHECK-NEXT: * UINT64_C(2);{{$}}
// CHECK: const float [[X:v[0-9]+]] = b0[{{.*}}];  // text.mlir:[[@LINE+10]]{{$}}
// CHECK: const bool [[L:v[0-9]+]] = !({{.*}} >= as_float(0x7f800000u));  // text.mlir:[[@LINE+11]]
// CHECK: b1[{{.*}}] = [[L]];
// CHECK-NOT: barrier
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

// Small floats are bits, computed with in float and rounded after every op.
// CHECK-LABEL: __kernel void k_halves(__global uchar *m0, ulong o0, ulong s0,
// CHECK: const ushort [[H:v[0-9]+]] = b0[
// CHECK: const ushort [[S:v[0-9]+]] = zyx_f16_from_f32(zyx_f16_to_f32([[H]]) + zyx_f16_to_f32((uint16_t)15360u));
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

// A program is a workgroup: what it shares is declared at the top. The next program waits for this one's readers.
// CHECK-LABEL: __kernel __attribute__((reqd_work_group_size(128, 1, 1)))
// CHECK-NEXT: void k_meet(
// CHECK: const ulong begin = get_group_id(0), stride = get_num_groups(0);
// CHECK: __local float [[P:p[0-9]+]][128] __attribute__((aligned(16)));
// CHECK: for (ulong
// CHECK: const ulong [[T:v[0-9]+]] = get_local_id(0);
// CHECK: [[P]][[[T]]] = {{v[0-9]+}};
// CHECK-NEXT: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK: const float {{.*}} = [[P]][
// CHECK: barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT: }
kernel.func @meet(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  %c127 = arith.constant 127 : index
  %xs = kernel.view %x map #row : !f32 -> !kernel.view<64x128xf32, global>
  %ys = kernel.view %y map #row : !f32 -> !kernel.view<64x128xf32, global>
  kernel.grid (%i) in [64] step [1] {
    %s = kernel.alloc : !kernel.view<128xf32, shared>
    %t = kernel.id thread
    %v = kernel.load %xs[%i, %t] : !kernel.view<64x128xf32, global> -> f32
    kernel.store %v, %s[%t] : f32, !kernel.view<128xf32, shared>
    kernel.barrier workgroup
    %r = arith.subi %c127, %t : index
    %o = kernel.load %s[%r] : !kernel.view<128xf32, shared> -> f32
    kernel.store %o, %ys[%i, %t] : f32, !kernel.view<64x128xf32, global>
  }
  kernel.return
}

// What threads read of a buffer that others wrote is no argument that nobody else writes, and barriers show it.
// CHECK-LABEL: void k_back(
// CHECK: __global float *b0 = (__global float *)(m0 + o0);
// CHECK: barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
kernel.func @back(%x: !f32) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c63 = arith.constant 63 : index
  %xs = kernel.view %x map #sums : !f32 -> !kernel.view<64xf32, global>
  %t = kernel.id thread
  %v = kernel.load %xs[%t] : !kernel.view<64xf32, global> -> f32
  kernel.barrier workgroup
  %r = arith.subi %c63, %t : index
  kernel.store %v, %xs[%r] : f32, !kernel.view<64xf32, global>
  kernel.return
}

// More private memory than a thread has lies in global memory, a part for each thread.
// CHECK-LABEL: void k_large(
// CHECK: __global float *[[L:p[0-9]+]] = (__global float *)(scratch + scratch_begin + get_global_id(0) * 4032 + 0);
// CHECK-LABEL: void k_small(
// CHECK: float {{p[0-9]+}}[16];
kernel.func @large(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %p = kernel.alloc : !kernel.view<1000xf32, private>
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %p[%i] : f32, !kernel.view<1000xf32, private>
    %w = kernel.load %p[%i] : !kernel.view<1000xf32, private> -> f32
    kernel.store %w, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
kernel.func @small(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %p = kernel.alloc : !kernel.view<16xf32, private>
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    kernel.store %v, %p[%c0] : f32, !kernel.view<16xf32, private>
    %w = kernel.load %p[%c0] : !kernel.view<16xf32, private> -> f32
    kernel.store %w, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A vector is its lanes, which are named one by one: a mask guards each, and nothing is read or written outside.
// CHECK-LABEL: void k_lanes(
// CHECK: const bool [[M0:v[0-9]+]] = ((long)UINT64_C(0) < (long)[[N:n0]]);
// CHECK: const bool [[M1:v[0-9]+]] = ((long)UINT64_C(1) < (long)[[N]]);
// CHECK: const float [[X0:v[0-9]+]] = [[M0]] ? b0[[[I0:v[0-9]+]]] : 0x0p+0f;
// CHECK: const ulong [[I1:v[0-9]+]] = (ulong)([[I0]] + UINT64_C(1));
// CHECK: const float [[X1:v[0-9]+]] = [[M1]] ? b0[[[I1]]] : 0x0p+0f;
// CHECK: const float [[Y0:v[0-9]+]] = [[X1]] - [[X0]];
// CHECK: const float [[Y1:v[0-9]+]] = [[X0]] - [[X1]];
// CHECK: if ([[M0]]) {
// CHECK-NEXT: b0[[[I0]]] = [[Y0]];
// CHECK: if ([[M1]]) {
// CHECK-NEXT: b0[[[I1]]] = [[Y1]];
kernel.func @lanes(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [2] {
    %m = vector.create_mask %n : vector<2xi1>
    %v = kernel.load %xs[%i] mask %m : vector<2xi1> : !kernel.view<1000xf32, global> -> vector<2xf32>
    %w = vector.shuffle %v, %v [1, 2] : vector<2xf32>, vector<2xf32>
    %y = arith.subf %w, %v : vector<2xf32>
    kernel.store %y, %xs[%i] mask %m : vector<2xi1> : vector<2xf32>, !kernel.view<1000xf32, global>
  }
  kernel.return
}
