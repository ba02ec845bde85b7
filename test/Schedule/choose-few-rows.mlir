// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-schedule-choose | FileCheck %s

!x = !kernel.buffer<bf16, global>

// 26 rows are filled up to the 32 of two registers of the matrix unit.
// CHECK-LABEL: kernel.func @rows26
// CHECK-SAME: #kernel.block_step<<32 x 32, rows 32, depth 512, pack lhs rhs, narrow>>
kernel.func @rows26(%x: !x, %w: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[26, 512] strides [512, 1]>]> : !x -> !kernel.view<26x512xbf16, global>
  %b = kernel.view %w map <[<[512, 256] strides [256, 1]>]> : !x -> !kernel.view<512x256xbf16, global>
  %c = kernel.view %y map <[<[26, 256] strides [256, 1]>]> : !x -> !kernel.view<26x256xbf16, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<26x512xbf16, global> -> tensor<26x512xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<512x256xbf16, global> -> tensor<512x256xbf16>
  %z = arith.constant dense<0.0> : tensor<26x256xf32>
  %d = kernel.dot %at, %bt, %z : tensor<26x512xbf16>, tensor<512x256xbf16> -> tensor<26x256xf32>
  %e = arith.truncf %d : tensor<26x256xf32> to tensor<26x256xbf16>
  kernel.store %e, %c[%c0, %c0] in_bounds [true, true] : tensor<26x256xbf16>, !kernel.view<26x256xbf16, global>
  kernel.return
}

// 16 rows take one.
// CHECK-LABEL: kernel.func @rows16
// CHECK-SAME: #kernel.block_step<<16 x 32, rows 16, depth 512, pack rhs, narrow>>
kernel.func @rows16(%x: !x, %w: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[16, 512] strides [512, 1]>]> : !x -> !kernel.view<16x512xbf16, global>
  %b = kernel.view %w map <[<[512, 256] strides [1, 512]>]> : !x -> !kernel.view<512x256xbf16, global>
  %c = kernel.view %y map <[<[16, 256] strides [256, 1]>]> : !x -> !kernel.view<16x256xbf16, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<16x512xbf16, global> -> tensor<16x512xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<512x256xbf16, global> -> tensor<512x256xbf16>
  %z = arith.constant dense<0.0> : tensor<16x256xf32>
  %d = kernel.dot %at, %bt, %z : tensor<16x512xbf16>, tensor<512x256xbf16> -> tensor<16x256xf32>
  %e = arith.truncf %d : tensor<16x256xf32> to tensor<16x256xbf16>
  kernel.store %e, %c[%c0, %c0] in_bounds [true, true] : tensor<16x256xbf16>, !kernel.view<16x256xbf16, global>
  kernel.return
}

// Fewer are left to vectors. Both factors lie along the contraction; the left one, patches of an image, is packed for it.
// CHECK-LABEL: kernel.func @patches
// CHECK-SAME: #kernel.block_step<<5 x 5 along depth, rows 10, depth 512, pack lhs>>
kernel.func @patches(%x: !x, %w: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[9, 512] strides [512, 1]>, <[3, 3, 2, 2, 128] strides [1792, 256, 896, 128, 1]>]> : !x -> !kernel.view<9x512xbf16, global>
  %b = kernel.view %w map <[<[512, 256] strides [1, 512]>]> : !x -> !kernel.view<512x256xbf16, global>
  %c = kernel.view %y map <[<[9, 256] strides [256, 1]>]> : !x -> !kernel.view<9x256xbf16, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<9x512xbf16, global> -> tensor<9x512xbf16>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<512x256xbf16, global> -> tensor<512x256xbf16>
  %z = arith.constant dense<0.0> : tensor<9x256xf32>
  %d = kernel.dot %at, %bt, %z : tensor<9x512xbf16>, tensor<512x256xbf16> -> tensor<9x256xf32>
  %e = arith.truncf %d : tensor<9x256xf32> to tensor<9x256xbf16>
  kernel.store %e, %c[%c0, %c0] in_bounds [true, true] : tensor<9x256xbf16>, !kernel.view<9x256xbf16, global>
  kernel.return
}
