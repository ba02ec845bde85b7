// RUN: zyx-opt %s -zyx-kernel-attach-target='target=cuda facts=simt.clusterSize=8' -zyx-convert-kernel-to-threads --split-input-file | FileCheck %s

// A thread runs programs as far apart as there are threads. Buffers are in global memory.

// CHECK-LABEL: llvm.func @double
// CHECK-SAME: (%[[X:[^ :]*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %[[Y:[^ :]*]]: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %[[SCRATCH:[^ :]*]]: !llvm.ptr<1>, %[[PROGRAMS:[^ :]*]]: i64)
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.maxntid = array<i32: 256>
// CHECK: %[[FROM:.*]] = llvm.addrspacecast %[[X]]
// CHECK: nvvm.read.ptx.sreg.ntid.x
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.read.ptx.sreg.nctaid.x
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: %[[THREAD:.*]] = llvm.add %{{.*}}, %{{.*}} : i64
// CHECK: %[[THREADS:.*]] = llvm.mul
// CHECK: llvm.br ^[[HEAD:.*]](%[[THREAD]] : i64)
// CHECK: ^[[HEAD]](%[[P:.*]]: i64)
// CHECK: llvm.icmp "slt" %[[P]], %[[PROGRAMS]]
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(250 : index) : i64
// CHECK-NEXT: %[[ISONE:.*]] = llvm.icmp "ult" %[[P]], %[[COUNT]]
// CHECK-NEXT: llvm.intr.assume %[[ISONE]]
// CHECK: %[[AT:.*]] = llvm.getelementptr inbounds %[[FROM]]
// CHECK: llvm.load %[[AT]] {{.*}} -> vector<4xf32>
// CHECK: llvm.store
// CHECK: llvm.add %[[P]], %[[THREADS]]
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

// Numbers that are divided have 32 bits; dimensions of one program divide nothing.

// CHECK-LABEL: llvm.func @rows
// CHECK-NOT: llvm.intr.assume
// CHECK: %[[NUMBER:.*]] = llvm.trunc %{{.*}} : i64 to i32
// CHECK: llvm.urem %[[NUMBER]], %{{.*}} : i32
// CHECK: llvm.udiv %[[NUMBER]], %{{.*}} : i32
// CHECK-LABEL: llvm.func @single
// CHECK: llvm.icmp "slt" %[[P:.*]], %{{.*}} : i64
// CHECK: llvm.intr.assume
// CHECK-NOT: llvm.trunc
// CHECK-NOT: llvm.urem
// CHECK: llvm.mul %[[P]], %{{.*}} overflow<nsw> : i64
#x = #kernel.map<[#kernel.block<[64, 1000] strides [1000, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<64x1000xf32, global>
kernel.func @rows(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i, %j) in [64, 1000] step [1, 4] {
    %v = kernel.load %xs[%i, %j] : !x -> vector<4xf32>
    kernel.store %v, %ys[%i, %j] : vector<4xf32>, !x
  }
  kernel.return
}
kernel.func @single(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i, %j) in [1, 64] step [1, 1] {
    %v = kernel.load %xs[%j, %i] : !x -> f32
    kernel.store %v, %ys[%j, %i] : f32, !x
  }
  kernel.return
}

// -----

// Little private memory is local; scalars come in 64 bits.

// CHECK-LABEL: llvm.func @small
// CHECK-SAME: i64, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64)
// CHECK: llvm.alloca %{{.*}} x f32 {alignment = 64 : i64}
// CHECK: llvm.trunc %{{.*}} : i64 to i32
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<i32, global>
!view = !kernel.view<8xi32, global>
kernel.func @small(%x: !buffer, %n: i32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !view
  kernel.grid (%i) in [8] step [1] {
    %p = kernel.alloc : !kernel.view<4xf32, private>
    %c0 = arith.constant 0 : index
    %f = arith.sitofp %n : i32 to f32
    kernel.store %f, %p[%c0] : f32, !kernel.view<4xf32, private>
    kernel.store %n, %xs[%i] : i32, !view
  }
  kernel.return
}

// -----

// More than that is in scratch memory, each thread behind the other: 1600 and 64 bytes, in whole lines.

// CHECK-LABEL: llvm.func @large
// CHECK-SAME: (%{{[^ :]*}}: !llvm.ptr<1> {{.*}}, %[[SCRATCH:[^ :]*]]: !llvm.ptr<1>, %{{.*}}: i64)
// CHECK-NOT: llvm.alloca
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(1664 : i64)
// CHECK: %[[OWN:.*]] = llvm.mul %{{.*}}, %[[BYTES]]
// CHECK: %[[ALL:.*]] = llvm.addrspacecast %[[SCRATCH]]
// CHECK: %[[BASE:.*]] = llvm.getelementptr %[[ALL]][%[[OWN]]]
// CHECK-DAG: %[[FIRST:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-DAG: %[[SECOND:.*]] = llvm.mlir.constant(1600 : i64)
// CHECK-DAG: llvm.getelementptr %[[BASE]][%[[FIRST]]]
// CHECK-DAG: llvm.getelementptr %[[BASE]][%[[SECOND]]]
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<8xf32, global>
kernel.func @large(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !view
  kernel.grid (%i) in [8] step [1] {
    %p = kernel.alloc : !kernel.view<400xf32, private>
    %q = kernel.alloc : !kernel.view<2xf32, private>
    %c0 = arith.constant 0 : index
    %v = kernel.load %xs[%i] : !view -> f32
    kernel.store %v, %p[%i] : f32, !kernel.view<400xf32, private>
    kernel.store %v, %q[%c0] : f32, !kernel.view<2xf32, private>
    %w = kernel.load %p[%i] : !kernel.view<400xf32, private> -> f32
    kernel.store %w, %xs[%i] : f32, !view
  }
  kernel.return
}

// -----

// A kernel with threads: a program per workgroup, with memory that its threads share.

// CHECK-LABEL: llvm.func @together
// CHECK-SAME: nvvm.maxntid = array<i32: 64>
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK-NEXT: %[[GROUP:.*]] = llvm.zext
// CHECK: llvm.mlir.addressof @zyx_shared
// CHECK: llvm.br ^[[HEAD:.*]](%[[GROUP]] : i64)
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.barrier0
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<8xf32, global>
!shared = !kernel.view<64xf32, shared>
kernel.func @together(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %xs = kernel.view %x map #x : !buffer -> !view
  %ys = kernel.view %y map #x : !buffer -> !view
  kernel.grid (%i) in [8] step [1] {
    %s = kernel.alloc : !shared
    %t = kernel.id thread
    %v = kernel.load %xs[%i] : !view -> f32
    kernel.store %v, %s[%t] : f32, !shared
    kernel.barrier workgroup
    %w = kernel.load %s[%i] : !shared -> f32
    kernel.store %w, %ys[%i] : f32, !view
  }
  kernel.return
}

// -----

// Several workgroups in a cluster: a program for each cluster, which begins when all have begun, and writes into the
// memory of any of them.

// CHECK-LABEL: llvm.func @cluster
// CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK-SAME: nvvm.maxntid = array<i32: 512>
// CHECK: %[[OWN:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK-NEXT: %[[GROUP:.*]] = llvm.zext %[[OWN]]
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[CLUSTER:.*]] = llvm.udiv %[[GROUP]], %[[SIZE]]
// CHECK: llvm.udiv
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK: nvvm.cluster.wait {aligned}
// CHECK: llvm.br ^{{.*}}(%[[CLUSTER]] : i64)
// CHECK: nvvm.read.ptx.sreg.cluster.ctaid.x
// CHECK: nvvm.mapa %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK: nvvm.cluster.wait {aligned}
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<8xf32, global>
!shared = !kernel.view<4xf32, shared>
kernel.func @cluster(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>, threads = 512 : i64, cluster = 4 : i64} {
  %xs = kernel.view %x map #x : !buffer -> !view
  %ys = kernel.view %y map #x : !buffer -> !view
  kernel.grid (%i) in [8] step [1] {
    %c0 = arith.constant 0 : index
    %s = kernel.alloc : !shared
    %g = kernel.id cluster_rank
    %v = kernel.load %xs[%i] : !view -> f32
    %p = kernel.peer %s of %c0 : !shared
    kernel.store %v, %p[%g] : f32, !shared
    kernel.barrier cluster
    %w = kernel.load %s[%c0] : !shared -> f32
    kernel.store %w, %ys[%i] : f32, !view
  }
  kernel.return
}

// -----

// Room for more workgroups is a limit of registers; what is not read again goes past the first cache, where whole vectors
// of 16 bytes are read; powers of two are the machine's, one by one.

// CHECK-LABEL: llvm.func @columns
// CHECK-SAME: nvvm.minctasm = 4 : i32
// CHECK: %[[READ:.*]] = llvm.inline_asm asm_dialect = att "ld.global.nc.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l"
// CHECK-COUNT-4: llvm.extractvalue %[[READ]]
// CHECK: llvm.bitcast {{.*}} : vector<4xi32> to vector<4xf32>
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-NOT: inline_asm
// CHECK: llvm.load {{.*}} -> f32
// CHECK: llvm.return
#x = #kernel.map<[#kernel.block<[1024] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<1024xf32, global>
kernel.func @columns(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>, threads = 256 : i64, min_resident_threads = 1024 : i64} {
  %xs = kernel.view %x map #x : !buffer -> !view
  %ys = kernel.view %y map #x : !buffer -> !view
  kernel.grid (%i) in [1024] step [4] {
    %v = kernel.load %xs[%i] stream : !view -> vector<4xf32>
    %w = math.exp2 %v fastmath<afn> : vector<4xf32>
    kernel.store %w, %ys[%i] : vector<4xf32>, !view
    %one = kernel.load %xs[%i] stream : !view -> f32
    kernel.store %one, %ys[%i] : f32, !view
  }
  kernel.return
}

// -----

// What threads tell each other through memory must not be taken for what nobody else can reach.

// CHECK-LABEL: llvm.func @exchange
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %
!buffer = !kernel.buffer<f32, global>
#all = #kernel.map<[#kernel.block<[64] strides [1]>]>
!all = !kernel.view<64xf32, global>
kernel.func @exchange(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c63 = arith.constant 63 : index
  %xs = kernel.view %x map #all : !buffer -> !all
  %ys = kernel.view %y map #all : !buffer -> !all
  kernel.grid (%i) in [1] step [1] {
    %t = kernel.id thread
    %u = arith.subi %c63, %t : index
    %v = kernel.load %xs[%t] : !all -> f32
    kernel.store %v, %ys[%t] : f32, !all
    kernel.barrier workgroup
    %w = kernel.load %ys[%u] : !all -> f32
    kernel.barrier workgroup
    kernel.store %w, %ys[%t] : f32, !all
  }
  kernel.return
}

// -----

// Whole vectors of 16 bits are chosen as words; one whose length is odd is chosen as it is.
// CHECK-LABEL: llvm.func @choose
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, vector<2xi32>
// CHECK: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : i1, vector<3x{{bf16|i16}}>
!buffer = !kernel.buffer<bf16, global>
!x = !kernel.view<1000xbf16, global>
kernel.func @choose(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map <[<[1000] strides [1]>]> : !buffer -> !x
  %ys = kernel.view %y map <[<[1000] strides [1]>]> : !buffer -> !x
  %zeros = arith.constant dense<0.0> : vector<4xbf16>
  %three = arith.constant dense<0.0> : vector<3xbf16>
  %c100 = arith.constant 100 : index
  kernel.grid (%i) in [1000] step [4] {
    %exists = arith.cmpi ult, %i, %c100 : index
    %a = kernel.load %xs[%i] : !x -> vector<4xbf16>
    %b = arith.select %exists, %a, %zeros : vector<4xbf16>
    kernel.store %b, %ys[%i] : vector<4xbf16>, !x
    %c = kernel.load %xs[%i] : !x -> vector<3xbf16>
    %d = arith.select %exists, %c, %three : vector<3xbf16>
    kernel.store %d, %ys[%i] : vector<3xbf16>, !x
  }
  kernel.return
}

// Registers of other threads are read by words: bits of narrower values with zeros in front, halves of wider ones.
// CHECK-LABEL: llvm.func @shuffles
// CHECK:       nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32 -> i32
// CHECK:       llvm.zext %{{.*}} : i16 to i32
// CHECK:       nvvm.shfl.sync bfly
// CHECK:       llvm.trunc %{{.*}} : i32 to i16
// CHECK:       llvm.bitcast %{{.*}} : f64 to i64
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK:       llvm.bitcast %{{.*}} : i64 to f64
kernel.func @shuffles(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<i16, global>, %z: !kernel.buffer<f64, global>) attributes {form = #kernel.form<lowered>} {
  %0 = kernel.view %x map <[<[64, 32] strides [32, 1]>]> : <f32, global> -> <64x32xf32, global>
  %1 = kernel.view %y map <[<[64, 32] strides [32, 1]>]> : <i16, global> -> <64x32xi16, global>
  %2 = kernel.view %z map <[<[64, 32] strides [32, 1]>]> : <f64, global> -> <64x32xf64, global>
  kernel.grid (%i, %t) in [64, 32] step [1, 1] {
    %3 = kernel.load %0[%i, %t] : <64x32xf32, global> -> f32
    %4 = kernel.shuffle %3 xor 16 : f32
    kernel.store %4, %0[%i, %t] : f32, <64x32xf32, global>
    %5 = kernel.load %1[%i, %t] : <64x32xi16, global> -> i16
    %6 = kernel.shuffle %5 xor 1 : i16
    kernel.store %6, %1[%i, %t] : i16, <64x32xi16, global>
    %7 = kernel.load %2[%i, %t] : <64x32xf64, global> -> f64
    %8 = kernel.shuffle %7 xor 2 : f64
    kernel.store %8, %2[%i, %t] : f64, <64x32xf64, global>
  }
  kernel.return
}

// -----

// Some threads of a workgroup meet alone, and what alternatives share is one memory of 256 bytes.

// CHECK-LABEL: llvm.func @alternatives
// CHECK-NOT: llvm.getelementptr %{{.*}}[256]
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(64 : i32)
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %[[COUNT]]
!buffer = !kernel.buffer<f32, global>
#all = #kernel.map<[#kernel.block<[128] strides [1]>]>
!all = !kernel.view<128xf32, global>
kernel.func @alternatives(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %xs = kernel.view %x map #all : !buffer -> !all
  %ys = kernel.view %y map #all : !buffer -> !all
  kernel.grid (%i) in [2] step [1] {
    %t = kernel.id thread
    %first = arith.cmpi ult, %i, %c1 : index
    scf.if %first {
      %few = arith.cmpi ult, %t, %c64 : index
      scf.if %few {
        %s = kernel.alloc : !kernel.view<64xf32, shared>
        %v = kernel.load %xs[%t] : !all -> f32
        kernel.store %v, %s[%t] : f32, !kernel.view<64xf32, shared>
        kernel.barrier workgroup threads 64
        %w = kernel.load %s[%c0] : !kernel.view<64xf32, shared> -> f32
        kernel.store %w, %ys[%t] : f32, !all
      }
    } else {
      %s = kernel.alloc : !kernel.view<64xf32, shared>
      kernel.barrier workgroup
      %w = kernel.load %s[%c0] : !kernel.view<64xf32, shared> -> f32
      kernel.store %w, %ys[%t] : f32, !all
    } {kernel.alternatives}
  }
  kernel.return
}
