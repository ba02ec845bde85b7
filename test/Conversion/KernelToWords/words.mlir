// RUN: zyx-opt %s -zyx-convert-kernel-to-words | FileCheck %s

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!i8 = !kernel.buffer<i8, global>
!i64 = !kernel.buffer<i64, global>
!f16 = !kernel.buffer<f16, global>
!f32 = !kernel.buffer<f32, global>

// An op sees its operands with the sign that it has; the distance of a shift has none, and is no more than the digits
// that there are.
// CHECK-LABEL: kernel.func @numbers(
// CHECK: %[[X:.+]] = kernel.load {{.*}} -> i8
// CHECK: %[[XS:.+]] = arith.extsi %[[X]] : i8 to i32
// CHECK: %[[YS:.+]] = arith.extsi %[[X]] : i8 to i32
// CHECK: %[[Q:.+]] = arith.divsi %[[XS]], %[[YS]] : i32
// CHECK: %[[QN:.+]] = arith.trunci %[[Q]] : i32 to i8
// CHECK: %[[D:.+]] = arith.select %{{.*}}, %[[X]], %c7_i8 : i8
// CHECK: %[[QS:.+]] = arith.extsi %[[QN]] : i8 to i32
// CHECK: %[[DU:.+]] = arith.extui %[[D]] : i8 to i32
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
// CHECK: %[[L:.+]] = arith.andi {{.*}} : i1
// CHECK: %[[K:.+]] = arith.select %[[L]], %{{.*}}, %{{.*}} : f32
// CHECK: %[[W:.+]] = arith.fptosi %[[K]] : f32 to i32
// CHECK: %[[N:.+]] = arith.trunci %[[W]] : i32 to i8
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

// Quotients that are rounded down are made of those that are rounded to 0; pairs of words are compared without a sign.
// CHECK-LABEL: kernel.func @signs(
// CHECK: %[[Q:.+]] = arith.divsi
// CHECK: %[[M:.+]] = arith.addi %[[Q]], %c-1_i64 : i64
// CHECK: %[[F:.+]] = arith.select %{{.*}}, %[[M]], %[[Q]] : i64
// CHECK: %[[FX:.+]] = arith.xori %[[F]], %[[SIGN:.+]] : i64
// CHECK: %[[VX:.+]] = arith.xori %{{.*}}, %[[SIGN]] : i64
// CHECK: arith.cmpi uge, %[[FX]], %[[VX]] : i64
kernel.func @signs(%x: !i64) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !i64 -> !kernel.view<1000xi64, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi64, global> -> i64
    %seven = arith.constant -7 : i64
    %q = arith.floordivsi %v, %seven : i64
    %l = arith.cmpi sge, %q, %v : i64
    %r = arith.select %l, %q, %v : i64
    kernel.store %r, %xs[%i] : i64, !kernel.view<1000xi64, global>
  }
  kernel.return
}

// An index that may have more than 32 bits is left for who refuses it.
// CHECK-LABEL: kernel.func @wide(
// CHECK: arith.remsi {{.*}} {wide_index} : index
kernel.func @wide(%x: !i8, %n: index) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !i8 -> !kernel.view<1000xi8, global>
  kernel.grid (%i) in [1000] step [1] {
    %j = arith.remsi %i, %n {wide_index} : index
    %v = kernel.load %xs[%j] : !kernel.view<1000xi8, global> -> i8
    kernel.store %v, %xs[%i] : i8, !kernel.view<1000xi8, global>
  }
  kernel.return
}
