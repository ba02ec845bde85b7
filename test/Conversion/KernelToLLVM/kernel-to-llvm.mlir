// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm --split-input-file | FileCheck %s

// The entry unpacks the arguments; the body gets pointers that do not alias. The grid is a loop over
// program numbers.

// CHECK-LABEL: llvm.func internal @double.body
// CHECK-SAME: %[[X:.*]]: !llvm.ptr {llvm.noalias, llvm.nocapture}, %[[Y:.*]]: !llvm.ptr {llvm.noalias, llvm.nocapture}, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64
// CHECK: llvm.br ^[[HEAD:.*]](%[[BEGIN]] : i64)
// CHECK: ^[[HEAD]](%[[P:.*]]: i64)
// CHECK: llvm.icmp "slt" %[[P]], %[[END]]
// CHECK: %[[I:.*]] = llvm.mul %[[P]], %{{.*}}
// CHECK: llvm.intr.smax
// CHECK: llvm.intr.smin
// CHECK: %[[MASK:.*]] = llvm.icmp {{.*}} : vector<16xi32>
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[X]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.intr.masked.load %[[AT]], %[[MASK]], %{{.*}} {alignment = 4 : i32}
// CHECK: llvm.intr.masked.store

// CHECK-LABEL: llvm.func @double
// CHECK-SAME: (%[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: llvm.icmp "slt" %[[BEGIN]], %[[END]]
// CHECK: %[[BUFFERS:.*]] = llvm.load %[[ARGS]]
// CHECK: llvm.call @double.body(%{{.*}}, %{{.*}}, %[[BEGIN]], %[[END]])
#x = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<1000xf32, global>
kernel.func @double(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  %c1000 = arith.constant 1000 : index
  kernel.grid (%i) in [1000] step [16] {
    %left = arith.subi %c1000, %i : index
    %m = vector.create_mask %left : vector<16xi1>
    %v = kernel.load %xs[%i] mask %m : vector<16xi1> : !x -> vector<16xf32>
    %d = arith.addf %v, %v : vector<16xf32>
    kernel.store %d, %ys[%i] mask %m : vector<16xi1> : vector<16xf32>, !x
  }
  kernel.return
}

// -----

// Two dimensions: row-major program numbers. The scalar is a symbol of the view.

// CHECK-LABEL: llvm.func internal @transpose.body
// CHECK-SAME: %[[X:[^ :]*]]: !llvm.ptr {{{.*}}}, %[[Y:[^ :]*]]: !llvm.ptr {{{.*}}}, %[[N:[^ :]*]]: i64,
// CHECK: llvm.add %[[N]], %{{.*}}
// CHECK: %[[COUNT:.*]] = llvm.udiv
// CHECK: llvm.urem %{{.*}}, %[[COUNT]]
// CHECK: llvm.udiv %{{.*}}, %[[COUNT]]
// CHECK: %[[F:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.mul %{{.*}}, %[[N]] overflow<nsw>
// CHECK: llvm.store %[[F]], %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
#rows = #kernel.map<[#kernel.block<[6, s0] strides [s0, 1]>]>
#columns = #kernel.map<[#kernel.block<[6, s0] strides [1, 6] offset 2>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<6x?xf32, global>
kernel.func @transpose(%x: !buffer, %y: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x[%n] map #columns : !buffer -> !view
  %ys = kernel.view %y[%n] map #rows : !buffer -> !view
  kernel.grid (%i, %j) in [6, %n] step [1, 2] {
    %v = kernel.load %xs[%i, %j] : !view -> f32
    kernel.store %v, %ys[%i, %j] : f32, !view
  }
  kernel.return
}

// -----

// A vector along a stride is gathered and scattered; stride 0 is one load.

// CHECK-LABEL: llvm.func internal @strided.body
// CHECK: llvm.intr.masked.gather
// CHECK: %[[ONE:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: llvm.insertelement %[[ONE]]
// CHECK: llvm.intr.masked.scatter
#every3 = #kernel.map<[#kernel.block<[16] strides [3]>]>
#same = #kernel.map<[#kernel.block<[16] strides [0]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<16xf32, global>
kernel.func @strided(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #every3 : !buffer -> !view
  %x0 = kernel.view %x map #same : !buffer -> !view
  %ys = kernel.view %y map #every3 : !buffer -> !view
  %a = kernel.load %xs[%c0] : !view -> vector<16xf32>
  %b = kernel.load %x0[%c0] : !view -> vector<16xf32>
  %c = arith.mulf %a, %b : vector<16xf32>
  kernel.store %c, %ys[%c0] : vector<16xf32>, !view
  kernel.return
}

// -----

// i1 is a byte in memory; private memory is on the stack.

// CHECK-LABEL: llvm.func internal @bytes.body
// CHECK: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// CHECK: %[[B:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<16xi8>
// CHECK: llvm.icmp "ne" %[[B]], %{{.*}} : vector<16xi8>
// CHECK: %[[Z:.*]] = llvm.zext %{{.*}} : vector<16xi1> to vector<16xi8>
// CHECK: llvm.store %[[Z]]
#x = #kernel.map<[#kernel.block<[16] strides [1]>]>
!buffer = !kernel.buffer<i1, global>
!view = !kernel.view<16xi1, global>
kernel.func @bytes(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %true = arith.constant dense<true> : vector<16xi1>
  %p = kernel.alloc : !kernel.view<2x16xi1, private>
  %slot = kernel.subview %p[%c0, %c0] : !kernel.view<2x16xi1, private> -> !kernel.view<16xi1, private>
  %xs = kernel.view %x map #x : !buffer -> !view
  %v = kernel.load %xs[%c0] : !view -> vector<16xi1>
  %n = arith.xori %v, %true : vector<16xi1>
  kernel.store %n, %slot[%c0] : vector<16xi1>, !kernel.view<16xi1, private>
  kernel.return
}

// -----

// Arithmetic on bf16 is in f32, and rounded in integers after each op.

// CHECK-LABEL: llvm.func internal @bf16.body
// CHECK: llvm.load {{.*}} -> vector<16xi16>
// CHECK: llvm.shl {{.*}} : vector<16xi32>
// CHECK: llvm.fadd {{.*}} : vector<16xf32>
// CHECK: llvm.fcmp "uno"
// CHECK: llvm.trunc {{.*}} : vector<16xi32> to vector<16xi16>
// CHECK-NOT: xbf16
// CHECK: llvm.return
#x = #kernel.map<[#kernel.block<[16] strides [1]>]>
!buffer = !kernel.buffer<bf16, global>
!view = !kernel.view<16xbf16, global>
kernel.func @bf16(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : vector<16xbf16>
  %xs = kernel.view %x map #x : !buffer -> !view
  %v = kernel.load %xs[%c0] : !view -> vector<16xbf16>
  %s = arith.addf %v, %one : vector<16xbf16>
  kernel.store %s, %xs[%c0] : vector<16xbf16>, !view
  kernel.return
}

// -----

// No fast-math flag but the reduction's own.

// CHECK-LABEL: llvm.func internal @sums.body
// CHECK-NOT: fastmath
// CHECK: "llvm.intr.vector.reduce.fadd"({{.*}}) <{fastmathFlags = #llvm.fastmath<reassoc>}>
// CHECK-NOT: fastmath
// CHECK: llvm.return
#x = #kernel.map<[#kernel.block<[16] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!view = !kernel.view<16xf32, global>
kernel.func @sums(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !view
  %v = kernel.load %xs[%c0] : !view -> vector<16xf32>
  %w = math.fma %v, %v, %v : vector<16xf32>
  %s = vector.reduction <add>, %w fastmath<reassoc> : vector<16xf32> into f32
  %r = math.sqrt %s : f32
  kernel.store %r, %xs[%c0] : f32, !view
  kernel.return
}

// Indices of 32 bits into a dense row are scaled and widened by the processor; lanes outside of it are zero.
// CHECK-LABEL: llvm.func internal @gather.body
// CHECK-DAG:   %[[INSIDE:.*]] = llvm.icmp "ult"
// CHECK-DAG:   %[[AT:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, vector<16xi32>) -> vector<16x!llvm.ptr>, f32
// CHECK:       llvm.intr.masked.gather %[[AT]], %[[INSIDE]]
kernel.func @gather(%x: !kernel.buffer<f32, global>, %n: !kernel.buffer<i32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[100] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100xf32, global>
  %ns = kernel.view %n map <[<[16] strides [1]>]> : !kernel.buffer<i32, global> -> !kernel.view<16xi32, global>
  %ys = kernel.view %y map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  %i = kernel.load %ns[%c0] : !kernel.view<16xi32, global> -> vector<16xi32>
  %t = kernel.gather %xs[%i] : !kernel.view<100xf32, global>, vector<16xi32> -> vector<16xf32>
  kernel.store %t, %ys[%c0] : vector<16xf32>, !kernel.view<16xf32, global>
  kernel.return
}

// Two bytes are read one by one, at index 0 where there is nothing to read.
// CHECK-LABEL: llvm.func internal @gather_half.body
// CHECK:       llvm.select {{.*}} : vector<4xi1>, vector<4xi64>
// CHECK-COUNT-4: llvm.load {{.*}} -> i16
kernel.func @gather_half(%x: !kernel.buffer<f16, global>, %n: !kernel.buffer<i64, global>, %y: !kernel.buffer<f16, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[10, 5] strides [5, 1]>]> : !kernel.buffer<f16, global> -> !kernel.view<10x5xf16, global>
  %ns = kernel.view %n map <[<[4] strides [1]>]> : !kernel.buffer<i64, global> -> !kernel.view<4xi64, global>
  %ys = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f16, global> -> !kernel.view<4xf16, global>
  %i = kernel.load %ns[%c0] : !kernel.view<4xi64, global> -> vector<4xi64>
  %t = kernel.gather %xs[%i, %i] : !kernel.view<10x5xf16, global>, vector<4xi64>, vector<4xi64> -> vector<4xf16>
  kernel.store %t, %ys[%c0] : vector<4xf16>, !kernel.view<4xf16, global>
  kernel.return
}

// A page ahead is fetched. Past the caches goes what is aligned, and a fence behind it.
// CHECK-LABEL: llvm.func internal @stream.body
// CHECK:       %[[AHEAD:.*]] = llvm.getelementptr %{{.*}}[4096]
// CHECK:       "llvm.intr.prefetch"(%[[AHEAD]])
// CHECK:       llvm.ptrtoint
// CHECK:       llvm.store {{.*}} {alignment = 64 : i64, nontemporal}
// CHECK:       llvm.store {{.*}} {alignment = 4 : i64}
// CHECK:       llvm.fence seq_cst
kernel.func @stream(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  %ys = kernel.view %y map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  %v = kernel.load %xs[%c0] stream : !kernel.view<16xf32, global> -> vector<16xf32>
  kernel.store %v, %ys[%c0] stream : vector<16xf32>, !kernel.view<16xf32, global>
  kernel.return
}

// Into the second cache, wherever that is.
// CHECK-LABEL: llvm.func {{.*}}@prefetch.body
// CHECK: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
kernel.func @prefetch(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c40 = arith.constant 40 : index
  %v = kernel.view %x map <[<[16] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<16xf32, global>
  kernel.prefetch %v[%c40] : !kernel.view<16xf32, global>
  kernel.return
}
