// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s

// Rows of 50257 elements begin anywhere: threads that share one have single elements in turns, which they keep, so that
// neighbours read and write neighbours.
// CHECK-LABEL: kernel.func @odd_0
// CHECK-SAME:  cluster = 4
// CHECK-SAME:  threads = 512
// CHECK-COUNT-25: kernel.load %{{.*}} : <64x50257xf16, global> -> f16
// CHECK-NOT:   kernel.load %{{.*}} global
// CHECK:       kernel.store %{{.*}} : f16, <64x50257xf16, global>
// CHECK:       kernel.return
func.func @odd(%x: tensor<64x50257xf16>) -> tensor<64x50257xf16> {
  %0 = graph.cast %x : tensor<64x50257xf16> -> tensor<64x50257xf32>
  %1 = graph.reduce max %0 dims = [1] : tensor<64x50257xf32> -> tensor<64xf32>
  %2 = graph.reshape %1 : tensor<64xf32> -> tensor<64x1xf32>
  %3 = graph.expand %2 : tensor<64x1xf32> -> tensor<64x50257xf32>
  %4 = graph.binary sub %0, %3 : tensor<64x50257xf32>
  %5 = graph.unary exp %4 : tensor<64x50257xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<64x50257xf32> -> tensor<64xf32>
  %7 = graph.reshape %6 : tensor<64xf32> -> tensor<64x1xf32>
  %8 = graph.expand %7 : tensor<64x1xf32> -> tensor<64x50257xf32>
  %9 = graph.binary div %5, %8 : tensor<64x50257xf32>
  %10 = graph.cast %9 : tensor<64x50257xf32> -> tensor<64x50257xf16>
  return %10 : tensor<64x50257xf16>
}

// Rows of 8 bytes more or less are read and written by vectors of 8 bytes.
// CHECK-LABEL: kernel.func @half_0
// CHECK-NOT:   vector<8x
// CHECK:       kernel.load %{{.*}} : <512x1004xf16, global> -> vector<4xf16>
// CHECK-NOT:   vector<8x
// CHECK:       kernel.store %{{.*}} : vector<4xf16>, <512x1004xf16, global>
func.func @half(%x: tensor<512x1004xf16>) -> tensor<512x1004xf16> {
  %0 = graph.cast %x : tensor<512x1004xf16> -> tensor<512x1004xf32>
  %1 = graph.reduce add %0 dims = [1] : tensor<512x1004xf32> -> tensor<512xf32>
  %2 = graph.reshape %1 : tensor<512xf32> -> tensor<512x1xf32>
  %3 = graph.expand %2 : tensor<512x1xf32> -> tensor<512x1004xf32>
  %4 = graph.binary mul %0, %3 : tensor<512x1004xf32>
  %5 = graph.cast %4 : tensor<512x1004xf32> -> tensor<512x1004xf16>
  return %5 : tensor<512x1004xf16>
}

// A row alone begins at a whole vector, however long it is.
// CHECK-LABEL: kernel.func @alone_0
// CHECK:       kernel.load %{{.*}} -> vector<4xf32>
func.func @alone(%x: tensor<1x50257xf32>) -> tensor<1xf32> {
  %0 = graph.reduce max %x dims = [1] : tensor<1x50257xf32> -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
