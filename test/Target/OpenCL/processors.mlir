// RUN: zyx-translate --kernel-to-target --target=opencl-x86-64-v4 %s -o %t.cl
// RUN: FileCheck %s < %t.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Wall -Wextra -Werror -Wno-unused-parameter -Wno-unused-variable -fsyntax-only %t.cl
// RUN: not zyx-translate --kernel-to-target --target=opencl-sm_80 %s 2>&1 | FileCheck %s --check-prefix=NAME

// NAME: no target is named 'opencl-sm_80'

#all = #kernel.map<[#kernel.block<[1024] strides [1]>]>
#apart = #kernel.map<[#kernel.block<[1024] strides [2]>]>
!f32 = !kernel.buffer<f32, global>
!f64 = !kernel.buffer<f64, global>
!i1 = !kernel.buffer<i1, global>
!i8 = !kernel.buffer<i8, global>
!bf16 = !kernel.buffer<bf16, global>
!f16 = !kernel.buffer<f16, global>

// A program is a work item, alone in its group, and has vectors. Work items share programs in runs of neighbours.
// CHECK-LABEL: __kernel __attribute__((reqd_work_group_size(1, 1, 1)))
// CHECK-NEXT: void k_clamp(
// CHECK: const ulong begin = get_global_id(0) * programs / get_global_size(0), stride = 1;
// CHECK: programs = (get_global_id(0) + 1) * programs / get_global_size(0);
// CHECK: for (ulong [[G:g[0-9]+]] = begin; [[G]] < programs; [[G]] += stride) {
// CHECK: const float16 [[X:v[0-9]+]] = vload16(0, b0 + [[AT:.*]]);
// CHECK: const float16 [[M:v[0-9]+]] = ([[X]] == [[Z:v[0-9]+]] ? as_float16(as_int16([[X]]) & as_int16([[Z]])) : [[X]] > [[Z]] || [[X]] != [[X]] ? [[X]] : [[Z]]);
// CHECK: const float16 [[R:v[0-9]+]] = sqrt([[M]]);
// CHECK: vstore16([[R]], 0, b1 + {{.*}});
// CHECK-NOT: barrier
kernel.func @clamp(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1024xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1024xf32, global>
  kernel.grid (%i) in [1024] step [16] {
    %v = kernel.load %xs[%i] : !kernel.view<1024xf32, global> -> vector<16xf32>
    %m = arith.maximumf %v, %zero : vector<16xf32>
    %r = math.sqrt %m : vector<16xf32>
    kernel.store %r, %ys[%i] : vector<16xf32>, !kernel.view<1024xf32, global>
  }
  kernel.return
}

// Bools are integers of 32 bits: those of wider and narrower elements are converted, also where they choose.
// CHECK-LABEL: void k_choose(
// CHECK: const double8 [[X:v[0-9]+]] = vload8(0, b0 + {{.*}});
// CHECK: const int8 [[B:v[0-9]+]] = convert_int8(!([[X]] >= {{v[0-9]+}}));
// CHECK: const double8 [[C:v[0-9]+]] = (convert_long8([[B]]) ? [[X]] : {{v[0-9]+}});
// CHECK: const uchar8 [[U:v[0-9]+]] = convert_uchar8([[B]] & 1);
// CHECK: vstore8(convert_uchar8([[B]] & 1), 0, b1 + {{.*}});
// CHECK: vstore8([[U]], 0, b2 + {{.*}});
kernel.func @choose(%x: !f64, %y: !i1, %z: !i8) attributes {form = #kernel.form<lowered>} {
  %one = arith.constant dense<1.0> : vector<8xf64>
  %xs = kernel.view %x map #all : !f64 -> !kernel.view<1024xf64, global>
  %ys = kernel.view %y map #all : !i1 -> !kernel.view<1024xi1, global>
  %zs = kernel.view %z map #all : !i8 -> !kernel.view<1024xi8, global>
  kernel.grid (%i) in [1024] step [8] {
    %v = kernel.load %xs[%i] : !kernel.view<1024xf64, global> -> vector<8xf64>
    %b = arith.cmpf ult, %v, %one : vector<8xf64>
    %c = arith.select %b, %v, %one : vector<8xi1>, vector<8xf64>
    %u = arith.extui %b : vector<8xi1> to vector<8xi8>
    kernel.store %c, %xs[%i] : vector<8xf64>, !kernel.view<1024xf64, global>
    kernel.store %b, %ys[%i] : vector<8xi1>, !kernel.view<1024xi1, global>
    kernel.store %u, %zs[%i] : vector<8xi8>, !kernel.view<1024xi8, global>
  }
  kernel.return
}

// bf16 is rounded together; what has no text for vectors, as f16, has one for each lane.
// CHECK-LABEL: void k_halves(
// CHECK: const ushort4 [[B:v[0-9]+]] = zyx_bf16_from_f32_v4(as_float4(convert_uint4([[X:v[0-9]+]]) << 16) + as_float4(convert_uint4([[X]]) << 16));
// CHECK: const ushort4 [[H:v[0-9]+]] = (ushort4)(zyx_f16_from_f32(zyx_f16_to_f32([[Y:v[0-9]+]].s0) + zyx_f16_to_f32([[Y]].s0)), {{.*}}[[Y]].s3)));
// CHECK: zyx_bf16_from_f32_v4(({{.*}} ? as_float4(as_int4(as_float4(
kernel.func @halves(%x: !bf16, %y: !f16) attributes {form = #kernel.form<lowered>} {
  %xs = kernel.view %x map #all : !bf16 -> !kernel.view<1024xbf16, global>
  %ys = kernel.view %y map #all : !f16 -> !kernel.view<1024xf16, global>
  kernel.grid (%i) in [1024] step [4] {
    %v = kernel.load %xs[%i] : !kernel.view<1024xbf16, global> -> vector<4xbf16>
    %w = kernel.load %ys[%i] : !kernel.view<1024xf16, global> -> vector<4xf16>
    %a = arith.addf %v, %v : vector<4xbf16>
    %b = arith.addf %w, %w : vector<4xf16>
    %m = arith.maximumf %v, %a : vector<4xbf16>
    kernel.store %m, %xs[%i] : vector<4xbf16>, !kernel.view<1024xbf16, global>
    kernel.store %a, %xs[%i] : vector<4xbf16>, !kernel.view<1024xbf16, global>
    kernel.store %b, %ys[%i] : vector<4xf16>, !kernel.view<1024xf16, global>
  }
  kernel.return
}

// A vector of 24 is three of 8, also in a loop; a lane of one that is exchanged is read before it is written.
// CHECK-LABEL: void k_parts(
// CHECK: float8 [[A:a[0-9]+]] = {{.*}};
// CHECK: float8 [[B:a[0-9]+]] = {{.*}};
// CHECK: float8 [[C:a[0-9]+]] = {{.*}};
// CHECK: float [[S:a[0-9]+]] = {{.*}};
// CHECK: for (
// CHECK: const float [[T:t[0-9]+]] = [[A]].s7;
// CHECK: [[A]] = {{v[0-9]+}};
// CHECK: [[S]] = [[T]];
// CHECK: }
// CHECK: b1[{{.*}}] = [[S]];
// CHECK: vstore8([[A]], 0, b1 + {{.*}});
// CHECK: vstore8([[B]], 0, b1 + {{.*}});
// CHECK: vstore8([[C]], 0, b1 + {{.*}});
kernel.func @parts(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c24 = arith.constant 24 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : vector<24xf32>
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1024xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1024xf32, global>
  %s:2 = scf.for %i = %c0 to %c96 step %c24 iter_args(%a = %zeros, %last = %zero) -> (vector<24xf32>, f32) {
    %v = kernel.load %xs[%i] : !kernel.view<1024xf32, global> -> vector<24xf32>
    %t = arith.addf %a, %v : vector<24xf32>
    %e = vector.extract %a[7] : f32 from vector<24xf32>
    scf.yield %t, %e : vector<24xf32>, f32
  }
  kernel.store %s#1, %ys[%c0] : f32, !kernel.view<1024xf32, global>
  kernel.store %s#0, %ys[%c24] : vector<24xf32>, !kernel.view<1024xf32, global>
  kernel.return
}

// Whether one of several holds, is asked by halves, and lanes are tested at the end.
// CHECK-LABEL: void k_some(
// CHECK: const int4 [[B:v[0-9]+]] = ({{.*}} < {{.*}});
// CHECK: const int2 [[L:v[0-9]+]] = (int2)([[B]].s0, [[B]].s1);
// CHECK: const int2 [[H:v[0-9]+]] = (int2)([[B]].s2, [[B]].s3);
// CHECK: const int2 [[A:v[0-9]+]] = ([[L]] | [[H]]);
// CHECK: const bool [[S:v[0-9]+]] = (([[A]].s0 != 0) || ([[A]].s1 != 0));
// CHECK: b1[{{.*}}] = [[S]];
kernel.func @some(%x: !f32, %y: !i1) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1024xf32, global>
  %ys = kernel.view %y map #all : !i1 -> !kernel.view<1024xi1, global>
  %v = kernel.load %xs[%c0] : !kernel.view<1024xf32, global> -> vector<4xf32>
  %b = arith.cmpf olt, %v, %zero : vector<4xf32>
  %s = vector.reduction <or>, %b : vector<4xi1> into i1
  kernel.store %s, %ys[%c0] : i1, !kernel.view<1024xi1, global>
  kernel.return
}
