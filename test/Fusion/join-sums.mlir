// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_80' -zyx-fusion-join-sums -zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=cpu' -zyx-fusion-join-sums | FileCheck %s --check-prefix=CPU
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=webgpu' -zyx-fusion-join-sums | FileCheck %s --check-prefix=FEW

// Sums of the same gradients are one kernel, which casts them once. Who reads the first one comes behind both.
// CHECK-LABEL: func.func @gradients
// CHECK: %[[SUMS:.*]]:2 = graph.group(%[[DY:.*]] = %arg0 : tensor<8x32x64xbf16>, %[[X:.*]] = %arg1 : tensor<8x32x64xbf16>) -> (tensor<32xf32>, tensor<32xf32>)
// CHECK: %[[WIDE:.*]] = graph.cast %[[DY]]
// CHECK-NEXT: graph.reduce add %[[WIDE]] dims = [0, 2]
// CHECK-NEXT: %[[OTHER:.*]] = graph.cast %[[X]]
// CHECK-NEXT: %[[TERMS:.*]] = graph.binary mul %[[WIDE]], %[[OTHER]]
// CHECK-NEXT: graph.reduce add %[[TERMS]] dims = [0, 2]
// CHECK: graph.group({{.*}} = %[[SUMS]]#0 : tensor<32xf32>) -> tensor<32xbf16>
// CHECK: return %{{.*}}, %[[SUMS]]#1
// CPU-LABEL: func.func @gradients
// CPU-COUNT-3: graph.group(
func.func @gradients(%dy: tensor<8x32x64xbf16>, %x: tensor<8x32x64xbf16>) -> (tensor<32xbf16>, tensor<32xf32>) {
  %0 = graph.group(%a = %dy : tensor<8x32x64xbf16>) -> tensor<32xf32> {
    %1 = graph.cast %a : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %2 : tensor<32xf32>
  }
  %3 = graph.group(%a = %0 : tensor<32xf32>) -> tensor<32xbf16> {
    %1 = graph.cast %a : tensor<32xf32> -> tensor<32xbf16>
    graph.yield %1 : tensor<32xbf16>
  }
  %4 = graph.group(%a = %x : tensor<8x32x64xbf16>, %b = %dy : tensor<8x32x64xbf16>) -> tensor<32xf32> {
    %1 = graph.cast %b : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %2 = graph.cast %a : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %5 = graph.binary mul %1, %2 : tensor<8x32x64xf32>
    %6 = graph.reduce add %5 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %6 : tensor<32xf32>
  }
  return %3, %4 : tensor<32xbf16>, tensor<32xf32>
}

// A variance follows from the mean, so that they stay apart.
// CHECK-LABEL: func.func @variance
// CHECK-COUNT-2: graph.group(
func.func @variance(%x: tensor<8x32x64xbf16>) -> (tensor<1x32x1xf32>, tensor<32xf32>) {
  %0 = graph.group(%a = %x : tensor<8x32x64xbf16>) -> tensor<1x32x1xf32> {
    %1 = graph.cast %a : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    %3 = graph.reshape %2 : tensor<32xf32> -> tensor<1x32x1xf32>
    graph.yield %3 : tensor<1x32x1xf32>
  }
  %4 = graph.group(%a = %x : tensor<8x32x64xbf16>, %b = %0 : tensor<1x32x1xf32>) -> tensor<32xf32> {
    %1 = graph.cast %a : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %2 = graph.expand %b : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %3 = graph.binary sub %1, %2 : tensor<8x32x64xf32>
    %5 = graph.reduce add %3 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %5 : tensor<32xf32>
  }
  return %0, %4 : tensor<1x32x1xf32>, tensor<32xf32>
}

// Neither are sums along other dimensions one kernel. Sums that compute nothing alike of what both read have it times one.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: graph.group(
// CHECK: %[[SAME:.*]] = graph.binary mul %{{.*}}, %{{.*}} : tensor<8x32x64xf32>
// CHECK-NEXT: graph.reduce add %[[SAME]] dims = [0, 2]
// CHECK-NEXT: graph.binary mul %[[SAME]], %[[SAME]]
// CHECK-NOT: graph.group(
func.func @apart(%x: tensor<8x32x64xbf16>, %y: tensor<8x32x64xf32>) -> (tensor<32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) {
  %0 = graph.group(%a = %x : tensor<8x32x64xbf16>) -> tensor<32xf32> {
    %1 = graph.cast %a : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %2 : tensor<32xf32>
  }
  %3 = graph.group(%a = %x : tensor<8x32x64xbf16>) -> tensor<64xf32> {
    %1 = graph.cast %a : tensor<8x32x64xbf16> -> tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 1] : tensor<8x32x64xf32> -> tensor<64xf32>
    graph.yield %2 : tensor<64xf32>
  }
  %4 = graph.group(%a = %y : tensor<8x32x64xf32>) -> tensor<32xf32> {
    %1 = graph.reduce add %a dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %1 : tensor<32xf32>
  }
  %5 = graph.group(%a = %y : tensor<8x32x64xf32>) -> tensor<32xf32> {
    %1 = graph.binary mul %a, %a : tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %2 : tensor<32xf32>
  }
  return %0, %3, %4, %5 : tensor<32xf32>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>
}

// A kernel of WebGPU has at most eight buffers: two more sums of two more inputs would be ten.
// CHECK-LABEL: func.func @buffers
// CHECK-COUNT-1: graph.group(
// CHECK-NOT: graph.group(
// FEW-LABEL: func.func @buffers
// FEW-COUNT-2: graph.group(
func.func @buffers(%dy: tensor<8x32x64xf32>, %a: tensor<1x32x1xf32>, %b: tensor<1x32x1xf32>, %c: tensor<1x32x1xf32>, %d: tensor<1x32x1xf32>, %e: tensor<1x32x1xf32>, %f: tensor<1x32x1xf32>)
    -> (tensor<32xf32>, tensor<32xf32>) {
  %0 = graph.group(%x = %dy : tensor<8x32x64xf32>, %p = %a : tensor<1x32x1xf32>, %q = %b : tensor<1x32x1xf32>, %r = %c : tensor<1x32x1xf32>) -> tensor<32xf32> {
    %1 = graph.unary abs %x : tensor<8x32x64xf32>
    %2 = graph.binary add %p, %q : tensor<1x32x1xf32>
    %3 = graph.binary add %2, %r : tensor<1x32x1xf32>
    %4 = graph.expand %3 : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %5 = graph.binary mul %1, %4 : tensor<8x32x64xf32>
    %6 = graph.reduce add %5 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %6 : tensor<32xf32>
  }
  %7 = graph.group(%x = %dy : tensor<8x32x64xf32>, %p = %d : tensor<1x32x1xf32>, %q = %e : tensor<1x32x1xf32>, %r = %f : tensor<1x32x1xf32>) -> tensor<32xf32> {
    %1 = graph.unary abs %x : tensor<8x32x64xf32>
    %2 = graph.binary add %p, %q : tensor<1x32x1xf32>
    %3 = graph.binary add %2, %r : tensor<1x32x1xf32>
    %4 = graph.expand %3 : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %5 = graph.binary mul %1, %4 : tensor<8x32x64xf32>
    %6 = graph.reduce add %5 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %6 : tensor<32xf32>
  }
  return %0, %7 : tensor<32xf32>, tensor<32xf32>
}

// One that reads less than half of the elements again is a kernel of its own.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-2: graph.group(
func.func @small(%x: tensor<8x32x64xf32>, %y: tensor<8x32x64xf32>, %z: tensor<1x32x1xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  %0 = graph.group(%a = %x : tensor<8x32x64xf32>, %b = %z : tensor<1x32x1xf32>) -> tensor<32xf32> {
    %1 = graph.expand %b : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %2 = graph.binary mul %a, %1 : tensor<8x32x64xf32>
    %3 = graph.reduce add %2 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %3 : tensor<32xf32>
  }
  %4 = graph.group(%a = %y : tensor<8x32x64xf32>, %b = %z : tensor<1x32x1xf32>) -> tensor<32xf32> {
    %1 = graph.expand %b : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %2 = graph.binary mul %a, %1 : tensor<8x32x64xf32>
    %3 = graph.reduce add %2 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %3 : tensor<32xf32>
  }
  return %0, %4 : tensor<32xf32>, tensor<32xf32>
}

// What both compute is one result of the group, which both readers have.
// CHECK-LABEL: func.func @same
// CHECK: %[[BOTH:.*]]:2 = graph.group(%{{.*}} = %arg0 : tensor<64x32xbf16>) -> (tensor<32xf32>, tensor<32xf32>)
// CHECK: %[[SUM:.*]] = graph.reduce add
// CHECK: %[[SQUARES:.*]] = graph.reduce add
// CHECK: graph.yield %[[SUM]], %[[SQUARES]]
// CHECK: return %[[BOTH]]#0, %[[BOTH]]#0, %[[BOTH]]#1
func.func @same(%x: tensor<64x32xbf16>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %0 = graph.group(%a = %x : tensor<64x32xbf16>) -> tensor<32xf32> {
    %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
    %2 = graph.reduce add %1 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
    graph.yield %2 : tensor<32xf32>
  }
  %3:2 = graph.group(%a = %x : tensor<64x32xbf16>) -> (tensor<32xf32>, tensor<32xf32>) {
    %1 = graph.cast %a : tensor<64x32xbf16> -> tensor<64x32xf32>
    %2 = graph.reduce add %1 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
    %4 = graph.binary mul %1, %1 : tensor<64x32xf32>
    %5 = graph.reduce add %4 dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
    graph.yield %2, %5 : tensor<32xf32>, tensor<32xf32>
  }
  return %0, %3#0, %3#1 : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

// What walks rows to write them adds up what it reads anyway. What is reduced as it was read is one value with what
// others read.
// CHECK-LABEL: func.func @written
// CHECK: %[[ALL:.*]]:2 = graph.group(
// CHECK: graph.constant dense<1.000000e+00> : tensor<8x32x64xf32>
// CHECK-NEXT: %[[SAME:.*]] = graph.binary mul %{{.*}}, %{{.*}} : tensor<8x32x64xf32>
// CHECK: graph.reduce add %[[SAME]] dims = [0, 2]
// CHECK-NOT: graph.group(
// CHECK: return %[[ALL]]#0, %[[ALL]]#1
func.func @written(%x: tensor<8x32x64xf32>) -> (tensor<8x32x64xf32>, tensor<32xf32>) {
  %0 = graph.group(%a = %x : tensor<8x32x64xf32>) -> tensor<8x32x64xf32> {
    %1 = graph.binary mul %a, %a : tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    %3 = graph.reshape %2 : tensor<32xf32> -> tensor<1x32x1xf32>
    %4 = graph.expand %3 : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %5 = graph.binary sub %a, %4 : tensor<8x32x64xf32>
    graph.yield %5 : tensor<8x32x64xf32>
  }
  %6 = graph.group(%a = %x : tensor<8x32x64xf32>) -> tensor<32xf32> {
    %1 = graph.reduce add %a dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %1 : tensor<32xf32>
  }
  return %0, %6 : tensor<8x32x64xf32>, tensor<32xf32>
}

// It would read more for sums of another value.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-2: graph.group(
// CHECK: return
func.func @read(%x: tensor<8x32x64xf32>, %y: tensor<8x32x64xf32>) -> (tensor<8x32x64xf32>, tensor<32xf32>) {
  %0 = graph.group(%a = %x : tensor<8x32x64xf32>) -> tensor<8x32x64xf32> {
    %1 = graph.binary mul %a, %a : tensor<8x32x64xf32>
    %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    %3 = graph.reshape %2 : tensor<32xf32> -> tensor<1x32x1xf32>
    %4 = graph.expand %3 : tensor<1x32x1xf32> -> tensor<8x32x64xf32>
    %5 = graph.binary sub %a, %4 : tensor<8x32x64xf32>
    graph.yield %5 : tensor<8x32x64xf32>
  }
  %6 = graph.group(%a = %x : tensor<8x32x64xf32>, %b = %y : tensor<8x32x64xf32>) -> tensor<32xf32> {
    %1 = graph.binary mul %a, %a : tensor<8x32x64xf32>
    %2 = graph.binary mul %1, %b : tensor<8x32x64xf32>
    %3 = graph.reduce add %2 dims = [0, 2] : tensor<8x32x64xf32> -> tensor<32xf32>
    graph.yield %3 : tensor<32xf32>
  }
  return %0, %6 : tensor<8x32x64xf32>, tensor<32xf32>
}

// A sum that is repeated in the end stays apart; one that is seen in other dimensions does not.
// CHECK-LABEL: func.func @views
// CHECK-COUNT-2: graph.group(
// CHECK-NOT: graph.group(
// CHECK: return
func.func @views(%x: tensor<8xf32>) -> (tensor<1xf32>, tensor<8xf32>, tensor<f32>) {
  %0 = graph.group(%a = %x : tensor<8xf32>) -> tensor<1xf32> {
    %1 = graph.unary trunc %a : tensor<8xf32>
    %2 = graph.reduce min %1 dims = [0] : tensor<8xf32> -> tensor<f32>
    %3 = graph.reshape %2 : tensor<f32> -> tensor<1xf32>
    graph.yield %3 : tensor<1xf32>
  }
  %4 = graph.group(%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %1 = graph.reduce add %a dims = [0] : tensor<8xf32> -> tensor<f32>
    %2 = graph.reshape %1 : tensor<f32> -> tensor<1xf32>
    %3 = graph.expand %2 : tensor<1xf32> -> tensor<8xf32>
    graph.yield %3 : tensor<8xf32>
  }
  %5 = graph.group(%a = %x : tensor<8xf32>) -> tensor<f32> {
    %1 = graph.reduce max %a dims = [0] : tensor<8xf32> -> tensor<f32>
    graph.yield %1 : tensor<f32>
  }
  return %0, %4, %5 : tensor<1xf32>, tensor<8xf32>, tensor<f32>
}
