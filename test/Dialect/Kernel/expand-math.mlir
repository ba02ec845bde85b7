// RUN: zyx-opt %s -split-input-file -zyx-kernel-expand-math -verify-diagnostics | FileCheck %s
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-expand-math -verify-diagnostics | FileCheck %s --check-prefix=POWERS

// CHECK-LABEL: @exp_of_a_tile
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : tensor<8x32xf32>
// CHECK: arith.bitcast {{.*}} : tensor<8x32xi32> to tensor<8x32xf32>
// CHECK-NOT: math.exp
// CHECK: return
func.func @exp_of_a_tile(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %0 = math.exp %x : tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// -----

// Where the result is zero the power is not taken: a product that is too small takes long.
// A machine with powers of two takes that of the rest, which is between -1/2 and 1/2; nothing is tested.
// POWERS-LABEL: @exp_of_what_is_far_below
// POWERS: %[[X:.*]] = arith.maximumf %arg0, %{{.*}} : vector<16xf32>
// POWERS: %[[ROUNDED:.*]] = math.fma %[[X]],
// POWERS: math.fma %[[X]],
// POWERS: %[[REST:.*]] = math.fma %[[X]],
// POWERS: math.exp2 %[[REST]] fastmath<afn> : vector<16xf32>
// POWERS-NOT: math.fma
// POWERS: arith.shli
// POWERS-COUNT-2: arith.mulf
// POWERS-NOT: arith.select
// POWERS: return
// CHECK-LABEL: @exp_of_what_is_far_below
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %arg0, %{{.*}} : vector<16xf32>
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[X:.*]] = arith.select %[[BELOW]], %[[ZEROS]], %arg0 :
// CHECK: math.fma %[[X]],
// CHECK: %[[POWER:.*]] = arith.mulf
// CHECK: %[[SMALL:.*]] = arith.mulf %[[POWER]],
// CHECK-NEXT: %[[RESULT:.*]] = arith.select %[[BELOW]], %[[ZEROS]], %[[SMALL]]
// CHECK-NEXT: return %[[RESULT]]
func.func @exp_of_what_is_far_below(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x {kernel.nonpositive} : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// CHECK-LABEL: @half_is_computed_in_f32_and_rounded_once
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK-COUNT-1: arith.truncf
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @half_is_computed_in_f32_and_rounded_once(%x: vector<16xbf16>) -> vector<16xbf16> {
  %0 = math.tanh %x : vector<16xbf16>
  return %0 : vector<16xbf16>
}

// -----

// CHECK-LABEL: @every_function_of_scalars
// CHECK-NOT: math.{{exp|exp2|expm1|log|log2|tanh|erf|rsqrt|sin|cos|tan|cbrt|powf}} {{.*}}
// CHECK-NOT: arith.remf
// CHECK: return
func.func @every_function_of_scalars(%x: f32, %y: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.exp2 %0 : f32
  %2 = math.log %1 : f32
  %3 = math.log2 %2 : f32
  %4 = math.tanh %3 : f32
  %5 = math.erf %4 : f32
  %6 = math.rsqrt %5 : f32
  %7 = math.sin %6 : f32
  %8 = math.cos %7 : f32
  %9 = math.tan %8 : f32
  %10 = math.powf %9, %y : f32
  %11 = arith.remf %10, %y : f32
  %12 = math.expm1 %11 : f32
  %13 = math.cbrt %12 : f32
  return %13 : f32
}

// -----

// CHECK-LABEL: @what_machines_have_stays
// CHECK: math.sqrt
// CHECK: math.floor
// CHECK: math.absf
func.func @what_machines_have_stays(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.floor %0 : f32
  %2 = math.absf %1 : f32
  return %2 : f32
}

// -----

func.func @exp_of_f8(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  // expected-error @+1 {{'math.exp' op has no expansion for elements of type 'f8E5M2'}}
  %0 = math.exp %x : tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// -----

// All products with the inverse are rounded to what the quotients are rounded to.
// CHECK-LABEL: @quotient_of_halves
// CHECK-NOT: arith.divf
// CHECK: %[[INVERSE:.*]] = arith.constant dense<1.42817295> : vector<8xf32>
// CHECK: arith.mulf %{{.*}}, %[[INVERSE]] : vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK-NOT: arith.divf
// CHECK: return
func.func @quotient_of_halves(%x: vector<8xf16>) -> vector<8xf16> {
  %c = arith.constant dense<7.001950e-01> : vector<8xf16>
  %0 = arith.divf %x, %c : vector<8xf16>
  return %0 : vector<8xf16>
}

// -----

// CHECK-LABEL: @quotients
// CHECK: arith.mulf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK-COUNT-4: arith.divf
// CHECK: return
func.func @quotients(%x: bf16, %y: f16, %z: f32) -> (bf16, f16, bf16, f32, f16) {
  %ten = arith.constant 1.000000e+01 : bf16
  %0 = arith.divf %x, %ten : bf16
  %zero = arith.constant 0.000000e+00 : f16
  %1 = arith.divf %y, %zero : f16
  %large = arith.constant 0x7F7F : bf16
  %2 = arith.divf %x, %large : bf16
  %three = arith.constant 3.000000e+00 : f32
  %3 = arith.divf %z, %three : f32
  %4 = arith.divf %y, %y : f16
  return %0, %1, %2, %3, %4 : bf16, f16, bf16, f32, f16
}
