// RUN: zyx-opt %s --zyx-fuse --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled --verify-roundtrip | FileCheck %s

// Windows slide over the padded indices; where there is none, the load reads the fill.
// CHECK-LABEL: kernel.func @pool_0
// CHECK: %[[V:.*]] = kernel.view %{{.*}} map <[<[2, 5, 3] strides [11, 2, 1]>, <[2, 11] strides [9, 1] offset -1 valid [0 : 2, 1 : 10]>]>
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[T:.*]] = kernel.load %[[V]][{{.*}}] other %[[LEAST]] : f32 axes ["i0", "i1", "k0"]
// CHECK: kernel.reduce max %[[T]] dims [2]
func.func @pool(%x: tensor<2x9xf32>) -> tensor<2x5xf32> {
  %least = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.pad %x, %least low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<2x9xf32> -> tensor<2x11xf32>
  %1 = graph.window %0 dims = [1] size = [3] stride = [2] dilation = [1] : tensor<2x11xf32> -> tensor<2x5x3xf32>
  %2 = graph.reduce max %1 dims = [2] : tensor<2x5x3xf32> -> tensor<2x5xf32>
  return %2 : tensor<2x5xf32>
}

// Two dimensions backwards are one row backwards.
// CHECK-LABEL: kernel.func @flip_0
// CHECK: kernel.view %{{.*}} map <[<[24] strides [-1] offset 23>]> : <i16, global>
// CHECK: arith.bitcast %{{.*}} : tensor<24xi16> to tensor<24xf16>
func.func @flip(%x: tensor<4x6xui16>) -> tensor<4x6xf16> {
  %0 = graph.flip %x dims = [0, 1] : tensor<4x6xui16>
  %1 = graph.bitcast %0 : tensor<4x6xui16> -> tensor<4x6xf16>
  return %1 : tensor<4x6xf16>
}

// Signs are no matter of bits.
// CHECK-LABEL: kernel.func @sign_0
// CHECK-NOT: arith.bitcast
// CHECK: kernel.store
func.func @sign(%x: tensor<6xui16>) -> tensor<6xi16> {
  %0 = graph.bitcast %x : tensor<6xui16> -> tensor<6xi16>
  return %0 : tensor<6xi16>
}

// A dimension along which all is repeated, but not everywhere, is one along which elements differ.
// CHECK-LABEL: kernel.func @repeated_0
// CHECK: kernel.view %{{.*}} map <[<[4, 3] strides [0, 1] valid [1 : 4, 0 : 3]>]>
// CHECK: kernel.load {{.*}} -> tensor<4x3xf32>
func.func @repeated(%x: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.expand %x : tensor<1x3xf32> -> tensor<3x3xf32>
  %1 = graph.pad %0, %zero low = [1, 0] high = [0, 0] interior = [0, 0] : tensor<3x3xf32> -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// What is nothing but fill reads no memory.
// CHECK-LABEL: kernel.func @only_fill_0
// CHECK-NOT: kernel.load
// CHECK: arith.constant dense<7.000000e+00>
// CHECK-NOT: kernel.load
// CHECK: kernel.store
func.func @only_fill(%x: tensor<3x0xf32>) -> tensor<3x2xf32> {
  %seven = graph.constant dense<7.0> : tensor<f32>
  %0 = graph.pad %x, %seven low = [0, 1] high = [0, 1] interior = [0, 0] : tensor<3x0xf32> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// The rows of images whose results lie apart are batches of a product, along which the filter is the same.
// CHECK-LABEL: kernel.func @convolution_0
// CHECK: kernel.dot {{.*}} : tensor<2x4x27xf32>, tensor<2x27x16xf32> -> tensor<2x4x16xf32>
// CHECK-LABEL: kernel.func @convolution_of_one_0
// CHECK: kernel.dot
func.func @convolution(%x: tensor<2x3x6x6xf32>, %f: tensor<4x3x3x3xf32>) -> tensor<2x4x4x4xf32> {
  %0 = graph.window %x dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x3x6x6xf32> -> tensor<2x3x4x4x3x3xf32>
  %1 = graph.reshape %0 : tensor<2x3x4x4x3x3xf32> -> tensor<2x1x3x4x4x3x3xf32>
  %2 = graph.expand %1 : tensor<2x1x3x4x4x3x3xf32> -> tensor<2x4x3x4x4x3x3xf32>
  %3 = graph.reshape %f : tensor<4x3x3x3xf32> -> tensor<1x4x3x1x1x3x3xf32>
  %4 = graph.expand %3 : tensor<1x4x3x1x1x3x3xf32> -> tensor<2x4x3x4x4x3x3xf32>
  %5 = graph.binary mul %2, %4 : tensor<2x4x3x4x4x3x3xf32>
  %6 = graph.reduce add %5 dims = [2, 5, 6] : tensor<2x4x3x4x4x3x3xf32> -> tensor<2x4x4x4xf32>
  return %6 : tensor<2x4x4x4xf32>
}
func.func @convolution_of_one(%x: tensor<1x3x6x6xf32>, %f: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  %0 = graph.window %x dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x3x6x6xf32> -> tensor<1x3x4x4x3x3xf32>
  %1 = graph.reshape %0 : tensor<1x3x4x4x3x3xf32> -> tensor<1x1x3x4x4x3x3xf32>
  %2 = graph.expand %1 : tensor<1x1x3x4x4x3x3xf32> -> tensor<1x4x3x4x4x3x3xf32>
  %3 = graph.reshape %f : tensor<4x3x3x3xf32> -> tensor<1x4x3x1x1x3x3xf32>
  %4 = graph.expand %3 : tensor<1x4x3x1x1x3x3xf32> -> tensor<1x4x3x4x4x3x3xf32>
  %5 = graph.binary mul %2, %4 : tensor<1x4x3x4x4x3x3xf32>
  %6 = graph.reduce add %5 dims = [2, 5, 6] : tensor<1x4x3x4x4x3x3xf32> -> tensor<1x4x4x4xf32>
  return %6 : tensor<1x4x4x4xf32>
}

// What a gather reads is copied where something else reads it, too; a pad's fill stays known.
// CHECK-LABEL: kernel.func @gathered_and_read_0
// CHECK: kernel.return
func.func @gathered_and_read(%x: tensor<16x2x7xf64>, %i: tensor<1xui8>) -> tensor<15x1x10xf64> {
  %zero = graph.constant dense<0.0> : tensor<f64>
  %p = graph.pad %x, %zero low = [-1, -2, 2] high = [0, 1, 1] interior = [0, 0, 0] : tensor<16x2x7xf64> -> tensor<15x1x10xf64>
  %g = graph.gather %p[%i] dim = 1 : (tensor<15x1x10xf64>, tensor<1xui8>) -> tensor<15x1x10xf64>
  %m = graph.binary min %g, %p : tensor<15x1x10xf64>
  return %m : tensor<15x1x10xf64>
}
