// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=x86-64 -zyx-kernel-expand-math | FileCheck %s

// What is there already is of a contraction.
// CHECK-LABEL: @contraction
// CHECK-SAME: (%[[A:.*]]: vector<4xf64>, %[[B:.*]]: vector<4xf64>, %[[C:.*]]: vector<4xf64>)
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[C]]
// CHECK-NEXT: return %[[S]]
func.func @contraction(%a: vector<4xf64>, %b: vector<4xf64>, %c: vector<4xf64>) -> vector<4xf64> {
  %0 = math.fma %a, %b, %c : vector<4xf64>
  return %0 : vector<4xf64>
}

// -----

// The first product of the argument's reduction is exact in f64; the polynomial has plain steps.
// CHECK-LABEL: @exp
// CHECK-NOT: math.
// CHECK: arith.extf {{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: arith.mulf {{.*}} : vector<4xf64>
// CHECK: arith.addf {{.*}} : vector<4xf64>
// CHECK: arith.truncf {{.*}} : vector<4xf64> to vector<4xf32>
// CHECK: arith.mulf {{.*}} : vector<4xf32>
// CHECK-NOT: math.
// CHECK: return
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// CHECK-LABEL: @floor
// CHECK-SAME: (%[[X:.*]]: f32) -> f32
// CHECK: %[[SIZE:.*]] = math.absf %[[X]]
// CHECK: %[[WHOLE:.*]] = arith.constant {{8388608.*|8.388608e.06|0x4B000000}} : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[SIZE]], %[[WHOLE]]
// CHECK: %[[REST:.*]] = arith.subf %[[SUM]], %[[WHOLE]]
// CHECK: %[[NEAREST:.*]] = math.copysign %[[REST]], %[[X]]
// CHECK: arith.cmpf olt, %{{.*}}, %[[NEAREST]] : f32
// CHECK-NOT: math.floor
// CHECK: return
func.func @floor(%x: f32) -> f32 {
  %0 = math.floor %x : f32
  return %0 : f32
}
