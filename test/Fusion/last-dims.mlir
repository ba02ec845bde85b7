// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_90a facts=identity.cores=264' -zyx-fuse=tensor=16 | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=264' -zyx-fuse | FileCheck %s --check-prefix=FIRST

// A convolution reads the images with their channels last, so that channels are columns of what is summed up for each of them: few
// columns, and many parts of the rows. Where nothing turns images, channels are rows of their own.
// CHECK-LABEL: func.func @norm
// CHECK: graph.reduce add {{.*}} dims = [{{.*}}] : {{.*}} -> tensor<32x256x{{[0-9]+}}xf32>
// FIRST-LABEL: func.func @norm
// FIRST: graph.reduce add {{.*}} dims = [{{.*}}] : {{.*}} -> tensor<{{[0-9]}}x256xf32>
func.func @norm(%x: tensor<32x64x784xbf16>, %w: tensor<256x64xbf16>, %v: tensor<64x256xbf16>) -> (tensor<256xf32>, tensor<32x64x784xbf16>) {
  %0 = graph.cast %x : tensor<32x64x784xbf16> -> tensor<32x64x784xf32>
  %1 = graph.reshape %0 : tensor<32x64x784xf32> -> tensor<32x1x64x784xf32>
  %2 = graph.expand %1 : tensor<32x1x64x784xf32> -> tensor<32x256x64x784xf32>
  %3 = graph.cast %w : tensor<256x64xbf16> -> tensor<256x64xf32>
  %4 = graph.reshape %3 : tensor<256x64xf32> -> tensor<1x256x64x1xf32>
  %5 = graph.expand %4 : tensor<1x256x64x1xf32> -> tensor<32x256x64x784xf32>
  %6 = graph.binary mul %2, %5 : tensor<32x256x64x784xf32>
  %7 = graph.reduce add %6 dims = [2] : tensor<32x256x64x784xf32> -> tensor<32x256x784xf32>
  %8 = graph.cast %7 : tensor<32x256x784xf32> -> tensor<32x256x784xbf16>
  %9 = graph.cast %8 : tensor<32x256x784xbf16> -> tensor<32x256x784xf32>
  %10 = graph.reduce add %9 dims = [0, 2] : tensor<32x256x784xf32> -> tensor<256xf32>
  %11 = graph.reshape %9 : tensor<32x256x784xf32> -> tensor<32x1x256x784xf32>
  %12 = graph.expand %11 : tensor<32x1x256x784xf32> -> tensor<32x64x256x784xf32>
  %13 = graph.cast %v : tensor<64x256xbf16> -> tensor<64x256xf32>
  %14 = graph.reshape %13 : tensor<64x256xf32> -> tensor<1x64x256x1xf32>
  %15 = graph.expand %14 : tensor<1x64x256x1xf32> -> tensor<32x64x256x784xf32>
  %16 = graph.binary mul %12, %15 : tensor<32x64x256x784xf32>
  %17 = graph.reduce add %16 dims = [2] : tensor<32x64x256x784xf32> -> tensor<32x64x784xf32>
  %18 = graph.cast %17 : tensor<32x64x784xf32> -> tensor<32x64x784xbf16>
  return %10, %18 : tensor<256xf32>, tensor<32x64x784xbf16>
}

// Columns that one workgroup would have alone fall into parts, though there are not many elements.
// CHECK-LABEL: func.func @columns
// CHECK: graph.reduce add {{.*}} dims = [1] : tensor<{{[0-9]+}}x{{[0-9]+}}x64xf32> -> tensor<{{[0-9]+}}x64xf32>
// CHECK: graph.reduce add {{.*}} dims = [0] : tensor<{{[0-9]+}}x64xf32> -> tensor<64xf32>
func.func @columns(%x: tensor<3136x64xf32>) -> tensor<64xf32> {
  %0 = graph.reduce add %x dims = [0] : tensor<3136x64xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
