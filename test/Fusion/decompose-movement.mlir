// RUN: zyx-opt %s --zyx-fusion-decompose-movement --canonicalize | FileCheck %s --check-prefixes=CHECK,APART
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-decompose-movement --canonicalize | FileCheck %s --check-prefixes=CHECK,JOINED

// CHECK-LABEL: func.func @concat
// CHECK-DAG: %[[END:.*]] = graph.constant dense<2> : tensor<5xi32>
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[A:.*]] = graph.pad %arg0, %[[ZERO]] low = [0] high = [3] interior = [0] : tensor<2xf32> -> tensor<5xf32>
// CHECK: %[[B:.*]] = graph.pad %arg1, %[[ZERO]] low = [2] high = [0] interior = [0] : tensor<3xf32> -> tensor<5xf32>
// CHECK: %[[I:.*]] = graph.iota dim = 0 : tensor<5xi32>
// CHECK: %[[C:.*]] = graph.binary lt %[[I]], %[[END]] : tensor<5xi32>
// CHECK: %[[S:.*]] = graph.select %[[C]], %[[A]], %[[B]] : tensor<5xf32>
// CHECK: return %[[S]]
func.func @concat(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %0 = graph.concat %a, %b dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Each part is three selects away at most, not four.
// CHECK-LABEL: func.func @concat_by_halves
// CHECK: %[[AB:.*]] = graph.select %{{.*}}, %[[A:.*]], %[[B:.*]] : tensor<5xf32>
// CHECK: %[[DE:.*]] = graph.select
// CHECK: %[[CDE:.*]] = graph.select %{{.*}}, %{{.*}}, %[[DE]]
// CHECK: %[[ALL:.*]] = graph.select %{{.*}}, %[[AB]], %[[CDE]]
// CHECK: return %[[ALL]]
func.func @concat_by_halves(%a: tensor<1xf32>, %b: tensor<1xf32>, %c: tensor<1xf32>, %d: tensor<1xf32>, %e: tensor<1xf32>) -> tensor<5xf32> {
  %0 = graph.concat %a, %b, %c, %d, %e dim = 0 : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @between
// CHECK: %[[FILL:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK: %[[R:.*]] = graph.reshape %arg0 : tensor<4x3xf32> -> tensor<1x4x1x3xf32>
// CHECK: %[[P:.*]] = graph.pad %[[R]], %[[FILL]] low = [0, 0, 0, 0] high = [0, 0, 2, 0] interior = [0, 0, 0, 0] : tensor<1x4x1x3xf32> -> tensor<1x4x3x3xf32>
// CHECK: %[[A:.*]] = graph.reshape %[[P]] : tensor<1x4x3x3xf32> -> tensor<12x3xf32>
// CHECK: %[[B:.*]] = graph.pad %[[A]], %[[FILL]] low = [-1, 1] high = [0, 0] interior = [0, 0] : tensor<12x3xf32> -> tensor<11x4xf32>
// CHECK: return %[[B]]
func.func @between(%x: tensor<4x3xf32>) -> tensor<11x4xf32> {
  %c = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.pad %x, %c low = [-1, 1] high = [2, 0] interior = [2, 0] : tensor<4x3xf32> -> tensor<11x4xf32>
  return %0 : tensor<11x4xf32>
}

// CHECK-LABEL: func.func @computed_fill
// CHECK-DAG: %[[TWO:.*]] = graph.constant dense<2> : tensor<9xi32>
// CHECK-DAG: %[[EIGHT:.*]] = graph.constant dense<8> : tensor<9xi32>
// CHECK-DAG: %[[ONE:.*]] = graph.constant dense<1> : tensor<9xi32>
// CHECK: %[[P:.*]] = graph.pad %{{.*}}, %{{.*}} low = [1] high = [0] interior = [0] : tensor<8xf32> -> tensor<9xf32>
// CHECK: %[[I:.*]] = graph.iota dim = 0 : tensor<9xi32>
// CHECK: %[[L:.*]] = graph.binary ge %[[I]], %[[ONE]]
// CHECK: %[[H:.*]] = graph.binary lt %[[I]], %[[EIGHT]]
// CHECK: %[[LH:.*]] = graph.binary and %[[L]], %[[H]]
// CHECK: %[[R:.*]] = graph.binary rem %[[I]], %[[TWO]]
// CHECK: %[[E:.*]] = graph.binary eq %[[R]], %[[ONE]]
// CHECK: %[[C:.*]] = graph.binary and %[[LH]], %[[E]]
// CHECK: %[[F:.*]] = graph.expand
// CHECK: graph.select %[[C]], %[[P]], %[[F]]
func.func @computed_fill(%x: tensor<4xf32>, %fill: tensor<f32>) -> tensor<9xf32> {
  %0 = graph.pad %x, %fill low = [1] high = [1] interior = [1] : tensor<4xf32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// CHECK-LABEL: func.func @two_fills
// CHECK-DAG: %[[B:.*]] = graph.constant dense<2.000000e+00> : tensor<6xf32>
// CHECK-DAG: %[[A:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[P:.*]] = graph.pad %arg0, %[[A]] low = [1]
// CHECK: %[[Q:.*]] = graph.pad %[[P]], %[[A]] low = [1]
// CHECK: graph.select %{{.*}}, %[[Q]], %[[B]] : tensor<6xf32>
func.func @two_fills(%x: tensor<4xf32>) -> tensor<6xf32> {
  %a = graph.constant dense<1.0> : tensor<f32>
  %b = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.pad %x, %a low = [1] high = [0] interior = [0] : tensor<4xf32> -> tensor<5xf32>
  %1 = graph.pad %0, %b low = [1] high = [0] interior = [0] : tensor<5xf32> -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// Out of range a gather reads 0, and so it reads nothing that is padded with 1.
// CHECK-LABEL: func.func @gathered
// CHECK-DAG: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<5xf32>
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[P:.*]] = graph.pad %arg0, %[[ZERO]]
// CHECK: %[[S:.*]] = graph.select %{{.*}}, %[[P]], %[[ONE]]
// CHECK: graph.gather %[[S]]
func.func @gathered(%x: tensor<4xf32>, %i: tensor<3xi32>) -> tensor<3xf32> {
  %a = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.pad %x, %a low = [1] high = [0] interior = [0] : tensor<4xf32> -> tensor<5xf32>
  %1 = graph.gather %0[%i] dim = 0 : (tensor<5xf32>, tensor<3xi32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// Loops over scalars read memory alone, so that they read no pad, whatever its fill and the views
// between: a select of all elements is stored for them.
// CHECK-LABEL: func.func @scanned
// CHECK: %[[P:.*]] = graph.pad %arg0
// CHECK: %[[S:.*]] = graph.select %{{.*}}, %[[P]], %{{.*}} : tensor<5xf32>
// CHECK: graph.scan add %[[S]] dim = 0
func.func @scanned(%x: tensor<4xf32>) -> tensor<5xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [1] high = [0] interior = [0] : tensor<4xf32> -> tensor<5xf32>
  %1 = graph.scan add %0 dim = 0 : tensor<5xf32>
  return %1 : tensor<5xf32>
}

// CHECK-LABEL: func.func @sorted
// CHECK: %[[P:.*]] = graph.pad %arg0
// CHECK: %[[S:.*]] = graph.select %{{.*}}, %[[P]], %{{.*}} : tensor<2x5xf32>
// CHECK: %[[T:.*]] = graph.permute %[[S]]
// CHECK: %[[R:.*]] = graph.reshape %[[T]]
// CHECK: graph.sort values %[[R]] dim = 0
func.func @sorted(%x: tensor<2x4xf32>) -> tensor<10xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.pad %x, %zero low = [0, 0] high = [0, 1] interior = [0, 0] : tensor<2x4xf32> -> tensor<2x5xf32>
  %1 = graph.permute %0 order = [1, 0] : tensor<2x5xf32> -> tensor<5x2xf32>
  %2 = graph.reshape %1 : tensor<5x2xf32> -> tensor<10xf32>
  %3 = graph.sort values %2 dim = 0 : tensor<10xf32> -> tensor<10xf32>
  return %3 : tensor<10xf32>
}

// Each operand of a scatter; what only removes has all its elements.
// CHECK-LABEL: func.func @scattered
// CHECK: %[[X:.*]] = graph.select {{.*}} : tensor<6xf32>
// CHECK: %[[I:.*]] = graph.select {{.*}} : tensor<4xi32>
// CHECK: %[[U:.*]] = graph.select {{.*}} : tensor<4xf32>
// CHECK: graph.scatter add %[[X]][%[[I]]], %[[U]] dim = 0
// CHECK: %[[C:.*]] = graph.pad %arg0
// CHECK-NEXT: graph.scatter add %[[C]][
func.func @scattered(%x: tensor<5xf32>, %i: tensor<3xi32>, %u: tensor<3xf32>) -> (tensor<6xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %none = graph.constant dense<0> : tensor<i32>
  %0 = graph.pad %x, %zero low = [1] high = [0] interior = [0] : tensor<5xf32> -> tensor<6xf32>
  %1 = graph.pad %i, %none low = [0] high = [1] interior = [0] : tensor<3xi32> -> tensor<4xi32>
  %2 = graph.pad %u, %zero low = [1] high = [0] interior = [0] : tensor<3xf32> -> tensor<4xf32>
  %3 = graph.scatter add %0[%1], %2 dim = 0 : (tensor<6xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<6xf32>
  %4 = graph.pad %x, %zero low = [-1] high = [0] interior = [0] : tensor<5xf32> -> tensor<4xf32>
  %5 = graph.scatter add %4[%i], %u dim = 0 : (tensor<4xf32>, tensor<3xi32>, tensor<3xf32>) -> tensor<4xf32>
  return %3, %5 : tensor<6xf32>, tensor<4xf32>
}

// Constants of one element have no memory to read; what only removes needs no fill.
// CHECK-LABEL: func.func @of_splat
// CHECK-DAG: %[[TWO:.*]] = graph.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[FOUR:.*]] = graph.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK: %[[F:.*]] = graph.expand
// CHECK: %[[S:.*]] = graph.select %{{.*}}, %[[FOUR]], %[[F]]
// CHECK: return %[[S]], %[[TWO]]
func.func @of_splat(%fill: tensor<f32>) -> (tensor<4xf32>, tensor<2xf32>) {
  %x = graph.constant dense<1.0> : tensor<3xf32>
  %0 = graph.pad %x, %fill low = [1] high = [0] interior = [0] : tensor<3xf32> -> tensor<4xf32>
  %1 = graph.pad %x, %fill low = [-1] high = [0] interior = [0] : tensor<3xf32> -> tensor<2xf32>
  return %0, %1 : tensor<4xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @nothing
// CHECK: %[[NONE:.*]] = graph.constant dense<{{.*}}> : tensor<0xf32>
// CHECK-NEXT: return %arg1, %arg1, %[[NONE]]
func.func @nothing(%x: tensor<0xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<0xf32>) {
  %0 = graph.concat %x, %y, %x dim = 0 : (tensor<0xf32>, tensor<2xf32>, tensor<0xf32>) -> tensor<2xf32>
  %1 = graph.transfer %y to "cuda:1" : tensor<2xf32>
  %2 = graph.concat %x, %x dim = 0 : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<0xf32>
}

// On a GPU a part that is a concat is no value of its own, unless something else reads it.
// CHECK-LABEL: func.func @nested
// JOINED: graph.pad %arg0, {{.*}} low = [0, 0] high = [1, 1]
// JOINED: graph.pad %arg1, {{.*}} low = [0, 1] high = [1, 0]
// JOINED: %[[FIRST:.*]] = graph.select
// JOINED: graph.pad %arg2, {{.*}} low = [1, 0] high = [0, 1]
// JOINED: graph.pad %arg3, {{.*}} low = [1, 1] high = [0, 0]
// JOINED: %[[SECOND:.*]] = graph.select
// JOINED: %[[ALL:.*]] = graph.select %{{.*}}, %[[FIRST]], %[[SECOND]]
// JOINED: return %[[ALL]]
// APART: %[[FIRST:.*]] = graph.select
// APART: %[[SECOND:.*]] = graph.select
// APART: graph.pad %[[FIRST]], {{.*}} low = [0, 0] high = [1, 0]
// APART: graph.pad %[[SECOND]], {{.*}} low = [1, 0] high = [0, 0]
func.func @nested(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>, %c: tensor<1x1xf32>, %d: tensor<1x1xf32>) -> tensor<2x2xf32> {
  %0 = graph.concat %a, %b dim = 1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %1 = graph.concat %c, %d dim = 1 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
  %2 = graph.concat %0, %1 dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @nested_twice
// CHECK: %[[INNER:.*]] = graph.select
// CHECK-DAG: graph.pad %[[INNER]], {{.*}} low = [0] high = [1]
// CHECK: return %{{.*}}, %[[INNER]]
func.func @nested_twice(%a: tensor<1xf32>, %b: tensor<1xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0 = graph.concat %a, %b dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %1 = graph.concat %0, %a dim = 0 : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  return %1, %0 : tensor<3xf32>, tensor<2xf32>
}

// No more than three are made together: each element looks at all parts.
// CHECK-LABEL: func.func @nested_deep
// JOINED: graph.select
// JOINED: %[[DEEP:.*]] = graph.select
// JOINED-NOT: graph.select
// JOINED: graph.pad %[[DEEP]], {{.*}} low = [0] high = [3]
// JOINED-COUNT-3: graph.select
// JOINED-NOT: graph.select
// CHECK: return
func.func @nested_deep(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<6xf32> {
  %0 = graph.concat %a, %b dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %1 = graph.concat %0, %b dim = 0 : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  %2 = graph.concat %1, %b dim = 0 : (tensor<3xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = graph.concat %2, %b dim = 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  %4 = graph.concat %3, %b dim = 0 : (tensor<5xf32>, tensor<1xf32>) -> tensor<6xf32>
  return %4 : tensor<6xf32>
}

// Pairs that are computed by few ops: threads in lockstep compute both and choose one, where pads would have both stored.
// CHECK-LABEL: func.func @pairs
// APART-COUNT-2: graph.pad
// APART:         graph.select
// JOINED-NOT:    graph.pad
// JOINED:        %[[A:.*]] = graph.expand {{.*}} -> tensor<5x8x2xf32>
// JOINED:        %[[B:.*]] = graph.expand {{.*}} -> tensor<5x8x2xf32>
// JOINED:        graph.select %{{.*}}, %[[A]], %[[B]]
func.func @pairs(%x: tensor<5x8xf32>, %y: tensor<5x8xf32>) -> tensor<5x16xf32> {
  %a = graph.binary mul %x, %y : tensor<5x8xf32>
  %b = graph.binary sub %x, %y : tensor<5x8xf32>
  %a1 = graph.reshape %a : tensor<5x8xf32> -> tensor<5x8x1xf32>
  %b1 = graph.reshape %b : tensor<5x8xf32> -> tensor<5x8x1xf32>
  %p = graph.concat %a1, %b1 dim = 2 : (tensor<5x8x1xf32>, tensor<5x8x1xf32>) -> tensor<5x8x2xf32>
  %r = graph.reshape %p : tensor<5x8x2xf32> -> tensor<5x16xf32>
  return %r : tensor<5x16xf32>
}

// So do zeros between elements, and in front of them, which are two pads.
// CHECK-LABEL: func.func @every_second
// APART-COUNT-2: graph.pad
// JOINED-NOT:    graph.pad
// JOINED:        %[[PLACE:.*]] = graph.iota dim = 2 : tensor<5x8x2xi32>
// JOINED:        %[[IS_OWN:.*]] = graph.binary ge %[[PLACE]]
// JOINED:        %[[CHOSEN:.*]] = graph.select %[[IS_OWN]]
// JOINED:        graph.reshape %[[CHOSEN]] : tensor<5x8x2xf32> -> tensor<5x16xf32>
func.func @every_second(%x: tensor<5x8xf32>) -> tensor<5x16xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %a = graph.unary neg %x : tensor<5x8xf32>
  %p = graph.pad %a, %zero low = [0, 0] high = [0, 0] interior = [0, 1] : tensor<5x8xf32> -> tensor<5x15xf32>
  %q = graph.pad %p, %zero low = [0, 1] high = [0, 0] interior = [0, 0] : tensor<5x15xf32> -> tensor<5x16xf32>
  return %q : tensor<5x16xf32>
}
