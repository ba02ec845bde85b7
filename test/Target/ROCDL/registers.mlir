// RUN: zyx-compile %s --target=gfx942 --stop-after=target | FileCheck %s
// RUN: zyx-compile %s --target=gfx1100 --stop-after=target | FileCheck %s
// RUN: zyx-compile %s --target=gfx1201 --stop-after=target | FileCheck %s

// A thread sums up 4 by 8 products, of factors that it reads from shared memory when it needs them. Behind them is a
// branch, and LLVM would move the sums there, so that all factors of a slice were in registers: more than there are.
// CHECK-LABEL: product_0:
// CHECK: .private_segment_fixed_size: 0
// CHECK: .vgpr_spill_count: 0
func.func @product(%q: tensor<3x270x256xf32>, %k: tensor<3x270x256xf32>) -> tensor<3x270x270xf32> {
  %0 = graph.reshape %q : tensor<3x270x256xf32> -> tensor<3x270x1x256xf32>
  %1 = graph.expand %0 : tensor<3x270x1x256xf32> -> tensor<3x270x270x256xf32>
  %2 = graph.reshape %k : tensor<3x270x256xf32> -> tensor<3x1x270x256xf32>
  %3 = graph.expand %2 : tensor<3x1x270x256xf32> -> tensor<3x270x270x256xf32>
  %4 = graph.binary mul %1, %3 : tensor<3x270x270x256xf32>
  %5 = graph.reduce add %4 dims = [3] : tensor<3x270x270x256xf32> -> tensor<3x270x270xf32>
  return %5 : tensor<3x270x270xf32>
}
