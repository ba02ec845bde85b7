// RUN: zyx-opt %s --zyx-convert-graph-to-kernel --zyx-kernel-verify-form=form=tiled --verify-roundtrip | FileCheck %s

// A matrix times its own transposition: one input in two roles.
// CHECK-LABEL: kernel.func @gram_0
// CHECK: %[[A:.*]] = kernel.load {{.*}} axes ["m", "k"] {{.*}} -> tensor<16x8xf32>
// CHECK: %[[AN:.*]] = arith.negf %[[A]]
// CHECK: %[[B:.*]] = kernel.load {{.*}} axes ["k", "n"] {{.*}} -> tensor<8x16xf32>
// CHECK: %[[BN:.*]] = arith.negf %[[B]]
// CHECK: kernel.dot %[[AN]], %[[BN]]
func.func @gram(%x: tensor<16x8xf32>) -> tensor<16x16xf32> {
  %y = graph.group(%a = %x : tensor<16x8xf32>) -> tensor<16x16xf32> {
    %n = graph.unary neg %a : tensor<16x8xf32>
    %r = graph.reshape %n : tensor<16x8xf32> -> tensor<16x1x8xf32>
    %re = graph.expand %r : tensor<16x1x8xf32> -> tensor<16x16x8xf32>
    %c = graph.reshape %n : tensor<16x8xf32> -> tensor<1x16x8xf32>
    %ce = graph.expand %c : tensor<1x16x8xf32> -> tensor<16x16x8xf32>
    %p = graph.binary mul %re, %ce : tensor<16x16x8xf32>
    %s = graph.reduce add %p dims = [2] : tensor<16x16x8xf32> -> tensor<16x16xf32>
    graph.yield %s : tensor<16x16xf32>
  }
  return %y : tensor<16x16xf32>
}

// Indices into themselves: what is read is walked by data, the indices by the tile.
// CHECK-LABEL: kernel.func @follow_0
// CHECK: %[[I:.*]] = kernel.load {{.*}} axes ["i0"]
// CHECK: %[[V:.*]] = kernel.view %arg0
// CHECK: kernel.gather %[[V]][%[[I]]]
func.func @follow(%next: tensor<7xi64>) -> tensor<7xi64> {
  %y = graph.group(%a = %next : tensor<7xi64>) -> tensor<7xi64> {
    %g = graph.gather %a[%a] dim = 0 : (tensor<7xi64>, tensor<7xi64>) -> tensor<7xi64>
    graph.yield %g : tensor<7xi64>
  }
  return %y : tensor<7xi64>
}

// The columns of the sum and those of the gathered row are two axes.
// CHECK-LABEL: kernel.func @row_number_sum_0
// CHECK: kernel.load {{.*}} axes ["k0"] {{.*}} -> tensor<15xi64>
// CHECK: kernel.iota dim 0 axes ["i0"] : tensor<5xi64>
func.func @row_number_sum(%x: tensor<3x5xi64>) -> tensor<5xi64> {
  %y = graph.group(%a = %x : tensor<3x5xi64>) -> tensor<5xi64> {
    %s = graph.reduce add %a dims = [0, 1] : tensor<3x5xi64> -> tensor<i64>
    %g = graph.gather %a[%s] dim = 0 : (tensor<3x5xi64>, tensor<i64>) -> tensor<5xi64>
    graph.yield %g : tensor<5xi64>
  }
  return %y : tensor<5xi64>
}

// Nothing is read of what is the same everywhere, nor of an iota; outside it is still 0.
// CHECK-LABEL: kernel.func @gather_without_memory_0
// CHECK-NOT: kernel.gather
// CHECK: %[[I:.*]] = kernel.load {{.*}} axes ["i0"]
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[I]]
// CHECK: arith.select %[[IN]], %[[I]]
// CHECK: arith.select
// CHECK-NOT: kernel.gather
func.func @gather_without_memory(%i: tensor<7xi64>) -> (tensor<7xi64>, tensor<7xf32>) {
  %y:2 = graph.group(%a = %i : tensor<7xi64>) -> (tensor<7xi64>, tensor<7xf32>) {
    %x = graph.iota dim = 0 : tensor<5xi64>
    %g = graph.gather %x[%a] dim = 0 : (tensor<5xi64>, tensor<7xi64>) -> tensor<7xi64>
    %c = graph.constant dense<2.0> : tensor<5xf32>
    %h = graph.gather %c[%a] dim = 0 : (tensor<5xf32>, tensor<7xi64>) -> tensor<7xf32>
    graph.yield %g, %h : tensor<7xi64>, tensor<7xf32>
  }
  return %y#0, %y#1 : tensor<7xi64>, tensor<7xf32>
}

// Where what is gathered from repeats, the index chooses nothing.
// CHECK-LABEL: kernel.func @gather_of_repeats_0
// CHECK-NOT: kernel.gather
// CHECK: arith.select
func.func @gather_of_repeats(%x: tensor<5x1xf32>, %i: tensor<7xi64>) -> tensor<5x7xf32> {
  %y = graph.group(%a = %x : tensor<5x1xf32>, %b = %i : tensor<7xi64>) -> tensor<5x7xf32> {
    %e = graph.unary exp %a : tensor<5x1xf32>
    %r = graph.expand %e : tensor<5x1xf32> -> tensor<5x9xf32>
    %g = graph.gather %r[%b] dim = 1 : (tensor<5x9xf32>, tensor<7xi64>) -> tensor<5x7xf32>
    graph.yield %g : tensor<5x7xf32>
  }
  return %y : tensor<5x7xf32>
}

// A sum with the own transposition.
// CHECK-LABEL: kernel.func @symmetric_0
// CHECK: kernel.view %arg0 map <[<[4, 4] strides [4, 1]>]>
// CHECK: kernel.view %arg0 map <[<[4, 4] strides [1, 4]>]>
func.func @symmetric(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = graph.group(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %e = graph.unary exp %a : tensor<4x4xf32>
    %t = graph.permute %e order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %s = graph.binary add %e, %t : tensor<4x4xf32>
    graph.yield %s : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// The product of rows and columns stands in the order of the next one: (a, b, c) becomes (b, c, a).
// That is not its own inverse.
// CHECK-LABEL: kernel.func @product_of_product_0
// CHECK: %[[P:.*]] = kernel.dot {{.*}} -> tensor<2x3x4xf32>
// CHECK: kernel.transpose %[[P]] order [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
func.func @product_of_product(%x: tensor<2x3x5xf32>, %y: tensor<2x4x5xf32>,
                              %z: tensor<3x6x2xf32>) -> tensor<3x4x6xf32> {
  %q = graph.group(%a = %x : tensor<2x3x5xf32>, %b = %y : tensor<2x4x5xf32>,
                   %c = %z : tensor<3x6x2xf32>) -> tensor<3x4x6xf32> {
    %ar = graph.reshape %a : tensor<2x3x5xf32> -> tensor<2x3x1x5xf32>
    %ae = graph.expand %ar : tensor<2x3x1x5xf32> -> tensor<2x3x4x5xf32>
    %br = graph.reshape %b : tensor<2x4x5xf32> -> tensor<2x1x4x5xf32>
    %be = graph.expand %br : tensor<2x1x4x5xf32> -> tensor<2x3x4x5xf32>
    %ab = graph.binary mul %ae, %be : tensor<2x3x4x5xf32>
    %p = graph.reduce add %ab dims = [3] : tensor<2x3x4x5xf32> -> tensor<2x3x4xf32>
    %pp = graph.permute %p order = [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
    %pr = graph.reshape %pp : tensor<3x4x2xf32> -> tensor<3x4x1x2xf32>
    %pe = graph.expand %pr : tensor<3x4x1x2xf32> -> tensor<3x4x6x2xf32>
    %cr = graph.reshape %c : tensor<3x6x2xf32> -> tensor<3x1x6x2xf32>
    %ce = graph.expand %cr : tensor<3x1x6x2xf32> -> tensor<3x4x6x2xf32>
    %pc = graph.binary mul %pe, %ce : tensor<3x4x6x2xf32>
    %s = graph.reduce add %pc dims = [3] : tensor<3x4x6x2xf32> -> tensor<3x4x6xf32>
    graph.yield %s : tensor<3x4x6xf32>
  }
  return %q : tensor<3x4x6xf32>
}
