// RUN: zyx-opt %s -zyx-kernel-attach-target='target=webgpu' -zyx-fusion-form-groups -zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=vulkan' -zyx-fusion-form-groups -zyx-fusion-verify-groups | FileCheck %s --check-prefix=ANY
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=vulkan facts=simt.fusedBuffers=8' -zyx-fusion-form-groups -zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=webgpu' -zyx-fusion-form-groups --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A machine whose kernels have eight buffers, or whose driver should see no more, gets groups of no more; a number in all
// elements is none.
// CHECK-LABEL: func.func @sums
// CHECK: graph.group(
// CHECK-SAME: %arg6
// CHECK: graph.binary mul
// CHECK: graph.group(
// CHECK-SAME: %arg7
// CHECK-NOT: graph.group
// ANY-LABEL: func.func @sums
// ANY-COUNT-1: graph.group(
// ANY-NOT: graph.group(
// REMARK: together they read and write 10 buffers, and ops are fused up to 8 here
func.func @sums(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>, %e: tensor<64xf32>, %f: tensor<64xf32>, %g: tensor<64xf32>, %h: tensor<64xf32>, %i: tensor<64xf32>) -> tensor<64xf32> {
  %two = graph.constant dense<2.0> : tensor<64xf32>
  %0 = graph.binary mul %a, %two : tensor<64xf32>
  %1 = graph.binary add %0, %b : tensor<64xf32>
  %2 = graph.binary add %1, %c : tensor<64xf32>
  %3 = graph.binary add %2, %d : tensor<64xf32>
  %4 = graph.binary add %3, %e : tensor<64xf32>
  %5 = graph.binary add %4, %f : tensor<64xf32>
  %6 = graph.binary add %5, %g : tensor<64xf32>
  %7 = graph.binary add %6, %h : tensor<64xf32>
  %8 = graph.binary add %7, %i : tensor<64xf32>
  return %8 : tensor<64xf32>
}
