// RUN: zyx-opt %s -zyx-kernel-attach-target='target=gfx942 facts=memory.privateBytes=1024' -zyx-convert-kernel-to-threads=dialect=rocdl --split-input-file -verify-diagnostics | FileCheck %s

// The same as for NVIDIA's GPUs, with ids and sizes from elsewhere: the driver writes the sizes behind the arguments.

// CHECK-LABEL: llvm.func @double
// CHECK-SAME: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}
// CHECK-SAME: rocdl.flat_work_group_size = "1,256"
// CHECK-SAME: rocdl.kernel
// CHECK: %[[SIZES:.*]] = llvm.call_intrinsic "llvm.amdgcn.implicitarg.ptr"() : () -> !llvm.ptr<4>
// CHECK: llvm.getelementptr %[[SIZES]][12]
// CHECK: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<4> -> i16
// CHECK: rocdl.workgroup.id.x
// CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr<4> -> i32
// CHECK: rocdl.workitem.id.x
// CHECK-NEXT: llvm.inline_asm has_side_effects{{.*}} "", "=v,0"
// CHECK-NOT: nvvm
#x = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<1000xf32, global>
kernel.func @double(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [1000] step [4] {
    %v = kernel.load %xs[%i] : !x -> vector<4xf32>
    %d = arith.addf %v, %v : vector<4xf32>
    kernel.store %d, %ys[%i] : vector<4xf32>, !x
  }
  kernel.return
}

// -----

// Five numbers are written as four and one: LLVM selects nothing for five that are rounded there.

// CHECK-LABEL: llvm.func @five
// CHECK: %[[FOUR:.*]] = llvm.shufflevector %{{.*}} [0, 1, 2, 3] : vector<5xi16>
// CHECK: llvm.store %[[FOUR]], %{{.*}} {alignment = 16 : i64} : vector<4xi16>
// CHECK: %[[ONE:.*]] = llvm.extractelement
// CHECK: llvm.store %[[ONE]], %{{.*}} {alignment = 8 : i64} : i16
#x = #kernel.map<[#kernel.block<[5] strides [1]>]>
!buffer = !kernel.buffer<f16, global>
!x = !kernel.view<5xf16, global>
kernel.func @five(%y: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense<1.000000e+00> : vector<5xf32>
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [1] step [1] {
    %d = arith.truncf %v : vector<5xf32> to vector<5xf16>
    kernel.store %d, %ys[%c0] : vector<5xf16>, !x
  }
  kernel.return
}

// -----

// The stack is in an address space of its own.

// CHECK-LABEL: llvm.func @small
// CHECK: %[[STACK:.*]] = llvm.alloca %{{.*}} x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr<5>
// CHECK: llvm.addrspacecast %[[STACK]] : !llvm.ptr<5> to !llvm.ptr
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<8xf32, global>
kernel.func @small(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !view
  kernel.grid (%i) in [8] step [1] {
    %p = kernel.alloc : !kernel.view<4xf32, private>
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    kernel.store %f, %p[%c0] : f32, !kernel.view<4xf32, private>
    kernel.store %f, %xs[%i] : f32, !view
  }
  kernel.return
}

// -----

// A barrier fences shared memory alone.

// CHECK: #mmra_tag = #llvm.mmra_tag<"amdgpu-synchronize-as":"local">
// CHECK-LABEL: llvm.func @shared
// CHECK: llvm.fence syncscope("workgroup") release {llvm.mmra = #mmra_tag}
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: llvm.fence syncscope("workgroup") acquire {llvm.mmra = #mmra_tag}
#x = #kernel.map<[#kernel.block<[64] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<64xf32, global>
!s = !kernel.view<64xf32, shared>
kernel.func @shared(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [1] step [1] {
    %t = kernel.id thread
    %s = kernel.alloc : !s
    %v = kernel.load %xs[%t] : !x -> f32
    kernel.store %v, %s[%t] : f32, !s
    kernel.barrier workgroup
    %c0 = arith.constant 0 : index
    %w = kernel.load %s[%c0] : !s -> f32
    kernel.store %w, %ys[%t] : f32, !x
  }
  kernel.return
}

// -----

// It fences buffers, too, where the kernel reads one that it writes.

// CHECK-LABEL: llvm.func @through_a_buffer
// CHECK: llvm.fence syncscope("workgroup") release{{$}}
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: llvm.fence syncscope("workgroup") acquire{{$}}
#x = #kernel.map<[#kernel.block<[64] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<64xf32, global>
kernel.func @through_a_buffer(%y: !buffer) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [1] step [1] {
    %t = kernel.id thread
    %f = arith.constant 1.0 : f32
    kernel.store %f, %ys[%t] : f32, !x
    kernel.barrier workgroup
    %c0 = arith.constant 0 : index
    %w = kernel.load %ys[%c0] : !x -> f32
    kernel.store %w, %ys[%t] : f32, !x
  }
  kernel.return
}

// -----

// expected-error @+1 {{has workgroups in clusters, which AMD's GPUs have not}}
kernel.func @cluster() attributes {form = #kernel.form<lowered>, threads = 64 : i64, cluster = 2 : i64} {
  kernel.return
}

// -----

kernel.func @product(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
  %a = arith.constant dense<0> : vector<4xi32>
  %b = arith.constant dense<0> : vector<2xi32>
  %acc = arith.constant dense<0.0> : vector<4xf32>
  kernel.grid (%i) in [1] step [1] {
    // expected-error @+1 {{has no counterpart in ROCDL: matrix instructions of AMD's GPUs are not used}}
    %sum = kernel.warp_multiply bf16 %a, %b, %acc : vector<4xi32>, vector<2xi32>, vector<4xf32>
  }
  kernel.return
}

// -----

kernel.func @counted(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  // expected-error @+1 {{is met by some threads of a workgroup alone, which AMD's GPUs have no instruction for}}
  kernel.barrier workgroup threads 64
  kernel.return
}

// -----

kernel.func @shuffle(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %0 = kernel.view %x map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  kernel.grid (%i) in [1] step [1] {
    %t = kernel.id thread
    %1 = kernel.load %0[%t] : <64xf32, global> -> f32
    // expected-error @+1 {{reads a register of another thread, for which there is no instruction}}
    %2 = kernel.shuffle %1 xor 1 : f32
    kernel.store %2, %0[%t] : f32, <64xf32, global>
  }
  kernel.return
}
