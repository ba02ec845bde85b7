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
// Where threads read no registers of each other a subgroup shares memory, and eight of them a workgroup.
// SHARED-LABEL: kernel.func @softmax_0
// SHARED-SAME:  threads = 256
// SHARED:       kernel.grid {{.*}} step [8] {
// SHARED:       kernel.alloc : <8x{{.*}}shared>
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
