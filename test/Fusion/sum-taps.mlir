// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-fusion-sum-taps -zyx-fusion-erase-unused | FileCheck %s --check-prefixes=CHECK,ALONE
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s --check-prefix=CARD

// Three filters do not pay for windows that are packed: nine filters each multiply the image as it lies, positions last,
// and what comes of them is moved and added up.
// CHECK-LABEL: func.func @colours
// ALONE-NOT:   graph.window
// CHECK:       graph.reduce add %{{.*}} : tensor<64x1x3x3x3x64x60xf32> -> tensor<1x3x3x3x64x60xf32>
// ALONE:       graph.pad %{{.*}} low = [0, 0, 0, 0, 1, 1] high = [0, 0, -2, -2, -1, -1] {{.*}} : tensor<1x3x3x3x64x60xf32> -> tensor<1x3x1x1x64x60xf32>
// ALONE:       graph.pad %{{.*}} low = [0, 0, 0, -1, 1, 0] high = [0, 0, -2, -1, -1, 0] {{.*}} : tensor<1x3x3x3x64x60xf32> -> tensor<1x3x1x1x64x60xf32>
// ALONE:       graph.binary add
// ALONE:       graph.pad %{{.*}} low = [0, 0, -2, -2, -1, -1] high = [0, 0, 0, 0, 1, 1] {{.*}} : tensor<1x3x3x3x64x60xf32> -> tensor<1x3x1x1x64x60xf32>
// ALONE:       graph.binary add
// ALONE-NOT:   graph.pad
// CARD-LABEL:  func.func @colours
// CARD:        graph.window
func.func @colours(%x: tensor<1x64x64x60xf32>, %filters: tensor<3x64x3x3xf32>) -> tensor<1x3x64x60xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x64x60xf32> -> tensor<1x64x66x62xf32>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x64x66x62xf32> -> tensor<1x64x64x60x3x3xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<1x64x64x60x3x3xf32> -> tensor<1x64x60x64x3x3xf32>
  %3 = graph.reshape %2 : tensor<1x64x60x64x3x3xf32> -> tensor<1x1x64x60x64x3x3xf32>
  %4 = graph.expand %3 : tensor<1x1x64x60x64x3x3xf32> -> tensor<1x3x64x60x64x3x3xf32>
  %5 = graph.reshape %filters : tensor<3x64x3x3xf32> -> tensor<1x3x1x1x64x3x3xf32>
  %6 = graph.expand %5 : tensor<1x3x1x1x64x3x3xf32> -> tensor<1x3x64x60x64x3x3xf32>
  %7 = graph.binary mul %4, %6 : tensor<1x3x64x60x64x3x3xf32>
  %8 = graph.reduce add %7 dims = [4, 5, 6] : tensor<1x3x64x60x64x3x3xf32> -> tensor<1x3x64x60xf32>
  return %8 : tensor<1x3x64x60xf32>
}

// Many filters pay for it.
// CHECK-LABEL: func.func @many
// CHECK:       graph.reduce add %{{.*}} : tensor<1x48x64x60x64x3x3xf32> -> tensor<1x48x64x60xf32>
func.func @many(%x: tensor<1x64x64x60xf32>, %filters: tensor<48x64x3x3xf32>) -> tensor<1x48x64x60xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x64x60xf32> -> tensor<1x64x66x62xf32>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x64x66x62xf32> -> tensor<1x64x64x60x3x3xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<1x64x64x60x3x3xf32> -> tensor<1x64x60x64x3x3xf32>
  %3 = graph.reshape %2 : tensor<1x64x60x64x3x3xf32> -> tensor<1x1x64x60x64x3x3xf32>
  %4 = graph.expand %3 : tensor<1x1x64x60x64x3x3xf32> -> tensor<1x48x64x60x64x3x3xf32>
  %5 = graph.reshape %filters : tensor<48x64x3x3xf32> -> tensor<1x48x1x1x64x3x3xf32>
  %6 = graph.expand %5 : tensor<1x48x1x1x64x3x3xf32> -> tensor<1x48x64x60x64x3x3xf32>
  %7 = graph.binary mul %4, %6 : tensor<1x48x64x60x64x3x3xf32>
  %8 = graph.reduce add %7 dims = [4, 5, 6] : tensor<1x48x64x60x64x3x3xf32> -> tensor<1x48x64x60xf32>
  return %8 : tensor<1x48x64x60xf32>
}

// Windows two steps apart are packed.
// CHECK-LABEL: func.func @apart
// CHECK:       graph.reduce add %{{.*}} : tensor<1x3x32x30x64x3x3xf32> -> tensor<1x3x32x30xf32>
func.func @apart(%x: tensor<1x64x64x60xf32>, %filters: tensor<3x64x3x3xf32>) -> tensor<1x3x32x30xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 0, 0] interior = [0, 0, 0, 0] : tensor<1x64x64x60xf32> -> tensor<1x64x65x61xf32>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [2, 2] dilation = [1, 1] : tensor<1x64x65x61xf32> -> tensor<1x64x32x30x3x3xf32>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<1x64x32x30x3x3xf32> -> tensor<1x32x30x64x3x3xf32>
  %3 = graph.reshape %2 : tensor<1x32x30x64x3x3xf32> -> tensor<1x1x32x30x64x3x3xf32>
  %4 = graph.expand %3 : tensor<1x1x32x30x64x3x3xf32> -> tensor<1x3x32x30x64x3x3xf32>
  %5 = graph.reshape %filters : tensor<3x64x3x3xf32> -> tensor<1x3x1x1x64x3x3xf32>
  %6 = graph.expand %5 : tensor<1x3x1x1x64x3x3xf32> -> tensor<1x3x32x30x64x3x3xf32>
  %7 = graph.binary mul %4, %6 : tensor<1x3x32x30x64x3x3xf32>
  %8 = graph.reduce add %7 dims = [4, 5, 6] : tensor<1x3x32x30x64x3x3xf32> -> tensor<1x3x32x30xf32>
  return %8 : tensor<1x3x32x30xf32>
}

// Eight rows of bf16 go to the matrix unit with their windows.
// CHECK-LABEL: func.func @unit
// CHECK:       graph.reduce add %{{.*}} : tensor<1x8x64x60x64x3x3xf32> -> tensor<1x8x64x60xf32>
func.func @unit(%x: tensor<1x64x64x60xbf16>, %filters: tensor<8x64x3x3xbf16>) -> tensor<1x8x64x60xf32> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x64x60xbf16> -> tensor<1x64x66x62xbf16>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x64x66x62xbf16> -> tensor<1x64x64x60x3x3xbf16>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<1x64x64x60x3x3xbf16> -> tensor<1x64x60x64x3x3xbf16>
  %3 = graph.reshape %2 : tensor<1x64x60x64x3x3xbf16> -> tensor<1x1x64x60x64x3x3xbf16>
  %4 = graph.expand %3 : tensor<1x1x64x60x64x3x3xbf16> -> tensor<1x8x64x60x64x3x3xbf16>
  %5 = graph.reshape %filters : tensor<8x64x3x3xbf16> -> tensor<1x8x1x1x64x3x3xbf16>
  %6 = graph.expand %5 : tensor<1x8x1x1x64x3x3xbf16> -> tensor<1x8x64x60x64x3x3xbf16>
  %7 = graph.cast %4 : tensor<1x8x64x60x64x3x3xbf16> -> tensor<1x8x64x60x64x3x3xf32>
  %8 = graph.cast %6 : tensor<1x8x64x60x64x3x3xbf16> -> tensor<1x8x64x60x64x3x3xf32>
  %9 = graph.binary mul %7, %8 : tensor<1x8x64x60x64x3x3xf32>
  %10 = graph.reduce add %9 dims = [4, 5, 6] : tensor<1x8x64x60x64x3x3xf32> -> tensor<1x8x64x60xf32>
  return %10 : tensor<1x8x64x60xf32>
}

// Short rows of f16 windows are converted in whole vectors, those of f32 are read as they are.
// ALONE-LABEL: func.func @narrow_rows
// ALONE:       graph.reduce add %{{.*}} : tensor<6x2x32x6x3x3x7x7xf32> -> tensor<2x32x6x3x3x7x7xf32>
// ALONE-LABEL: func.func @wide_rows
// ALONE:       graph.reduce add %{{.*}} : tensor<2x32x6x7x7x6x3x3xf32> -> tensor<2x32x6x7x7xf32>
func.func @narrow_rows(%x: tensor<2x32x6x7x7xf16>, %filters: tensor<1x32x6x1x1x6x3x3xf16>) -> tensor<2x32x6x7x7xf32> {
  %zero = graph.constant dense<0.0> : tensor<f16>
  %0 = graph.pad %x, %zero low = [0, 0, 0, 1, 1] high = [0, 0, 0, 1, 1] interior = [0, 0, 0, 0, 0] : tensor<2x32x6x7x7xf16> -> tensor<2x32x6x9x9xf16>
  %1 = graph.window %0 dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x32x6x9x9xf16> -> tensor<2x32x6x7x7x3x3xf16>
  %2 = graph.permute %1 order = [0, 1, 3, 4, 2, 5, 6] : tensor<2x32x6x7x7x3x3xf16> -> tensor<2x32x7x7x6x3x3xf16>
  %3 = graph.reshape %2 : tensor<2x32x7x7x6x3x3xf16> -> tensor<2x32x1x7x7x6x3x3xf16>
  %5 = graph.expand %3 : tensor<2x32x1x7x7x6x3x3xf16> -> tensor<2x32x6x7x7x6x3x3xf16>
  %7 = graph.expand %filters : tensor<1x32x6x1x1x6x3x3xf16> -> tensor<2x32x6x7x7x6x3x3xf16>
  %8 = graph.cast %5 : tensor<2x32x6x7x7x6x3x3xf16> -> tensor<2x32x6x7x7x6x3x3xf32>
  %9 = graph.cast %7 : tensor<2x32x6x7x7x6x3x3xf16> -> tensor<2x32x6x7x7x6x3x3xf32>
  %10 = graph.binary mul %8, %9 : tensor<2x32x6x7x7x6x3x3xf32>
  %11 = graph.reduce add %10 dims = [5, 6, 7] : tensor<2x32x6x7x7x6x3x3xf32> -> tensor<2x32x6x7x7xf32>
  return %11 : tensor<2x32x6x7x7xf32>
}

func.func @wide_rows(%x: tensor<2x32x6x7x7xf32>, %filters: tensor<1x32x6x1x1x6x3x3xf32>) -> tensor<2x32x6x7x7xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0, 0, 1, 1] high = [0, 0, 0, 1, 1] interior = [0, 0, 0, 0, 0] : tensor<2x32x6x7x7xf32> -> tensor<2x32x6x9x9xf32>
  %1 = graph.window %0 dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x32x6x9x9xf32> -> tensor<2x32x6x7x7x3x3xf32>
  %2 = graph.permute %1 order = [0, 1, 3, 4, 2, 5, 6] : tensor<2x32x6x7x7x3x3xf32> -> tensor<2x32x7x7x6x3x3xf32>
  %3 = graph.reshape %2 : tensor<2x32x7x7x6x3x3xf32> -> tensor<2x32x1x7x7x6x3x3xf32>
  %5 = graph.expand %3 : tensor<2x32x1x7x7x6x3x3xf32> -> tensor<2x32x6x7x7x6x3x3xf32>
  %7 = graph.expand %filters : tensor<1x32x6x1x1x6x3x3xf32> -> tensor<2x32x6x7x7x6x3x3xf32>
  %10 = graph.binary mul %5, %7 : tensor<2x32x6x7x7x6x3x3xf32>
  %11 = graph.reduce add %10 dims = [5, 6, 7] : tensor<2x32x6x7x7x6x3x3xf32> -> tensor<2x32x6x7x7xf32>
  return %11 : tensor<2x32x6x7x7xf32>
}

// Sums of 16 bits are rounded once. To add up taps would round each.
// CHECK-LABEL: func.func @rounded
// CHECK:       graph.reduce add %{{.*}} : tensor<1x3x64x60x64x3x3xf16> -> tensor<1x3x64x60xf16>
func.func @rounded(%x: tensor<1x64x64x60xf16>, %filters: tensor<3x64x3x3xf16>) -> tensor<1x3x64x60xf16> {
  %zero = graph.constant dense<0.0> : tensor<f16>
  %0 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<1x64x64x60xf16> -> tensor<1x64x66x62xf16>
  %1 = graph.window %0 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x64x66x62xf16> -> tensor<1x64x64x60x3x3xf16>
  %2 = graph.permute %1 order = [0, 2, 3, 1, 4, 5] : tensor<1x64x64x60x3x3xf16> -> tensor<1x64x60x64x3x3xf16>
  %3 = graph.reshape %2 : tensor<1x64x60x64x3x3xf16> -> tensor<1x1x64x60x64x3x3xf16>
  %4 = graph.expand %3 : tensor<1x1x64x60x64x3x3xf16> -> tensor<1x3x64x60x64x3x3xf16>
  %5 = graph.reshape %filters : tensor<3x64x3x3xf16> -> tensor<1x3x1x1x64x3x3xf16>
  %6 = graph.expand %5 : tensor<1x3x1x1x64x3x3xf16> -> tensor<1x3x64x60x64x3x3xf16>
  %7 = graph.binary mul %4, %6 : tensor<1x3x64x60x64x3x3xf16>
  %8 = graph.reduce add %7 dims = [4, 5, 6] : tensor<1x3x64x60x64x3x3xf16> -> tensor<1x3x64x60xf16>
  return %8 : tensor<1x3x64x60xf16>
}
