// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a -zyx-fusion-add-one-hots | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=aarch64 -zyx-fusion-add-one-hots | FileCheck %s --check-prefix=NONE
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=costs.launchCycles=0,costs.memoryBytesPerCycle=100000' -zyx-fusion-add-one-hots -o %t.mlir
// RUN: FileCheck %s --check-prefix=SMALL < %t.mlir
// RUN: zyx-run %t.mlir --entry=numbers --device=reference --no-cache --print | FileCheck %s --check-prefix=PRINT
// RUN: zyx-run %s --entry=numbers --device=reference --no-cache --print | FileCheck %s --check-prefix=PRINT
// RUN: zyx-run %t.mlir --entry=batch --device=reference --no-cache --print | FileCheck %s --check-prefix=BATCH
// RUN: zyx-run %s --entry=batch --device=reference --no-cache --print | FileCheck %s --check-prefix=BATCH
// RUN: zyx-run %t.mlir --entry=few_rows_of_batch --device=reference --no-cache --print | FileCheck %s --check-prefix=FEW
// RUN: zyx-run %s --entry=few_rows_of_batch --device=reference --no-cache --print | FileCheck %s --check-prefix=FEW

// NONE-NOT: graph.scatter

// Updates of 16 bits are added up in f32 by their index; least and last rows of what is not finite say which rows are lost.
// CHECK-LABEL: func.func @sums
// CHECK-DAG:   %[[CAST:.*]] = graph.cast %{{.*}} : tensor<4x4096x2048xbf16> -> tensor<4x4096x2048xf32>
// CHECK-DAG:   graph.reduce min %{{.*}} dims = [0, 1] : tensor<4x4096x2048xi32> -> tensor<2048xi32>
// CHECK-DAG:   graph.reduce max %{{.*}} dims = [0, 1] : tensor<4x4096x2048xi32> -> tensor<2048xi32>
// CHECK-DAG:   %[[WIDE:.*]] = graph.reshape %{{.*}} : tensor<4x4096x2048xf32> -> tensor<16384x2048xf32>
// CHECK:       %[[SUMS:.*]] = graph.scatter add %{{.*}}[%{{.*}}], %[[WIDE]] dim = 0
// CHECK:       graph.select %{{.*}}, %{{.*}}, %[[SUMS]] : tensor<256x2048xf32>
// CHECK:       return
func.func @sums(%ids: tensor<4x4096xi64>, %dy: tensor<4x4096x2048xbf16>) -> tensor<256x2048xf32> {
  %0 = graph.iota dim = 2 : tensor<4x4096x256xi64>
  %1 = graph.reshape %ids : tensor<4x4096xi64> -> tensor<4x4096x1xi64>
  %2 = graph.expand %1 : tensor<4x4096x1xi64> -> tensor<4x4096x256xi64>
  %3 = graph.binary eq %2, %0 : tensor<4x4096x256xi64>
  %4 = graph.cast %3 : tensor<4x4096x256xi1> -> tensor<4x4096x256xf32>
  %5 = graph.reshape %4 : tensor<4x4096x256xf32> -> tensor<4x4096x256x1xf32>
  %6 = graph.expand %5 : tensor<4x4096x256x1xf32> -> tensor<4x4096x256x2048xf32>
  %7 = graph.cast %dy : tensor<4x4096x2048xbf16> -> tensor<4x4096x2048xf32>
  %8 = graph.reshape %7 : tensor<4x4096x2048xf32> -> tensor<4x4096x1x2048xf32>
  %9 = graph.expand %8 : tensor<4x4096x1x2048xf32> -> tensor<4x4096x256x2048xf32>
  %10 = graph.binary mul %9, %6 : tensor<4x4096x256x2048xf32>
  %11 = graph.reduce add %10 dims = [0, 1] : tensor<4x4096x256x2048xf32> -> tensor<256x2048xf32>
  return %11 : tensor<256x2048xf32>
}

// With fewer rows a product takes less, and with fewer updates fewer kernels do.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT:   graph.scatter
// CHECK-LABEL: func.func @few_updates
// CHECK-NOT:   graph.scatter
// CHECK-LABEL: func.func @numbers
// SMALL-LABEL: func.func @few_rows
// SMALL:       graph.scatter
// SMALL-LABEL: func.func @few_updates
// SMALL:       graph.scatter
func.func @few_rows(%ids: tensor<16384xi32>, %dy: tensor<16384x2048xbf16>) -> tensor<65x2048xf32> {
  %0 = graph.iota dim = 1 : tensor<16384x65xi32>
  %1 = graph.reshape %ids : tensor<16384xi32> -> tensor<16384x1xi32>
  %2 = graph.expand %1 : tensor<16384x1xi32> -> tensor<16384x65xi32>
  %3 = graph.binary eq %2, %0 : tensor<16384x65xi32>
  %4 = graph.cast %3 : tensor<16384x65xi1> -> tensor<16384x65xf32>
  %5 = graph.reshape %4 : tensor<16384x65xf32> -> tensor<16384x65x1xf32>
  %6 = graph.expand %5 : tensor<16384x65x1xf32> -> tensor<16384x65x2048xf32>
  %7 = graph.cast %dy : tensor<16384x2048xbf16> -> tensor<16384x2048xf32>
  %8 = graph.reshape %7 : tensor<16384x2048xf32> -> tensor<16384x1x2048xf32>
  %9 = graph.expand %8 : tensor<16384x1x2048xf32> -> tensor<16384x65x2048xf32>
  %10 = graph.binary mul %6, %9 : tensor<16384x65x2048xf32>
  %11 = graph.reduce add %10 dims = [0] : tensor<16384x65x2048xf32> -> tensor<65x2048xf32>
  return %11 : tensor<65x2048xf32>
}
func.func @few_updates(%ids: tensor<64xi64>, %dy: tensor<64x32xf32>) -> tensor<256x32xf32> {
  %0 = graph.iota dim = 1 : tensor<64x256xi64>
  %1 = graph.reshape %ids : tensor<64xi64> -> tensor<64x1xi64>
  %2 = graph.expand %1 : tensor<64x1xi64> -> tensor<64x256xi64>
  %3 = graph.binary eq %2, %0 : tensor<64x256xi64>
  %4 = graph.cast %3 : tensor<64x256xi1> -> tensor<64x256xf32>
  %5 = graph.reshape %4 : tensor<64x256xf32> -> tensor<64x256x1xf32>
  %6 = graph.expand %5 : tensor<64x256x1xf32> -> tensor<64x256x32xf32>
  %8 = graph.reshape %dy : tensor<64x32xf32> -> tensor<64x1x32xf32>
  %9 = graph.expand %8 : tensor<64x1x32xf32> -> tensor<64x256x32xf32>
  %10 = graph.binary mul %6, %9 : tensor<64x256x32xf32>
  %11 = graph.reduce add %10 dims = [0] : tensor<64x256x32xf32> -> tensor<256x32xf32>
  return %11 : tensor<256x32xf32>
}

// Both forms give the same: indices outside add to no row, but what is not finite there is lost by all, too; a row keeps the
// infinity that is its own.
// SMALL-LABEL: func.func @numbers
// SMALL:       graph.scatter
// PRINT:      {{\[\[}}11. nan inf nan nan]
// PRINT-NEXT: [ 2. nan nan nan nan]
// PRINT-NEXT: [ 0. nan nan nan nan]]
func.func @numbers() -> tensor<3x5xf32> {
  %ids = graph.constant dense<[0, 1, -1, 0, 3]> : tensor<5xi32>
  %dy = graph.constant dense<[[1.0, 1.0, 0x7F800000, 1.0, 0x7F800000],
                              [2.0, 2.0, 2.0, 2.0, 0x7F800000],
                              [4.0, 0x7FC00000, 4.0, 4.0, 4.0],
                              [10.0, 8.0, 8.0, 8.0, 8.0],
                              [16.0, 16.0, 16.0, 0xFF800000, 16.0]]> : tensor<5x5xf32>
  %0 = graph.iota dim = 1 : tensor<5x3xi32>
  %1 = graph.reshape %ids : tensor<5xi32> -> tensor<5x1xi32>
  %2 = graph.expand %1 : tensor<5x1xi32> -> tensor<5x3xi32>
  %3 = graph.binary eq %2, %0 : tensor<5x3xi32>
  %4 = graph.cast %3 : tensor<5x3xi1> -> tensor<5x3xf32>
  %5 = graph.reshape %4 : tensor<5x3xf32> -> tensor<5x3x1xf32>
  %6 = graph.expand %5 : tensor<5x3x1xf32> -> tensor<5x3x5xf32>
  %8 = graph.reshape %dy : tensor<5x5xf32> -> tensor<5x1x5xf32>
  %9 = graph.expand %8 : tensor<5x1x5xf32> -> tensor<5x3x5xf32>
  %10 = graph.binary mul %6, %9 : tensor<5x3x5xf32>
  %11 = graph.reduce add %10 dims = [0] : tensor<5x3x5xf32> -> tensor<3x5xf32>
  return %11 : tensor<3x5xf32>
}

// A batch of indices gives rows of its own, and updates that it does not have are the same for all of it.
// CHECK-LABEL: func.func @experts
// CHECK-DAG:   graph.reduce min %{{.*}} dims = [0] : tensor<8192x8x768xi32> -> tensor<8x768xi32>
// CHECK-DAG:   graph.reduce max %{{.*}} dims = [0] : tensor<8192x8x768xi32> -> tensor<8x768xi32>
// CHECK:       %[[ALL:.*]] = graph.reshape %{{.*}} : tensor<8192x8x768xf32> -> tensor<65536x768xf32>
// CHECK:       graph.scatter add %{{.*}}[%{{.*}}], %[[ALL]] dim = 0 : (tensor<20488x768xf32>, tensor<65536xi32>, tensor<65536x768xf32>)
// CHECK:       graph.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x2561x768xf32>
// CHECK:       return
func.func @experts(%place: tensor<8192x8xi64>, %x: tensor<8192x768xf16>) -> tensor<8x2561x768xf32> {
  %0 = graph.iota dim = 2 : tensor<8192x8x2561xi64>
  %1 = graph.reshape %place : tensor<8192x8xi64> -> tensor<8192x8x1xi64>
  %2 = graph.expand %1 : tensor<8192x8x1xi64> -> tensor<8192x8x2561xi64>
  %3 = graph.binary eq %2, %0 : tensor<8192x8x2561xi64>
  %4 = graph.cast %3 : tensor<8192x8x2561xi1> -> tensor<8192x8x2561xf32>
  %5 = graph.permute %4 order = [1, 2, 0] : tensor<8192x8x2561xf32> -> tensor<8x2561x8192xf32>
  %6 = graph.reshape %5 : tensor<8x2561x8192xf32> -> tensor<8x2561x1x8192xf32>
  %7 = graph.expand %6 : tensor<8x2561x1x8192xf32> -> tensor<8x2561x768x8192xf32>
  %8 = graph.cast %x : tensor<8192x768xf16> -> tensor<8192x768xf32>
  %9 = graph.permute %8 order = [1, 0] : tensor<8192x768xf32> -> tensor<768x8192xf32>
  %10 = graph.reshape %9 : tensor<768x8192xf32> -> tensor<1x1x768x8192xf32>
  %11 = graph.expand %10 : tensor<1x1x768x8192xf32> -> tensor<8x2561x768x8192xf32>
  %12 = graph.binary mul %7, %11 : tensor<8x2561x768x8192xf32>
  %13 = graph.reduce add %12 dims = [3] : tensor<8x2561x768x8192xf32> -> tensor<8x2561x768xf32>
  return %13 : tensor<8x2561x768xf32>
}

// Of two experts with three rows each: the second one has none of its last row, and the third update is nobody's.
// SMALL-LABEL: func.func @batch
// SMALL:       graph.scatter
func.func @batch() -> tensor<2x3x2xf32> {
  %place = graph.constant dense<[[0, 1], [2, 0], [-1, 3], [0, 1]]> : tensor<4x2xi32>
  %x = graph.constant dense<[[1.0, 1.0], [2.0, 0x7F800000], [4.0, 4.0], [8.0, 8.0]]> : tensor<4x2xf32>
  %0 = graph.iota dim = 2 : tensor<4x2x3xi32>
  %1 = graph.reshape %place : tensor<4x2xi32> -> tensor<4x2x1xi32>
  %2 = graph.expand %1 : tensor<4x2x1xi32> -> tensor<4x2x3xi32>
  %3 = graph.binary eq %2, %0 : tensor<4x2x3xi32>
  %4 = graph.cast %3 : tensor<4x2x3xi1> -> tensor<4x2x3xf32>
  %5 = graph.permute %4 order = [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  %6 = graph.reshape %5 : tensor<2x3x4xf32> -> tensor<2x3x1x4xf32>
  %7 = graph.expand %6 : tensor<2x3x1x4xf32> -> tensor<2x3x2x4xf32>
  %9 = graph.permute %x order = [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
  %10 = graph.reshape %9 : tensor<2x4xf32> -> tensor<1x1x2x4xf32>
  %11 = graph.expand %10 : tensor<1x1x2x4xf32> -> tensor<2x3x2x4xf32>
  %12 = graph.binary mul %7, %11 : tensor<2x3x2x4xf32>
  %13 = graph.reduce add %12 dims = [3] : tensor<2x3x2x4xf32> -> tensor<2x3x2xf32>
  return %13 : tensor<2x3x2xf32>
}
// BATCH:      {{\[\[\[}} 9. nan]
// BATCH-NEXT: [ 0. nan]
// BATCH-NEXT: [ 2. inf]]
// BATCH:      {{\[\[}} 2. inf]
// BATCH-NEXT: [ 9. nan]
// BATCH-NEXT: [ 0. nan]]]

// One update of each place is a product, of which nothing is added up.
// CHECK-LABEL: func.func @single
// CHECK-NOT: graph.scatter
// CHECK: graph.reduce add
func.func @single(%place: tensor<64x1xi64>, %x: tensor<64x1x4096xf32>) -> tensor<64x4096x4096xf32> {
  %0 = graph.iota dim = 2 : tensor<64x1x4096xi64>
  %1 = graph.reshape %place : tensor<64x1xi64> -> tensor<64x1x1xi64>
  %2 = graph.expand %1 : tensor<64x1x1xi64> -> tensor<64x1x4096xi64>
  %3 = graph.binary eq %2, %0 : tensor<64x1x4096xi64>
  %4 = graph.cast %3 : tensor<64x1x4096xi1> -> tensor<64x1x4096xf32>
  %5 = graph.reshape %4 : tensor<64x1x4096xf32> -> tensor<64x1x4096x1xf32>
  %6 = graph.expand %5 : tensor<64x1x4096x1xf32> -> tensor<64x1x4096x4096xf32>
  %7 = graph.reshape %x : tensor<64x1x4096xf32> -> tensor<64x1x1x4096xf32>
  %8 = graph.expand %7 : tensor<64x1x1x4096xf32> -> tensor<64x1x4096x4096xf32>
  %9 = graph.binary mul %6, %8 : tensor<64x1x4096x4096xf32>
  %10 = graph.reduce add %9 dims = [1] : tensor<64x1x4096x4096xf32> -> tensor<64x4096x4096xf32>
  return %10 : tensor<64x4096x4096xf32>
}

// An update of few elements of a batch has few rows: the other ones are not walked. Rows that have all updates of a column
// that are not finite keep what is theirs, and places that are named twice count once.
// SMALL-LABEL: func.func @few_rows_of_batch
// SMALL:       graph.reduce min %{{.*}} dims = [0] : tensor<5x6xi32> -> tensor<6xi32>
// SMALL-COUNT-2: graph.reduce max %{{.*}} dims = [0] : tensor<5x6xi32> -> tensor<6xi32>
// SMALL:       graph.scatter add %{{.*}}[%{{.*}}], %{{.*}} dim = 0 : (tensor<12x6xf32>, tensor<10xi32>, tensor<10x6xf32>)
// SMALL:       graph.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<12x6xf32>
func.func @few_rows_of_batch() -> tensor<4x3x6xf32> {
  %first = graph.constant dense<[0, 1, 3, 2, 0]> : tensor<5xi32>
  %second = graph.constant dense<[1, 0, 3, 7, 3]> : tensor<5xi32>
  %place = graph.constant dense<[[0, 1, 2, 0], [0, 1, 0, 2], [1, 1, 1, 2], [2, 2, 2, 2], [1, 0, 0, 9]]> : tensor<5x4xi32>
  %x = graph.constant dense<[[1.0, 0x7F800000, 0x7F800000, 1.0, 0x7FC00000, 1.0],
                             [2.0, 2.0, 0x7F800000, 2.0, 2.0, 2.0],
                             [4.0, 4.0, 4.0, 0x7F800000, 4.0, 4.0],
                             [8.0, 8.0, 8.0, 8.0, 8.0, 8.0],
                             [16.0, 16.0, 16.0, 16.0, 16.0, 0x7F800000]]> : tensor<5x6xf32>
  %at = graph.iota dim = 1 : tensor<5x4xi32>
  %f0 = graph.reshape %first : tensor<5xi32> -> tensor<5x1xi32>
  %f1 = graph.expand %f0 : tensor<5x1xi32> -> tensor<5x4xi32>
  %s0 = graph.reshape %second : tensor<5xi32> -> tensor<5x1xi32>
  %s1 = graph.expand %s0 : tensor<5x1xi32> -> tensor<5x4xi32>
  %isFirst = graph.binary eq %f1, %at : tensor<5x4xi32>
  %isSecond = graph.binary eq %s1, %at : tensor<5x4xi32>
  %isAny = graph.binary or %isFirst, %isSecond : tensor<5x4xi1>
  %none = graph.constant dense<3> : tensor<5x4xi32>
  %index = graph.select %isAny, %place, %none : tensor<5x4xi32>
  %0 = graph.iota dim = 2 : tensor<5x4x3xi32>
  %1 = graph.reshape %index : tensor<5x4xi32> -> tensor<5x4x1xi32>
  %2 = graph.expand %1 : tensor<5x4x1xi32> -> tensor<5x4x3xi32>
  %3 = graph.binary eq %2, %0 : tensor<5x4x3xi32>
  %4 = graph.cast %3 : tensor<5x4x3xi1> -> tensor<5x4x3xf32>
  %5 = graph.permute %4 order = [1, 2, 0] : tensor<5x4x3xf32> -> tensor<4x3x5xf32>
  %6 = graph.reshape %5 : tensor<4x3x5xf32> -> tensor<4x3x1x5xf32>
  %7 = graph.expand %6 : tensor<4x3x1x5xf32> -> tensor<4x3x6x5xf32>
  %9 = graph.permute %x order = [1, 0] : tensor<5x6xf32> -> tensor<6x5xf32>
  %10 = graph.reshape %9 : tensor<6x5xf32> -> tensor<1x1x6x5xf32>
  %11 = graph.expand %10 : tensor<1x1x6x5xf32> -> tensor<4x3x6x5xf32>
  %12 = graph.binary mul %7, %11 : tensor<4x3x6x5xf32>
  %13 = graph.reduce add %12 dims = [3] : tensor<4x3x6x5xf32> -> tensor<4x3x6xf32>
  return %13 : tensor<4x3x6xf32>
}
// FEW:      {{\[\[\[}} 3. inf inf nan nan nan]
// FEW-NEXT: [16. nan nan nan nan inf]
// FEW-NEXT: [ 0. nan nan nan nan nan{{\]\]}}
// FEW:      {{\[\[}} 0. nan nan nan nan nan]
// FEW-NEXT: [ 3. inf inf nan nan nan]
// FEW-NEXT: [ 0. nan nan nan nan nan{{\]\]}}
// FEW:      {{\[\[}} 0. nan nan nan nan nan]
// FEW-NEXT: [ 0. nan nan nan nan nan]
// FEW-NEXT: [ 8. nan nan nan nan nan{{\]\]}}
// FEW:      {{\[\[}} 0. nan nan nan nan nan]
// FEW-NEXT: [ 0. nan nan nan nan nan]
// FEW-NEXT: [ 4. nan nan inf nan nan{{\]\]\]}}
