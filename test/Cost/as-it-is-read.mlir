// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=x86-64-v4 --zyx-cost-cut-groups --zyx-cost-lay-out-results | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fuse --zyx-split-groups --zyx-cost-cut-groups --zyx-cost-lay-out-results \
// RUN:   | FileCheck %s --check-prefix=CARD

// Channels come last, and what is kept for the sum along positions lies like them.
// CHECK-LABEL: func.func @last
// CHECK:       %[[A:.*]]:2 = graph.group{{.*}} -> (tensor<4x28x28x8x128xf32>, tensor<4x28x28x8x128xf32>)
// CHECK:         graph.permute %{{.*}} order = [0, 3, 4, 1, 2] : tensor<4x8x128x28x28xf32> -> tensor<4x28x28x8x128xf32>
// CHECK:       graph.group({{.*}} = %[[A]]#{{.}} : tensor<4x28x28x8x128xf32>) -> tensor<1024xf32>
// CHECK-NEXT:    graph.permute %{{.*}} order = [0, 3, 4, 1, 2] : tensor<4x28x28x8x128xf32> -> tensor<4x8x128x28x28xf32>
func.func @last(%x: tensor<4x28x28x1024xf32>) -> (tensor<4x28x28x1024xf32>, tensor<1024xf32>) {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<4x28x28x1024xf32> -> tensor<4x1024x28x28xf32>
  %1 = graph.reshape %0 : tensor<4x1024x28x28xf32> -> tensor<4x8x128x28x28xf32>
  %2 = graph.reduce max %1 dims = [2, 3, 4] : tensor<4x8x128x28x28xf32> -> tensor<4x8xf32>
  %3 = graph.reshape %2 : tensor<4x8xf32> -> tensor<4x8x1x1x1xf32>
  %4 = graph.expand %3 : tensor<4x8x1x1x1xf32> -> tensor<4x8x128x28x28xf32>
  %5 = graph.binary sub %1, %4 : tensor<4x8x128x28x28xf32>
  %6 = graph.unary exp %5 : tensor<4x8x128x28x28xf32>
  %7 = graph.reshape %6 : tensor<4x8x128x28x28xf32> -> tensor<4x1024x28x28xf32>
  %8 = graph.reduce add %7 dims = [0, 2, 3] : tensor<4x1024x28x28xf32> -> tensor<1024xf32>
  %9 = graph.binary mul %7, %7 : tensor<4x1024x28x28xf32>
  %10 = graph.permute %9 order = [0, 2, 3, 1] : tensor<4x1024x28x28xf32> -> tensor<4x28x28x1024xf32>
  return %10, %8 : tensor<4x28x28x1024xf32>, tensor<1024xf32>
}

// Where channels come first all lies alike anyway.
// CHECK-LABEL: func.func @first
// CHECK-NOT:   graph.permute
// CHECK:       return
func.func @first(%0: tensor<4x1024x28x28xf32>) -> (tensor<4x1024x28x28xf32>, tensor<1024xf32>) {
  %1 = graph.reshape %0 : tensor<4x1024x28x28xf32> -> tensor<4x8x128x28x28xf32>
  %2 = graph.reduce max %1 dims = [2, 3, 4] : tensor<4x8x128x28x28xf32> -> tensor<4x8xf32>
  %3 = graph.reshape %2 : tensor<4x8xf32> -> tensor<4x8x1x1x1xf32>
  %4 = graph.expand %3 : tensor<4x8x1x1x1xf32> -> tensor<4x8x128x28x28xf32>
  %5 = graph.binary sub %1, %4 : tensor<4x8x128x28x28xf32>
  %6 = graph.unary exp %5 : tensor<4x8x128x28x28xf32>
  %7 = graph.reshape %6 : tensor<4x8x128x28x28xf32> -> tensor<4x1024x28x28xf32>
  %8 = graph.reduce add %7 dims = [0, 2, 3] : tensor<4x1024x28x28xf32> -> tensor<1024xf32>
  %9 = graph.binary mul %7, %7 : tensor<4x1024x28x28xf32>
  return %9, %8 : tensor<4x1024x28x28xf32>, tensor<1024xf32>
}

// Of few channels one program adds up all columns, while others idle: what it reads along positions stays.
// CHECK-LABEL: func.func @few
// CHECK:       graph.yield %{{.*}}, %{{.*}} : tensor<4x4x64x28x28xf32>, tensor<4x28x28x4x64xf32>
func.func @few(%x: tensor<4x28x28x256xf32>) -> (tensor<4x28x28x256xf32>, tensor<256xf32>) {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<4x28x28x256xf32> -> tensor<4x256x28x28xf32>
  %1 = graph.reshape %0 : tensor<4x256x28x28xf32> -> tensor<4x4x64x28x28xf32>
  %2 = graph.reduce max %1 dims = [2, 3, 4] : tensor<4x4x64x28x28xf32> -> tensor<4x4xf32>
  %3 = graph.reshape %2 : tensor<4x4xf32> -> tensor<4x4x1x1x1xf32>
  %4 = graph.expand %3 : tensor<4x4x1x1x1xf32> -> tensor<4x4x64x28x28xf32>
  %5 = graph.binary sub %1, %4 : tensor<4x4x64x28x28xf32>
  %6 = graph.unary exp %5 : tensor<4x4x64x28x28xf32>
  %7 = graph.reshape %6 : tensor<4x4x64x28x28xf32> -> tensor<4x256x28x28xf32>
  %8 = graph.reduce add %7 dims = [0, 2, 3] : tensor<4x256x28x28xf32> -> tensor<256xf32>
  %9 = graph.binary mul %7, %7 : tensor<4x256x28x28xf32>
  %10 = graph.permute %9 order = [0, 2, 3, 1] : tensor<4x256x28x28xf32> -> tensor<4x28x28x256xf32>
  return %10, %8 : tensor<4x28x28x256xf32>, tensor<256xf32>
}

// So on a card, whose sums of columns read what a norm keeps for them.
// CARD-LABEL: func.func @images
// CARD:         graph.permute %{{.*}} order = [0, 3, 1, 2] : tensor<128x16x64x196xf32> -> tensor<128x196x16x64xf32>
// CARD:       graph.group({{.*}} : tensor<128x196x16x64xf32>)
func.func @images(%x: tensor<128x196x1024xf32>) -> (tensor<128x196x1024xf32>, tensor<1024xf32>) {
  %0 = graph.permute %x order = [0, 2, 1] : tensor<128x196x1024xf32> -> tensor<128x1024x196xf32>
  %1 = graph.reshape %0 : tensor<128x1024x196xf32> -> tensor<128x16x64x196xf32>
  %2 = graph.reduce max %1 dims = [2, 3] : tensor<128x16x64x196xf32> -> tensor<128x16xf32>
  %3 = graph.reshape %2 : tensor<128x16xf32> -> tensor<128x16x1x1xf32>
  %4 = graph.expand %3 : tensor<128x16x1x1xf32> -> tensor<128x16x64x196xf32>
  %5 = graph.binary sub %1, %4 : tensor<128x16x64x196xf32>
  %6 = graph.unary exp %5 : tensor<128x16x64x196xf32>
  %7 = graph.reshape %6 : tensor<128x16x64x196xf32> -> tensor<128x1024x196xf32>
  %8 = graph.reduce add %7 dims = [0, 2] : tensor<128x1024x196xf32> -> tensor<1024xf32>
  %9 = graph.binary mul %7, %7 : tensor<128x1024x196xf32>
  %10 = graph.permute %9 order = [0, 2, 1] : tensor<128x1024x196xf32> -> tensor<128x196x1024xf32>
  return %10, %8 : tensor<128x196x1024xf32>, tensor<1024xf32>
}
