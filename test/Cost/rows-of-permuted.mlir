// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=x86-64-v4 --zyx-cost-cut-groups | FileCheck %s

// Three channels of a group lie side by side: no vectors lie along so few, and along positions each element is a line apart,
// for the mean, for the variance, and again for what they make of it. Stored in the order of its dimensions the operand is
// read in vectors.
// CHECK-LABEL: func.func @few_channels
// CHECK:       graph.group
// CHECK-NEXT:    graph.permute
// CHECK-NEXT:    graph.yield
// CHECK:       graph.group
// CHECK:         graph.reduce
func.func @few_channels(%x: tensor<1x32x32x96xf32>) -> tensor<1x32x3x1024xf32> {
  %x1 = graph.permute %x order = [0, 3, 1, 2] : tensor<1x32x32x96xf32> -> tensor<1x96x32x32xf32>
  %x2 = graph.reshape %x1 : tensor<1x96x32x32xf32> -> tensor<1x32x3x1024xf32>
  %n = graph.constant dense<3072.0> : tensor<1x32xf32>
  %s = graph.reduce add %x2 dims = [2, 3] : tensor<1x32x3x1024xf32> -> tensor<1x32xf32>
  %m = graph.binary div %s, %n : tensor<1x32xf32>
  %m1 = graph.reshape %m : tensor<1x32xf32> -> tensor<1x32x1x1xf32>
  %m2 = graph.expand %m1 : tensor<1x32x1x1xf32> -> tensor<1x32x3x1024xf32>
  %d = graph.binary sub %x2, %m2 : tensor<1x32x3x1024xf32>
  %q = graph.binary mul %d, %d : tensor<1x32x3x1024xf32>
  %v = graph.reduce add %q dims = [2, 3] : tensor<1x32x3x1024xf32> -> tensor<1x32xf32>
  %r = graph.unary rsqrt %v : tensor<1x32xf32>
  %r1 = graph.reshape %r : tensor<1x32xf32> -> tensor<1x32x1x1xf32>
  %r2 = graph.expand %r1 : tensor<1x32x1x1xf32> -> tensor<1x32x3x1024xf32>
  %y = graph.binary mul %d, %r2 : tensor<1x32x3x1024xf32>
  return %y : tensor<1x32x3x1024xf32>
}

// Vectors lie along 32 channels.
// CHECK-LABEL: func.func @many_channels
// CHECK:       graph.group
// CHECK-NOT:   graph.group
func.func @many_channels(%x: tensor<1x32x32x96xf32>) -> tensor<1x3xf32> {
  %x1 = graph.permute %x order = [0, 3, 1, 2] : tensor<1x32x32x96xf32> -> tensor<1x96x32x32xf32>
  %x2 = graph.reshape %x1 : tensor<1x96x32x32xf32> -> tensor<1x3x32x1024xf32>
  %s = graph.reduce add %x2 dims = [2, 3] : tensor<1x3x32x1024xf32> -> tensor<1x3xf32>
  return %s : tensor<1x3xf32>
}
