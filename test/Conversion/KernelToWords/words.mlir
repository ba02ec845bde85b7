// RUN: zyx-opt %s -zyx-convert-kernel-to-words | FileCheck %s

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!i8 = !kernel.buffer<i8, global>
!i64 = !kernel.buffer<i64, global>
!f16 = !kernel.buffer<f16, global>
!f32 = !kernel.buffer<f32, global>

// An op sees its operands with the sign that it has; the distance of a shift has none.
// CHECK-LABEL: kernel.func @numbers(
// CHECK: %[[X:.+]] = kernel.load {{.*}} -> i8
// CHECK: %[[XS:.+]] = arith.extsi %[[X]] : i8 to i32
// CHECK: %[[YS:.+]] = arith.extsi %[[X]] : i8 to i32
// CHECK: %[[Q:.+]] = arith.divsi %[[XS]], %[[YS]] : i32
// CHECK: %[[QN:.+]] = arith.trunci %[[Q]] : i32 to i8
// CHECK: %[[QS:.+]] = arith.extsi %[[QN]] : i8 to i32
// CHECK: %[[DU:.+]] = arith.extui %[[X]] : i8 to i32
// CHECK: arith.shrsi %[[QS]], %[[DU]] : i32
// CHECK: arith.cmpi ult, {{.*}} : i32
// CHECK: arith.select {{.*}} : i8
kernel.func @numbers(%x: !i8) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !i8 -> !kernel.view<1000xi8, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi8, global> -> i8
    %q = arith.divsi %v, %v : i8
    %s = arith.shrsi %q, %v : i8
    %l = arith.cmpi ult, %s, %v : i8
    %r = arith.select %l, %s, %v : i8
    kernel.store %r, %xs[%i] : i8, !kernel.view<1000xi8, global>
  }
  kernel.return
}

// What a float has not in 8 bits is 0. Between 64 bits and 8, or an index, are 32.
// CHECK-LABEL: kernel.func @conversions(
// CHECK: %[[W:.+]] = arith.fptosi %{{.*}} : f32 to i32
// CHECK: %[[D:.+]] = arith.addi %[[W]], %{{.*}} : i32
// CHECK: %[[L:.+]] = arith.cmpi ult, %[[D]], %{{.*}} : i32
// CHECK: %[[K:.+]] = arith.select %[[L]], %[[W]], %{{.*}} : i32
// CHECK: %[[N:.+]] = arith.trunci %[[K]] : i32 to i8
// CHECK: %[[E:.+]] = arith.extsi %[[N]] : i8 to i32
// CHECK: arith.extsi %[[E]] : i32 to i64
// CHECK: %[[I:.+]] = arith.index_cast %{{.*}} : index to i32
// CHECK: arith.extsi %[[I]] : i32 to i64
// CHECK: %[[T:.+]] = arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.trunci %[[T]] : i32 to i8
kernel.func @conversions(%x: !f32, %y: !i64, %z: !i8) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !i64 -> !kernel.view<1000xi64, global>
  %zs = kernel.view %z map #all : !i8 -> !kernel.view<1000xi8, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %n = arith.fptosi %v : f32 to i8
    %w = arith.extsi %n : i8 to i64
    %j = arith.index_cast %i : index to i64
    %s = arith.addi %w, %j : i64
    %t = arith.trunci %s : i64 to i8
    kernel.store %s, %ys[%i] : i64, !kernel.view<1000xi64, global>
    kernel.store %t, %zs[%i] : i8, !kernel.view<1000xi8, global>
  }
  kernel.return
}

// A half is its bits, in memory and as an argument, and is computed with in f32.
// CHECK-LABEL: kernel.func @half(
// CHECK-SAME: !kernel.buffer<i16, global>
// CHECK: kernel.load {{.*}} -> i16
// CHECK: arith.addf {{.*}} : f32
// CHECK: kernel.store {{.*}} : i16
// CHECK-NOT: f16
kernel.func @half(%x: !f16) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f16 -> !kernel.view<1000xf16, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf16, global> -> f16
    %s = arith.addf %v, %v : f16
    kernel.store %s, %xs[%i] : f16, !kernel.view<1000xf16, global>
  }
  kernel.return
}
