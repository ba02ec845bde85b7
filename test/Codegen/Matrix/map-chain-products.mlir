// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s

// Scores that are multiplied with a decay, and the product behind them: one kernel of tensor cores.
// CHECK-LABEL: kernel.func @retention_0
// CHECK-NOT: kernel.func
// CHECK: kernel.role "producer"
// All blocks are copied: what lies behind the row is multiplied with zero, which makes a NaN of an infinity.
// CHECK: scf.for %{{.*}} = %c1{{.*}} to %c4
// CHECK: kernel.role "consumer"
// CHECK: scf.for {{.*}} = %c0 to %[[WHOLE:[0-9]+]] step {{.*}} -> (index, i1, tensor<64x64xf32
// CHECK: kernel.mma_async {{.*}} transposed
// CHECK-NOT: arith.cmpi sle
// CHECK: [[POWER:%.*]] = math.exp2 {{.*}} fastmath<afn>
// CHECK-NOT: arith.select
// What is rounded to f16 is what the number has been multiplied with: without it, it might be beyond that.
// CHECK: [[DECAYED:%.*]] = arith.mulf {{.*}}, [[POWER]]
// CHECK-NEXT: [[SCALED:%.*]] = arith.mulf [[DECAYED]]
// CHECK-NEXT: arith.truncf [[SCALED]]
// CHECK: kernel.mma_async
// CHECK: scf.yield
// Blocks that the diagonal crosses, and those behind it.
// CHECK: scf.for {{.*}} = %[[WHOLE]] to %c4
// CHECK: arith.cmpi sle
// CHECK: math.exp2 {{.*}} fastmath<afn>
// CHECK: arith.select {{.*}} : tensor<64x128xi1
// CHECK: kernel.mma_async
// CHECK: scf.yield
func.func @retention(%q: tensor<8x512x64xf16>, %k: tensor<8x512x64xf16>, %v: tensor<8x512x64xf16>, %decay: tensor<f32>) -> tensor<8x512x64xf16> {
  %0 = graph.cast %q : tensor<8x512x64xf16> -> tensor<8x512x64xf32>
  %1 = graph.reshape %0 : tensor<8x512x64xf32> -> tensor<8x512x1x64xf32>
  %2 = graph.expand %1 : tensor<8x512x1x64xf32> -> tensor<8x512x512x64xf32>
  %3 = graph.cast %k : tensor<8x512x64xf16> -> tensor<8x512x64xf32>
  %4 = graph.reshape %3 : tensor<8x512x64xf32> -> tensor<8x1x512x64xf32>
  %5 = graph.expand %4 : tensor<8x1x512x64xf32> -> tensor<8x512x512x64xf32>
  %6 = graph.binary mul %2, %5 : tensor<8x512x512x64xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<8x512x512x64xf32> -> tensor<8x512x512xf32>
  %8 = graph.iota dim = 0 : tensor<512x512xi32>
  %9 = graph.iota dim = 1 : tensor<512x512xi32>
  %10 = graph.binary ge %8, %9 : tensor<512x512xi32>
  %11 = graph.binary sub %8, %9 : tensor<512x512xi32>
  %12 = graph.cast %11 : tensor<512x512xi32> -> tensor<512x512xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<512x512xf32>
  %15 = graph.binary mul %12, %14 : tensor<512x512xf32>
  %16 = graph.unary exp %15 : tensor<512x512xf32>
  %17 = graph.constant dense<0.0> : tensor<512x512xf32>
  %18 = graph.select %10, %16, %17 : tensor<512x512xf32>
  %19 = graph.reshape %18 : tensor<512x512xf32> -> tensor<1x512x512xf32>
  %20 = graph.expand %19 : tensor<1x512x512xf32> -> tensor<8x512x512xf32>
  %21 = graph.binary mul %7, %20 : tensor<8x512x512xf32>
  %c = graph.constant dense<0.125> : tensor<8x512x512xf32>
  %s = graph.binary mul %21, %c : tensor<8x512x512xf32>
  %p = graph.cast %s : tensor<8x512x512xf32> -> tensor<8x512x512xf16>
  %22 = graph.cast %p : tensor<8x512x512xf16> -> tensor<8x512x512xf32>
  %23 = graph.reshape %22 : tensor<8x512x512xf32> -> tensor<8x512x512x1xf32>
  %24 = graph.expand %23 : tensor<8x512x512x1xf32> -> tensor<8x512x512x64xf32>
  %25 = graph.cast %v : tensor<8x512x64xf16> -> tensor<8x512x64xf32>
  %26 = graph.reshape %25 : tensor<8x512x64xf32> -> tensor<8x1x512x64xf32>
  %27 = graph.expand %26 : tensor<8x1x512x64xf32> -> tensor<8x512x512x64xf32>
  %28 = graph.binary mul %24, %27 : tensor<8x512x512x64xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<8x512x512x64xf32> -> tensor<8x512x64xf32>
  %30 = graph.cast %29 : tensor<8x512x64xf32> -> tensor<8x512x64xf16>
  return %30 : tensor<8x512x64xf16>
}
