// Reductions that follow each other are one walk of what they read.
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused | FileCheck %s

!h = !kernel.buffer<f16, global>
!f = !kernel.buffer<f32, global>
!rows = !kernel.view<4x128x144x196xf16, global>
!sums = !kernel.view<4x144xf32, global>

// Two sums of the same images, as of gradients and of their products: nothing is read twice, and shared memory stays free.
// CHECK-LABEL: kernel.func @together
// CHECK-NOT:     kernel.convert
// CHECK:         kernel.return
kernel.func @together(%x: !h, %y: !h, %a: !f, %b: !f) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[4, 128, 144, 196] strides [3612672, 28224, 196, 1]>]> : !h -> !rows
  %ys = kernel.view %y map <[<[4, 128, 144, 196] strides [3612672, 28224, 196, 1]>]> : !h -> !rows
  %as = kernel.view %a map <[<[4, 144] strides [144, 1]>]> : !f -> !sums
  %bs = kernel.view %b map <[<[4, 144] strides [144, 1]>]> : !f -> !sums
  kernel.grid (%i, %j) in [4, 144] step [1, 1] {
    %0 = kernel.load %xs[%i, %c0, %j, %c0] axes ["i", "k", "j", "l"] in_bounds [true, true, true, true] : !rows -> tensor<1x128x1x196xf16>
    %1 = kernel.load %ys[%i, %c0, %j, %c0] axes ["i", "k", "j", "l"] in_bounds [true, true, true, true] : !rows -> tensor<1x128x1x196xf16>
    %2 = arith.extf %0 : tensor<1x128x1x196xf16> to tensor<1x128x1x196xf32>
    %3 = arith.extf %1 : tensor<1x128x1x196xf16> to tensor<1x128x1x196xf32>
    %4 = kernel.reduce add %2 dims [1, 3] : tensor<1x128x1x196xf32> -> tensor<1x1xf32>
    %5 = arith.mulf %2, %3 : tensor<1x128x1x196xf32>
    %6 = kernel.reduce add %5 dims [1, 3] : tensor<1x128x1x196xf32> -> tensor<1x1xf32>
    kernel.store %4, %as[%i, %j] in_bounds [true, true] : tensor<1x1xf32>, !sums
    kernel.store %6, %bs[%i, %j] in_bounds [true, true] : tensor<1x1xf32>, !sums
  }
  kernel.return
}

// The second sum waits for the first one: what both read is kept.
// CHECK-LABEL: kernel.func @waits
// CHECK:         kernel.convert %{{.*}} -> tensor<1x128x1x196xf16, #kernel.memory<shared>>
// CHECK:         kernel.return
kernel.func @waits(%x: !h, %b: !f) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[4, 128, 144, 196] strides [3612672, 28224, 196, 1]>]> : !h -> !rows
  %bs = kernel.view %b map <[<[4, 144] strides [144, 1]>]> : !f -> !sums
  kernel.grid (%i, %j) in [4, 144] step [1, 1] {
    %0 = kernel.load %xs[%i, %c0, %j, %c0] axes ["i", "k", "j", "l"] in_bounds [true, true, true, true] : !rows -> tensor<1x128x1x196xf16>
    %1 = arith.extf %0 : tensor<1x128x1x196xf16> to tensor<1x128x1x196xf32>
    %2 = kernel.reduce add %1 dims [1, 3] : tensor<1x128x1x196xf32> -> tensor<1x1xf32>
    %3 = kernel.broadcast %2 dims [0, 2] : tensor<1x1xf32> -> tensor<1x128x1x196xf32>
    %4 = arith.subf %1, %3 : tensor<1x128x1x196xf32>
    %5 = arith.mulf %4, %4 : tensor<1x128x1x196xf32>
    %6 = kernel.reduce add %5 dims [1, 3] : tensor<1x128x1x196xf32> -> tensor<1x1xf32>
    kernel.store %6, %bs[%i, %j] in_bounds [true, true] : tensor<1x1xf32>, !sums
  }
  kernel.return
}
