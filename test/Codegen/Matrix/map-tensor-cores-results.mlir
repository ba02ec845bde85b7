// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// Two results of one product, which both read an input and share a quotient.

// CHECK-LABEL: kernel.func @gated
// CHECK: kernel.alloc : <2x2x64x64xbf16, shared
// CHECK: kernel.role "consumer"
// Both slots must be empty, and a piece of one result follows the same piece of the other one.
// CHECK: kernel.async_wait pending 0 read
// CHECK: kernel.barrier
// CHECK: %[[SUM:.*]] = kernel.extract {{.*}} -> tensor<64x16xf32
// CHECK: %[[Q:.*]] = arith.divf %[[SUM]]
// CHECK: arith.mulf %{{.*}}, %[[Q]]
// CHECK: kernel.store {{.*}} : tensor<64x16xbf16
// CHECK-NOT: arith.divf
// CHECK: arith.addf %{{.*}}, %[[Q]]
// CHECK: kernel.store {{.*}} : tensor<64x16xbf16
// CHECK: kernel.extract
// CHECK: kernel.async_store
// CHECK: kernel.async_store
!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x128xbf16, global>
kernel.func @gated(%a: !b, %w: !b, %g: !b, %first: !b, %second: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[128, 128] strides [128, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x128xbf16>
  %2 = kernel.view %w map <[<[128, 128] strides [128, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<128x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x128xbf16>, tensor<128x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %g map <[<[128, 128] strides [128, 1]>]> : !b -> !m
  %6 = kernel.load %5[%c0, %c0] axes ["m", "n"] : !m -> tensor<128x128xbf16>
  %7 = arith.extf %6 : tensor<128x128xbf16> to tensor<128x128xf32>
  %8 = arith.divf %4, %7 : tensor<128x128xf32>
  %9 = arith.mulf %7, %8 : tensor<128x128xf32>
  %10 = arith.truncf %9 : tensor<128x128xf32> to tensor<128x128xbf16>
  %11 = kernel.view %first map <[<[128, 128] strides [128, 1]>]> : !b -> !m
  kernel.store %10, %11[%c0, %c0] : tensor<128x128xbf16>, !m
  %12 = arith.addf %7, %8 : tensor<128x128xf32>
  %13 = arith.truncf %12 : tensor<128x128xf32> to tensor<128x128xbf16>
  %14 = kernel.view %second map <[<[128, 128] strides [128, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x128xbf16>, !m
  kernel.return
}


// A factor of each group of 64 columns: pieces lie in one group each, whose number leads the view. Columns behind the
// last group read those of some other.

// CHECK-LABEL: kernel.func @groups
// CHECK: %[[SCALES:.*]] = kernel.view %{{.*}} map <[<[5, 128, 64] strides [1, 5, 0]>]> : {{.*}} -> <5x128x64xbf16, global>
// CHECK: kernel.role "consumer"
// CHECK: %[[GROUP:.*]] = arith.divui %[[COLUMN:.*]], %c64
// CHECK: %[[CLAMPED:.*]] = arith.minui %[[GROUP]], %c4
// CHECK: %[[WITHIN:.*]] = arith.remui %[[COLUMN]], %c64
// CHECK: kernel.load %[[SCALES]][%[[CLAMPED]], %{{.*}}, %[[WITHIN]]]
kernel.func @groups(%a: !b, %w: !b, %s: !b, %y: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[128, 128] strides [128, 1]>]> : !b -> !kernel.view<128x128xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<128x128xbf16, global> -> tensor<128x128xbf16>
  %2 = kernel.view %w map <[<[128, 320] strides [1, 128]>]> : !b -> !kernel.view<128x320xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<128x320xbf16, global> -> tensor<128x320xbf16>
  %z = arith.constant dense<0.0> : tensor<128x320xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x128xbf16>, tensor<128x320xbf16> -> tensor<128x320xf32>
  %5 = kernel.view %s map <[<[128, 320] strides [320, 1]>, <[128, 5, 64] strides [5, 1, 0]>]> : !b -> !kernel.view<128x320xbf16, global>
  %6 = kernel.load %5[%c0, %c0] axes ["m", "n"] : !kernel.view<128x320xbf16, global> -> tensor<128x320xbf16>
  %7 = arith.extf %6 : tensor<128x320xbf16> to tensor<128x320xf32>
  %8 = arith.mulf %4, %7 : tensor<128x320xf32>
  %9 = arith.truncf %8 : tensor<128x320xf32> to tensor<128x320xbf16>
  %10 = kernel.view %y map <[<[128, 320] strides [320, 1]>]> : !b -> !kernel.view<128x320xbf16, global>
  kernel.store %9, %10[%c0, %c0] : tensor<128x320xbf16>, !kernel.view<128x320xbf16, global>
  kernel.return
}
