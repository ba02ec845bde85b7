// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_90a stop-after=schedule' --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s --check-prefix=LOW

// Convolutions of few channels a group, whose windows threads bring to shared memory: contracted channel by channel, so that
// a vector lies inside of one pixel.

// With channels first the images are copied, each group's by itself: its pixels follow each other. Filters are weights, and
// copied once. Padding is missing for a whole vector: what is missing reads the last vector that exists, 8 * 128 * 56 * 56 - 4.
// WHY: first_0{{.*}}copied and contracted{{.*}}channel by channel
// CHECK-LABEL: plan.func @first(
// CHECK:         plan.init {
// CHECK-NEXT:      plan.launch @first_0_lhs
// CHECK:         plan.launch @first_0_rhs
// CHECK-NEXT:    plan.launch @first_0 ins
// CHECK-LABEL: kernel.func @first_0(
// CHECK-SAME:    narrow
// CHECK:         <[8, 32, 4, 60, 60] strides [12544, 100352, 1, 224, 4] offset -456 valid [0 : 8, 0 : 32, 0 : 4, 2 : 58, 2 : 58]>
// A thread of the copy writes the channels of a pixel, and its neighbours read neighbours of each.
// CHECK-LABEL: kernel.func @first_0_rhs(
// CHECK-SAME:    [#kernel.grid_step<"d0", 1>, #kernel.grid_step<"d1", 1>, #kernel.grid_step<"d3", 1>]
// LOW-LABEL: kernel.func @first_0(
// LOW:         scf.for
// LOW:         %[[AT:.*]] = arith.minui %{{.*}}, %c3211260_i32
// LOW-NEXT:    %[[INDEX:.*]] = arith.index_cast %[[AT]]
// LOW-NEXT:    kernel.load %{{.*}}[%[[INDEX]]] : <3211720xbf16, global> -> vector<4xbf16>
// LOW-NOT:     <3211720xbf16, global> -> bf16
// LOW-LABEL: kernel.func @first_0_rhs(
// LOW:         kernel.store %{{.*}} : vector<4xbf16>
func.func @first(%x: tensor<8x128x56x56xbf16> {graph.name = "x"}, %w: tensor<128x4x5x5xbf16> {graph.name = "w", graph.weight}) -> tensor<8x128x56x56xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %1 = graph.pad %x, %zero low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<8x128x56x56xbf16> -> tensor<8x128x60x60xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x128x60x60xbf16> -> tensor<8x128x56x56x5x5xbf16>
  %3 = graph.reshape %2 : tensor<8x128x56x56x5x5xbf16> -> tensor<8x32x4x56x56x5x5xbf16>
  %4 = graph.permute %3 order = [0, 1, 3, 4, 2, 5, 6] : tensor<8x32x4x56x56x5x5xbf16> -> tensor<8x32x56x56x4x5x5xbf16>
  %5 = graph.reshape %4 : tensor<8x32x56x56x4x5x5xbf16> -> tensor<8x32x1x56x56x4x5x5xbf16>
  %6 = graph.cast %5 : tensor<8x32x1x56x56x4x5x5xbf16> -> tensor<8x32x1x56x56x4x5x5xf32>
  %7 = graph.expand %6 : tensor<8x32x1x56x56x4x5x5xf32> -> tensor<8x32x4x56x56x4x5x5xf32>
  %8 = graph.reshape %w : tensor<128x4x5x5xbf16> -> tensor<1x32x4x1x1x4x5x5xbf16>
  %9 = graph.cast %8 : tensor<1x32x4x1x1x4x5x5xbf16> -> tensor<1x32x4x1x1x4x5x5xf32>
  %10 = graph.expand %9 : tensor<1x32x4x1x1x4x5x5xf32> -> tensor<8x32x4x56x56x4x5x5xf32>
  %11 = graph.binary mul %7, %10 : tensor<8x32x4x56x56x4x5x5xf32>
  %12 = graph.reduce add %11 dims = [5, 6, 7] : tensor<8x32x4x56x56x4x5x5xf32> -> tensor<8x32x4x56x56xf32>
  %13 = graph.cast %12 : tensor<8x32x4x56x56xf32> -> tensor<8x32x4x56x56xbf16>
  %14 = graph.reshape %13 : tensor<8x32x4x56x56xbf16> -> tensor<8x128x56x56xbf16>
  return %14 : tensor<8x128x56x56xbf16>
}

// -----

// With channels last they are read where they lie, and only the filters are copied.
// WHY: last_0{{.*}}copied and contracted{{.*}}channel by channel
// CHECK-LABEL: plan.func @last(
// CHECK:         plan.launch @last_0_lhs
// CHECK-NOT:     plan.launch @last_0_rhs
// CHECK:         plan.launch @last_0 ins
// LOW-LABEL: kernel.func @last_0(
// LOW:         scf.for
// LOW:         kernel.load %{{.*}} : <8421888xf16, global> -> vector<8xf16>
// LOW-NOT:     <8421888xf16, global> -> f16
func.func @last(%x: tensor<8x64x64x256xf16> {graph.name = "x"}, %w: tensor<256x16x5x5xf16> {graph.name = "w", graph.weight}) -> tensor<8x256x64x64xf16> {
  %zero = graph.constant dense<0.0> : tensor<f16>
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<8x64x64x256xf16> -> tensor<8x256x64x64xf16>
  %1 = graph.pad %0, %zero low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<8x256x64x64xf16> -> tensor<8x256x68x68xf16>
  %2 = graph.window %1 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x256x68x68xf16> -> tensor<8x256x64x64x5x5xf16>
  %3 = graph.reshape %2 : tensor<8x256x64x64x5x5xf16> -> tensor<8x16x16x64x64x5x5xf16>
  %4 = graph.permute %3 order = [0, 1, 3, 4, 2, 5, 6] : tensor<8x16x16x64x64x5x5xf16> -> tensor<8x16x64x64x16x5x5xf16>
  %5 = graph.reshape %4 : tensor<8x16x64x64x16x5x5xf16> -> tensor<8x16x1x64x64x16x5x5xf16>
  %6 = graph.cast %5 : tensor<8x16x1x64x64x16x5x5xf16> -> tensor<8x16x1x64x64x16x5x5xf32>
  %7 = graph.expand %6 : tensor<8x16x1x64x64x16x5x5xf32> -> tensor<8x16x16x64x64x16x5x5xf32>
  %8 = graph.reshape %w : tensor<256x16x5x5xf16> -> tensor<1x16x16x1x1x16x5x5xf16>
  %9 = graph.cast %8 : tensor<1x16x16x1x1x16x5x5xf16> -> tensor<1x16x16x1x1x16x5x5xf32>
  %10 = graph.expand %9 : tensor<1x16x16x1x1x16x5x5xf32> -> tensor<8x16x16x64x64x16x5x5xf32>
  %11 = graph.binary mul %7, %10 : tensor<8x16x16x64x64x16x5x5xf32>
  %12 = graph.reduce add %11 dims = [5, 6, 7] : tensor<8x16x16x64x64x16x5x5xf32> -> tensor<8x16x16x64x64xf32>
  %13 = graph.cast %12 : tensor<8x16x16x64x64xf32> -> tensor<8x16x16x64x64xf16>
  %14 = graph.reshape %13 : tensor<8x16x16x64x64xf16> -> tensor<8x256x64x64xf16>
  return %14 : tensor<8x256x64x64xf16>
}

// -----

// Of five channels no vector lies inside of a pixel, so that nothing is gained.
// WHY-NOT: odd_0{{.*}}channel by channel
// CHECK-LABEL: plan.func @odd(
// CHECK-NOT:     _lhs
func.func @odd(%x: tensor<8x40x56x56xbf16> {graph.name = "x"}, %w: tensor<40x5x5x5xbf16> {graph.name = "w", graph.weight}) -> tensor<8x40x56x56xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %1 = graph.pad %x, %zero low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<8x40x56x56xbf16> -> tensor<8x40x60x60xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x40x60x60xbf16> -> tensor<8x40x56x56x5x5xbf16>
  %3 = graph.reshape %2 : tensor<8x40x56x56x5x5xbf16> -> tensor<8x8x5x56x56x5x5xbf16>
  %4 = graph.permute %3 order = [0, 1, 3, 4, 2, 5, 6] : tensor<8x8x5x56x56x5x5xbf16> -> tensor<8x8x56x56x5x5x5xbf16>
  %5 = graph.reshape %4 : tensor<8x8x56x56x5x5x5xbf16> -> tensor<8x8x1x56x56x5x5x5xbf16>
  %6 = graph.cast %5 : tensor<8x8x1x56x56x5x5x5xbf16> -> tensor<8x8x1x56x56x5x5x5xf32>
  %7 = graph.expand %6 : tensor<8x8x1x56x56x5x5x5xf32> -> tensor<8x8x5x56x56x5x5x5xf32>
  %8 = graph.reshape %w : tensor<40x5x5x5xbf16> -> tensor<1x8x5x1x1x5x5x5xbf16>
  %9 = graph.cast %8 : tensor<1x8x5x1x1x5x5x5xbf16> -> tensor<1x8x5x1x1x5x5x5xf32>
  %10 = graph.expand %9 : tensor<1x8x5x1x1x5x5x5xf32> -> tensor<8x8x5x56x56x5x5x5xf32>
  %11 = graph.binary mul %7, %10 : tensor<8x8x5x56x56x5x5x5xf32>
  %12 = graph.reduce add %11 dims = [5, 6, 7] : tensor<8x8x5x56x56x5x5x5xf32> -> tensor<8x8x5x56x56xf32>
  %13 = graph.cast %12 : tensor<8x8x5x56x56xf32> -> tensor<8x8x5x56x56xbf16>
  %14 = graph.reshape %13 : tensor<8x8x5x56x56xbf16> -> tensor<8x40x56x56xbf16>
  return %14 : tensor<8x40x56x56xbf16>
}

// -----

// The image that a gradient's windows slide over has its groups already: four channels of a pixel follow those of the pixel
// before, without padding, and a thread of the copy writes them.
// CHECK-LABEL: plan.func @gradient(
// WHY: gradient_0{{.*}}channel by channel
// CHECK-LABEL: kernel.func @gradient_0(
// CHECK:         <[8, 32, 4, 132, 132, 1] strides [2097152, 65536, 1, 512, 4, 4] offset -1032 valid
// CHECK-LABEL: kernel.func @gradient_0_rhs(
// CHECK-SAME:    [#kernel.grid_step<"d0", 1>, #kernel.grid_step<"d2", 1>]
// LOW-LABEL: kernel.func @gradient_0_rhs(
// LOW:         kernel.store %{{.*}} : vector<4xf16>
func.func @gradient(%w: tensor<128x4x5x5xf16> {graph.name = "w"}, %dy: tensor<8x128x128x128xf16> {graph.name = "dy"}) -> tensor<8x128x128x128xf16> {
  %8 = graph.reshape %w : tensor<128x4x5x5xf16> -> tensor<1x32x4x1x1x4x5x5xf16>
  %9 = graph.cast %8 : tensor<1x32x4x1x1x4x5x5xf16> -> tensor<1x32x4x1x1x4x5x5xf32>
  %19 = graph.cast %dy : tensor<8x128x128x128xf16> -> tensor<8x128x128x128xf32>
  %20 = graph.reshape %19 : tensor<8x128x128x128xf32> -> tensor<8x32x4x128x128x1xf32>
  %21 = graph.constant dense<0.000000e+00> : tensor<f32>
  %22 = graph.pad %20, %21 low = [0, 0, 0, 2, 2, 0] high = [0, 0, 0, 2, 2, 0] interior = [0, 0, 0, 0, 0, 0] : tensor<8x32x4x128x128x1xf32> -> tensor<8x32x4x132x132x1xf32>
  %23 = graph.window %22 dims = [3, 4] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<8x32x4x132x132x1xf32> -> tensor<8x32x4x128x128x1x5x5xf32>
  %24 = graph.expand %23 : tensor<8x32x4x128x128x1x5x5xf32> -> tensor<8x32x4x128x128x4x5x5xf32>
  %25 = graph.flip %9 dims = [6, 7] : tensor<1x32x4x1x1x4x5x5xf32>
  %26 = graph.expand %25 : tensor<1x32x4x1x1x4x5x5xf32> -> tensor<8x32x4x128x128x4x5x5xf32>
  %27 = graph.binary mul %24, %26 : tensor<8x32x4x128x128x4x5x5xf32>
  %28 = graph.reduce add %27 dims = [2, 6, 7] : tensor<8x32x4x128x128x4x5x5xf32> -> tensor<8x32x128x128x4xf32>
  %29 = graph.permute %28 order = [0, 1, 4, 2, 3] : tensor<8x32x128x128x4xf32> -> tensor<8x32x4x128x128xf32>
  %30 = graph.reshape %29 : tensor<8x32x4x128x128xf32> -> tensor<8x128x128x128xf32>
  %31 = graph.cast %30 : tensor<8x128x128x128xf32> -> tensor<8x128x128x128xf16>
  return %31 : tensor<8x128x128x128xf16>
}

// -----

// Of 36 terms threads add up windows as they lie, with all elements of a window unrolled, where neighbours are neighbours in memory.
// Rows of a group read the same windows, and follow each other.
// CHECK-LABEL: plan.func @few(
// CHECK:         plan.launch @few_0_window
// CHECK-LABEL: kernel.func @few_0(
// CHECK-SAME:    #kernel.grid_step<"i3", 4>, #kernel.grid_step<"i2", 1>, #kernel.grid_step<"i4", 8>
// CHECK-NOT:     kernel.dot
// CHECK:         kernel.reduce add
func.func @few(%x: tensor<64x128x64x64xbf16> {graph.name = "x"}, %w: tensor<128x4x3x3xbf16> {graph.name = "w", graph.weight}) -> tensor<64x128x64x64xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %1 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<64x128x64x64xbf16> -> tensor<64x128x66x66xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<64x128x66x66xbf16> -> tensor<64x128x64x64x3x3xbf16>
  %3 = graph.reshape %2 : tensor<64x128x64x64x3x3xbf16> -> tensor<64x32x1x4x64x64x3x3xbf16>
  %4 = graph.cast %3 : tensor<64x32x1x4x64x64x3x3xbf16> -> tensor<64x32x1x4x64x64x3x3xf32>
  %5 = graph.expand %4 : tensor<64x32x1x4x64x64x3x3xf32> -> tensor<64x32x4x4x64x64x3x3xf32>
  %6 = graph.reshape %w : tensor<128x4x3x3xbf16> -> tensor<1x32x4x4x1x1x3x3xbf16>
  %7 = graph.cast %6 : tensor<1x32x4x4x1x1x3x3xbf16> -> tensor<1x32x4x4x1x1x3x3xf32>
  %8 = graph.expand %7 : tensor<1x32x4x4x1x1x3x3xf32> -> tensor<64x32x4x4x64x64x3x3xf32>
  %9 = graph.binary mul %5, %8 : tensor<64x32x4x4x64x64x3x3xf32>
  %10 = graph.reduce add %9 dims = [3, 6, 7] : tensor<64x32x4x4x64x64x3x3xf32> -> tensor<64x32x4x64x64xf32>
  %11 = graph.reshape %10 : tensor<64x32x4x64x64xf32> -> tensor<64x128x64x64xf32>
  %12 = graph.cast %11 : tensor<64x128x64x64xf32> -> tensor<64x128x64x64xbf16>
  return %12 : tensor<64x128x64x64xbf16>
}

// -----

// So they do where the channels of the images come last: a copy has positions as neighbours, with the padding.
// CHECK-LABEL: plan.func @few_last(
// CHECK:         plan.launch @few_last_0_window
// CHECK-LABEL: kernel.func @few_last_0(
// CHECK-NOT:     kernel.dot
// CHECK:         kernel.reduce add
func.func @few_last(%image: tensor<64x64x64x128xbf16> {graph.name = "x"}, %w: tensor<128x4x3x3xbf16> {graph.name = "w", graph.weight}) -> tensor<64x128x64x64xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %x = graph.permute %image order = [0, 3, 1, 2] : tensor<64x64x64x128xbf16> -> tensor<64x128x64x64xbf16>
  %1 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<64x128x64x64xbf16> -> tensor<64x128x66x66xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<64x128x66x66xbf16> -> tensor<64x128x64x64x3x3xbf16>
  %3 = graph.reshape %2 : tensor<64x128x64x64x3x3xbf16> -> tensor<64x32x1x4x64x64x3x3xbf16>
  %4 = graph.cast %3 : tensor<64x32x1x4x64x64x3x3xbf16> -> tensor<64x32x1x4x64x64x3x3xf32>
  %5 = graph.expand %4 : tensor<64x32x1x4x64x64x3x3xf32> -> tensor<64x32x4x4x64x64x3x3xf32>
  %6 = graph.reshape %w : tensor<128x4x3x3xbf16> -> tensor<1x32x4x4x1x1x3x3xbf16>
  %7 = graph.cast %6 : tensor<1x32x4x4x1x1x3x3xbf16> -> tensor<1x32x4x4x1x1x3x3xf32>
  %8 = graph.expand %7 : tensor<1x32x4x4x1x1x3x3xf32> -> tensor<64x32x4x4x64x64x3x3xf32>
  %9 = graph.binary mul %5, %8 : tensor<64x32x4x4x64x64x3x3xf32>
  %10 = graph.reduce add %9 dims = [3, 6, 7] : tensor<64x32x4x4x64x64x3x3xf32> -> tensor<64x32x4x64x64xf32>
  %11 = graph.reshape %10 : tensor<64x32x4x64x64xf32> -> tensor<64x128x64x64xf32>
  %12 = graph.cast %11 : tensor<64x128x64x64xf32> -> tensor<64x128x64x64xbf16>
  return %12 : tensor<64x128x64x64xbf16>
}

// -----

// Gradients of the filters of such groups are summed up for each element of the window (tap) by itself.
// CHECK-LABEL: plan.func @few_filters(
// CHECK:         plan.launch @few_filters_{{[0-9]+}}_window
// CHECK-LABEL: kernel.func @few_filters_0(
// CHECK-NOT:     kernel.dot
// CHECK:         kernel.reduce add
func.func @few_filters(%image: tensor<64x28x28x64xbf16> {graph.name = "x"}, %dy: tensor<64x64x28x28xbf16> {graph.name = "dy"}) -> tensor<32x2x2x5x5xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %x = graph.permute %image order = [0, 3, 1, 2] : tensor<64x28x28x64xbf16> -> tensor<64x64x28x28xbf16>
  %1 = graph.pad %x, %zero low = [0, 0, 2, 2] high = [0, 0, 2, 2] interior = [0, 0, 0, 0] : tensor<64x64x28x28xbf16> -> tensor<64x64x32x32xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [5, 5] stride = [1, 1] dilation = [1, 1] : tensor<64x64x32x32xbf16> -> tensor<64x64x28x28x5x5xbf16>
  %3 = graph.reshape %2 : tensor<64x64x28x28x5x5xbf16> -> tensor<64x32x2x28x28x5x5xbf16>
  %4 = graph.permute %3 order = [0, 1, 3, 4, 2, 5, 6] : tensor<64x32x2x28x28x5x5xbf16> -> tensor<64x32x28x28x2x5x5xbf16>
  %5 = graph.reshape %4 : tensor<64x32x28x28x2x5x5xbf16> -> tensor<64x32x1x28x28x2x5x5xbf16>
  %6 = graph.cast %5 : tensor<64x32x1x28x28x2x5x5xbf16> -> tensor<64x32x1x28x28x2x5x5xf32>
  %7 = graph.expand %6 : tensor<64x32x1x28x28x2x5x5xf32> -> tensor<64x32x2x28x28x2x5x5xf32>
  %8 = graph.cast %dy : tensor<64x64x28x28xbf16> -> tensor<64x64x28x28xf32>
  %9 = graph.reshape %8 : tensor<64x64x28x28xf32> -> tensor<64x32x2x28x28x1x1x1xf32>
  %10 = graph.expand %9 : tensor<64x32x2x28x28x1x1x1xf32> -> tensor<64x32x2x28x28x2x5x5xf32>
  %11 = graph.binary mul %10, %7 : tensor<64x32x2x28x28x2x5x5xf32>
  %12 = graph.reduce add %11 dims = [0, 3, 4] : tensor<64x32x2x28x28x2x5x5xf32> -> tensor<32x2x2x5x5xf32>
  %13 = graph.cast %12 : tensor<32x2x2x5x5xf32> -> tensor<32x2x2x5x5xbf16>
  return %13 : tensor<32x2x2x5x5xbf16>
}

// -----

// Ten channels a group and ten results: tiles of tensor cores would have 64 rows, and their copy all windows of the image.
// WHY: ten_0{{.*}}copied and contracted{{.*}}channel by channel
// CHECK-LABEL: plan.func @ten(
// CHECK:         plan.launch @ten_0_rhs {{.*}} outs(%{{.*}} : !plan.buffer<bf16[10485760]>)
// CHECK-LABEL: kernel.func @ten_0(
// CHECK-SAME:    #kernel.block_step
func.func @ten(%x: tensor<2x320x128x128xbf16> {graph.name = "x"}, %w: tensor<320x10x3x3xbf16> {graph.name = "w", graph.weight}) -> tensor<2x320x128x128xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %1 = graph.pad %x, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<2x320x128x128xbf16> -> tensor<2x320x130x130xbf16>
  %2 = graph.window %1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x320x130x130xbf16> -> tensor<2x320x128x128x3x3xbf16>
  %3 = graph.reshape %2 : tensor<2x320x128x128x3x3xbf16> -> tensor<2x32x10x128x128x3x3xbf16>
  %4 = graph.permute %3 order = [0, 1, 3, 4, 2, 5, 6] : tensor<2x32x10x128x128x3x3xbf16> -> tensor<2x32x128x128x10x3x3xbf16>
  %5 = graph.reshape %4 : tensor<2x32x128x128x10x3x3xbf16> -> tensor<2x32x1x128x128x10x3x3xbf16>
  %6 = graph.cast %5 : tensor<2x32x1x128x128x10x3x3xbf16> -> tensor<2x32x1x128x128x10x3x3xf32>
  %7 = graph.expand %6 : tensor<2x32x1x128x128x10x3x3xf32> -> tensor<2x32x10x128x128x10x3x3xf32>
  %8 = graph.reshape %w : tensor<320x10x3x3xbf16> -> tensor<1x32x10x1x1x10x3x3xbf16>
  %9 = graph.cast %8 : tensor<1x32x10x1x1x10x3x3xbf16> -> tensor<1x32x10x1x1x10x3x3xf32>
  %10 = graph.expand %9 : tensor<1x32x10x1x1x10x3x3xf32> -> tensor<2x32x10x128x128x10x3x3xf32>
  %11 = graph.binary mul %7, %10 : tensor<2x32x10x128x128x10x3x3xf32>
  %12 = graph.reduce add %11 dims = [5, 6, 7] : tensor<2x32x10x128x128x10x3x3xf32> -> tensor<2x32x10x128x128xf32>
  %13 = graph.cast %12 : tensor<2x32x10x128x128xf32> -> tensor<2x32x10x128x128xbf16>
  %14 = graph.reshape %13 : tensor<2x32x10x128x128xbf16> -> tensor<2x320x128x128xbf16>
  return %14 : tensor<2x320x128x128xbf16>
}

// -----

// The same of groups that the image has as a dimension, as the gradient of a convolution has them: each channel's pixels
// are copied to those of its group.
// WHY: groups_0{{.*}}copied and contracted{{.*}}channel by channel
// CHECK-LABEL: plan.func @groups(
// CHECK:         plan.launch @groups_0_rhs {{.*}} outs(%{{.*}} : !plan.buffer<bf16[10485760]>)
func.func @groups(%x: tensor<2x320x128x128xbf16> {graph.name = "x"}, %w: tensor<320x10x3x3xbf16> {graph.name = "w", graph.weight}) -> tensor<2x32x10x128x128xbf16> {
  %zero = graph.constant dense<0.0> : tensor<bf16>
  %0 = graph.reshape %x : tensor<2x320x128x128xbf16> -> tensor<2x32x10x128x128x1xbf16>
  %1 = graph.pad %0, %zero low = [0, 0, 0, 1, 1, 0] high = [0, 0, 0, 1, 1, 0] interior = [0, 0, 0, 0, 0, 0] : tensor<2x32x10x128x128x1xbf16> -> tensor<2x32x10x130x130x1xbf16>
  %2 = graph.window %1 dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x32x10x130x130x1xbf16> -> tensor<2x32x10x128x128x1x3x3xbf16>
  %3 = graph.cast %2 : tensor<2x32x10x128x128x1x3x3xbf16> -> tensor<2x32x10x128x128x1x3x3xf32>
  %4 = graph.permute %3 order = [0, 1, 5, 3, 4, 2, 6, 7] : tensor<2x32x10x128x128x1x3x3xf32> -> tensor<2x32x1x128x128x10x3x3xf32>
  %5 = graph.expand %4 : tensor<2x32x1x128x128x10x3x3xf32> -> tensor<2x32x10x128x128x10x3x3xf32>
  %6 = graph.reshape %w : tensor<320x10x3x3xbf16> -> tensor<1x32x10x1x1x10x3x3xbf16>
  %7 = graph.cast %6 : tensor<1x32x10x1x1x10x3x3xbf16> -> tensor<1x32x10x1x1x10x3x3xf32>
  %8 = graph.expand %7 : tensor<1x32x10x1x1x10x3x3xf32> -> tensor<2x32x10x128x128x10x3x3xf32>
  %9 = graph.binary mul %5, %8 : tensor<2x32x10x128x128x10x3x3xf32>
  %10 = graph.reduce add %9 dims = [5, 6, 7] : tensor<2x32x10x128x128x10x3x3xf32> -> tensor<2x32x10x128x128xf32>
  %11 = graph.cast %10 : tensor<2x32x10x128x128xf32> -> tensor<2x32x10x128x128xbf16>
  return %11 : tensor<2x32x10x128x128xbf16>
}
