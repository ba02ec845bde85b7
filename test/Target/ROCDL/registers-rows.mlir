// RUN: zyx-compile %s --target=gfx942 --no-optimise --stop-after=target | FileCheck %s
// RUN: zyx-compile %s --target=gfx1100 --no-optimise --stop-after=target | FileCheck %s
// RUN: zyx-compile %s --target=gfx1201 --no-optimise --stop-after=target | FileCheck %s

// One thread has all rows: it reads 16 elements at a time, and not all 256 of a row, as many as there are registers.
// CHECK-LABEL: rows_0:
// CHECK: .private_segment_fixed_size: 0
// CHECK: .vgpr_spill_count: 0
func.func @rows(%x: tensor<256x256xf32>) -> tensor<256xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<256x256xf32> -> tensor<256xf32>
  return %0 : tensor<256xf32>
}
