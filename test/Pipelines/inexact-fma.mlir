// RUN: zyx-opt %s --zyx-compile='target=opencl stop-after=lowered' | FileCheck %s --check-prefix=EXACT
// RUN: zyx-opt %s --zyx-compile='target=vulkan stop-after=lowered' | FileCheck %s

// Quotients by one divisor share its inverse, and each is corrected by an fma. One that rounds its product would leave
// the last digit wrong: there each is a quotient.
// EXACT-LABEL: kernel.func @quotients
// EXACT: math.fma
// CHECK-LABEL: kernel.func @quotients
// CHECK: arith.divf {{.*}} : vector<{{[0-9]+}}xf32>
// CHECK-NOT: math.fma
func.func @quotients(%x: tensor<64x4xf32>, %y: tensor<64x1xf32>) -> tensor<64x4xf32> {
  %e = graph.expand %y : tensor<64x1xf32> -> tensor<64x4xf32>
  %q = graph.binary div %x, %e : tensor<64x4xf32>
  return %q : tensor<64x4xf32>
}
