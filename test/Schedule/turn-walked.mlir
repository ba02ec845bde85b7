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
