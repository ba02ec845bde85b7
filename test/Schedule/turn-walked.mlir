// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' -split-input-file | FileCheck %s

// A norm of channels that are read channels first and written channels last walks its rows three times, across the order of what
// it reads: that is turned once.
// CHECK-LABEL: plan.func @first
// CHECK: plan.launch @first_0_walked0
// CHECK: plan.launch @first_0 ins
// CHECK: kernel.func @first_0(
// CHECK: kernel.view {{.*}} map <[<[32, 1024, 64] strides [65536, 64, 1]>]>
// CHECK: kernel.func @first_0_walked0(
func.func @first(%x: tensor<32x64x1024xf32> {graph.name = "x"}) -> (tensor<32x1024x64xf32> {graph.name = "y"}) {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<32x64x1024xf32> -> tensor<32x1024x64xf32>
  %1 = graph.reduce max %0 dims = [2] : tensor<32x1024x64xf32> -> tensor<32x1024xf32>
  %2 = graph.reshape %1 : tensor<32x1024xf32> -> tensor<32x1024x1xf32>
  %3 = graph.expand %2 : tensor<32x1024x1xf32> -> tensor<32x1024x64xf32>
  %4 = graph.binary sub %0, %3 : tensor<32x1024x64xf32>
  %5 = graph.unary exp %4 : tensor<32x1024x64xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<32x1024x64xf32> -> tensor<32x1024xf32>
  %7 = graph.reshape %6 : tensor<32x1024xf32> -> tensor<32x1024x1xf32>
  %8 = graph.expand %7 : tensor<32x1024x1xf32> -> tensor<32x1024x64xf32>
  %9 = graph.binary div %5, %8 : tensor<32x1024x64xf32>
  return %9 : tensor<32x1024x64xf32>
}

// -----

// As it lies it is read along the rows that are written.
// CHECK-LABEL: plan.func @along
// CHECK-NOT: walked
func.func @along(%x: tensor<32x1024x64xf32> {graph.name = "x"}) -> (tensor<32x1024x64xf32> {graph.name = "y"}) {
  %1 = graph.reduce max %x dims = [2] : tensor<32x1024x64xf32> -> tensor<32x1024xf32>
  %2 = graph.reshape %1 : tensor<32x1024xf32> -> tensor<32x1024x1xf32>
  %3 = graph.expand %2 : tensor<32x1024x1xf32> -> tensor<32x1024x64xf32>
  %4 = graph.binary sub %x, %3 : tensor<32x1024x64xf32>
  return %4 : tensor<32x1024x64xf32>
}

// -----

// Neighbouring threads are neighbours along what is kept: all is read and written along it.
// CHECK-LABEL: plan.func @kept
// CHECK-NOT: walked
func.func @kept(%x: tensor<32x64x1024xf32> {graph.name = "x"}) -> (tensor<32x64x1024xf32> {graph.name = "y"}) {
  %1 = graph.reduce max %x dims = [1] : tensor<32x64x1024xf32> -> tensor<32x1024xf32>
  %2 = graph.reshape %1 : tensor<32x1024xf32> -> tensor<32x1x1024xf32>
  %3 = graph.expand %2 : tensor<32x1x1024xf32> -> tensor<32x64x1024xf32>
  %4 = graph.binary sub %x, %3 : tensor<32x64x1024xf32>
  return %4 : tensor<32x64x1024xf32>
}

// -----

// Of few elements the launch of the copy takes longer.
// CHECK-LABEL: plan.func @few
// CHECK-NOT: walked
func.func @few(%x: tensor<1x64x256xf32> {graph.name = "x"}) -> (tensor<1x256x64xf32> {graph.name = "y"}) {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<1x64x256xf32> -> tensor<1x256x64xf32>
  %1 = graph.reduce max %0 dims = [2] : tensor<1x256x64xf32> -> tensor<1x256xf32>
  %2 = graph.reshape %1 : tensor<1x256xf32> -> tensor<1x256x1xf32>
  %3 = graph.expand %2 : tensor<1x256x1xf32> -> tensor<1x256x64xf32>
  %4 = graph.binary sub %0, %3 : tensor<1x256x64xf32>
  return %4 : tensor<1x256x64xf32>
}

// -----

// What is flipped along the rows that are written is read along them, too: neighbouring threads read neighbours.
// CHECK-LABEL: plan.func @flipped
// CHECK: plan.launch @flipped_0_walked0 ins(%arg0
// CHECK-NOT: walked
// CHECK: plan.launch @flipped_0 ins(%arg1
// CHECK: kernel.view {{.*}} map <[<[32, 1024, 64] strides [65536, 64, -1] offset 63>]>
func.func @flipped(%x: tensor<32x64x1024xf32> {graph.name = "x"}, %z: tensor<32x1024x64xf32> {graph.name = "z"}) -> (tensor<32x1024x64xf32> {graph.name = "y"}) {
  %p = graph.permute %x order = [0, 2, 1] : tensor<32x64x1024xf32> -> tensor<32x1024x64xf32>
  %f = graph.flip %z dims = [2] : tensor<32x1024x64xf32>
  %0 = graph.binary add %p, %f : tensor<32x1024x64xf32>
  %1 = graph.reduce max %0 dims = [2] : tensor<32x1024x64xf32> -> tensor<32x1024xf32>
  %2 = graph.reshape %1 : tensor<32x1024xf32> -> tensor<32x1024x1xf32>
  %3 = graph.expand %2 : tensor<32x1024x1xf32> -> tensor<32x1024x64xf32>
  %4 = graph.binary sub %0, %3 : tensor<32x1024x64xf32>
  %5 = graph.unary exp %4 : tensor<32x1024x64xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<32x1024x64xf32> -> tensor<32x1024xf32>
  %7 = graph.reshape %6 : tensor<32x1024xf32> -> tensor<32x1024x1xf32>
  %8 = graph.expand %7 : tensor<32x1024x1xf32> -> tensor<32x1024x64xf32>
  %9 = graph.binary div %5, %8 : tensor<32x1024x64xf32>
  return %9 : tensor<32x1024x64xf32>
}

// -----

// Of two images one has its channels last. Sums of 320 channels side by side would be 20 workgroups: that one is turned, and
// each channel is a workgroup's.
// CHECK-LABEL: plan.func @narrow
// CHECK: plan.launch @narrow_0_walked0 ins(%arg0
// CHECK: kernel.func @narrow_0(
// CHECK-SAME: #kernel.grid_step<"i0", 1>
func.func @narrow(%x: tensor<32x3136x320xbf16> {graph.name = "x"}, %dy: tensor<32x320x3136xbf16> {graph.name = "dy"},
    %mean: tensor<32x320x1xf32> {graph.name = "mean"}, %scale: tensor<32x320x1xf32> {graph.name = "scale"}) -> (tensor<320xf32> {graph.name = "y"}) {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<32x3136x320xbf16> -> tensor<32x320x3136xbf16>
  %1 = graph.cast %0 : tensor<32x320x3136xbf16> -> tensor<32x320x3136xf32>
  %2 = graph.cast %dy : tensor<32x320x3136xbf16> -> tensor<32x320x3136xf32>
  %3 = graph.expand %mean : tensor<32x320x1xf32> -> tensor<32x320x3136xf32>
  %4 = graph.binary sub %1, %3 : tensor<32x320x3136xf32>
  %5 = graph.expand %scale : tensor<32x320x1xf32> -> tensor<32x320x3136xf32>
  %6 = graph.binary mul %4, %5 : tensor<32x320x3136xf32>
  %7 = graph.binary mul %2, %6 : tensor<32x320x3136xf32>
  %8 = graph.reduce add %7 dims = [0, 2] : tensor<32x320x3136xf32> -> tensor<320xf32>
  return %8 : tensor<320xf32>
}

// -----

// So is one of a million elements, and 20 workgroups wait for it one by one no less.
// CHECK-LABEL: plan.func @small
// CHECK: plan.launch @small_0_walked0 ins(%arg0
// CHECK: kernel.func @small_0(
// CHECK-SAME: #kernel.grid_step<"i0", 1>
func.func @small(%x: tensor<16x196x320xf16> {graph.name = "x"}, %dy: tensor<16x320x196xf16> {graph.name = "dy"},
    %mean: tensor<16x320x1xf32> {graph.name = "mean"}) -> (tensor<320xf32> {graph.name = "y"}, tensor<320xf32> {graph.name = "z"}) {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<16x196x320xf16> -> tensor<16x320x196xf16>
  %1 = graph.cast %0 : tensor<16x320x196xf16> -> tensor<16x320x196xf32>
  %2 = graph.cast %dy : tensor<16x320x196xf16> -> tensor<16x320x196xf32>
  %3 = graph.expand %mean : tensor<16x320x1xf32> -> tensor<16x320x196xf32>
  %4 = graph.binary sub %1, %3 : tensor<16x320x196xf32>
  %5 = graph.binary mul %2, %4 : tensor<16x320x196xf32>
  %6 = graph.reduce add %5 dims = [0, 2] : tensor<16x320x196xf32> -> tensor<320xf32>
  %7 = graph.reduce add %2 dims = [0, 2] : tensor<16x320x196xf32> -> tensor<320xf32>
  return %6, %7 : tensor<320xf32>, tensor<320xf32>
}
