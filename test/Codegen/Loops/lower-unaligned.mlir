// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// Rows of a tile in memory are whole vectors: one that begins at a multiple of its length is read without a mask, whether
// all of its lanes exist or not. Others may end behind the last row, and are read under one.

// Vectors of a piece of the contraction begin at multiples of 3: the last one at 30 of 32.
// CHECK-LABEL: kernel.func @pieces
// CHECK:       %[[ROW:.*]] = kernel.alloc : <1x32xf32, private>
// CHECK:       scf.for %{{.*}} = %c0 to %c31 step %c3 {
// CHECK:         %[[MASK:.*]] = vector.create_mask
// CHECK:         kernel.load %[[ROW]][%c0, %{{.*}}] mask %[[MASK]] : vector<4xi1>
kernel.func @pieces(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %c: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<0, private>, #kernel.block_step<<1 x 2 along depth, rows 1, depth 3>>]>} {
  %c0 = arith.constant 0 : index
  %va = kernel.view %a map <[<[1, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x31xf32, global>
  %vb = kernel.view %b map <[<[31, 2] strides [2, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<31x2xf32, global>
  %vc = kernel.view %c map <[<[1, 2] strides [2, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x2xf32, global>
  %l = kernel.load %va[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<1x31xf32, global> -> tensor<1x31xf32>
  %r = kernel.load %vb[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<31x2xf32, global> -> tensor<31x2xf32>
  %z = arith.constant dense<0.0> : tensor<1x2xf32>
  %d = kernel.dot %l, %r, %z : tensor<1x31xf32>, tensor<31x2xf32> -> tensor<1x2xf32>
  kernel.store %d, %vc[%c0, %c0] in_bounds [true, true] : tensor<1x2xf32>, !kernel.view<1x2xf32, global>
  kernel.return
}

// Of pieces that are whole vectors the last one ends inside of the row, though its length is not known.
// CHECK-LABEL: kernel.func @whole_pieces
// CHECK:       %[[ROW:.*]] = kernel.alloc : <1x32xf32, private>
// CHECK:       scf.for %{{.*}} = %c0 to %c31 step %c8 {
// CHECK:         arith.remui
// CHECK-NOT:     kernel.load %[[ROW]]{{.*}} mask
// CHECK:         vector.create_mask
// CHECK-NOT:     kernel.load %[[ROW]]{{.*}} mask
// CHECK:         kernel.load %[[ROW]]{{.*}} : <1x32xf32, private> -> vector<4xf32>
// CHECK-NOT:     kernel.load %[[ROW]]{{.*}} mask
// CHECK:       kernel.return
kernel.func @whole_pieces(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %c: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<0, private>, #kernel.block_step<<1 x 2 along depth, rows 1, depth 8>>]>} {
  %c0 = arith.constant 0 : index
  %va = kernel.view %a map <[<[1, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x31xf32, global>
  %vb = kernel.view %b map <[<[31, 2] strides [2, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<31x2xf32, global>
  %vc = kernel.view %c map <[<[1, 2] strides [2, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x2xf32, global>
  %l = kernel.load %va[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<1x31xf32, global> -> tensor<1x31xf32>
  %r = kernel.load %vb[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<31x2xf32, global> -> tensor<31x2xf32>
  %z = arith.constant dense<0.0> : tensor<1x2xf32>
  %d = kernel.dot %l, %r, %z : tensor<1x31xf32>, tensor<31x2xf32> -> tensor<1x2xf32>
  kernel.store %d, %vc[%c0, %c0] in_bounds [true, true] : tensor<1x2xf32>, !kernel.view<1x2xf32, global>
  kernel.return
}

// Blocks of columns that are not: the last vector of the last one begins at 30 of 32.
// CHECK-LABEL: kernel.func @columns
// CHECK:       %[[ROWS:.*]] = kernel.alloc : <3x32xf32, private>
// CHECK:       kernel.load %[[ROWS]][%{{.*}}, %c26] : <3x32xf32, private> -> vector<4xf32>
// CHECK-NEXT:  kernel.load %[[ROWS]][%{{.*}}, %c30] mask %{{.*}} : vector<4xi1>
kernel.func @columns(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %c: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<1, private>, #kernel.block_step<<1 x 13, rows 1, depth 3>>]>} {
  %c0 = arith.constant 0 : index
  %va = kernel.view %a map <[<[1, 3] strides [3, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x3xf32, global>
  %vb = kernel.view %b map <[<[3, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<3x31xf32, global>
  %vc = kernel.view %c map <[<[1, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x31xf32, global>
  %l = kernel.load %va[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<1x3xf32, global> -> tensor<1x3xf32>
  %r = kernel.load %vb[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<3x31xf32, global> -> tensor<3x31xf32>
  %z = arith.constant dense<0.0> : tensor<1x31xf32>
  %d = kernel.dot %l, %r, %z : tensor<1x3xf32>, tensor<3x31xf32> -> tensor<1x31xf32>
  kernel.store %d, %vc[%c0, %c0] in_bounds [true, true] : tensor<1x31xf32>, !kernel.view<1x31xf32, global>
  kernel.return
}

// And ones that are.
// CHECK-LABEL: kernel.func @whole_columns
// CHECK:       %[[ROWS:.*]] = kernel.alloc : <3x32xf32, private>
// CHECK-NOT:   kernel.load %[[ROWS]]{{.*}} mask
// CHECK:       kernel.load %[[ROWS]][%{{.*}}, %c28] : <3x32xf32, private> -> vector<4xf32>
// CHECK-NOT:   kernel.load %[[ROWS]]{{.*}} mask
// CHECK:       kernel.return
kernel.func @whole_columns(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %c: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.stage_step<1, private>, #kernel.block_step<<1 x 12, rows 1, depth 3>>]>} {
  %c0 = arith.constant 0 : index
  %va = kernel.view %a map <[<[1, 3] strides [3, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x3xf32, global>
  %vb = kernel.view %b map <[<[3, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<3x31xf32, global>
  %vc = kernel.view %c map <[<[1, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1x31xf32, global>
  %l = kernel.load %va[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<1x3xf32, global> -> tensor<1x3xf32>
  %r = kernel.load %vb[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<3x31xf32, global> -> tensor<3x31xf32>
  %z = arith.constant dense<0.0> : tensor<1x31xf32>
  %d = kernel.dot %l, %r, %z : tensor<1x3xf32>, tensor<3x31xf32> -> tensor<1x31xf32>
  kernel.store %d, %vc[%c0, %c0] in_bounds [true, true] : tensor<1x31xf32>, !kernel.view<1x31xf32, global>
  kernel.return
}
