// RUN: zyx-opt %s --zyx-convert-graph-to-kernel | FileCheck %s
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --zyx-kernel-attach-target=target=sm_90a --zyx-schedule-choose | FileCheck %s --check-prefix=GRID
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --zyx-kernel-attach-target=target=x86-64-v3 --zyx-schedule-choose | FileCheck %s --check-prefix=CPU

// Where nothing that is read varies along an axis, its store says what it is called, so that a grid can have it.

// CHECK-LABEL: kernel.func @filled_0
// CHECK: kernel.store {{.*}} axes ["i0"] {{.*}} : tensor<65536xf32>
// GRID-LABEL: kernel.func @filled_0({{.*}}grid_step<"i0", 4>
// CPU-LABEL: kernel.func @filled_0({{.*}}grid_step<"i0", 4096>
func.func @filled(%x: tensor<f32>) -> tensor<64x1024xf32> {
  %0 = graph.reshape %x : tensor<f32> -> tensor<1x1xf32>
  %1 = graph.expand %0 : tensor<1x1xf32> -> tensor<64x1024xf32>
  %2 = graph.unary exp %1 : tensor<64x1024xf32>
  return %2 : tensor<64x1024xf32>
}

// CHECK-LABEL: kernel.func @rows_0
// CHECK: kernel.store {{.*}} axes ["i0", "i1"] {{.*}} : tensor<64x1024xf32>
// GRID-LABEL: kernel.func @rows_0({{.*}}grid_step<"i0", 1>, #kernel.grid_step<"i1", 4>
func.func @rows(%x: tensor<1024xf32>) -> tensor<64x1024xf32> {
  %0 = graph.reshape %x : tensor<1024xf32> -> tensor<1x1024xf32>
  %1 = graph.expand %0 : tensor<1x1024xf32> -> tensor<64x1024xf32>
  %2 = graph.unary exp %1 : tensor<64x1024xf32>
  return %2 : tensor<64x1024xf32>
}

// Loads name all others.
// CHECK-LABEL: kernel.func @read_0
// CHECK: kernel.store
// CHECK-NOT: axes
// CHECK: kernel.return
func.func @read(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = graph.unary exp %x : tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}
