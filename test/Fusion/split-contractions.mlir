// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-split-contractions | FileCheck %s

// The sum of each part, and that of all parts.
// CHECK-LABEL: func.func @product
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<32x32x256x256xf32> -> tensor<32x32x256xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[PARTS]] dims = [2] : tensor<32x32x256xf32> -> tensor<32x32xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @product(%a: tensor<32x256x256xf32>, %b: tensor<32x256x256xf32>) -> tensor<32x32xf32> {
  %a1 = graph.reshape %a : tensor<32x256x256xf32> -> tensor<32x1x256x256xf32>
  %as = graph.expand %a1 : tensor<32x1x256x256xf32> -> tensor<32x32x256x256xf32>
  %b1 = graph.reshape %b : tensor<32x256x256xf32> -> tensor<1x32x256x256xf32>
  %bs = graph.expand %b1 : tensor<1x32x256x256xf32> -> tensor<32x32x256x256xf32>
  %p = graph.binary mul %as, %bs : tensor<32x32x256x256xf32>
  %y = graph.reduce add %p dims = [2, 3] : tensor<32x32x256x256xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// Channels lie between images and positions: no factor is a matrix of all images, and each image is a part, though fewer
// parts would fill the machine. What follows a sum over all positions is split, too.
// CHECK-LABEL: func.func @images
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<4096x32x32x1024xf32> -> tensor<4096x32x32xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.reduce add %[[PARTS]] dims = [0] : tensor<4096x32x32xf32> -> tensor<32x32xf32>
// CHECK-NEXT: return %[[ALL]]
func.func @images(%a: tensor<4096x32x1024xbf16>, %b: tensor<4096x32x1024xbf16>) -> tensor<32x32xf32> {
  %wide = graph.cast %a : tensor<4096x32x1024xbf16> -> tensor<4096x32x1024xf32>
  %sum = graph.reduce add %wide dims = [0, 2] : tensor<4096x32x1024xf32> -> tensor<32xf32>
  %sum1 = graph.reshape %sum : tensor<32xf32> -> tensor<1x32x1xf32>
  %sums = graph.expand %sum1 : tensor<1x32x1xf32> -> tensor<4096x32x1024xf32>
  %less = graph.binary sub %wide, %sums : tensor<4096x32x1024xf32>
  %narrow = graph.cast %less : tensor<4096x32x1024xf32> -> tensor<4096x32x1024xbf16>
  %af = graph.cast %narrow : tensor<4096x32x1024xbf16> -> tensor<4096x32x1024xf32>
  %a1 = graph.reshape %af : tensor<4096x32x1024xf32> -> tensor<4096x32x1x1024xf32>
  %as = graph.expand %a1 : tensor<4096x32x1x1024xf32> -> tensor<4096x32x32x1024xf32>
  %bf = graph.cast %b : tensor<4096x32x1024xbf16> -> tensor<4096x32x1024xf32>
  %b1 = graph.reshape %bf : tensor<4096x32x1024xf32> -> tensor<4096x1x32x1024xf32>
  %bs = graph.expand %b1 : tensor<4096x1x32x1024xf32> -> tensor<4096x32x32x1024xf32>
  %p = graph.binary mul %as, %bs : tensor<4096x32x32x1024xf32>
  %y = graph.reduce add %p dims = [0, 3] : tensor<4096x32x32x1024xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// Weights of a softmax are computed in the kernel that multiplies them.
// CHECK-LABEL: func.func @weights
// CHECK: graph.reduce add %{{.*}} dims = [2, 3] : tensor<32x32x256x256xf32> -> tensor<32x32xf32>
// CHECK-NEXT: return
func.func @weights(%a: tensor<32x256x256xf32>, %b: tensor<32x256x256xf32>) -> tensor<32x32xf32> {
  %m = graph.reduce max %a dims = [1, 2] : tensor<32x256x256xf32> -> tensor<32xf32>
  %m1 = graph.reshape %m : tensor<32xf32> -> tensor<32x1x1xf32>
  %ms = graph.expand %m1 : tensor<32x1x1xf32> -> tensor<32x256x256xf32>
  %d = graph.binary sub %a, %ms : tensor<32x256x256xf32>
  %e = graph.unary exp %d : tensor<32x256x256xf32>
  %a1 = graph.reshape %e : tensor<32x256x256xf32> -> tensor<32x1x256x256xf32>
  %as = graph.expand %a1 : tensor<32x1x256x256xf32> -> tensor<32x32x256x256xf32>
  %b1 = graph.reshape %b : tensor<32x256x256xf32> -> tensor<1x32x256x256xf32>
  %bs = graph.expand %b1 : tensor<1x32x256x256xf32> -> tensor<32x32x256x256xf32>
  %p = graph.binary mul %as, %bs : tensor<32x32x256x256xf32>
  %y = graph.reduce add %p dims = [2, 3] : tensor<32x32x256x256xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}

// The filter gradient of f32 images has so few results that large tiles would leave most cores idle: threads multiply it, and
// each image is a part.
// CHECK-LABEL: func.func @windows
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3, 4] : tensor<8x256x128x96x96x3x3xf32> -> tensor<8x256x128x3x3xf32>
// CHECK-NEXT: graph.reduce add %[[PARTS]] dims = [0] : tensor<8x256x128x3x3xf32> -> tensor<256x128x3x3xf32>
func.func @windows(%dy: tensor<8x256x96x96xf32>, %x: tensor<8x128x98x98xf32>) -> tensor<256x128x3x3xf32> {
  %w = graph.window %x dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<8x128x98x98xf32> -> tensor<8x128x96x96x3x3xf32>
  %w1 = graph.reshape %w : tensor<8x128x96x96x3x3xf32> -> tensor<8x1x128x96x96x3x3xf32>
  %ws = graph.expand %w1 : tensor<8x1x128x96x96x3x3xf32> -> tensor<8x256x128x96x96x3x3xf32>
  %dy1 = graph.reshape %dy : tensor<8x256x96x96xf32> -> tensor<8x256x1x96x96x1x1xf32>
  %dys = graph.expand %dy1 : tensor<8x256x1x96x96x1x1xf32> -> tensor<8x256x128x96x96x3x3xf32>
  %p = graph.binary mul %dys, %ws : tensor<8x256x128x96x96x3x3xf32>
  %y = graph.reduce add %p dims = [0, 3, 4] : tensor<8x256x128x96x96x3x3xf32> -> tensor<256x128x3x3xf32>
  return %y : tensor<256x128x3x3xf32>
}

// What a factor is computed of may lie in another order: a kernel of its own stores it, with channels in between.
// CHECK-LABEL: func.func @stored
// CHECK: %[[PARTS:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<4096x32x32x1024xf32> -> tensor<4096x32x32xf32>
// CHECK-NEXT: graph.reduce add %[[PARTS]] dims = [0] : tensor<4096x32x32xf32> -> tensor<32x32xf32>
func.func @stored(%a: tensor<4096x1024x32xbf16>, %b: tensor<4096x32x1024xbf16>) -> tensor<32x32xf32> {
  %turned = graph.permute %a order = [0, 2, 1] : tensor<4096x1024x32xbf16> -> tensor<4096x32x1024xbf16>
  %wide = graph.cast %turned : tensor<4096x32x1024xbf16> -> tensor<4096x32x1024xf32>
  %curve = graph.unary tanh %wide : tensor<4096x32x1024xf32>
  %narrow = graph.cast %curve : tensor<4096x32x1024xf32> -> tensor<4096x32x1024xbf16>
  %af = graph.cast %narrow : tensor<4096x32x1024xbf16> -> tensor<4096x32x1024xf32>
  %a1 = graph.reshape %af : tensor<4096x32x1024xf32> -> tensor<4096x32x1x1024xf32>
  %as = graph.expand %a1 : tensor<4096x32x1x1024xf32> -> tensor<4096x32x32x1024xf32>
  %bf = graph.cast %b : tensor<4096x32x1024xbf16> -> tensor<4096x32x1024xf32>
  %b1 = graph.reshape %bf : tensor<4096x32x1024xf32> -> tensor<4096x1x32x1024xf32>
  %bs = graph.expand %b1 : tensor<4096x1x32x1024xf32> -> tensor<4096x32x32x1024xf32>
  %p = graph.binary mul %as, %bs : tensor<4096x32x32x1024xf32>
  %y = graph.reduce add %p dims = [0, 3] : tensor<4096x32x32x1024xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
