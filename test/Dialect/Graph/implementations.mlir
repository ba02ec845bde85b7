// Implementations of custom ops: printed as read, also out of the plain graph, where hashes tell their texts apart.
// RUN: zyx-opt %s | zyx-opt | FileCheck %s
// RUN: zyx-opt %s -mlir-print-op-generic | zyx-opt | FileCheck %s
// RUN: zyx-opt %s --zyx-test-graph-transport | FileCheck %s

#c = #graph.implementation<c "twice" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> groups 4 text [
  "/* \22a\22 \\ */",
  "void twice(const float *x, float *y, int64_t begin, int64_t end) {",
  "}", ""]>
#ptx = #graph.implementation<ptx "twice" for "sm_90a" : (tensor<4xf32>) -> tensor<4xf32> groups 2 threads 32 shared 16 text ["x"]>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.custom "twice"(%[[P:.*]] = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> implementations [
  // CHECK-SAME: #graph.implementation<c "twice" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> groups 4 text ["/* \22a\22 \\ */", "void twice(const float *x, float *y, int64_t begin, int64_t end) {", "}", ""]>
  // CHECK-SAME: #graph.implementation<ptx "twice" for "sm_90a" : (tensor<4xf32>) -> tensor<4xf32> groups 2 threads 32 shared 16 text ["x"]>] {
  // CHECK-NEXT: graph.binary add %[[P]], %[[P]]
  %y = graph.custom "twice"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [#c, #ptx] {
    %0 = graph.binary add %p, %p : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
