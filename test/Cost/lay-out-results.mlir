// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=identity.cores=264' --zyx-fuse='tensor=16 turn' --zyx-split-groups --zyx-kernel-attach-target=target=sm_90a --zyx-cost-lay-out-results --remarks-filter=zyx-fusion --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s --zyx-fuse=fuse=false --zyx-kernel-attach-target=target=x86-64-v4 --zyx-test-draw-orders=seed=1 | FileCheck %s --check-prefix=DRAWN
// RUN: not zyx-opt %s --zyx-kernel-attach-target=target=abacus --zyx-cost-lay-out-results 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: no target is named 'abacus'

// What a convolution reads lies with its channels last, though the graph has them behind the images: its writer turns it, its
// reader turns it back. What is returned has the graph's order.
// WHY: a result is stored in another order, in which it is read or made
// CHECK-LABEL: func.func @chain
// CHECK: %[[A:.*]] = graph.group{{.*}} -> tensor<16x28x28x64xbf16>
// CHECK:   graph.permute {{.*}} order = [0, 2, 3, 1] : tensor<16x64x28x28xbf16> -> tensor<16x28x28x64xbf16>
// CHECK-NEXT: graph.yield
// CHECK: graph.group({{.*}}%[[A]] : tensor<16x28x28x64xbf16>{{.*}} -> tensor<16x64x28x28xbf16>
// CHECK-NEXT: graph.permute %{{.*}} order = [0, 3, 1, 2] : tensor<16x28x28x64xbf16> -> tensor<16x64x28x28xbf16>
// CHECK: return %{{.*}} : tensor<16x64x28x28xbf16>
func.func @chain(%x: tensor<16x28x28x64xbf16>, %v: tensor<64x3x3x64xbf16>, %w: tensor<64x3x3x64xbf16>) -> tensor<16x64x28x28xbf16> {
  %x1 = graph.permute %x order = [0, 3, 1, 2] : tensor<16x28x28x64xbf16> -> tensor<16x64x28x28xbf16>
  %z = graph.constant dense<0.0> : tensor<bf16>
  %z1 = graph.reshape %z : tensor<bf16> -> tensor<1x1x1x1xbf16>
  %zeros = graph.expand %z1 : tensor<1x1x1x1xbf16> -> tensor<16x64x28x28xbf16>

  %p0 = graph.pad %x1, %z low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<16x64x28x28xbf16> -> tensor<16x64x30x30xbf16>
  %w0 = graph.window %p0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<16x64x30x30xbf16> -> tensor<16x64x28x28x3x3xbf16>
  %t0 = graph.permute %w0 order = [0, 2, 3, 1, 4, 5] : tensor<16x64x28x28x3x3xbf16> -> tensor<16x28x28x64x3x3xbf16>
  %r0 = graph.reshape %t0 : tensor<16x28x28x64x3x3xbf16> -> tensor<16x1x28x28x64x3x3xbf16>
  %c0 = graph.cast %r0 : tensor<16x1x28x28x64x3x3xbf16> -> tensor<16x1x28x28x64x3x3xf32>
  %l0 = graph.expand %c0 : tensor<16x1x28x28x64x3x3xf32> -> tensor<16x64x28x28x64x3x3xf32>
  %f0 = graph.permute %v order = [0, 3, 1, 2] : tensor<64x3x3x64xbf16> -> tensor<64x64x3x3xbf16>
  %g0 = graph.reshape %f0 : tensor<64x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xbf16>
  %h0 = graph.cast %g0 : tensor<1x64x1x1x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xf32>
  %e0 = graph.expand %h0 : tensor<1x64x1x1x64x3x3xf32> -> tensor<16x64x28x28x64x3x3xf32>
  %m0 = graph.binary mul %l0, %e0 : tensor<16x64x28x28x64x3x3xf32>
  %s0 = graph.reduce add %m0 dims = [4, 5, 6] : tensor<16x64x28x28x64x3x3xf32> -> tensor<16x64x28x28xf32>
  %b0 = graph.cast %s0 : tensor<16x64x28x28xf32> -> tensor<16x64x28x28xbf16>
  %y0 = graph.binary max %b0, %zeros : tensor<16x64x28x28xbf16>

  %p1 = graph.pad %y0, %z low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<16x64x28x28xbf16> -> tensor<16x64x30x30xbf16>
  %w1 = graph.window %p1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<16x64x30x30xbf16> -> tensor<16x64x28x28x3x3xbf16>
  %t1 = graph.permute %w1 order = [0, 2, 3, 1, 4, 5] : tensor<16x64x28x28x3x3xbf16> -> tensor<16x28x28x64x3x3xbf16>
  %r1 = graph.reshape %t1 : tensor<16x28x28x64x3x3xbf16> -> tensor<16x1x28x28x64x3x3xbf16>
  %c1 = graph.cast %r1 : tensor<16x1x28x28x64x3x3xbf16> -> tensor<16x1x28x28x64x3x3xf32>
  %l1 = graph.expand %c1 : tensor<16x1x28x28x64x3x3xf32> -> tensor<16x64x28x28x64x3x3xf32>
  %f1 = graph.permute %w order = [0, 3, 1, 2] : tensor<64x3x3x64xbf16> -> tensor<64x64x3x3xbf16>
  %g1 = graph.reshape %f1 : tensor<64x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xbf16>
  %h1 = graph.cast %g1 : tensor<1x64x1x1x64x3x3xbf16> -> tensor<1x64x1x1x64x3x3xf32>
  %e1 = graph.expand %h1 : tensor<1x64x1x1x64x3x3xf32> -> tensor<16x64x28x28x64x3x3xf32>
  %m1 = graph.binary mul %l1, %e1 : tensor<16x64x28x28x64x3x3xf32>
  %s1 = graph.reduce add %m1 dims = [4, 5, 6] : tensor<16x64x28x28x64x3x3xf32> -> tensor<16x64x28x28xf32>
  %b1 = graph.cast %s1 : tensor<16x64x28x28xf32> -> tensor<16x64x28x28xbf16>
  return %b1 : tensor<16x64x28x28xbf16>
}

// A depthwise convolution of rows whose channels come last, seen with channels first: its result lies as its operand does.
// CHECK-LABEL: func.func @depthwise
// CHECK: graph.group{{.*}} -> tensor<8x515x1024xf16>
// CHECK:   graph.permute {{.*}} order = [0, 2, 1] : tensor<8x1024x515xf16> -> tensor<8x515x1024xf16>
// CHECK-NEXT: graph.yield
func.func @depthwise(%x: tensor<8x512x1024xf16>, %w: tensor<1024x4xf16>) -> tensor<8x1024xf16> {
  %zero = graph.constant dense<0.0> : tensor<f16>
  %0 = graph.permute %x order = [0, 2, 1] : tensor<8x512x1024xf16> -> tensor<8x1024x512xf16>
  %1 = graph.pad %0, %zero low = [0, 0, 3] high = [0, 0, 3] interior = [0, 0, 0] : tensor<8x1024x512xf16> -> tensor<8x1024x518xf16>
  %2 = graph.window %1 dims = [2] size = [4] stride = [1] dilation = [1] : tensor<8x1024x518xf16> -> tensor<8x1024x515x4xf16>
  %3 = graph.cast %2 : tensor<8x1024x515x4xf16> -> tensor<8x1024x515x4xf32>
  %4 = graph.cast %w : tensor<1024x4xf16> -> tensor<1024x4xf32>
  %5 = graph.reshape %4 : tensor<1024x4xf32> -> tensor<1x1024x1x4xf32>
  %6 = graph.expand %5 : tensor<1x1024x1x4xf32> -> tensor<8x1024x515x4xf32>
  %7 = graph.binary mul %3, %6 : tensor<8x1024x515x4xf32>
  %8 = graph.reduce add %7 dims = [3] : tensor<8x1024x515x4xf32> -> tensor<8x1024x515xf32>
  %9 = graph.cast %8 : tensor<8x1024x515xf32> -> tensor<8x1024x515xf16>
  %10 = graph.reduce max %9 dims = [2] : tensor<8x1024x515xf16> -> tensor<8x1024xf16>
  return %10 : tensor<8x1024xf16>
}

// Products that sum up over images, as gradients of filters do: everything keeps its order.
// CHECK-LABEL: func.func @gradient
// CHECK-NOT: graph.permute
// CHECK: return
func.func @gradient(%x: tensor<16x64x784xbf16>, %y: tensor<16x64x784xbf16>, %w: tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<16x784x64xbf16>) {
  %0 = graph.unary exp %x : tensor<16x64x784xbf16>
  %1 = graph.reshape %0 : tensor<16x64x784xbf16> -> tensor<16x64x1x784xbf16>
  %2 = graph.expand %1 : tensor<16x64x1x784xbf16> -> tensor<16x64x64x784xbf16>
  %3 = graph.reshape %y : tensor<16x64x784xbf16> -> tensor<16x1x64x784xbf16>
  %4 = graph.expand %3 : tensor<16x1x64x784xbf16> -> tensor<16x64x64x784xbf16>
  %5 = graph.cast %2 : tensor<16x64x64x784xbf16> -> tensor<16x64x64x784xf32>
  %6 = graph.cast %4 : tensor<16x64x64x784xbf16> -> tensor<16x64x64x784xf32>
  %7 = graph.binary mul %5, %6 : tensor<16x64x64x784xf32>
  %8 = graph.reduce add %7 dims = [0, 3] : tensor<16x64x64x784xf32> -> tensor<64x64xf32>
  %9 = graph.cast %8 : tensor<64x64xf32> -> tensor<64x64xbf16>
  %10 = graph.reshape %0 : tensor<16x64x784xbf16> -> tensor<16x64x784x1xbf16>
  %11 = graph.cast %10 : tensor<16x64x784x1xbf16> -> tensor<16x64x784x1xf32>
  %12 = graph.expand %11 : tensor<16x64x784x1xf32> -> tensor<16x64x784x64xf32>
  %13 = graph.reshape %w : tensor<64x64xbf16> -> tensor<1x64x1x64xbf16>
  %14 = graph.cast %13 : tensor<1x64x1x64xbf16> -> tensor<1x64x1x64xf32>
  %15 = graph.expand %14 : tensor<1x64x1x64xf32> -> tensor<16x64x784x64xf32>
  %16 = graph.binary mul %12, %15 : tensor<16x64x784x64xf32>
  %17 = graph.reduce add %16 dims = [1] : tensor<16x64x784x64xf32> -> tensor<16x784x64xf32>
  %18 = graph.cast %17 : tensor<16x784x64xf32> -> tensor<16x784x64xbf16>
  return %9, %18 : tensor<64x64xbf16>, tensor<16x784x64xbf16>
}

// What is scanned, and what is returned, stays as it is.
// CHECK-LABEL: func.func @scanned
// CHECK-NOT: graph.permute
// DRAWN-LABEL: func.func @scanned
// DRAWN-NOT: graph.permute
func.func @scanned(%x: tensor<4x8x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
  %0 = graph.unary exp %x : tensor<4x8x16xf32>
  %1 = graph.scan add %0 dim = 1 : tensor<4x8x16xf32>
  %2 = graph.unary sqrt %x : tensor<4x8x16xf32>
  %3 = graph.unary exp %2 : tensor<4x8x16xf32>
  return %1, %2 : tensor<4x8x16xf32>, tensor<4x8x16xf32>
}

// For tests any order: who reads turns it back.
// DRAWN-LABEL: func.func @drawn
// DRAWN: %[[A:.*]] = graph.group{{.*}} -> tensor<{{5x6x4|4x6x5}}xf32>
// DRAWN: graph.permute
// DRAWN: graph.group({{.*}} = %[[A]] : tensor<{{5x6x4|4x6x5}}xf32>) -> tensor<4x5x6xf32>
// DRAWN-NEXT: graph.permute {{.*}} -> tensor<4x5x6xf32>
func.func @drawn(%x: tensor<4x5x6xf32>) -> tensor<4x5x6xf32> {
  %0 = graph.unary exp %x : tensor<4x5x6xf32>
  %1 = graph.unary sqrt %0 : tensor<4x5x6xf32>
  return %1 : tensor<4x5x6xf32>
}
