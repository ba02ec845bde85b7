// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=vulkan -zyx-kernel-expand-math | FileCheck %s
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=sm_90a facts=arithmetic.isFmaExact=false' -zyx-kernel-expand-math | FileCheck %s

// The machine's fma may round its product. That is right for a contraction, which stays.
// CHECK-LABEL: @contraction
// CHECK-NEXT: math.fma
// CHECK-NEXT: return
func.func @contraction(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  %0 = math.fma %a, %b, %c : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// The argument is reduced by an exact product, of parts of 12 digits in f32: a device may have no f64. Both are of
// log2 e, which is two numbers.
// CHECK-LABEL: @exp
// CHECK-NOT: f64
// CHECK: %[[SPLIT:.*]] = arith.constant dense<4.097000e+03> : vector<4xf32>
// CHECK: arith.mulf %{{.*}}, %[[SPLIT]] : vector<4xf32>
// CHECK-NOT: math.fma
// CHECK-NOT: f64
// CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<4xf32>
// CHECK: return
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}
