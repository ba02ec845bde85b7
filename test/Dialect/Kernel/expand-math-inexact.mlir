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

// The argument is reduced by products that are exact without an fma: of a whole number of 8 digits, and 15 digits of
// ln 2. The fma that rounds it to a whole number need not be exact, and nobody takes it apart.
// CHECK-LABEL: @exp
// CHECK-NOT: f64
// CHECK: %[[ROUNDED:.*]] = math.fma {{.*}} {kept_fma} : vector<4xf32>
// CHECK: %[[N:.*]] = arith.subf %[[ROUNDED]], {{.*}}
// CHECK: %[[LN2:.*]] = arith.constant dense<0.693145751> : vector<4xf32>
// CHECK: arith.mulf %[[N]], %[[LN2]] : vector<4xf32>
// CHECK-NOT: math.fma
// CHECK-NOT: f64
// CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<4xf32>
// CHECK: return
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// Where a product must be exact it is one of parts of 12 digits in f32: a device may have no f64.
// CHECK-LABEL: @log
// CHECK-NOT: f64
// CHECK: %[[SPLIT:.*]] = arith.constant dense<4.097000e+03> : vector<4xf32>
// CHECK: arith.mulf %{{.*}}, %[[SPLIT]] : vector<4xf32>
// CHECK-NOT: f64
// CHECK: return
func.func @log(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.log %x : vector<4xf32>
  return %0 : vector<4xf32>
}
