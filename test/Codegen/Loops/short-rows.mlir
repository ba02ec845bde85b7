// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s
// RUN: zyx-opt %s --zyx-compile='target=gfx1100 stop-after=lowered' | FileCheck %s --check-prefix=SHARED

// Eight lanes of a warp have a row of 20 vectors, and read each other's registers. They share no memory and no workgroup.
// CHECK-LABEL: kernel.func @softmax_0
// CHECK-NOT:   threads
// CHECK-NOT:   shared
// CHECK-NOT:   kernel.barrier
// CHECK:       kernel.grid (%[[I:.*]], %[[T:.*]]) in [65536, 8] step [1, 1] {
// CHECK-COUNT-3: kernel.load %{{.*}}[%[[I]], %{{.*}}] : <65536x80xf32, global> -> vector<4xf32>
// CHECK-NOT:   kernel.load
// CHECK:       kernel.shuffle %{{.*}} xor 1 : f32
// CHECK:       kernel.shuffle %{{.*}} xor 2 : f32
// CHECK:       kernel.shuffle %{{.*}} xor 4 : f32
// CHECK-COUNT-3: kernel.shuffle
// CHECK-NOT:   kernel.shuffle
// CHECK:       kernel.store %{{.*}} : vector<4xf32>, <65536x80xf32, global>
// CHECK:       kernel.return
// Where threads read no registers of each other a subgroup shares memory; a workgroup has eight.
// SHARED-LABEL: kernel.func @softmax_0
// SHARED-SAME:  threads = 256
// SHARED:       kernel.alloc : {{.*}}shared>
// SHARED:       kernel.barrier workgroup
func.func @softmax(%x: tensor<65536x80xf32>) -> tensor<65536x80xf32> {
  %1 = graph.reduce max %x dims = [1] : tensor<65536x80xf32> -> tensor<65536xf32>
  %2 = graph.reshape %1 : tensor<65536xf32> -> tensor<65536x1xf32>
  %3 = graph.expand %2 : tensor<65536x1xf32> -> tensor<65536x80xf32>
  %4 = graph.binary sub %x, %3 : tensor<65536x80xf32>
  %5 = graph.unary exp %4 : tensor<65536x80xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<65536x80xf32> -> tensor<65536xf32>
  %7 = graph.reshape %6 : tensor<65536xf32> -> tensor<65536x1xf32>
  %8 = graph.expand %7 : tensor<65536x1xf32> -> tensor<65536x80xf32>
  %9 = graph.binary div %5, %8 : tensor<65536x80xf32>
  return %9 : tensor<65536x80xf32>
}

// Rows that begin anywhere have a whole warp, whose lanes have single elements and keep these.
// CHECK-LABEL: kernel.func @odd_0
// CHECK-NOT:   shared
// CHECK:       kernel.grid (%[[I:.*]], %[[T:.*]]) in [65536, 32] step [1, 1] {
// CHECK-COUNT-2: kernel.load %{{.*}}[%[[I]], %{{.*}}] : <65536x49xf32, global> -> f32
// CHECK-NOT:   kernel.load
// CHECK:       kernel.store %{{.*}} : f32, <65536x49xf32, global>
// CHECK:       kernel.return
func.func @odd(%x: tensor<65536x49xf32>) -> tensor<65536x49xf32> {
  %1 = graph.reduce max %x dims = [1] : tensor<65536x49xf32> -> tensor<65536xf32>
  %2 = graph.reshape %1 : tensor<65536xf32> -> tensor<65536x1xf32>
  %3 = graph.expand %2 : tensor<65536x1xf32> -> tensor<65536x49xf32>
  %4 = graph.binary sub %x, %3 : tensor<65536x49xf32>
  %5 = graph.unary exp %4 : tensor<65536x49xf32>
  %6 = graph.reduce add %5 dims = [1] : tensor<65536x49xf32> -> tensor<65536xf32>
  %7 = graph.reshape %6 : tensor<65536xf32> -> tensor<65536x1xf32>
  %8 = graph.expand %7 : tensor<65536x1xf32> -> tensor<65536x49xf32>
  %9 = graph.binary div %5, %8 : tensor<65536x49xf32>
  return %9 : tensor<65536x49xf32>
}

// So have rows that begin on whole vectors and end inside of one, as padded ones of temporaries do: parts of vectors would be
// no registers of a thread.
// CHECK-LABEL: kernel.func @padded_1
// CHECK-NOT:   threads
// CHECK-NOT:   shared
// CHECK:       kernel.grid (%[[I:.*]], %[[T:.*]]) in [65536, 32] step [1, 1] {
// CHECK-COUNT-7: kernel.load %{{.*}}[%[[I]], %{{.*}}] : <65536x197xf32, global> -> f32
// CHECK-NOT:   kernel.load
// CHECK:       kernel.store %{{.*}} : f32, <65536x197xf32, global>
// CHECK:       kernel.return
func.func @padded(%x: tensor<64x1024x64xf32>, %w: tensor<64x197x64xf32>) -> tensor<64x1024x197xf32> {
  %0 = graph.reshape %x : tensor<64x1024x64xf32> -> tensor<64x1024x1x64xf32>
  %1 = graph.expand %0 : tensor<64x1024x1x64xf32> -> tensor<64x1024x197x64xf32>
  %2 = graph.reshape %w : tensor<64x197x64xf32> -> tensor<64x1x197x64xf32>
  %3 = graph.expand %2 : tensor<64x1x197x64xf32> -> tensor<64x1024x197x64xf32>
  %4 = graph.binary mul %1, %3 : tensor<64x1024x197x64xf32>
  %5 = graph.reduce add %4 dims = [3] : tensor<64x1024x197x64xf32> -> tensor<64x1024x197xf32>
  %6 = graph.reduce max %5 dims = [2] : tensor<64x1024x197xf32> -> tensor<64x1024xf32>
  %7 = graph.reshape %6 : tensor<64x1024xf32> -> tensor<64x1024x1xf32>
  %8 = graph.expand %7 : tensor<64x1024x1xf32> -> tensor<64x1024x197xf32>
  %9 = graph.binary sub %5, %8 : tensor<64x1024x197xf32>
  %10 = graph.unary exp %9 : tensor<64x1024x197xf32>
  %11 = graph.reduce add %10 dims = [2] : tensor<64x1024x197xf32> -> tensor<64x1024xf32>
  %12 = graph.reshape %11 : tensor<64x1024xf32> -> tensor<64x1024x1xf32>
  %13 = graph.expand %12 : tensor<64x1024x1xf32> -> tensor<64x1024x197xf32>
  %14 = graph.binary div %10, %13 : tensor<64x1024x197xf32>
  return %14 : tensor<64x1024x197xf32>
}
