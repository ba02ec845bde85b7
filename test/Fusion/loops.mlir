// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: zyx-opt %s --zyx-fusion-normalize-views | FileCheck %s --check-prefix=VIEWS

// The body is grouped by itself: a step of a recurrent network is one kernel. What a loop reads is
// stored, so the initial constant is a kernel, and its result is read by one.
// REMARK: not in the kernel of its producer: a loop is no part of a kernel
// CHECK-LABEL: func.func @recurrent
// CHECK: %[[ZERO:.*]] = graph.group() -> tensor<4x8xf32> {
// CHECK: %[[L:.*]] = graph.loop(%[[I:.*]] to 16) carry(%[[P:.*]] = %[[ZERO]] : tensor<4x8xf32>) with(%[[XS:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}) {
// CHECK-NEXT: %[[STEP:.*]] = graph.group(
// CHECK: graph.unary tanh
// CHECK-NEXT: graph.yield
// CHECK-NEXT: }
// CHECK-NEXT: graph.yield %[[STEP]]
// CHECK-NEXT: }
// CHECK-NEXT: graph.group(%{{.*}} = %[[L]] : tensor<4x8xf32>)
func.func @recurrent(%x: tensor<16x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %h0 = graph.constant dense<0.0> : tensor<4x8xf32>
  %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>)
      with(%xs = %x : tensor<16x4x8xf32>, %v = %w : tensor<8x8xf32>) {
    %0 = graph.reshape %p : tensor<4x8xf32> -> tensor<4x8x1xf32>
    %1 = graph.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x8xf32>
    %2 = graph.reshape %v : tensor<8x8xf32> -> tensor<1x8x8xf32>
    %3 = graph.expand %2 : tensor<1x8x8xf32> -> tensor<4x8x8xf32>
    %4 = graph.binary mul %1, %3 : tensor<4x8x8xf32>
    %5 = graph.reduce add %4 dims = [1] : tensor<4x8x8xf32> -> tensor<4x8xf32>
    %6 = graph.gather %xs[%i] dim = 0 : (tensor<16x4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
    %7 = graph.binary add %5, %6 : tensor<4x8xf32>
    %8 = graph.unary tanh %7 : tensor<4x8xf32>
    graph.yield %8 : tensor<4x8xf32>
  }
  %y = graph.unary exp %h : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Kernels on both sides of a loop are not merged around it, and stay in order with it; a view that
// a loop reads is stored. What is cheap is computed again.
// CHECK-LABEL: func.func @around
// CHECK: %[[E:.*]] = graph.group(
// CHECK-NEXT: graph.unary exp
// CHECK-NEXT: graph.permute
// CHECK: %[[L:.*]] = graph.loop(%{{.*}} to 2) carry(%{{.*}} = %[[E]] : tensor<6x4xf32>)
// CHECK: %[[N:.*]] = graph.group
// CHECK: graph.unary neg
// CHECK: graph.yield %[[N]]
// CHECK: graph.group(%{{.*}}, %{{.*}} = %[[L]] : tensor<6x4xf32>)
// CHECK: graph.unary exp
// CHECK: graph.permute
// CHECK: graph.binary add
func.func @around(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %e = graph.unary exp %x : tensor<4x6xf32>
  %t = graph.permute %e order = [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %l = graph.loop(%i to 2) carry(%p = %t : tensor<6x4xf32>) {
    %f = graph.flip %p dims = [0] : tensor<6x4xf32>
    %0 = graph.unary neg %f : tensor<6x4xf32>
    graph.yield %0 : tensor<6x4xf32>
  }
  %b = graph.permute %l order = [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>
  %y = graph.binary add %e, %b : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Views move in bodies too.
// VIEWS-LABEL: func.func @views
// VIEWS: graph.loop(
// VIEWS-NEXT: graph.reshape
// VIEWS-NEXT: graph.cast
func.func @views(%x: tensor<4x6xui8>, %y: tensor<24xf32>) -> tensor<24xf32> {
  %l = graph.loop(%i to 2) carry(%p = %y : tensor<24xf32>) with(%b = %x : tensor<4x6xui8>) {
    %0 = graph.cast %b : tensor<4x6xui8> -> tensor<4x6xf32>
    %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
    %2 = graph.binary add %1, %p : tensor<24xf32>
    graph.yield %2 : tensor<24xf32>
  }
  return %l : tensor<24xf32>
}

// A reshape of what is computed is not stored a second time: not for the loop that reads it, not for its
// body that yields it, and not for the caller.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[E:.*]] = graph.group(
// CHECK: %[[R:.*]] = graph.reshape %[[E]] : tensor<6x2xf32> -> tensor<12xf32>
// CHECK-NEXT: %[[L:.*]] = graph.loop(%{{.*}} to 2) carry(%[[P:.*]] = %[[R]] : tensor<12xf32>)
// CHECK: %[[S:.*]] = graph.group(
// CHECK: graph.yield %{{.*}} : tensor<3x4xf32>
// CHECK: %[[T:.*]] = graph.reshape %[[S]] : tensor<3x4xf32> -> tensor<12xf32>
// CHECK-NEXT: graph.yield %[[T]] : tensor<12xf32>
// CHECK-NOT: graph.group
// CHECK: %[[Y:.*]] = graph.reshape %[[L]] : tensor<12xf32> -> tensor<4x3xf32>
// CHECK: %[[Z:.*]] = graph.reshape %[[E]] : tensor<6x2xf32> -> tensor<4x3xf32>
// CHECK: return %[[Y]], %[[Z]]
func.func @reshaped(%x: tensor<6x2xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %e = graph.reduce max %x dims = [1] : tensor<6x2xf32> -> tensor<6xf32>
  %e1 = graph.reshape %e : tensor<6xf32> -> tensor<6x1xf32>
  %e2 = graph.expand %e1 : tensor<6x1xf32> -> tensor<6x2xf32>
  %d = graph.binary sub %x, %e2 : tensor<6x2xf32>
  %h0 = graph.reshape %d : tensor<6x2xf32> -> tensor<12xf32>
  %h = graph.loop(%i to 2) carry(%p = %h0 : tensor<12xf32>) {
    %0 = graph.reshape %p : tensor<12xf32> -> tensor<3x4xf32>
    %1 = graph.reduce max %0 dims = [1] : tensor<3x4xf32> -> tensor<3xf32>
    %2 = graph.reshape %1 : tensor<3xf32> -> tensor<3x1xf32>
    %3 = graph.expand %2 : tensor<3x1xf32> -> tensor<3x4xf32>
    %4 = graph.binary sub %0, %3 : tensor<3x4xf32>
    %5 = graph.reshape %4 : tensor<3x4xf32> -> tensor<12xf32>
    graph.yield %5 : tensor<12xf32>
  }
  %y = graph.reshape %h : tensor<12xf32> -> tensor<4x3xf32>
  %z = graph.reshape %d : tensor<6x2xf32> -> tensor<4x3xf32>
  return %y, %z : tensor<4x3xf32>, tensor<4x3xf32>
}
