// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-choose --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_89 -zyx-schedule-choose | FileCheck %s --check-prefix=ADA
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_75 -zyx-schedule-choose --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY75
// RUN: FileCheck %s --check-prefix=TURING --input-file=%t

// Large tiles where there are many.
// CHECK-LABEL: kernel.func @large
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<256, 128, 32, stages 6, group 8 warps 8>]>
// ADA-LABEL: kernel.func @large
// ADA-SAME: tensor_step<{{[0-9]+}}, {{[0-9]+}}, {{32|64}}, stages {{[3-6]}}, group 8 warps {{[48]}}>
// WHY75: large, Remark=" is not multiplied by tensor cores: ", Remark="tensor cores of sm_75 know f16 alone"
// TURING-LABEL: kernel.func @large
// TURING-SAME: grid_step
!b = !kernel.buffer<bf16, global>
!h = !kernel.buffer<f16, global>
!f = !kernel.buffer<f32, global>
!large = !kernel.view<4096x4096xbf16, global>
kernel.func @large(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !large -> tensor<4096x4096xbf16>
  %2 = kernel.view %b map <[<[4096, 4096] strides [1, 4096]>]> : !b -> !large
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !large -> tensor<4096x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<4096x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xf32>
  %5 = arith.truncf %4 : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  %6 = kernel.view %c map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  kernel.store %5, %6[%c0, %c0] : tensor<4096x4096xbf16>, !large
  kernel.return
}

// A few rows: tiles are as high as these, and there are many. Turing has two stages.
// CHECK-LABEL: kernel.func @few
// CHECK-SAME: tensor_step<16, 64, {{32|64}}, stages 6, group 8 warps 4>
// TURING-LABEL: kernel.func @few
// TURING-SAME: tensor_step<16, {{[0-9]+}}, {{32|64}}, stages 2, group 8 warps 4>
!small = !kernel.view<8x512xf16, global>
!right = !kernel.view<512x256xf16, global>
!out = !kernel.view<8x256xf32, global>
kernel.func @few(%a: !h, %b: !h, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[8, 512] strides [512, 1]>]> : !h -> !small
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !small -> tensor<8x512xf16>
  %2 = kernel.view %b map <[<[512, 256] strides [256, 1]>]> : !h -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x256xf16>
  %z = arith.constant dense<0.0> : tensor<8x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<8x512xf16>, tensor<512x256xf16> -> tensor<8x256xf32>
  %6 = kernel.view %c map <[<[8, 256] strides [256, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<8x256xf32>, !out
  kernel.return
}

// CHECK-LABEL: kernel.func @exact
// CHECK-SAME: grid_step
// WHY: exact, Remark=" is not multiplied by tensor cores: ", Remark="f32 with all digits passes through Hopper's copy engine"
!square = !kernel.view<256x256xf32, global>
kernel.func @exact(%a: !f, %b: !f, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 256] strides [256, 1]>]> : !f -> !square
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !square -> tensor<256x256xf32>
  %2 = kernel.view %b map <[<[256, 256] strides [1, 256]>]> : !f -> !square
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !square -> tensor<256x256xf32>
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
  %6 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !f -> !square
  kernel.store %4, %6[%c0, %c0] : tensor<256x256xf32>, !square
  kernel.return
}

// Threads of Turing read whole pieces.
// CHECK-LABEL: kernel.func @ends
// CHECK-SAME: tensor_step
// WHY75: ends, Remark=" is not multiplied by tensor cores: ", Remark="rows of a factor end inside of 16 bytes"
!ends = !kernel.view<64x36xf16, global>
!turned = !kernel.view<36x64xf16, global>
!ended = !kernel.view<64x64xf32, global>
kernel.func @ends(%a: !h, %b: !h, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 36] strides [40, 1]>]> : !h -> !ends
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !ends -> tensor<64x36xf16>
  %2 = kernel.view %b map <[<[36, 64] strides [1, 40]>]> : !h -> !turned
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !turned -> tensor<36x64xf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x36xf16>, tensor<36x64xf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !ended
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !ended
  kernel.return
}
