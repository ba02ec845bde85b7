// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// Windows of neighbouring rows overlap: a thread has four of them, with a vector of eight columns each.
// CHECK-LABEL: kernel.func @first
// CHECK-SAME: [#kernel.grid_step<"b", 1>, #kernel.grid_step<"c", 1>, #kernel.grid_step<"i", 4>, #kernel.grid_step<"j", 8>
!b = !kernel.buffer<bf16, global>
kernel.func @first(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[32, 256, 56, 56, 3, 3] strides [950272, 3712, 64, 1, 64, 1]>]> : !b -> !kernel.view<32x256x56x56x3x3xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["b", "c", "i", "j", "k", "l"] : !kernel.view<32x256x56x56x3x3xbf16, global> -> tensor<32x256x56x56x3x3xbf16>
  %2 = kernel.reduce max %1 dims [4, 5] : tensor<32x256x56x56x3x3xbf16> -> tensor<32x256x56x56xbf16>
  %3 = kernel.view %y map <[<[32, 256, 56, 56] strides [802816, 3136, 56, 1]>]> : !b -> !kernel.view<32x256x56x56xbf16, global>
  kernel.store %2, %3[%c0, %c0, %c0, %c0] : tensor<32x256x56x56xbf16>, !kernel.view<32x256x56x56xbf16, global>
  kernel.return
}

// With channels last neighbouring pixels are rows.
// CHECK-LABEL: kernel.func @last
// CHECK-SAME: [#kernel.grid_step<"b", 1>, #kernel.grid_step<"i", 1>, #kernel.grid_step<"j", 4>, #kernel.grid_step<"c", 8>
kernel.func @last(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[32, 256, 56, 56, 3, 3] strides [861184, 1, 14848, 256, 14848, 256]>]> : !b -> !kernel.view<32x256x56x56x3x3xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["b", "c", "i", "j", "k", "l"] : !kernel.view<32x256x56x56x3x3xbf16, global> -> tensor<32x256x56x56x3x3xbf16>
  %2 = kernel.reduce max %1 dims [4, 5] : tensor<32x256x56x56x3x3xbf16> -> tensor<32x256x56x56xbf16>
  %3 = kernel.view %y map <[<[32, 256, 56, 56] strides [802816, 1, 14336, 256]>]> : !b -> !kernel.view<32x256x56x56xbf16, global>
  kernel.store %2, %3[%c0, %c0, %c0, %c0] : tensor<32x256x56x56xbf16>, !kernel.view<32x256x56x56xbf16, global>
  kernel.return
}

// Of few results threads are worth more than rows.
// CHECK-LABEL: kernel.func @few
// CHECK-SAME: [#kernel.grid_step<"c", 1>, #kernel.grid_step<"i", 1>, #kernel.grid_step<"j", 8>
kernel.func @few(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[64, 56, 56, 3, 3] strides [3712, 64, 1, 64, 1]>]> : !b -> !kernel.view<64x56x56x3x3xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0] axes ["c", "i", "j", "k", "l"] : !kernel.view<64x56x56x3x3xbf16, global> -> tensor<64x56x56x3x3xbf16>
  %2 = kernel.reduce max %1 dims [3, 4] : tensor<64x56x56x3x3xbf16> -> tensor<64x56x56xbf16>
  %3 = kernel.view %y map <[<[64, 56, 56] strides [3136, 56, 1]>]> : !b -> !kernel.view<64x56x56xbf16, global>
  kernel.store %2, %3[%c0, %c0, %c0] : tensor<64x56x56xbf16>, !kernel.view<64x56x56xbf16, global>
  kernel.return
}
