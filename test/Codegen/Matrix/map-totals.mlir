// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s --check-prefix=STEP
// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s

// A sum over batches of exponentials of products: a workgroup has a tile of the sum in registers, and multiplies one
// batch after the other.
// STEP-LABEL: kernel.func @alone_0(
// STEP-SAME:    #kernel.tensor_step<128, 32, 64, stages 4, group 1>
// CHECK-LABEL: kernel.func @alone_0(
// One thread has the factors of a batch copied, of rows and of columns.
// CHECK:         kernel.role "producer"
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} = %c0{{.*}} to %c23
// CHECK:             kernel.wait
// CHECK:             kernel.expect
// CHECK-COUNT-2:     kernel.async_load
// CHECK:         kernel.role "consumer"
// CHECK:         scf.for
// What all batches read alike is read once for a tile.
// CHECK:           kernel.load {{.*}} -> tensor<64x32xbf16
// What rows of a batch read is on its way while the batch before is multiplied.
// CHECK:           kernel.load {{.*}} -> tensor<64xf32
// CHECK:           scf.for {{.*}} = %c0{{.*}} to %c23{{.*}} -> (index, i1, tensor<64x32xf32{{.*}}, tensor<64xf32
// CHECK:             kernel.load {{.*}} -> tensor<64xf32
// CHECK:             kernel.wait
// Of a panel of 64 features the 32 that exist are multiplied.
// CHECK:             kernel.mma_async {{.*}} : !kernel.view<64x32xbf16, shared, {{.*}}>, <32x32xbf16, shared
// CHECK:             kernel.mma_wait
// CHECK:             kernel.arrive
// CHECK:             math.exp2
// CHECK:             math.fma
// CHECK:           kernel.store {{.*}} : tensor<64x32xf32
func.func @alone(%a: tensor<23x150x32xbf16>, %b: tensor<23x150x32xbf16>, %bias: tensor<150x150xbf16>, %row: tensor<23x150xf32>, %by: tensor<23x150xf32>) -> tensor<150x150xf32> {
  %0 = graph.cast %a : tensor<23x150x32xbf16> -> tensor<23x150x32xf32>
  %1 = graph.cast %b : tensor<23x150x32xbf16> -> tensor<23x150x32xf32>
  %2 = graph.reshape %0 : tensor<23x150x32xf32> -> tensor<23x150x1x32xf32>
  %3 = graph.expand %2 : tensor<23x150x1x32xf32> -> tensor<23x150x150x32xf32>
  %4 = graph.reshape %1 : tensor<23x150x32xf32> -> tensor<23x1x150x32xf32>
  %5 = graph.expand %4 : tensor<23x1x150x32xf32> -> tensor<23x150x150x32xf32>
  %6 = graph.binary mul %3, %5 : tensor<23x150x150x32xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<23x150x150x32xf32> -> tensor<23x150x150xf32>
  %8 = graph.cast %bias : tensor<150x150xbf16> -> tensor<150x150xf32>
  %9 = graph.reshape %8 : tensor<150x150xf32> -> tensor<1x150x150xf32>
  %10 = graph.expand %9 : tensor<1x150x150xf32> -> tensor<23x150x150xf32>
  %11 = graph.binary add %7, %10 : tensor<23x150x150xf32>
  %12 = graph.reshape %row : tensor<23x150xf32> -> tensor<23x150x1xf32>
  %13 = graph.expand %12 : tensor<23x150x1xf32> -> tensor<23x150x150xf32>
  %14 = graph.binary sub %11, %13 : tensor<23x150x150xf32>
  %15 = graph.unary exp %14 : tensor<23x150x150xf32>
  %16 = graph.reshape %by : tensor<23x150xf32> -> tensor<23x1x150xf32>
  %17 = graph.expand %16 : tensor<23x1x150xf32> -> tensor<23x150x150xf32>
  %18 = graph.binary mul %15, %17 : tensor<23x150x150xf32>
  %19 = graph.reduce add %18 dims = [0] : tensor<23x150x150xf32> -> tensor<150x150xf32>
  return %19 : tensor<150x150xf32>
}
