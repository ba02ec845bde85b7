// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-lay-out-factors --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %t -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s --check-prefix=STEP

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>

plan.func @main(%x: !plan.buffer<bf16[64x16384]> {plan.input = "x"}, %y: !plan.buffer<bf16[4x64x64x128]> {plan.input = "y"},
                %z: !plan.buffer<bf16[4x128x64x64]> {plan.input = "z"}, %o: !plan.buffer<f32[64x512]> {plan.output = "o"},
                %p: !plan.buffer<f32[64x512]> {plan.output = "p"}) {
  %0 = plan.launch @windows ins(%x, %y : !plan.buffer<bf16[64x16384]>, !plan.buffer<bf16[4x64x64x128]>) outs(%o : !plan.buffer<f32[64x512]>)
  %1 = plan.launch @planes ins(%x, %z : !plan.buffer<bf16[64x16384]>, !plan.buffer<bf16[4x128x64x64]>) outs(%p : !plan.buffer<f32[64x512]>)
  plan.return
}

// Windows of channels-last images along all positions: neighbours of a row of windows are in few lines of memory,
// neighbouring positions in one each.
// WHY: windows{{.*}}the right factor
// CHECK-LABEL: kernel.func @windows(
// CHECK: kernel.view %arg1 map <[<[16384, 512] strides [512, 1]>]>
// STEP-LABEL: kernel.func @windows(
// STEP-SAME: tensor_step
!windows_l = !kernel.view<64x16384xbf16, global>
!windows_r = !kernel.view<16384x512xbf16, global>
!windows_y = !kernel.view<64x512xf32, global>
kernel.func @windows(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 16384] strides [16384, 1]>]> : !b -> !windows_l
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !windows_l -> tensor<64x16384xbf16>
  %2 = kernel.view %b map <[<[16384, 512] strides [512, 1]>, <[4, 64, 64, 128, 2, 2] strides [540800, 65, 1, 4225, 65, 1]>, <[4, 128, 65, 65] strides [524288, 1, 8192, 128] valid [0 : 4, 0 : 128, 0 : 64, 0 : 64]>]> : !b -> !windows_r
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !windows_r -> tensor<16384x512xbf16>
  %z = arith.constant dense<0.0> : tensor<64x512xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x16384xbf16>, tensor<16384x512xbf16> -> tensor<64x512xf32>
  %6 = kernel.view %c map <[<[64, 512] strides [512, 1]>]> : !f -> !windows_y
  kernel.store %4, %6[%c0, %c0] : tensor<64x512xf32>, !windows_y
  kernel.return
}

// CHECK-LABEL: kernel.func @windows_rhs(
// CHECK: kernel.view %arg1 map <[<[16384, 512] strides [512, 1]>]>

// Where channels come first, it is the other way.
// WHY: planes{{.*}}the right factor
// CHECK-LABEL: kernel.func @planes(
// CHECK: kernel.view %arg1 map <[<[16384, 512] strides [1, 16384]>]>
// STEP-LABEL: kernel.func @planes(
// STEP-SAME: tensor_step
kernel.func @planes(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 16384] strides [16384, 1]>]> : !b -> !windows_l
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !windows_l -> tensor<64x16384xbf16>
  %2 = kernel.view %b map <[<[16384, 512] strides [512, 1]>, <[4, 64, 64, 128, 2, 2] strides [540800, 65, 1, 4225, 65, 1]>, <[4, 128, 65, 65] strides [524288, 4096, 64, 1] valid [0 : 4, 0 : 128, 0 : 64, 0 : 64]>]> : !b -> !windows_r
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !windows_r -> tensor<16384x512xbf16>
  %z = arith.constant dense<0.0> : tensor<64x512xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x16384xbf16>, tensor<16384x512xbf16> -> tensor<64x512xf32>
  %6 = kernel.view %c map <[<[64, 512] strides [512, 1]>]> : !f -> !windows_y
  kernel.store %4, %6[%c0, %c0] : tensor<64x512xf32>, !windows_y
  kernel.return
}
