// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled --verify-roundtrip | FileCheck %s

// CHECK-LABEL: kernel.func @divide_signed_0
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1> : tensor<4xi32>
// CHECK-DAG: %[[ALL:.*]] = arith.constant dense<-1> : tensor<4xi32>
// CHECK-DAG: %[[MIN:.*]] = arith.constant dense<-2147483648> : tensor<4xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.cmpi eq, %[[B:.*]], %{{.*}}
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %[[ONE]], %[[B]]
// CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %[[SAFE]]
// CHECK: arith.select %[[ZERO]], %[[ALL]], %[[Q]]
func.func @divide_signed(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = graph.binary div %a, %b : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: kernel.func @remainder_unsigned_0
// CHECK: %[[A:.*]] = kernel.load %{{.*}} -> tensor<4xi8>
// CHECK: %[[R:.*]] = arith.remui %[[A]]
// CHECK: arith.select %{{.*}}, %[[A]], %[[R]]
func.func @remainder_unsigned(%a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  %0 = graph.binary rem %a, %b : tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: kernel.func @shift_left_0
// CHECK: %[[BY:.*]] = arith.minui %[[B:.*]], %{{.*}} : tensor<4xi16>
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[B]], %{{.*}} : tensor<4xi16>
// CHECK: %[[S:.*]] = arith.shli %{{.*}}, %[[BY]]
// CHECK: arith.select %[[IN]], %[[S]]
func.func @shift_left(%a: tensor<4xi16>, %b: tensor<4xi16>) -> tensor<4xi16> {
  %0 = graph.binary shl %a, %b : tensor<4xi16>
  return %0 : tensor<4xi16>
}

// CHECK-LABEL: kernel.func @shift_right_signed_0
// CHECK: %[[BY:.*]] = arith.minui
// CHECK: arith.shrsi %{{.*}}, %[[BY]]
func.func @shift_right_signed(%a: tensor<4xi16>, %b: tensor<4xi16>) -> tensor<4xi16> {
  %0 = graph.binary shr %a, %b : tensor<4xi16>
  return %0 : tensor<4xi16>
}

// CHECK-LABEL: kernel.func @shift_right_unsigned_0
// CHECK: arith.shrui
func.func @shift_right_unsigned(%a: tensor<4xui16>, %b: tensor<4xui16>) -> tensor<4xui16> {
  %0 = graph.binary shr %a, %b : tensor<4xui16>
  return %0 : tensor<4xui16>
}

// CHECK-LABEL: kernel.func @larger_0
// CHECK: arith.maximumf
func.func @larger(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.binary max %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// True is larger than false, which as a signed bit it is not.
// CHECK-LABEL: kernel.func @bools_0
// CHECK: arith.cmpi ult
// CHECK-LABEL: kernel.func @bools_1
// CHECK: arith.maxui
// CHECK-LABEL: kernel.func @bools_2
// CHECK: kernel.reduce and
func.func @bools(%a: tensor<4xi1>, %b: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<i1>) {
  %0 = graph.binary lt %a, %b : tensor<4xi1>
  %1 = graph.binary max %a, %b : tensor<4xi1>
  %2 = graph.reduce min %b dims = [0] : tensor<4xi1> -> tensor<i1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<i1>
}

// CHECK-LABEL: kernel.func @float_to_integer_0
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[ABOVE:.*]] = arith.cmpf oge, %[[WIDE]], %{{.*}}
// CHECK: %[[X:.*]] = arith.select %{{.*}}, %[[WIDE]], %{{.*}} : tensor<4xi1>, tensor<4xf32>
// CHECK: %[[I:.*]] = arith.fptosi %[[X]] : tensor<4xf32> to tensor<4xi8>
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[WIDE]]
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<127> : tensor<4xi8>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<-128> : tensor<4xi8>
// CHECK: %[[S:.*]] = arith.select %[[BELOW]], %[[LEAST]], %[[I]]
// CHECK: arith.select %[[ABOVE]], %[[MOST]], %[[S]]
func.func @float_to_integer(%a: tensor<4xf16>) -> tensor<4xi8> {
  %0 = graph.cast %a : tensor<4xf16> -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// NaN is true.
// CHECK-LABEL: kernel.func @float_to_bool_0
// CHECK: arith.cmpf une
func.func @float_to_bool(%a: tensor<4xf32>) -> tensor<4xi1> {
  %0 = graph.cast %a : tensor<4xf32> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// What is narrowed in two steps is rounded to odd in the first.
// CHECK-LABEL: kernel.func @double_to_half_0
// CHECK: arith.truncf %{{.*}} : tensor<4xf64> to tensor<4xf32>
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : tensor<4xf32> to tensor<4xf16>
// CHECK-LABEL: kernel.func @double_to_half_1
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : tensor<4xf32> to tensor<4xbf16>
func.func @double_to_half(%a: tensor<4xf64>, %b: tensor<4xui64>) -> (tensor<4xf16>, tensor<4xbf16>) {
  %0 = graph.cast %a : tensor<4xf64> -> tensor<4xf16>
  %1 = graph.cast %b : tensor<4xui64> -> tensor<4xbf16>
  return %0, %1 : tensor<4xf16>, tensor<4xbf16>
}

// 8-bit floats are moved as they are, widened to f32 first and rounded from f32 last, once.
// CHECK-LABEL: kernel.func @float8_0
// CHECK: %[[X:.*]] = kernel.load %{{.*}} -> tensor<2x3xf8E5M2>
// CHECK: kernel.store %[[X]]
// CHECK-LABEL: kernel.func @float8_1
// CHECK: arith.extf %{{.*}} : tensor<6xf8E5M2> to tensor<6xf32>
// CHECK-NEXT: arith.truncf %{{.*}} : tensor<6xf32> to tensor<6xf8E4M3FN>
// CHECK-LABEL: kernel.func @float8_2
// CHECK: %[[ODD:.*]] = arith.ori
// CHECK: %[[F:.*]] = arith.bitcast %[[ODD]] : tensor<4xi32> to tensor<4xf32>
// CHECK: arith.truncf %[[F]] : tensor<4xf32> to tensor<4xf8E4M3FN>
func.func @float8(%a: tensor<3x2xf8E5M2>, %b: tensor<4xf64>)
    -> (tensor<2x3xf8E5M2>, tensor<3x2xf8E4M3FN>, tensor<4xf8E4M3FN>) {
  %0 = graph.permute %a order = [1, 0] : tensor<3x2xf8E5M2> -> tensor<2x3xf8E5M2>
  %1 = graph.cast %a : tensor<3x2xf8E5M2> -> tensor<3x2xf8E4M3FN>
  %2 = graph.cast %b : tensor<4xf64> -> tensor<4xf8E4M3FN>
  return %0, %1, %2 : tensor<2x3xf8E5M2>, tensor<3x2xf8E4M3FN>, tensor<4xf8E4M3FN>
}
