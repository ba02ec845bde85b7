// RUN: zyx-opt %s --zyx-compile='target=x86-64-v4 stop-after=schedule' | FileCheck %s --check-prefix=SCHEDULE
// RUN: zyx-opt %s --zyx-compile='target=x86-64-v4 stop-after=lowered' | FileCheck %s

// Pooling without overlap and padding: programs have as many rows as stay in the first cache, rows are copied as they lie in whole vectors, and every
// second lane is taken.
// SCHEDULE: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 56>]>
// CHECK:      %[[COPY:.*]] = kernel.alloc : <3616xi32, private>
// CHECK:      vector.create_mask
// CHECK-NEXT: kernel.load %{{.*}} mask %{{.*}} -> vector<16xf32>
// CHECK:      kernel.store %{{.*}}, %[[COPY]]{{.*}} : vector<16xi32>
// CHECK:      kernel.load %[[COPY]]{{.*}} -> vector<16xi32>
// CHECK:      vector.shuffle %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK:      arith.maxsi %{{.*}} : vector<16xi32>
func.func @main(%x: tensor<2x64x28x28xf32>) -> tensor<2x64x14x14xf32> {
  %0 = graph.window %x dims = [2, 3] size = [2, 2] stride = [2, 2] dilation = [1, 1] : tensor<2x64x28x28xf32> -> tensor<2x64x14x14x2x2xf32>
  %1 = graph.reduce max %0 dims = [4, 5] : tensor<2x64x14x14x2x2xf32> -> tensor<2x64x14x14xf32>
  return %1 : tensor<2x64x14x14xf32>
}
