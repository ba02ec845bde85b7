// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=webgpu -zyx-kernel-expand-math | FileCheck %s --implicit-check-not=f64
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=vulkan -zyx-kernel-expand-math | FileCheck %s --check-prefix=DOUBLES

// A device without f64 has all functions of f32: pieces of 2/pi have 12 digits, and sums are pairs.
// CHECK-LABEL: @sine
// CHECK-DAG: arith.constant dense<2.607000e+03> : vector<4xf32>
// CHECK-DAG: arith.constant dense<12> : vector<4xi32>
// CHECK: return
// DOUBLES-LABEL: @sine
// DOUBLES: vector<4xf64>
func.func @sine(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.sin %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// A logarithm and its product with the exponent are pairs of f32.
// CHECK-LABEL: @power
// CHECK: arith.divf
// CHECK: return
// DOUBLES-LABEL: @power
// DOUBLES: vector<4xf64>
func.func @power(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
  %0 = math.powf %x, %y : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// A remainder is one of integers, by 8 digits a step.
// CHECK-LABEL: @remainder
// CHECK-COUNT-33: arith.remui
// CHECK-NOT: arith.remui
// DOUBLES-LABEL: @remainder
// DOUBLES: vector<4xf64>
func.func @remainder(%x: vector<4xf16>, %y: vector<4xf16>) -> vector<4xf16> {
  %0 = arith.remf %x, %y : vector<4xf16>
  return %0 : vector<4xf16>
}
