// RUN: split-file %s %t
// RUN: zyx-opt %t/lanes.mlir -zyx-kernel-scalarize -cse | FileCheck %t/lanes.mlir
// RUN: zyx-opt %t/parts.mlir -zyx-kernel-scalarize=lanes=4 -cse | FileCheck %t/parts.mlir
// RUN: zyx-opt %t/accesses.mlir -zyx-kernel-scalarize=access-lanes=8 -cse | FileCheck %t/accesses.mlir
// RUN: not zyx-opt %t/parts.mlir -zyx-kernel-scalarize=access-lanes=6 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not zyx-opt %t/parts.mlir -zyx-kernel-scalarize=lanes=6 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not zyx-opt %t/extract.mlir -zyx-kernel-scalarize 2>&1 | FileCheck %t/extract.mlir
// RUN: not zyx-opt %t/insert.mlir -zyx-kernel-scalarize 2>&1 | FileCheck %t/insert.mlir
// RUN: not zyx-opt %t/extents.mlir -zyx-kernel-scalarize 2>&1 | FileCheck %t/extents.mlir
// RUN: not zyx-opt %t/resource.mlir -zyx-kernel-scalarize 2>&1 | FileCheck %t/resource.mlir
// RUN: not zyx-opt %t/reduction.mlir -zyx-kernel-scalarize 2>&1 | FileCheck %t/reduction.mlir
// RUN: not zyx-opt %t/peer.mlir -zyx-kernel-scalarize 2>&1 | FileCheck %t/peer.mlir

// LANES: error: vectors have a power of two of lanes, not 6

//--- accesses.mlir
#all = #kernel.map<[#kernel.block<[64] strides [1]>]>
#apart = #kernel.map<[#kernel.block<[64] strides [2]>]>
!f32 = !kernel.buffer<f32, global>
!f16 = !kernel.buffer<f16, global>
!i1 = !kernel.buffer<i1, global>

// Accesses of 16 bytes are vectors, and nothing else; what is read and written at once stays whole.
// CHECK-LABEL: kernel.func @aligned
// CHECK: %[[V0:.*]] = kernel.load %[[X:.*]][%[[AT:.*]]] : <64xf32, global> -> vector<4xf32>
// CHECK: vector.extract %[[V0]][0] : f32 from vector<4xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c4{{.*}} : index
// CHECK: %[[V1:.*]] = kernel.load %[[X]][%[[NEXT]]] : <64xf32, global> -> vector<4xf32>
// CHECK-COUNT-8: arith.addf {{.*}} : f32
// CHECK: %[[S0:.*]] = vector.from_elements {{.*}} : vector<4xf32>
// CHECK: kernel.store %[[S0]], {{.*}} : vector<4xf32>, <64xf32, shared>
// CHECK: kernel.store {{.*}} : vector<4xf32>, <64xf32, shared>
// CHECK: %[[H:.*]] = kernel.load {{.*}} : <64xf16, global> -> vector<8xf16>
// CHECK: kernel.store %[[H]], {{.*}} : vector<8xf16>, <64xf16, global>
kernel.func @aligned(%x: !f32, %h: !f16) attributes {form = #kernel.form<lowered>, threads = 8 : i64} {
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<64xf32, global>
  %hs = kernel.view %h map #all : !f16 -> !kernel.view<64xf16, global>
  %s = kernel.alloc : !kernel.view<64xf32, shared>
  %t = kernel.id thread
  %at = arith.muli %t, %c8 : index
  %v = kernel.load %xs[%at] : !kernel.view<64xf32, global> -> vector<8xf32>
  %w = arith.addf %v, %v : vector<8xf32>
  kernel.store %w, %s[%at] : vector<8xf32>, !kernel.view<64xf32, shared>
  %g = kernel.load %hs[%at] : !kernel.view<64xf16, global> -> vector<8xf16>
  kernel.store %g, %hs[%c0] : vector<8xf16>, !kernel.view<64xf16, global>
  kernel.return
}

// What is known to be a multiple of 2 has vectors of two. What is not known, lies apart, may not be there, is a bool, or
// a thread's own is read one by one.
// CHECK-LABEL: kernel.func @others
// CHECK-COUNT-2: kernel.load {{.*}} : <64xf32, global> -> vector<2xf32>
// CHECK-NOT: -> vector
// CHECK-NOT: kernel.store {{.*}} vector
// CHECK: kernel.return
kernel.func @others(%x: !f32, %y: !f32, %b: !i1, %at: index, %n: index) attributes {form = #kernel.form<lowered>} {
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<64xf32, global>
  %ys = kernel.view %y map #apart : !f32 -> !kernel.view<64xf32, global>
  %bs = kernel.view %b map #all : !i1 -> !kernel.view<64xi1, global>
  %p = kernel.alloc : !kernel.view<64xf32, private>
  %even = arith.muli %at, %c2 : index
  %v = kernel.load %xs[%even] : !kernel.view<64xf32, global> -> vector<4xf32>
  kernel.store %v, %p[%c0] : vector<4xf32>, !kernel.view<64xf32, private>
  %w = kernel.load %xs[%at] : !kernel.view<64xf32, global> -> vector<4xf32>
  kernel.store %w, %p[%c0] : vector<4xf32>, !kernel.view<64xf32, private>
  %a = kernel.load %ys[%c0] : !kernel.view<64xf32, global> -> vector<4xf32>
  kernel.store %a, %p[%c0] : vector<4xf32>, !kernel.view<64xf32, private>
  %mask = vector.create_mask %n : vector<4xi1>
  %m = kernel.load %xs[%c0] mask %mask : vector<4xi1> : !kernel.view<64xf32, global> -> vector<4xf32>
  kernel.store %m, %p[%c0] : vector<4xf32>, !kernel.view<64xf32, private>
  %c = kernel.load %bs[%c0] : !kernel.view<64xi1, global> -> vector<4xi1>
  %o = kernel.load %p[%c0] : !kernel.view<64xf32, private> -> vector<4xf32>
  %r = arith.select %c, %o, %m : vector<4xi1>, vector<4xf32>
  kernel.store %r, %ys[%c0] : vector<4xf32>, !kernel.view<64xf32, global>
  kernel.return
}

//--- parts.mlir
#all = #kernel.map<[#kernel.block<[64] strides [1]>]>
#apart = #kernel.map<[#kernel.block<[64] strides [2]>]>
!f32 = !kernel.buffer<f32, global>

// A vector is as many of four lanes as it takes. A permutation is of lanes, a vector that stays whole is taken as it is,
// and what lies apart, or may not be there, is read one by one.
// CHECK-LABEL: kernel.func @together
// CHECK: %[[V0:.*]] = kernel.load %[[FLAT:.*]][%[[AT:.*]]] : <64xf32, global> -> vector<4xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %c4{{.*}} : index
// CHECK: %[[V1:.*]] = kernel.load %[[FLAT]][%[[NEXT]]] : <64xf32, global> -> vector<4xf32>
// CHECK: %[[L7:.*]] = vector.extract %[[V1]][3] : f32 from vector<4xf32>
// CHECK: %[[R0:.*]] = vector.from_elements %[[L7]], {{.*}} : vector<4xf32>
// CHECK-COUNT-4: kernel.load %{{.*}} : <127xf32, global> -> f32
// CHECK: %[[W0:.*]] = vector.from_elements {{.*}} : vector<4xf32>
// CHECK-COUNT-4: kernel.load %{{.*}} : <127xf32, global> -> f32
// CHECK: arith.addf %[[R0]], %[[W0]] : vector<4xf32>
// CHECK: %[[B:.*]] = arith.cmpf olt, %[[V0]], %{{.*}} : vector<4xf32>
// CHECK: %[[ALL:.*]] = arith.ori %[[B]], %{{.*}} : vector<4xi1>
// CHECK: vector.extract %[[ALL]][0] : i1 from vector<4xi1>
// CHECK: arith.ori %{{.*}}, %{{.*}} : vector<2xi1>
// CHECK: %[[SOME:.*]] = arith.ori %{{.*}}, %{{.*}} : i1
// CHECK: scf.if %[[SOME]] -> (vector<4xf32>, vector<4xf32>) {
// CHECK: kernel.store %{{.*}} : vector<4xf32>, <64xf32, global>
// CHECK: vector.extract %{{.*}}[0] : f32 from vector<4xf32>
// CHECK: kernel.store %{{.*}} mask %{{.*}} : i1 : f32, <64xf32, global>
// CHECK: kernel.store %[[V0]], %{{.*}} : vector<4xf32>, <64xf32, global>
kernel.func @together(%x: !f32, %y: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<64xf32, global>
  %ys = kernel.view %y map #apart : !f32 -> !kernel.view<64xf32, global>
  %v = kernel.load %xs[%n] : !kernel.view<64xf32, global> -> vector<8xf32>
  %r = vector.shuffle %v, %v [7, 6, 5, 4, 3, 2, 1, 0] : vector<8xf32>, vector<8xf32>
  %w = kernel.load %ys[%n] : !kernel.view<64xf32, global> -> vector<8xf32>
  %s = arith.addf %r, %w : vector<8xf32>
  %b = arith.cmpf olt, %v, %s : vector<8xf32>
  %some = vector.reduction <or>, %b : vector<8xi1> into i1
  %c = scf.if %some -> vector<8xf32> {
    scf.yield %v : vector<8xf32>
  } else {
    scf.yield %s : vector<8xf32>
  }
  kernel.store %c, %xs[%c0] : vector<8xf32>, !kernel.view<64xf32, global>
  kernel.store %c, %xs[%n] mask %b : vector<8xi1> : vector<8xf32>, !kernel.view<64xf32, global>
  %low = vector.extract_strided_slice %v {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
  kernel.store %low, %xs[%c0] : vector<4xf32>, !kernel.view<64xf32, global>
  kernel.return
}
//--- lanes.mlir
#rows = #kernel.map<[#kernel.block<[s0, 64] strides [64, 1] offset 3>]>
#back = #kernel.map<[#kernel.block<[8, 16] strides [16, -1] offset 15>]>
#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!f32 = !kernel.buffer<f32, global>

// A grid counts programs, and each computes its indices; the place of an element is one number.
// CHECK-LABEL: kernel.func @places
// CHECK: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[FLAT:.*]] = kernel.view %arg0[%[[N:.*]]] map <[<[{{.*}}s0{{.*}}] strides [1]>]> : <f32, global> -> <?xf32, global>
// CHECK: %[[BACK:.*]] = kernel.view %arg1 map <[<[128] strides [1]>]> : <f32, global> -> <128xf32, global>
// CHECK: %[[ALL:.*]] = arith.muli %[[N]], %[[C64]] : index
// CHECK: kernel.grid (%[[P:.*]]) in [%[[ALL]]] step [1] {
// CHECK:   %[[J:.*]] = arith.remui %[[P]], %[[C64]] : index
// CHECK:   %[[I:.*]] = arith.divui %[[P]], %[[C64]] : index
// CHECK:   %[[ROW:.*]] = arith.muli %[[I]], %[[C64]] : index
// CHECK:   %[[FIRST:.*]] = arith.addi %[[ROW]], %c3{{.*}} : index
// CHECK:   %[[AT:.*]] = arith.addi %[[FIRST]], %[[J]] : index
// CHECK:   kernel.load %[[FLAT]][%[[AT]]] : <?xf32, global> -> f32
// CHECK:   arith.muli %[[J]], %c-1{{.*}} : index
kernel.func @places(%x: !f32, %y: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x[%n] map #rows : !f32 -> !kernel.view<?x64xf32, global>
  %ys = kernel.view %y map #back : !f32 -> !kernel.view<8x16xf32, global>
  kernel.grid (%i, %j) in [%n, 64] step [1, 1] {
    %v = kernel.load %xs[%i, %j] : !kernel.view<?x64xf32, global> -> f32
    kernel.store %v, %ys[%c0, %j] : f32, !kernel.view<8x16xf32, global>
  }
  kernel.return
}

// A vector is its lanes, also where a loop carries it, and a mask guards each.
// CHECK-LABEL: kernel.func @carried
// CHECK-NOT: vector
// CHECK: %[[M0:.*]] = arith.cmpi slt, %c0{{.*}}, %arg1 : index
// CHECK: %[[M1:.*]] = arith.cmpi slt, %c1{{.*}}, %arg1 : index
// CHECK: %[[S:.*]]:2 = scf.for %{{.*}} iter_args(%[[A0:.*]] = %{{.*}}, %[[A1:.*]] = %{{.*}}) -> (f32, f32) {
// CHECK:   %[[V0:.*]] = kernel.load %{{.*}}[%[[AT:.*]]] mask %[[M0]] : i1 : <1000xf32, global> -> f32
// CHECK:   %[[NEXT:.*]] = arith.addi %[[AT]], %c1{{.*}} : index
// CHECK:   %[[V1:.*]] = kernel.load %{{.*}}[%[[NEXT]]] mask %[[M1]] : i1 : <1000xf32, global> -> f32
// CHECK:   %[[T0:.*]] = arith.addf %[[A0]], %[[V1]] : f32
// CHECK:   %[[T1:.*]] = arith.addf %[[A1]], %[[V0]] : f32
// CHECK:   scf.yield %[[T0]], %[[T1]] : f32, f32
// CHECK: kernel.store %[[S]]#0, %{{.*}} mask %[[M0]] : i1 : f32, <1000xf32, global>
// CHECK: kernel.store %[[S]]#1, %{{.*}} mask %[[M1]] : i1 : f32, <1000xf32, global>
kernel.func @carried(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %m = vector.create_mask %n : vector<2xi1>
  %s = scf.for %i = %c0 to %c8 step %c2 iter_args(%sum = %zero) -> vector<2xf32> {
    %v = kernel.load %xs[%i] mask %m : vector<2xi1> : !kernel.view<1000xf32, global> -> vector<2xf32>
    %w = vector.shuffle %v, %v [1, 2] : vector<2xf32>, vector<2xf32>
    %t = arith.addf %sum, %w : vector<2xf32>
    scf.yield %t : vector<2xf32>
  }
  kernel.store %s, %xs[%c0] mask %m : vector<2xi1> : vector<2xf32>, !kernel.view<1000xf32, global>
  kernel.return
}

// Outside of a view a gather reads zero: indices are signed.
// CHECK-LABEL: kernel.func @gathered
// CHECK: %[[W:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[W]], %c1000{{.*}} : index
// CHECK: kernel.load %{{.*}}[%[[W]]] mask %[[IN]] : i1 : <1000xf32, global> -> f32
kernel.func @gathered(%x: !f32, %at: !kernel.buffer<i32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %is = kernel.view %at map #all : !kernel.buffer<i32, global> -> !kernel.view<1000xi32, global>
  %i = kernel.load %is[%c0] : !kernel.view<1000xi32, global> -> vector<2xi32>
  %v = kernel.gather %xs[%i] : !kernel.view<1000xf32, global>, vector<2xi32> -> vector<2xf32>
  kernel.store %v, %xs[%c0] : vector<2xf32>, !kernel.view<1000xf32, global>
  kernel.return
}

// What a program keeps is one row, of which subviews are places.
// CHECK-LABEL: kernel.func @kept
// CHECK: %[[P:.*]] = kernel.alloc : <32xf32, private>
// CHECK: %[[ROW:.*]] = arith.muli %arg1, %c16{{.*}} : index
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %c5{{.*}} : index
// CHECK: kernel.store %{{.*}}, %[[P]][%[[AT]]] : f32, <32xf32, private>
kernel.func @kept(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %p = kernel.alloc : !kernel.view<2x16xf32, private>
  %row = kernel.subview %p[%n, %c0] : !kernel.view<2x16xf32, private> -> !kernel.view<16xf32, private>
  %v = kernel.load %xs[%c0] : !kernel.view<1000xf32, global> -> f32
  kernel.store %v, %row[%c5] : f32, !kernel.view<16xf32, private>
  %w = kernel.load %row[%c5] : !kernel.view<16xf32, private> -> f32
  kernel.store %w, %xs[%c0] : f32, !kernel.view<1000xf32, global>
  kernel.return
}
//--- extract.mlir
// CHECK: error: 'vector.extract' op reads a lane that is not known
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer, %i: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8] strides [1]>]> : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> vector<4xf32>
  %e = vector.extract %v[%i] : f32 from vector<4xf32>
  kernel.store %e, %xs[%c0] : f32, !kernel.view<8xf32, global>
  kernel.return
}
//--- insert.mlir
// CHECK: error: 'vector.insert' op writes a lane that is not known
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer, %i: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %xs = kernel.view %x map <[<[8] strides [1]>]> : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> vector<4xf32>
  %w = vector.insert %one, %v[%i] : f32 into vector<4xf32>
  kernel.store %w, %xs[%c0] : vector<4xf32>, !kernel.view<8xf32, global>
  kernel.return
}
//--- extents.mlir
// CHECK: error: 'kernel.gather' op reads a view whose extents are not known
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer, %n: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %at = arith.constant dense<1> : vector<2xi32>
  %xs = kernel.view %x[%n] map <[<[s0] strides [1]>]> : !buffer -> !kernel.view<?xf32, global>
  %v = kernel.gather %xs[%at] : !kernel.view<?xf32, global>, vector<2xi32> -> vector<2xf32>
  kernel.store %v, %xs[%c0] : vector<2xf32>, !kernel.view<?xf32, global>
  kernel.return
}
//--- resource.mlir
// CHECK: error: 'arith.constant' op has lanes that are not known
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %v = arith.constant dense_resource<blob> : vector<2xf32>
  %xs = kernel.view %x map <[<[8] strides [1]>]> : !buffer -> !kernel.view<8xf32, global>
  kernel.store %v, %xs[%c0] : vector<2xf32>, !kernel.view<8xf32, global>
  kernel.return
}
{-# dialect_resources: { builtin: { blob: "0x040000000000803F00000040" } } #-}
//--- reduction.mlir
// CHECK: error: 'vector.reduction' op has a vector, and is no op on each of its lanes
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8] strides [1]>]> : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> vector<4xf32>
  %s = vector.reduction <add>, %v : vector<4xf32> into f32
  kernel.store %s, %xs[%c0] : f32, !kernel.view<8xf32, global>
  kernel.return
}
//--- peer.mlir
// CHECK: error: 'kernel.load' op has a view that is neither of a buffer nor of the program's own memory
kernel.func @k(%n: index) attributes {form = #kernel.form<lowered>, threads = 32 : i64, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %here = kernel.alloc : !kernel.view<8xf32, shared>
  %there = kernel.peer %here of %n : !kernel.view<8xf32, shared>
  %v = kernel.load %there[%c0] : !kernel.view<8xf32, shared> -> f32
  kernel.store %v, %here[%c0] : f32, !kernel.view<8xf32, shared>
  kernel.return
}
