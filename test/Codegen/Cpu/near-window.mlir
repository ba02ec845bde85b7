// RUN: zyx-opt %s -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// Windows of 3x3 that are not packed: 4 channels of 8 lines of 28 positions come into memory of the program, with
// padding, and lines of two vectors. A tile reads them there, without asking what exists. Its loop takes a channel's
// window in each round, whose places are known: the second row of it lies 32 elements behind the first one.
// CHECK-LABEL: kernel.func @lines
// CHECK: %[[NEAR:.*]] = kernel.alloc : <1312xf32, private>
// CHECK: scf.if
// CHECK: kernel.load %{{.*}} mask %{{.*}} : <{{[0-9]+}}xf32, global> -> vector<16xf32>
// CHECK: kernel.store %{{.*}}, %[[NEAR]][%{{.*}}] : vector<16xf32>, <1312xf32, private>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c36{{.*}} step %c9
// CHECK-COUNT-18: kernel.load %[[NEAR]][%{{.*}}] : <1312xf32, private> -> vector<16xf32>
// CHECK-NOT: kernel.load %[[NEAR]]
// CHECK: kernel.store %{{.*}} mask
kernel.func @lines(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ws = kernel.view %w map <[<[6, 36] strides [36, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6x36xf32, global>
  %xs = kernel.view %x map <[<[36, 224] strides [224, 1]>, <[4, 3, 3, 8, 28] strides [300, 30, 1, 30, 1]>, <[4, 10, 30] strides [224, 28, 1] offset -29 valid [0 : 4, 1 : 9, 1 : 29]>]> : !kernel.buffer<f32, global> -> !kernel.view<36x224xf32, global>
  %ys = kernel.view %y map <[<[6, 224] strides [224, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6x224xf32, global>
  %a = kernel.load %ws[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<6x36xf32, global> -> tensor<6x36xf32>
  %b = kernel.load %xs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<36x224xf32, global> -> tensor<36x224xf32>
  %zero = arith.constant dense<0.0> : tensor<6x224xf32>
  %d = kernel.dot %a, %b, %zero blocking <6 x 28, rows 6, depth 36> : tensor<6x36xf32>, tensor<36x224xf32> -> tensor<6x224xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<6x224xf32>, !kernel.view<6x224xf32, global>
  kernel.return
}

// Tiles of 16 positions would go beyond a line: elements are looked up one by one.
// CHECK-LABEL: kernel.func @across
// CHECK-NOT: kernel.alloc
// CHECK: kernel.return
kernel.func @across(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %ws = kernel.view %w map <[<[6, 36] strides [36, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6x36xf32, global>
  %xs = kernel.view %x map <[<[36, 224] strides [224, 1]>, <[4, 3, 3, 8, 28] strides [300, 30, 1, 30, 1]>, <[4, 10, 30] strides [224, 28, 1] offset -29 valid [0 : 4, 1 : 9, 1 : 29]>]> : !kernel.buffer<f32, global> -> !kernel.view<36x224xf32, global>
  %ys = kernel.view %y map <[<[6, 224] strides [224, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<6x224xf32, global>
  %a = kernel.load %ws[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<6x36xf32, global> -> tensor<6x36xf32>
  %b = kernel.load %xs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<36x224xf32, global> -> tensor<36x224xf32>
  %zero = arith.constant dense<0.0> : tensor<6x224xf32>
  %d = kernel.dot %a, %b, %zero blocking <6 x 16, rows 6, depth 36> : tensor<6x36xf32>, tensor<36x224xf32> -> tensor<6x224xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<6x224xf32>, !kernel.view<6x224xf32, global>
  kernel.return
}
