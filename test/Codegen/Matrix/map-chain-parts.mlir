// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s

// What has more digits than bf16 is multiplied in two parts, which are neither zero unless it is: a zero would make a NaN of
// an infinity in the other factor. Both go onto the same sums.
// CHECK-LABEL: kernel.func @bf16_0
// CHECK: [[LESS:%.*]] = arith.constant dense<0.99609375>
// CHECK: kernel.role "consumer"
// CHECK: kernel.mma_async {{.*}} transposed
// CHECK: [[X:%.*]] = arith.mulf
// CHECK-NEXT: [[SCALED:%.*]] = arith.mulf [[X]], [[LESS]]
// CHECK-NEXT: [[HIGH:%.*]] = arith.truncf [[SCALED]] : {{.*}} to tensor<64x128xbf16
// CHECK-NEXT: [[WIDE:%.*]] = arith.extf [[HIGH]]
// CHECK-NEXT: [[REST:%.*]] = arith.subf [[X]], [[WIDE]]
// CHECK-NEXT: [[SIZE:%.*]] = math.absf [[X]]
// CHECK-NEXT: [[INFINITE:%.*]] = arith.cmpf oeq, [[SIZE]]
// CHECK-NEXT: [[CHOSEN:%.*]] = arith.select [[INFINITE]], [[X]], [[REST]]
// CHECK-NEXT: [[LOW:%.*]] = arith.truncf [[CHOSEN]]
// CHECK-NEXT: [[FIRST:%.*]] = kernel.convert [[HIGH]]
// CHECK-NEXT: [[SECOND:%.*]] = kernel.convert [[LOW]]
// CHECK: kernel.mma_fence
// CHECK-NEXT: [[SUM:%.*]] = kernel.mma_async [[FIRST]], [[RIGHT:%[0-9]+]] acc
// CHECK-NEXT: kernel.mma_async [[SECOND]], [[RIGHT]] acc [[SUM]]
// CHECK-NEXT: kernel.mma_commit
func.func @bf16(%q: tensor<9x512x64xbf16>, %k: tensor<9x512x64xbf16>, %v: tensor<9x512x64xbf16>, %g: tensor<9x512x512xf32>) -> tensor<9x512x64xbf16> {
  %0 = graph.cast %q : tensor<9x512x64xbf16> -> tensor<9x512x64xf32>
  %1 = graph.reshape %0 : tensor<9x512x64xf32> -> tensor<9x512x1x64xf32>
  %2 = graph.expand %1 : tensor<9x512x1x64xf32> -> tensor<9x512x512x64xf32>
  %3 = graph.cast %k : tensor<9x512x64xbf16> -> tensor<9x512x64xf32>
  %4 = graph.reshape %3 : tensor<9x512x64xf32> -> tensor<9x1x512x64xf32>
  %5 = graph.expand %4 : tensor<9x1x512x64xf32> -> tensor<9x512x512x64xf32>
  %6 = graph.binary mul %2, %5 : tensor<9x512x512x64xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<9x512x512x64xf32> -> tensor<9x512x512xf32>
  %8 = graph.binary mul %7, %g : tensor<9x512x512xf32>
  %9 = graph.reshape %8 : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %10 = graph.expand %9 : tensor<9x512x512x1xf32> -> tensor<9x512x512x64xf32>
  %v0 = graph.cast %v : tensor<9x512x64xbf16> -> tensor<9x512x64xf32>
  %v1 = graph.reshape %v0 : tensor<9x512x64xf32> -> tensor<9x1x512x64xf32>
  %v2 = graph.expand %v1 : tensor<9x1x512x64xf32> -> tensor<9x512x512x64xf32>
  %11 = graph.binary mul %10, %v2 : tensor<9x512x512x64xf32>
  %12 = graph.reduce add %11 dims = [2] : tensor<9x512x512x64xf32> -> tensor<9x512x64xf32>
  %13 = graph.cast %12 : tensor<9x512x64xf32> -> tensor<9x512x64xbf16>
  return %13 : tensor<9x512x64xbf16>
}

// The numbers of bf16 that f16 is the sum of lie in memory, and come as two boxes beside those of the first product.
// CHECK-LABEL: kernel.func @f16_0
// CHECK-COUNT-2: kernel.store {{.*}} : vector<8xbf16>
// CHECK-LABEL: kernel.func @f16_1
// CHECK: kernel.role "producer"
// CHECK: kernel.expect
// CHECK-COUNT-3: kernel.async_load
// CHECK: kernel.wait
// CHECK: kernel.role "consumer"
// CHECK: kernel.mma_async {{.*}} transposed
// CHECK: kernel.mma_fence
// CHECK-NEXT: [[A:%.*]] = kernel.mma_async [[FIRST:%[0-9]+]], [[HIGH:%[0-9]+]] acc
// CHECK-NEXT: [[B:%.*]] = kernel.mma_async [[SECOND:%[0-9]+]], [[HIGH]] acc [[A]]
// CHECK-NEXT: [[C:%.*]] = kernel.mma_async [[FIRST]], [[LOW:%[0-9]+]] acc [[B]]
// CHECK-NEXT: kernel.mma_async [[SECOND]], [[LOW]] acc [[C]]
// CHECK-NEXT: kernel.mma_commit
func.func @f16(%q: tensor<9x512x64xf16>, %k: tensor<9x512x64xf16>, %v: tensor<9x512x64xf16>, %g: tensor<9x512x512xf32>) -> tensor<9x512x64xf16> {
  %0 = graph.cast %q : tensor<9x512x64xf16> -> tensor<9x512x64xf32>
  %1 = graph.reshape %0 : tensor<9x512x64xf32> -> tensor<9x512x1x64xf32>
  %2 = graph.expand %1 : tensor<9x512x1x64xf32> -> tensor<9x512x512x64xf32>
  %3 = graph.cast %k : tensor<9x512x64xf16> -> tensor<9x512x64xf32>
  %4 = graph.reshape %3 : tensor<9x512x64xf32> -> tensor<9x1x512x64xf32>
  %5 = graph.expand %4 : tensor<9x1x512x64xf32> -> tensor<9x512x512x64xf32>
  %6 = graph.binary mul %2, %5 : tensor<9x512x512x64xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<9x512x512x64xf32> -> tensor<9x512x512xf32>
  %8 = graph.binary mul %7, %g : tensor<9x512x512xf32>
  %9 = graph.reshape %8 : tensor<9x512x512xf32> -> tensor<9x512x512x1xf32>
  %10 = graph.expand %9 : tensor<9x512x512x1xf32> -> tensor<9x512x512x64xf32>
  %v0 = graph.cast %v : tensor<9x512x64xf16> -> tensor<9x512x64xf32>
  %v1 = graph.reshape %v0 : tensor<9x512x64xf32> -> tensor<9x1x512x64xf32>
  %v2 = graph.expand %v1 : tensor<9x1x512x64xf32> -> tensor<9x512x512x64xf32>
  %11 = graph.binary mul %10, %v2 : tensor<9x512x512x64xf32>
  %12 = graph.reduce add %11 dims = [2] : tensor<9x512x512x64xf32> -> tensor<9x512x64xf32>
  %13 = graph.cast %12 : tensor<9x512x64xf32> -> tensor<9x512x64xf16>
  return %13 : tensor<9x512x64xf16>
}
