// RUN: zyx-opt %s --zyx-fusion-distribute-sums | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-distribute-sums | FileCheck %s --check-prefix=CARD

// The factor is made of a sum of the same elements: the terms are added up beside that sum.
// CHECK-LABEL: func.func @factor
// CHECK:       %[[Q:.*]] = graph.reduce add %{{.*}} dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
// CHECK:       %[[R:.*]] = graph.unary rsqrt %{{.*}} : tensor<4x1xf32>
// CHECK:       %[[X:.*]] = graph.reduce add %arg0 dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
// CHECK:       %[[F:.*]] = graph.reshape %[[R]] : tensor<4x1xf32> -> tensor<4xf32>
// CHECK:       %[[XF:.*]] = graph.binary mul %[[X]], %[[F]] : tensor<4xf32>
// CHECK:       %[[Y:.*]] = graph.reduce add %arg1 dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
// CHECK:       %[[SUM:.*]] = graph.binary add %[[XF]], %[[Y]] : tensor<4xf32>
// CHECK:       %[[NEG:.*]] = graph.unary neg %[[SUM]] : tensor<4xf32>
// CHECK-NEXT:  return %[[NEG]]
// On a card a workgroup keeps such rows, and has all sums of them without reading them again.
// CARD-LABEL:  func.func @factor
// CARD:        %[[NEG:.*]] = graph.unary neg %{{.*}} : tensor<4x1024xf32>
// CARD-NEXT:   graph.reduce add %[[NEG]] dims = [1]
func.func @factor(%x: tensor<4x1024xf32>, %y: tensor<4x1024xf32>) -> tensor<4xf32> {
  %q = graph.binary mul %x, %x : tensor<4x1024xf32>
  %v = graph.reduce add %q dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
  %v1 = graph.reshape %v : tensor<4xf32> -> tensor<4x1xf32>
  %r = graph.unary rsqrt %v1 : tensor<4x1xf32>
  %r1 = graph.expand %r : tensor<4x1xf32> -> tensor<4x1024xf32>
  %0 = graph.binary mul %x, %r1 : tensor<4x1024xf32>
  %1 = graph.binary add %0, %y : tensor<4x1024xf32>
  %2 = graph.unary neg %1 : tensor<4x1024xf32>
  %3 = graph.reduce add %2 dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// A term that comes twice is added up once. The factor is repeated along a dimension that stays.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-2: graph.reduce add
// CHECK-NOT:     graph.reduce
// CHECK:         graph.expand %{{.*}} : tensor<1x1xf32> -> tensor<1x8xf32>
// CHECK:         graph.binary sub %{{.*}}, %{{.*}} : tensor<1x8xf32>
func.func @twice(%x: tensor<1x8x512xf32>) -> tensor<1x8xf32> {
  %s = graph.unary exp %x : tensor<1x8x512xf32>
  %v = graph.reduce add %s dims = [2] : tensor<1x8x512xf32> -> tensor<1x8xf32>
  %m = graph.reduce max %v dims = [1] : tensor<1x8xf32> -> tensor<1xf32>
  %m1 = graph.reshape %m : tensor<1xf32> -> tensor<1x1x1xf32>
  %m2 = graph.expand %m1 : tensor<1x1x1xf32> -> tensor<1x8x512xf32>
  %0 = graph.binary mul %m2, %x : tensor<1x8x512xf32>
  %1 = graph.binary sub %0, %x : tensor<1x8x512xf32>
  %2 = graph.reduce add %1 dims = [2] : tensor<1x8x512xf32> -> tensor<1x8xf32>
  return %2 : tensor<1x8xf32>
}

// A factor that waits for no sum stays among the terms; so does one beside terms that wait themselves, and one of 16 bits.
// CHECK-LABEL: func.func @stays
// CHECK:       %[[A:.*]] = graph.binary mul %arg0, %{{.*}} : tensor<4x1024xf32>
// CHECK-NEXT:  graph.reduce add %[[A]] dims = [1]
// CHECK:       %[[E:.*]] = graph.unary exp %{{.*}} : tensor<4x1024xf32>
// CHECK-NEXT:  %[[B:.*]] = graph.binary mul %[[E]], %{{.*}} : tensor<4x1024xf32>
// CHECK-NEXT:  graph.reduce add %[[B]] dims = [1]
// CHECK:       %[[C:.*]] = graph.binary mul %{{.*}}, %{{.*}} : tensor<4x1024xf16>
// CHECK-NEXT:  graph.reduce add %[[C]] dims = [1]
func.func @stays(%x: tensor<4x1024xf32>, %f: tensor<4x1xf32>, %h: tensor<4x1024xf16>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>) {
  %f1 = graph.expand %f : tensor<4x1xf32> -> tensor<4x1024xf32>
  %0 = graph.binary mul %x, %f1 : tensor<4x1024xf32>
  %1 = graph.reduce add %0 dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
  %2 = graph.reshape %1 : tensor<4xf32> -> tensor<4x1xf32>
  %3 = graph.expand %2 : tensor<4x1xf32> -> tensor<4x1024xf32>
  %4 = graph.binary sub %x, %3 : tensor<4x1024xf32>
  %5 = graph.unary exp %4 : tensor<4x1024xf32>
  %6 = graph.binary mul %5, %3 : tensor<4x1024xf32>
  %7 = graph.reduce add %6 dims = [1] : tensor<4x1024xf32> -> tensor<4xf32>
  %8 = graph.reduce add %h dims = [1] : tensor<4x1024xf16> -> tensor<4xf16>
  %9 = graph.reshape %8 : tensor<4xf16> -> tensor<4x1xf16>
  %10 = graph.expand %9 : tensor<4x1xf16> -> tensor<4x1024xf16>
  %11 = graph.binary mul %h, %10 : tensor<4x1024xf16>
  %12 = graph.reduce add %11 dims = [1] : tensor<4x1024xf16> -> tensor<4xf16>
  return %1, %7, %12 : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>
}

// The gradient of a batch norm on a card, whose channels have several rows each: no sum waits for another pass. Factors of
// factors come afterwards, too, a mean that all terms share is multiplied with their number, and a sum that there is is taken
// again.
// CARD-LABEL: func.func @batch
// CARD-SAME:    %[[X:.*]]: tensor<8x4x512xf32>, %[[DY:.*]]: tensor<8x4x512xf32>
// CARD:         %[[ALL:.*]] = graph.reduce add %[[X]] dims = [0, 2]
// CARD:         %[[APART:.*]] = graph.binary sub %[[X]]
// CARD:         graph.reduce add %{{.*}} dims = [0, 2]
// CARD:         %[[TERMS:.*]] = graph.binary mul %[[DY]], %[[APART]]
// CARD-NEXT:    graph.reduce add %[[TERMS]] dims = [0, 2]
// CARD:         %[[GRADIENTS:.*]] = graph.reduce add %[[DY]] dims = [0, 2]
// CARD:         %[[COUNT:.*]] = graph.constant dense<4.096000e+03> : tensor<4xf32>
// CARD:         %[[MEANS:.*]] = graph.binary mul %{{.*}}, %[[COUNT]] : tensor<4xf32>
// CARD:         graph.binary sub %[[ALL]], %[[MEANS]] : tensor<4xf32>
// CARD-NOT:     graph.reduce
// CARD:         return
func.func @batch(%x: tensor<8x4x512xf32>, %dy: tensor<8x4x512xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %sum = graph.reduce add %x dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %count = graph.constant dense<4.096000e+03> : tensor<4xf32>
  %mean = graph.binary div %sum, %count : tensor<4xf32>
  %mean1 = graph.reshape %mean : tensor<4xf32> -> tensor<1x4x1xf32>
  %means = graph.expand %mean1 : tensor<1x4x1xf32> -> tensor<8x4x512xf32>
  %apart = graph.binary sub %x, %means : tensor<8x4x512xf32>
  %squares = graph.binary mul %apart, %apart : tensor<8x4x512xf32>
  %variance = graph.reduce add %squares dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %scale = graph.unary rsqrt %variance : tensor<4xf32>
  %scale1 = graph.reshape %scale : tensor<4xf32> -> tensor<1x4x1xf32>
  %scales = graph.expand %scale1 : tensor<1x4x1xf32> -> tensor<8x4x512xf32>
  %normal = graph.binary mul %apart, %scales : tensor<8x4x512xf32>
  %0 = graph.binary mul %dy, %normal : tensor<8x4x512xf32>
  %1 = graph.reduce add %0 dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %2 = graph.binary mul %dy, %scales : tensor<8x4x512xf32>
  %3 = graph.unary neg %2 : tensor<8x4x512xf32>
  %4 = graph.reduce add %3 dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %5 = graph.binary mul %scales, %apart : tensor<8x4x512xf32>
  %6 = graph.reduce add %5 dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  return %1, %4, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What all terms share is multiplied first, and with their number last: it overflows where the sum does.
// CHECK-LABEL: func.func @shared
// CHECK:       %[[A:.*]] = graph.reshape %arg0 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK:       %[[B:.*]] = graph.reshape %arg1 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK:       %[[P:.*]] = graph.binary mul %[[A]], %[[B]] : tensor<4xf32>
// CHECK:       graph.binary mul %[[P]], %{{.*}} : tensor<4xf32>
// CHECK-NEXT:  return
func.func @shared(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<4xf32> {
  %x = graph.expand %a : tensor<1x4xf32> -> tensor<64x4xf32>
  %y = graph.expand %b : tensor<1x4xf32> -> tensor<64x4xf32>
  %p = graph.binary mul %x, %y : tensor<64x4xf32>
  %s = graph.reduce add %p dims = [0] : tensor<64x4xf32> -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// A sum of nothing, and one without results, stay.
// CHECK-LABEL: func.func @nothing
// CHECK:       graph.reduce add %{{.*}} dims = [1] : tensor<3x0xf32> -> tensor<3xf32>
// CHECK:       graph.reduce add %{{.*}} dims = [0] : tensor<64x0xf32> -> tensor<0xf32>
// CHECK-NEXT:  return
func.func @nothing(%a: tensor<3x1xf32>, %b: tensor<3x1xf32>, %c: tensor<1x0xf32>) -> (tensor<3xf32>, tensor<0xf32>) {
  %x = graph.expand %a : tensor<3x1xf32> -> tensor<3x0xf32>
  %y = graph.expand %b : tensor<3x1xf32> -> tensor<3x0xf32>
  %p = graph.binary mul %x, %y : tensor<3x0xf32>
  %s = graph.reduce add %p dims = [1] : tensor<3x0xf32> -> tensor<3xf32>
  %z = graph.expand %c : tensor<1x0xf32> -> tensor<64x0xf32>
  %q = graph.binary mul %z, %z : tensor<64x0xf32>
  %t = graph.reduce add %q dims = [0] : tensor<64x0xf32> -> tensor<0xf32>
  return %s, %t : tensor<3xf32>, tensor<0xf32>
}

// Sums that differ in factors which all terms share are one on a card, whatever order their products have, as that of the
// gradient of a norm's weights and that of its operand's gradient; so are sums of the same.
// CARD-LABEL:  func.func @alike
// CARD-SAME:    %[[X:.*]]: tensor<8x4x512xf32>, %[[DY:.*]]: tensor<8x4x512xf32>, %[[G:.*]]: tensor<1x4x1xf32>, %[[R:.*]]: tensor<1x4x1xf32>
// CARD:         %[[TERMS:.*]] = graph.binary mul %[[DY]], %[[X]]
// CARD-NEXT:    %[[SUM:.*]] = graph.reduce add %[[TERMS]] dims = [0, 2]
// CARD-NEXT:    %[[G4:.*]] = graph.reshape %[[G]]
// CARD-NEXT:    %[[A:.*]] = graph.binary mul %[[SUM]], %[[G4]] : tensor<4xf32>
// CARD-NEXT:    %[[R4:.*]] = graph.reshape %[[R]]
// CARD-NEXT:    %[[B:.*]] = graph.binary mul %[[SUM]], %[[R4]] : tensor<4xf32>
// CARD-NEXT:    %[[C:.*]] = graph.reduce add %[[DY]] dims = [0, 2]
// CARD-NOT:     graph.reduce
// CARD:         return %[[A]], %[[B]], %[[C]], %{{.*}} :
// A processor's sums keep their factors.
// CHECK-LABEL:  func.func @alike
// CHECK-COUNT-4: graph.reduce add
// CHECK:        return
func.func @alike(%x: tensor<8x4x512xf32>, %dy: tensor<8x4x512xf32>, %g: tensor<1x4x1xf32>, %r: tensor<1x4x1xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %g1 = graph.expand %g : tensor<1x4x1xf32> -> tensor<8x4x512xf32>
  %r1 = graph.expand %r : tensor<1x4x1xf32> -> tensor<8x4x512xf32>
  %0 = graph.binary mul %dy, %g1 : tensor<8x4x512xf32>
  %1 = graph.binary mul %0, %x : tensor<8x4x512xf32>
  %2 = graph.reduce add %1 dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %3 = graph.binary mul %x, %r1 : tensor<8x4x512xf32>
  %4 = graph.binary mul %3, %dy : tensor<8x4x512xf32>
  %5 = graph.reduce add %4 dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %6 = graph.reduce add %dy dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  %7 = graph.unary neg %0 : tensor<8x4x512xf32>
  %8 = graph.reduce add %7 dims = [0, 2] : tensor<8x4x512xf32> -> tensor<4xf32>
  return %2, %5, %6, %8 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What is subtracted from all terms is no factor: the sum of what is left would be a difference of two large sums.
// CARD-LABEL:  func.func @shifted
// CARD:         %[[LEFT:.*]] = graph.binary sub
// CARD:         graph.reduce add %[[LEFT]] dims = [0]
// CARD:         graph.reduce add %arg0 dims = [0]
func.func @shifted(%x: tensor<4096x64xf32>, %shift: tensor<1x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = graph.expand %shift : tensor<1x64xf32> -> tensor<4096x64xf32>
  %1 = graph.binary sub %x, %0 : tensor<4096x64xf32>
  %2 = graph.reduce add %1 dims = [0] : tensor<4096x64xf32> -> tensor<64xf32>
  %3 = graph.reduce add %x dims = [0] : tensor<4096x64xf32> -> tensor<64xf32>
  return %2, %3 : tensor<64xf32>, tensor<64xf32>
}
