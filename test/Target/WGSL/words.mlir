// RUN: zyx-translate --kernel-to-target --target=webgpu %s | FileCheck %s

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!i8 = !kernel.buffer<i8, global>
!i64 = !kernel.buffer<i64, global>
!f16 = !kernel.buffer<f16, global>
!f32 = !kernel.buffer<f32, global>

// Numbers of 8 and 16 bits lie in words, whose upper bits are 0. An op sees its operands with the sign that it has, and
// what it makes is cut; the distance of a shift has no sign, and is no more than the digits that there are.
// CHECK-LABEL: fn k_numbers(
// CHECK: let [[X:v[0-9]+]]: u32 = ((atomicLoad(&b0_numbers[
// CHECK: let [[Q:v[0-9]+]]: u32 = extractBits(u32(extractBits(i32([[X]]), 0u, 8u) / extractBits(i32([[X]]), 0u, 8u)), 0u, 8u);
// CHECK: let [[D:v[0-9]+]]: u32 = select(7u, [[X]], {{.*}});
// CHECK: let [[S:v[0-9]+]]: u32 = extractBits(u32(extractBits(i32([[Q]]), 0u, 8u) >> min([[D]], 31u)), 0u, 8u);
// CHECK: let [[L:v[0-9]+]]: bool = ([[S]] < [[X]]);
// CHECK: let [[C:v[0-9]+]]: u32 = extractBits(([[S]] + [[X]]), 0u, 8u);
// CHECK: let [[CS:v[0-9]+]]: u32 = u32(extractBits(i32([[C]]), 0u, 8u));
// CHECK: let [[XS:v[0-9]+]]: u32 = u32(extractBits(i32([[X]]), 0u, 8u));
// CHECK: let [[P:v[0-9]+]]: u32 = ([[CS]] * [[XS]]);
// CHECK: let [[U:v[0-9]+]]: u32 = select(0u, [[P]] >> (8u & 31u), 8u < 32u);
// CHECK: let [[H:v[0-9]+]]: u32 = extractBits([[U]], 0u, 8u);
// CHECK: let [[G:v[0-9]+]]: bool = (extractBits(i32([[H]]), 0u, 8u) > extractBits(i32([[X]]), 0u, 8u));
// CHECK: ([[H]] & [[X]]);
kernel.func @numbers(%x: !i8) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !i8 -> !kernel.view<1000xi8, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xi8, global> -> i8
    %q = arith.divsi %v, %v : i8
    %s = arith.shrsi %q, %v : i8
    %l = arith.cmpi ult, %s, %v : i8
    %c = arith.addi %s, %v : i8
    %low, %h = arith.mulsi_extended %c, %v : i8
    %g = arith.cmpi sgt, %h, %v : i8
    %m = arith.andi %h, %v : i8
    %k = arith.select %g, %m, %v : i8
    %r = arith.select %l, %s, %k : i8
    kernel.store %r, %xs[%i] : i8, !kernel.view<1000xi8, global>
  }
  kernel.return
}

// What a float has not in 8 bits is 0. A pair of words has the sign of what it is made of.
// CHECK-LABEL: fn k_conversions(
// CHECK: let [[K:v[0-9]+]]: f32 = select(zyx_f32(0x0u), {{.*}});
// CHECK: let [[N:v[0-9]+]]: u32 = extractBits(u32(i32([[K]])), 0u, 8u);
// CHECK: vec2<u32>(u32(extractBits(i32([[N]]), 0u, 8u)), u32(extractBits(i32([[N]]), 0u, 8u) >> 31u));
// CHECK: = vec2<u32>(u32(i32([[I:g[0-9]+]])), u32(i32([[I]]) >> 31u));
// CHECK: let [[LOW:v[0-9]+]]: u32 = ([[W:v[0-9]+]] + {{v[0-9]+}});
// CHECK: let {{.*}}: bool = ([[LOW]] < [[W]]);
// CHECK: let [[T:v[0-9]+]]: vec2<u32> = ({{v[0-9]+}} | {{v[0-9]+}});
// CHECK: = extractBits([[T]].x, 0u, 8u);
// CHECK: = (([[LOW]] & 1u) != 0u);
// CHECK: [[B:v[0-9]+]]: vec2<u32> = vec2<u32>(0u - u32({{.*}}));
// CHECK: let [[BY:v[0-9]+]]: vec2<u32> = vec2<u32>([[B]].y, 0u);
// CHECK: let [[BH:v[0-9]+]]: u32 = [[BY]].x;
// CHECK: let [[SIGN:v[0-9]+]]: u32 = ([[BH]] & 2147483648u);
// CHECK: = countLeadingZeros(
// CHECK: let [[BITS:v[0-9]+]]: u32 = ({{v[0-9]+}} | [[SIGN]]);
// CHECK: = bitcast<f32>([[BITS]]);
// CHECK: let [[F:v[0-9]+]]: f32 = f32(extractBits(i32({{.*}}), 0u, 8u));
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
    %o = arith.trunci %s : i64 to i1
    %b = arith.extsi %o : i1 to i64
    %f = arith.sitofp %b : i64 to f32
    %e = arith.sitofp %t : i8 to f32
    %d = arith.addf %f, %e : f32
    kernel.store %d, %xs[%i] : f32, !kernel.view<1000xf32, global>
    kernel.store %s, %ys[%i] : i64, !kernel.view<1000xi64, global>
    kernel.store %t, %zs[%i] : i8, !kernel.view<1000xi8, global>
  }
  kernel.return
}

// The difference of a number and itself is no 0 where that is infinite: a driver does not see that it is the same.
// CHECK-LABEL: fn k_difference(
// CHECK: let [[D:v[0-9]+]]: f32 = [[V:v[0-9]+]] - zyx_f32(bitcast<u32>([[V]]));
kernel.func @difference(%x: !f32) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %d = arith.subf %v, %v : f32
    kernel.store %d, %xs[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}

// A half is its bits, in memory, and is computed with in f32. What is computed twice is so once.
// CHECK-LABEL: fn k_half(
// CHECK: let [[S:v[0-9]+]]: f32 = [[V:v[0-9]+]] + [[V]];
// CHECK: let [[B:v[0-9]+]]: u32 = bitcast<u32>([[S]]);
// CHECK: let [[A:v[0-9]+]]: u32 = ([[B]] & 2147483647u);
// CHECK: ([[A]] > 2139095040u);
kernel.func @half(%x: !f16) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !f16 -> !kernel.view<1000xf16, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf16, global> -> f16
    %s = arith.addf %v, %v : f16
    kernel.store %s, %xs[%i] : f16, !kernel.view<1000xf16, global>
  }
  kernel.return
}

// Quotients that are rounded down are made of those that are rounded to 0; pairs of words are compared with their sign.
// CHECK-LABEL: fn k_signs(
// CHECK: let [[V:v[0-9]+]]: vec2<u32> = b0_signs[
// CHECK: let {{.*}}: u32 = ({{v[0-9]+}} / 7u);
// CHECK: let {{.*}}: u32 = ({{v[0-9]+}} + 4294967295u);
// CHECK: let [[F:v[0-9]+]]: vec2<u32> = select({{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
// CHECK: let [[L:v[0-9]+]]: u32 = [[F]].x;
// CHECK: = ([[L]] >= [[VL:v[0-9]+]]);
// CHECK: = select([[V]], [[F]], {{v[0-9]+}});
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
