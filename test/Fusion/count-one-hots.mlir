// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a -zyx-fusion-count-one-hots | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=aarch64 -zyx-fusion-count-one-hots | FileCheck %s --check-prefix=NONE
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=costs.launchCycles=0' -zyx-fusion-count-one-hots -o %t.mlir
// RUN: zyx-run %t.mlir --entry=numbers --device=reference --no-cache --print | FileCheck %s --check-prefix=PRINT
// RUN: zyx-run %s --entry=numbers --device=reference --no-cache --print | FileCheck %s --check-prefix=PRINT
// RUN: FileCheck %s --check-prefix=SMALL < %t.mlir

// NONE-NOT: graph.scatter

// The load of experts: how many rows chose each. Numbers of f32 have all counts.
// CHECK-LABEL: func.func @load
// CHECK-DAG:   %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<256xf32>
// CHECK-DAG:   %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<65536xf32>
// CHECK-DAG:   %[[AT:.*]] = graph.reshape %arg0 : tensor<8192x8xi64> -> tensor<65536xi64>
// CHECK:       %[[FOUND:.*]] = graph.scatter add %[[ZERO]][%[[AT]]], %[[ONE]] dim = 0
// CHECK:       graph.cast %[[FOUND]] : tensor<256xf32> -> tensor<256xi64>
// CHECK-NOT:   graph.reduce
func.func @load(%at: tensor<8192x8xi64>) -> tensor<256xi64> {
  %0 = graph.reshape %at : tensor<8192x8xi64> -> tensor<8192x8x1xi64>
  %1 = graph.expand %0 : tensor<8192x8x1xi64> -> tensor<8192x8x256xi64>
  %2 = graph.iota dim = 2 : tensor<8192x8x256xi64>
  %3 = graph.binary eq %1, %2 : tensor<8192x8x256xi64>
  %4 = graph.cast %3 : tensor<8192x8x256xi1> -> tensor<8192x8x256xi64>
  %5 = graph.reduce add %4 dims = [0, 1] : tensor<8192x8x256xi64> -> tensor<256xi64>
  return %5 : tensor<256xi64>
}

// Few comparisons are done sooner.
// CHECK-LABEL: func.func @few
// CHECK-NOT:   graph.scatter
func.func @few(%at: tensor<4096xi64>) -> tensor<64xi64> {
  %0 = graph.reshape %at : tensor<4096xi64> -> tensor<4096x1xi64>
  %1 = graph.expand %0 : tensor<4096x1xi64> -> tensor<4096x64xi64>
  %2 = graph.iota dim = 1 : tensor<4096x64xi64>
  %3 = graph.binary eq %1, %2 : tensor<4096x64xi64>
  %4 = graph.cast %3 : tensor<4096x64xi1> -> tensor<4096x64xi64>
  %5 = graph.reduce add %4 dims = [0] : tensor<4096x64xi64> -> tensor<64xi64>
  return %5 : tensor<64xi64>
}

// Counts of each of a batch, counts of 16 bits, which may overflow, sums of what is no one, and counts that f32 does not have
// stay what they are.
// CHECK-LABEL: func.func @apart
// CHECK-NOT:   graph.scatter
func.func @apart(%at: tensor<4x65536xi32>, %x: tensor<65536x256xf32>, %many: tensor<33554432xi32>)
    -> (tensor<4x256xi32>, tensor<256xi16>, tensor<256xf32>, tensor<256xi32>) {
  %0 = graph.reshape %at : tensor<4x65536xi32> -> tensor<4x65536x1xi32>
  %1 = graph.expand %0 : tensor<4x65536x1xi32> -> tensor<4x65536x256xi32>
  %2 = graph.iota dim = 2 : tensor<4x65536x256xi32>
  %3 = graph.binary eq %1, %2 : tensor<4x65536x256xi32>
  %4 = graph.cast %3 : tensor<4x65536x256xi1> -> tensor<4x65536x256xi32>
  %5 = graph.reduce add %4 dims = [1] : tensor<4x65536x256xi32> -> tensor<4x256xi32>
  %6 = graph.cast %3 : tensor<4x65536x256xi1> -> tensor<4x65536x256xi16>
  %7 = graph.reduce add %6 dims = [0, 1] : tensor<4x65536x256xi16> -> tensor<256xi16>
  %8 = graph.reduce add %x dims = [0] : tensor<65536x256xf32> -> tensor<256xf32>
  %9 = graph.reshape %many : tensor<33554432xi32> -> tensor<33554432x1xi32>
  %10 = graph.expand %9 : tensor<33554432x1xi32> -> tensor<33554432x256xi32>
  %11 = graph.iota dim = 1 : tensor<33554432x256xi32>
  %12 = graph.binary eq %10, %11 : tensor<33554432x256xi32>
  %13 = graph.cast %12 : tensor<33554432x256xi1> -> tensor<33554432x256xi32>
  %14 = graph.reduce add %13 dims = [0] : tensor<33554432x256xi32> -> tensor<256xi32>
  return %5, %7, %8, %14 : tensor<4x256xi32>, tensor<256xi16>, tensor<256xf32>, tensor<256xi32>
}

// Indices outside name no place.
// SMALL-LABEL: func.func @numbers
// SMALL:       graph.scatter add
// PRINT: [2049 0 2047]
func.func @numbers() -> tensor<3xi64> {
  %n = graph.iota dim = 0 : tensor<8192xi64>
  %two = graph.constant dense<2> : tensor<8192xi64>
  %half = graph.binary div %n, %two : tensor<8192xi64>
  %even = graph.binary mul %half, %two : tensor<8192xi64>
  %odd = graph.binary sub %n, %even : tensor<8192xi64>
  %limit = graph.constant dense<4098> : tensor<8192xi64>
  %isLow = graph.binary lt %n, %limit : tensor<8192xi64>
  %zero = graph.constant dense<0> : tensor<8192xi64>
  %base = graph.select %isLow, %zero, %two : tensor<8192xi64>
  %own = graph.binary sub %base, %odd : tensor<8192xi64>
  %far = graph.binary mul %odd, %limit : tensor<8192xi64>
  %at = graph.binary sub %own, %far : tensor<8192xi64>
  %0 = graph.reshape %at : tensor<8192xi64> -> tensor<8192x1xi64>
  %1 = graph.expand %0 : tensor<8192x1xi64> -> tensor<8192x3xi64>
  %2 = graph.iota dim = 1 : tensor<8192x3xi64>
  %3 = graph.binary eq %1, %2 : tensor<8192x3xi64>
  %4 = graph.cast %3 : tensor<8192x3xi1> -> tensor<8192x3xi64>
  %5 = graph.reduce add %4 dims = [0] : tensor<8192x3xi64> -> tensor<3xi64>
  return %5 : tensor<3xi64>
}
