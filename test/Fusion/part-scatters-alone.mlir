// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=264' --zyx-fusion-part-scatters | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-part-scatters | FileCheck %s --check-prefix=FEW

// Few rows of many updates: each part has rows of its own, and updates outside name none.
// CHECK-LABEL: func.func @table
// CHECK:       %[[FLAT:.*]] = graph.reshape %arg1 : tensor<1500x1500xi64> -> tensor<80x28125xi64>
// CHECK:       %[[IN:.*]] = graph.binary and
// CHECK:       %[[PART:.*]] = graph.iota dim = 0 : tensor<80x28125xi32>
// CHECK:       %[[FIRST:.*]] = graph.binary mul %[[PART]]
// CHECK:       %[[OWN:.*]] = graph.cast %[[FLAT]]
// CHECK:       %[[PLACE:.*]] = graph.binary add %[[OWN]], %[[FIRST]]
// CHECK:       %[[CHOSEN:.*]] = graph.select %[[IN]], %[[PLACE]]
// CHECK:       %[[ALL:.*]] = graph.scatter add %{{.*}}[%[[CHOSEN]]], %{{.*}} dim = 0 {zyx.scatter_parts = 80 : i64} : {{.*}} -> tensor<2560x12xf32>
// CHECK:       %[[APART:.*]] = graph.reshape %[[ALL]] : tensor<2560x12xf32> -> tensor<80x32x12xf32>
// CHECK:       %[[SUM:.*]] = graph.reduce add %[[APART]] dims = [0]
// CHECK:       graph.binary add %arg0, %[[SUM]]
// FEW-LABEL:   func.func @table
// FEW-NOT:     zyx.scatter_parts
// FEW:         return
func.func @table(%x: tensor<32x12xf32>, %i: tensor<1500x1500xi64>, %u: tensor<12x1500x1500xf32>) -> tensor<32x12xf32> {
  %0 = graph.permute %u order = [1, 2, 0] : tensor<12x1500x1500xf32> -> tensor<1500x1500x12xf32>
  %1 = graph.scatter add %x[%i], %0 dim = 0 : (tensor<32x12xf32>, tensor<1500x1500xi64>, tensor<1500x1500x12xf32>) -> tensor<32x12xf32>
  return %1 : tensor<32x12xf32>
}

// Zeros are not added; columns side by side are a workgroup's.
// CHECK-LABEL: func.func @zeros
// CHECK:       graph.scatter add {{.*}} {zyx.scatter_parts = 128 : i64}
// CHECK:       %[[SUM:.*]] = graph.reduce add
// CHECK:       return %[[SUM]]
func.func @zeros(%i: tensor<4096xi32>, %u: tensor<4096x300xf32>) -> tensor<5x300xf32> {
  %x = graph.constant dense<0.000000e+00> : tensor<5x300xf32>
  %1 = graph.scatter add %x[%i], %u dim = 0 : (tensor<5x300xf32>, tensor<4096xi32>, tensor<4096x300xf32>) -> tensor<5x300xf32>
  return %1 : tensor<5x300xf32>
}

// A padded zero is none: it is added.
// CHECK-LABEL: func.func @padded
// CHECK:       %[[SUMS:.*]] = graph.pad
// CHECK:       graph.scatter add {{.*}} {zyx.scatter_parts = 128 : i64}
// CHECK:       graph.binary add %[[SUMS]]
func.func @padded(%i: tensor<4096xi32>, %u: tensor<4096x300xf32>) -> tensor<5x300xf32> {
  %zeros = graph.constant dense<0.000000e+00> : tensor<4x300xf32>
  %one = graph.constant dense<1.000000e+00> : tensor<f32>
  %x = graph.pad %zeros, %one low = [0, 0] high = [1, 0] interior = [0, 0] : tensor<4x300xf32> -> tensor<5x300xf32>
  %1 = graph.scatter add %x[%i], %u dim = 0 : (tensor<5x300xf32>, tensor<4096xi32>, tensor<4096x300xf32>) -> tensor<5x300xf32>
  return %1 : tensor<5x300xf32>
}

// Other kinds and types, many rows, few updates: nothing is done, and what a text says of parts is not believed.
// CHECK-LABEL: func.func @others
// CHECK-NOT:   zyx.scatter_parts
// CHECK:       return
func.func @others(%i: tensor<4096xi32>, %u: tensor<4096x300xf32>, %h: tensor<4096x300xf16>, %j: tensor<64xi32>, %v: tensor<64x300xf32>, %x: tensor<5x300xf32>, %y: tensor<5x300xf16>, %m: tensor<1000x300xf32>) -> (tensor<5x300xf32>, tensor<5x300xf16>, tensor<5x300xf32>, tensor<1000x300xf32>) {
  %1 = graph.scatter max %x[%i], %u dim = 0 : (tensor<5x300xf32>, tensor<4096xi32>, tensor<4096x300xf32>) -> tensor<5x300xf32>
  %2 = graph.scatter add %y[%i], %h dim = 0 : (tensor<5x300xf16>, tensor<4096xi32>, tensor<4096x300xf16>) -> tensor<5x300xf16>
  %3 = graph.scatter add %x[%j], %v dim = 0 {zyx.scatter_parts = 4 : i64} : (tensor<5x300xf32>, tensor<64xi32>, tensor<64x300xf32>) -> tensor<5x300xf32>
  %4 = graph.scatter add %m[%i], %u dim = 0 : (tensor<1000x300xf32>, tensor<4096xi32>, tensor<4096x300xf32>) -> tensor<1000x300xf32>
  return %1, %2, %3, %4 : tensor<5x300xf32>, tensor<5x300xf16>, tensor<5x300xf32>, tensor<1000x300xf32>
}

// What is left over is added to the operand by a scatter of its own.
// CHECK-LABEL: func.func @rest
// CHECK:       graph.pad {{.*}} low = [0] high = [-[[REST:[0-9]+]]] {{.*}} : tensor<332929xi64>
// CHECK:       graph.scatter add {{.*}} {zyx.scatter_parts = [[PARTS:[0-9]+]] : i64}
// CHECK:       %[[SUM:.*]] = graph.reduce add
// CHECK:       %[[OTHERS:.*]] = graph.scatter add %arg0[{{.*}} : (tensor<32x16xf32>, tensor<[[REST]]xi64>, tensor<[[REST]]x16xf32>)
// CHECK:       graph.binary add %[[OTHERS]], %[[SUM]]
func.func @rest(%x: tensor<32x16xf32>, %i: tensor<577x577xi64>, %u: tensor<16x577x577xf32>) -> tensor<32x16xf32> {
  %0 = graph.permute %u order = [1, 2, 0] : tensor<16x577x577xf32> -> tensor<577x577x16xf32>
  %1 = graph.scatter add %x[%i], %0 dim = 0 : (tensor<32x16xf32>, tensor<577x577xi64>, tensor<577x577x16xf32>) -> tensor<32x16xf32>
  return %1 : tensor<32x16xf32>
}

// Some hundred rows, as tables of relative positions have: workgroups of fewer threads have numbers for them.
// CHECK-LABEL: func.func @positions
// CHECK:       graph.scatter add {{.*}} {zyx.scatter_parts = [[PARTS:[0-9]+]] : i64}
// CHECK:       graph.reduce add
func.func @positions(%x: tensor<287x4xf32>, %i: tensor<144x144xi64>, %u: tensor<4x144x144xf32>) -> tensor<287x4xf32> {
  %0 = graph.permute %u order = [1, 2, 0] : tensor<4x144x144xf32> -> tensor<144x144x4xf32>
  %1 = graph.scatter add %x[%i], %0 dim = 0 : (tensor<287x4xf32>, tensor<144x144xi64>, tensor<144x144x4xf32>) -> tensor<287x4xf32>
  return %1 : tensor<287x4xf32>
}
