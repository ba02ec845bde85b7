// What is slow to compute is kept for later walks in the memory that threads share, in the order in which it is read.
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused | FileCheck %s

!b = !kernel.buffer<bf16, global>
!image = !kernel.view<128x16x64x196xbf16, global>

// A norm of groups of channels that come last: parts of two long dimensions do not stay in registers. The root of the
// variance is one for all, and not slow.
// CHECK-LABEL: kernel.func @images
// CHECK:         %[[NORM:.*]] = arith.mulf %{{.*}}, %{{.*}} : tensor<1x1x64x196xf32>
// CHECK:         %[[SLOW:.*]] = arith.truncf %{{.*}} : tensor<1x1x64x196xf32> to tensor<1x1x64x196xbf16>
// CHECK-NEXT:    %[[TURNED:.*]] = kernel.transpose %[[SLOW]] order [0, 1, 3, 2]
// CHECK-NEXT:    %[[KEPT:.*]] = kernel.convert %[[TURNED]] : tensor<1x1x196x64xbf16> -> tensor<1x1x196x64xbf16, #kernel.memory<shared>>
// CHECK-NOT:     kernel.memory<shared>> -> tensor<1x1x196x64xi1>
// CHECK:         kernel.return
kernel.func @images(%x: !b, %y: !b) attributes {row_groups, threads = 224 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[128, 16, 64, 196] strides [200704, 64, 1, 1024]>]> : !b -> !image
  %ys = kernel.view %y map <[<[128, 16, 64, 196] strides [200704, 64, 1, 1024]>]> : !b -> !image
  kernel.grid (%n, %g) in [128, 16] step [1, 1] {
    %0 = kernel.load %xs[%n, %g, %c0, %c0] axes ["n", "g", "c", "p"] in_bounds [true, true, true, true] : !image -> tensor<1x1x64x196xbf16>
    %1 = arith.extf %0 : tensor<1x1x64x196xbf16> to tensor<1x1x64x196xf32>
    %2 = arith.mulf %1, %1 : tensor<1x1x64x196xf32>
    %3 = kernel.reduce add %2 dims [2, 3] : tensor<1x1x64x196xf32> -> tensor<1x1xf32>
    %4 = math.rsqrt %3 : tensor<1x1xf32>
    %5 = kernel.broadcast %4 dims [0, 1] : tensor<1x1xf32> -> tensor<1x1x64x196xf32>
    %6 = arith.mulf %1, %5 : tensor<1x1x64x196xf32>
    %7 = arith.negf %6 : tensor<1x1x64x196xf32>
    %8 = arith.cmpf olt, %6, %7 : tensor<1x1x64x196xf32>
    %9 = arith.select %8, %6, %7 : tensor<1x1x64x196xi1>, tensor<1x1x64x196xf32>
    %10 = math.exp %9 : tensor<1x1x64x196xf32>
    %11 = arith.divf %10, %1 : tensor<1x1x64x196xf32>
    %12 = arith.truncf %11 : tensor<1x1x64x196xf32> to tensor<1x1x64x196xbf16>
    %13 = arith.extf %12 : tensor<1x1x64x196xbf16> to tensor<1x1x64x196xf32>
    %14 = kernel.reduce add %13 dims [2, 3] : tensor<1x1x64x196xf32> -> tensor<1x1xf32>
    %15 = kernel.broadcast %14 dims [0, 1] : tensor<1x1xf32> -> tensor<1x1x64x196xf32>
    %16 = arith.subf %13, %15 : tensor<1x1x64x196xf32>
    %17 = arith.select %8, %16, %6 : tensor<1x1x64x196xi1>, tensor<1x1x64x196xf32>
    %18 = arith.truncf %17 : tensor<1x1x64x196xf32> to tensor<1x1x64x196xbf16>
    kernel.store %18, %ys[%n, %g, %c0, %c0] in_bounds [true, true, true, true] : tensor<1x1x64x196xbf16>, !image
  }
  kernel.return
}
