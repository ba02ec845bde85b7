// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-fusion-leave-out-padding -zyx-fusion-erase-unused | FileCheck %s --check-prefixes=CHECK,ALONE
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s --check-prefix=CARD

// Of a window 6 places apart over 7 rows, all but the middle one see padding at all but one place. There are nine
// pieces, each with the elements of the window that it sees, and nothing is padded.
// CHECK-LABEL: func.func @positions
// CHECK-NOT:   graph.pad {{.*}} low = [0, 0, 6, 6]
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<2x128x1x1x96x2x2xf32> -> tensor<2x128x1x1xf32>
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<2x128x1x5x96x2x1xf32> -> tensor<2x128x1x5xf32>
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<2x128x5x5x96x1x1xf32> -> tensor<2x128x5x5xf32>
// ALONE-DAG:   graph.concat %{{.*}} dim = 3 :
// CARD-LABEL:  func.func @positions
// CARD:        graph.reduce add %{{.*}} : tensor<2x128x7x7x96x3x3xf32> -> tensor<2x128x7x7xf32>
func.func @positions(%x: tensor<2x96x7x7xf32>, %filters: tensor<128x96x3x3xf32>) -> tensor<2x128x7x7xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 6, 6] high = [0, 0, 6, 6] interior = [0, 0, 0, 0] : tensor<2x96x7x7xf32> -> tensor<2x96x19x19xf32>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [6, 6] : tensor<2x96x19x19xf32> -> tensor<2x96x7x7x3x3xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<2x96x7x7x3x3xf32> -> tensor<2x7x7x96x3x3xf32>
  %3 = graph.reshape %2 : tensor<2x7x7x96x3x3xf32> -> tensor<2x1x7x7x96x3x3xf32>
  %4 = graph.expand %3 : tensor<2x1x7x7x96x3x3xf32> -> tensor<2x128x7x7x96x3x3xf32>
  %5 = graph.reshape %filters : tensor<128x96x3x3xf32> -> tensor<1x128x1x1x96x3x3xf32>
  %6 = graph.expand %5 : tensor<1x128x1x1x96x3x3xf32> -> tensor<2x128x7x7x96x3x3xf32>
  %7 = graph.binary mul %4, %6 : tensor<2x128x7x7x96x3x3xf32>
  %8 = graph.reduce add %7 dims = [4, 5, 6] : tensor<2x128x7x7x96x3x3xf32> -> tensor<2x128x7x7xf32>
  return %8 : tensor<2x128x7x7xf32>
}

// A filter's gradient has a piece for each element of the window; those 12 places away see nothing of 7, and are zero.
// CHECK-LABEL: func.func @elements
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<16x32x7x1x32x1x1xf32> -> tensor<32x32x1x1xf32>
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<16x32x7x7x32x1x1xf32> -> tensor<32x32x1x1xf32>
// CHECK-NOT:   tensor<16x32x7x7x32x3x3xf32>
func.func @elements(%x: tensor<16x32x7x7xf32>, %given: tensor<16x32x7x7xf32>) -> tensor<32x32x3x3xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 12, 6] high = [0, 0, 12, 6] interior = [0, 0, 0, 0] : tensor<16x32x7x7xf32> -> tensor<16x32x31x19xf32>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [12, 6] : tensor<16x32x31x19xf32> -> tensor<16x32x7x7x3x3xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<16x32x7x7x3x3xf32> -> tensor<16x7x7x32x3x3xf32>
  %3 = graph.reshape %2 : tensor<16x7x7x32x3x3xf32> -> tensor<16x1x7x7x32x3x3xf32>
  %4 = graph.expand %3 : tensor<16x1x7x7x32x3x3xf32> -> tensor<16x32x7x7x32x3x3xf32>
  %5 = graph.reshape %given : tensor<16x32x7x7xf32> -> tensor<16x32x7x7x1x1x1xf32>
  %6 = graph.expand %5 : tensor<16x32x7x7x1x1x1xf32> -> tensor<16x32x7x7x32x3x3xf32>
  %7 = graph.binary mul %4, %6 : tensor<16x32x7x7x32x3x3xf32>
  %8 = graph.reduce add %7 dims = [0, 2, 3] : tensor<16x32x7x7x32x3x3xf32> -> tensor<32x32x3x3xf32>
  return %8 : tensor<32x32x3x3xf32>
}

// Of a window of 5 over 6 planes a fifth of the planes is padding. Ranges of planes would leave vectors emptier, so each
// plane of the filters multiplies the planes that it sees, and the results are added up.
// CHECK-LABEL: func.func @planes
// CHECK-NOT:   graph.pad {{.*}} low = [0, 0, 2, 2, 2]
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<2x128x4x6x6x32x1x5x5xf32> -> tensor<2x128x4x6x6xf32>
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<2x128x5x6x6x32x1x5x5xf32> -> tensor<2x128x5x6x6xf32>
// CHECK-DAG:   graph.reduce add %{{.*}} : tensor<2x128x6x6x6x32x1x5x5xf32> -> tensor<2x128x6x6x6xf32>
// ALONE-DAG:   graph.pad %{{.*}} low = [0, 0, 2, 0, 0] high = [0, 0, 0, 0, 0] {{.*}} : tensor<2x128x4x6x6xf32> -> tensor<2x128x6x6x6xf32>
// ALONE-DAG:   graph.pad %{{.*}} low = [0, 0, 0, 0, 0] high = [0, 0, 2, 0, 0] {{.*}} : tensor<2x128x4x6x6xf32> -> tensor<2x128x6x6x6xf32>
// ALONE-DAG:   graph.binary add
// CARD-LABEL:  func.func @planes
// CARD:        graph.reduce add %{{.*}} : tensor<2x128x6x6x6x8x4x5x5x5xf32> -> tensor<2x128x6x6x6x8xf32>
func.func @planes(%x: tensor<2x32x6x6x6xf32>, %filters: tensor<128x32x5x5x5xf32>) -> tensor<2x128x6x6x6xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 2, 2, 2] high = [0, 0, 2, 2, 2] interior = [0, 0, 0, 0, 0] : tensor<2x32x6x6x6xf32> -> tensor<2x32x10x10x10xf32>
  %1 = graph.window %0 dims = [2, 3, 4] size = [5, 5, 5] stride = [1, 1, 1] dilation = [1, 1, 1] : tensor<2x32x10x10x10xf32> -> tensor<2x32x6x6x6x5x5x5xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 4, 1, 5, 6, 7] : tensor<2x32x6x6x6x5x5x5xf32> -> tensor<2x6x6x6x32x5x5x5xf32>
  %3 = graph.reshape %2 : tensor<2x6x6x6x32x5x5x5xf32> -> tensor<2x1x6x6x6x32x5x5x5xf32>
  %4 = graph.expand %3 : tensor<2x1x6x6x6x32x5x5x5xf32> -> tensor<2x128x6x6x6x32x5x5x5xf32>
  %5 = graph.reshape %filters : tensor<128x32x5x5x5xf32> -> tensor<1x128x1x1x1x32x5x5x5xf32>
  %6 = graph.expand %5 : tensor<1x128x1x1x1x32x5x5x5xf32> -> tensor<2x128x6x6x6x32x5x5x5xf32>
  %7 = graph.binary mul %4, %6 : tensor<2x128x6x6x6x32x5x5x5xf32>
  %8 = graph.reduce add %7 dims = [5, 6, 7, 8] : tensor<2x128x6x6x6x32x5x5x5xf32> -> tensor<2x128x6x6x6xf32>
  return %8 : tensor<2x128x6x6x6xf32>
}

// Only edges are padding.
// CHECK-LABEL: func.func @edges
// CHECK:       graph.reduce add %{{.*}} : tensor<2x128x28x28x96x3x3xf32> -> tensor<2x128x28x28xf32>
func.func @edges(%x: tensor<2x96x28x28xf32>, %filters: tensor<128x96x3x3xf32>) -> tensor<2x128x28x28xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<2x96x28x28xf32> -> tensor<2x96x30x30xf32>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x96x30x30xf32> -> tensor<2x96x28x28x3x3xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<2x96x28x28x3x3xf32> -> tensor<2x28x28x96x3x3xf32>
  %3 = graph.reshape %2 : tensor<2x28x28x96x3x3xf32> -> tensor<2x1x28x28x96x3x3xf32>
  %4 = graph.expand %3 : tensor<2x1x28x28x96x3x3xf32> -> tensor<2x128x28x28x96x3x3xf32>
  %5 = graph.reshape %filters : tensor<128x96x3x3xf32> -> tensor<1x128x1x1x96x3x3xf32>
  %6 = graph.expand %5 : tensor<1x128x1x1x96x3x3xf32> -> tensor<2x128x28x28x96x3x3xf32>
  %7 = graph.binary mul %4, %6 : tensor<2x128x28x28x96x3x3xf32>
  %8 = graph.reduce add %7 dims = [4, 5, 6] : tensor<2x128x28x28x96x3x3xf32> -> tensor<2x128x28x28xf32>
  return %8 : tensor<2x128x28x28xf32>
}

// Sums of 16 bits are rounded once, so that no results of pieces are added up.
// ALONE-LABEL: func.func @rounded
// ALONE-NOT:   graph.binary add
// ALONE:       return
func.func @rounded(%x: tensor<2x32x6x6x6xf16>, %filters: tensor<128x32x5x5x5xf16>) -> tensor<2x128x6x6x6xf16> {
  %zero = graph.constant dense<0.0> : tensor<f16>
  %0 = graph.pad %x, %zero low = [0, 0, 2, 2, 2] high = [0, 0, 2, 2, 2] interior = [0, 0, 0, 0, 0] : tensor<2x32x6x6x6xf16> -> tensor<2x32x10x10x10xf16>
  %1 = graph.window %0 dims = [2, 3, 4] size = [5, 5, 5] stride = [1, 1, 1] dilation = [1, 1, 1] : tensor<2x32x10x10x10xf16> -> tensor<2x32x6x6x6x5x5x5xf16>
  %2 = graph.permute %1 order = [0, 2, 3, 4, 1, 5, 6, 7] : tensor<2x32x6x6x6x5x5x5xf16> -> tensor<2x6x6x6x32x5x5x5xf16>
  %3 = graph.reshape %2 : tensor<2x6x6x6x32x5x5x5xf16> -> tensor<2x1x6x6x6x32x5x5x5xf16>
  %4 = graph.expand %3 : tensor<2x1x6x6x6x32x5x5x5xf16> -> tensor<2x128x6x6x6x32x5x5x5xf16>
  %5 = graph.reshape %filters : tensor<128x32x5x5x5xf16> -> tensor<1x128x1x1x1x32x5x5x5xf16>
  %6 = graph.expand %5 : tensor<1x128x1x1x1x32x5x5x5xf16> -> tensor<2x128x6x6x6x32x5x5x5xf16>
  %7 = graph.binary mul %4, %6 : tensor<2x128x6x6x6x32x5x5x5xf16>
  %8 = graph.reduce add %7 dims = [5, 6, 7, 8] : tensor<2x128x6x6x6x32x5x5x5xf16> -> tensor<2x128x6x6x6xf16>
  return %8 : tensor<2x128x6x6x6xf16>
}
