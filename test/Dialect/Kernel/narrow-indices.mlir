// RUN: zyx-opt %s -zyx-kernel-narrow-indices -cse | FileCheck %s

#all = #kernel.map<[#kernel.block<[504] strides [1]>]>
!f32 = !kernel.buffer<f32, global>

// The grid, the loop and the workgroup say how large an index becomes.
// CHECK-LABEL: kernel.func @fits
// CHECK: kernel.grid (%[[P:.*]]) in [504] step [1] {
// CHECK:   %[[N:.*]] = arith.index_castui %[[P]] : index to i32
// CHECK:   arith.divui %[[N]], %{{.*}} : i32
// CHECK:   scf.for %[[K:.*]] =
// CHECK:     %[[M:.*]] = arith.index_castui %[[K]] : index to i32
// CHECK:     arith.addi %{{.*}}, %[[M]] : i32
// CHECK:     arith.remui %{{.*}}, %{{.*}} : i32
// CHECK-NOT: arith.{{addi|remui|divui}} {{.*}} : index
// CHECK:     kernel.load %{{.*}}[%{{.*}}] : <504xf32, global> -> f32
kernel.func @fits(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c21 = arith.constant 21 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<504xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<504xf32, global>
  kernel.grid (%p) in [504] step [1] {
    %t = kernel.id thread
    %row = arith.divui %p, %c21 : index
    %own = arith.addi %row, %t : index
    scf.for %k = %c0 to %c2 step %c1 {
      %s = arith.addi %own, %k : index
      %at = arith.remui %s, %c2 : index
      %v = kernel.load %xs[%at] : !kernel.view<504xf32, global> -> f32
      kernel.store %v, %ys[%row] : f32, !kernel.view<504xf32, global>
    }
  }
  kernel.return
}

// What is not known, or is too large, stays as it is.
// CHECK-LABEL: kernel.func @stays
// CHECK: arith.divui %{{.*}}, %{{.*}} : index
// CHECK: arith.muli %{{.*}}, %{{.*}} : index
// CHECK: arith.remui %{{.*}}, %{{.*}} : index
kernel.func @stays(%x: !f32, %n: index) attributes {form = #kernel.form<lowered>} {
  %c21 = arith.constant 21 : index
  %large = arith.constant 5000000000 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<504xf32, global>
  kernel.grid (%p, %q) in [504, %n] step [1, 1] {
    %row = arith.divui %q, %c21 : index
    %far = arith.muli %p, %large : index
    %at = arith.remui %far, %n : index
    %v = kernel.load %xs[%row] : !kernel.view<504xf32, global> -> f32
    kernel.store %v, %xs[%at] : f32, !kernel.view<504xf32, global>
  }
  kernel.return
}

// Users' numbers, too, but none of whose sign in 32 bits would be another one.
// CHECK-LABEL: kernel.func @signs
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: arith.remui %{{.*}}, %{{.*}} : i64
// CHECK: arith.shrui %{{.*}}, %{{.*}} : i64
// CHECK: arith.addi %{{.*}}, %{{.*}} : i32
kernel.func @signs(%x: !kernel.buffer<i32, global>, %y: !kernel.buffer<i8, global>, %z: !kernel.buffer<i64, global>, %f: !kernel.buffer<i1, global>) attributes {form = #kernel.form<lowered>} {
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i64
  %c7 = arith.constant 7 : i64
  %c40 = arith.constant 40 : i64
  %xs = kernel.view %x map #all : !kernel.buffer<i32, global> -> !kernel.view<504xi32, global>
  %ys = kernel.view %y map #all : !kernel.buffer<i8, global> -> !kernel.view<504xi8, global>
  %zs = kernel.view %z map #all : !kernel.buffer<i64, global> -> !kernel.view<504xi64, global>
  %fs = kernel.view %f map #all : !kernel.buffer<i1, global> -> !kernel.view<504xi1, global>
  kernel.grid (%p) in [100] step [1] {
    %a = kernel.load %xs[%p] : !kernel.view<504xi32, global> -> i32
    %large = arith.extui %a : i32 to i64
    %max = arith.maxsi %large, %c1 : i64
    kernel.store %max, %zs[%p] : i64, !kernel.view<504xi64, global>
    %less = arith.cmpi slt, %large, %c5 : i64
    kernel.store %less, %fs[%p] : i1, !kernel.view<504xi1, global>
    %b = kernel.load %ys[%p] : !kernel.view<504xi8, global> -> i8
    %small = arith.extsi %b : i8 to i64
    %rest = arith.remui %small, %c7 : i64
    kernel.store %rest, %zs[%p] : i64, !kernel.view<504xi64, global>
    %high = arith.shrui %small, %c40 : i64
    kernel.store %high, %zs[%p] : i64, !kernel.view<504xi64, global>
    %byte = arith.extui %b : i8 to i64
    %sum = arith.addi %byte, %c5 : i64
    kernel.store %sum, %zs[%p] : i64, !kernel.view<504xi64, global>
  }
  kernel.return
}
