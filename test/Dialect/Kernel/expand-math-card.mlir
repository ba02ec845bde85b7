// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-kernel-expand-math | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v3 --zyx-kernel-expand-math | FileCheck %s --check-prefix=HOST

// A card's own reciprocal is good enough for what is taken from one; f64 and processors divide.
// CHECK-LABEL: func.func @tangent
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[INVERSE:.*]] = arith.divf %[[ONE]], %{{.*}} fastmath<afn> : f32
// CHECK-NEXT: arith.mulf %[[INVERSE]]
// HOST-LABEL: func.func @tangent
// HOST-NOT: fastmath
// HOST: arith.divf %{{.*}}, %{{.*}} : f32
func.func @tangent(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @wide_tangent
// CHECK: arith.divf %{{.*}}, %{{.*}} : f64
// HOST-LABEL: func.func @wide_tangent
// HOST: arith.divf %{{.*}}, %{{.*}} : f64
func.func @wide_tangent(%x: f64) -> f64 {
  %0 = math.tanh %x : f64
  return %0 : f64
}
