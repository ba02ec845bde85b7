// RUN: zyx-translate --kernel-to-target --target=webgpu %s | FileCheck %s

// What is used of the helpers comes first, and nothing else.
// Of the numbers of a launch as many are declared as kernels have.
// CHECK: struct zyx_Arguments { programs: u32, zero: u32, n0: u32 }
// CHECK-NEXT: var<immediate> zyx_args: zyx_Arguments;
// CHECK-NOT: fn zyx_
// CHECK: fn zyx_f32(bits: u32) -> f32 {
// CHECK-NOT: fn zyx_

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
#rows = #kernel.map<[#kernel.block<[s0, 64] strides [64, 1] offset 3>]>
#row = #kernel.map<[#kernel.block<[64, 128] strides [128, 1]>]>
#sums = #kernel.map<[#kernel.block<[64] strides [1]>]>
!f32 = !kernel.buffer<f32, global>
!i32 = !kernel.buffer<i32, global>

// A program is a thread. Buffers are declared in front of the kernel, and all are bound as written. Infinity is no constant.
// CHECK-LABEL: @group(0) @binding(0) var<storage, read_write> b0_scale: array<f32>;
// CHECK-NEXT: @group(0) @binding(1) var<storage, read_write> b1_scale: array<u32>;
// CHECK-NEXT: @compute @workgroup_size(64)
// CHECK-NEXT: fn k_scale(@builtin(workgroup_id) group: vec3<u32>,
// CHECK: let begin = group.x * 64u + thread;
// CHECK: for (var [[G:g[0-9]+]]: u32 = begin; [[G]] < zyx_args.programs; [[G]] += stride) {
// CHECK: let [[X:v[0-9]+]]: f32 = b0_scale[{{.*}}];  // text.mlir:[[@LINE+12]]{{$}}
// CHECK: let {{.*}}: f32 = [[X]] * 0x1.99999ap-4f;
// CHECK: let [[L:v[0-9]+]]: bool = !({{.*}} >= zyx_f32(0x7f800000u));
// CHECK: let [[I:v[0-9]+]]: u32 = u32([[L]]);
// CHECK: b1_scale[{{.*}}] = [[I]];
// CHECK-NOT: Barrier
kernel.func @scale(%x: !f32, %y: !i32) attributes {form = #kernel.form<lowered>} {
  %tenth = arith.constant 0.1 : f32
  %inf = arith.constant 0x7F800000 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !i32 -> !kernel.view<1000xi32, global>
  kernel.grid (%i) in [1000] step [2] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %p = arith.mulf %v, %tenth : f32
    %l = arith.cmpf ult, %p, %inf : f32
    %n = arith.extui %l : i1 to i32
    kernel.store %n, %ys[%i] : i32, !kernel.view<1000xi32, global>
  }
  kernel.return
}

// Constants that a driver would fold, zeros and denormals, are no constants either. It does not see how a sum was made. A scalar has 32 bits.
// CHECK-LABEL: fn k_zeros(
// CHECK: let n0: u32 = zyx_args.n0;
// CHECK: + 4294967293u)
// CHECK: let [[X:v[0-9]+]]: f32 = {{v[0-9]+}} + {{v[0-9]+}};
// CHECK: let [[S:v[0-9]+]]: f32 = zyx_f32(bitcast<u32>([[X]])) + zyx_f32(0x0u);
// CHECK: = zyx_f32(bitcast<u32>([[S]])) * zyx_f32(0x1u);
kernel.func @zeros(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0x00000001 : f32
  %xs = kernel.view %x[%n] map #rows : !f32 -> !kernel.view<?x64xf32, global>
  %c0 = arith.constant 0 : index
  %less = arith.constant -3 : index
  %count = arith.index_cast %n : index to i32
  %number = arith.sitofp %count : i32 to f32
  kernel.grid (%i, %j) in [%n, 64] step [1, 1] {
    %before = arith.addi %j, %less : index
    %k = arith.maxsi %before, %c0 : index
    %x0 = kernel.load %xs[%i, %k] : !kernel.view<?x64xf32, global> -> f32
    %v = arith.addf %x0, %number : f32
    %s = arith.addf %v, %zero : f32
    %m = arith.mulf %s, %least : f32
    kernel.store %m, %xs[%i, %j] : f32, !kernel.view<?x64xf32, global>
  }
  kernel.return
}

// What is never read may be outside.
// CHECK-LABEL: fn k_never(
// CHECK-NOT: 4294967295u
// CHECK: = zyx_f32(0x0u);
kernel.func @never(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %less = arith.constant -1 : index
  %c0 = arith.constant 0 : index
  %no = arith.constant false
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %v = kernel.load %xs[%less] mask %no : i1 : !kernel.view<1000xf32, global> -> f32
  kernel.store %v, %xs[%c0] : f32, !kernel.view<1000xf32, global>
  kernel.store %v, %xs[%less] mask %no : i1 : f32, !kernel.view<1000xf32, global>
  kernel.return
}

// A program is a workgroup: what it shares is declared in front of the kernel. The next program waits for this one's readers.
// CHECK: var<workgroup> [[P:p[0-9]+]]_meet: array<f32, 128>;
// CHECK: @compute @workgroup_size(128)
// CHECK-NEXT: fn k_meet(
// CHECK: let begin = group.x;
// CHECK: [[P]]_meet[{{v[0-9]+}}] = {{v[0-9]+}};
// CHECK-NEXT: workgroupBarrier();
// CHECK: let {{.*}}: f32 = [[P]]_meet[
// CHECK: workgroupBarrier();
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

// What threads read of a buffer that others wrote, a barrier shows.
// CHECK-LABEL: fn k_back(
// CHECK: workgroupBarrier();
// CHECK-NEXT: storageBarrier();
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

// No name begins with two underscores, and none of a kernel is another's buffer.
// CHECK: var<storage, read_write> b0___meet: array<f32>;
// CHECK: fn k___meet(
kernel.func @__meet(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.store %one, %xs[%c0] : f32, !kernel.view<1000xf32, global>
  kernel.return
}
