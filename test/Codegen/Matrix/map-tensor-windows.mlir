// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse | zyx-translate --kernel-to-launch-info | FileCheck %s --check-prefix=LAUNCH

!b = !kernel.buffer<bf16, global>

// Windows of 3 x 5 of images of 9 x 20 with 64 channels, two and one positions apart, with a padding of 1 in front and
// of 0 and 2 behind: 4 x 19 of each image, the last of which begin at 5 and 17.

// CHECK-LABEL: kernel.func @padded
// CHECK: %[[IMAGES:.*]] = kernel.view %arg0 map <[<[6, 8, 20, 64] strides [11520, 1280, 64, 1]>]>
// CHECK: %[[RING:.*]] = kernel.alloc : <3x128x64xbf16, shared
// The filters are a matrix.
// CHECK: kernel.view %arg1 map <[<[32, 960] strides [960, 1]>]>
// CHECK: scf.for %[[TILE:[a-z0-9]*]] =
// CHECK: scf.for %[[DEPTH:[a-z0-9]*]] = %c0 to %c960 step %c64
// CHECK: kernel.expect {{.*}} bytes 20480
// CHECK: %[[COLUMN:.*]] = arith.remui %[[WINDOW:.*]], %c19
// CHECK: %[[LINE:.*]] = arith.divui %[[WINDOW]], %c19
// CHECK: %[[ROW:.*]] = arith.remui %[[LINE]], %c4
// CHECK: %[[IMAGE:.*]] = arith.divui %[[LINE]], %c4
// CHECK: %[[TWICE:.*]] = arith.muli %[[ROW]], %c2
// CHECK: %[[DOWN:.*]] = arith.addi %[[TWICE]], %c-1
// CHECK: %[[ACROSS:.*]] = arith.addi %[[COLUMN]], %c-1
// CHECK: %[[ELEMENT:.*]] = arith.divui %[[DEPTH]], %c64
// CHECK: %[[RIGHT:.*]] = arith.remui %[[ELEMENT]], %c5
// CHECK: %[[BELOW:.*]] = arith.divui %[[ELEMENT]], %c5
// CHECK: %[[CHANNEL:.*]] = arith.remui %[[DEPTH]], %c64
// CHECK: kernel.async_load %[[IMAGES]][%[[IMAGE]], %[[DOWN]], %[[ACROSS]], %[[CHANNEL]]]
// CHECK-SAME: pixels <low = [-1, -1] high = [-2, -2] steps = [2, 1]> at[%[[BELOW]], %[[RIGHT]]]
// CHECK-SAME: <6x8x20x64xbf16, global>, <128x64xbf16, shared
// CHECK: kernel.async_load {{.*}} : <32x960xbf16, global>, <32x64xbf16, shared

// LAUNCH-LABEL: kernel padded
// LAUNCH: tensor map of argument 0 element bf16 box [128, 64]
// LAUNCH-SAME: pixels #kernel.pixels<low = [-1, -1] high = [-2, -2] steps = [2, 1]>
// LAUNCH-NEXT: tensor map of argument 1 element bf16 box [32, 64]
// LAUNCH-NOT: pixels
// LAUNCH-LABEL: kernel channels

// NVVM-LABEL: llvm.func @padded
// NVVM: llvm.trunc %{{.*}} : i32 to i16
// NVVM: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} im2col[%{{[0-9]+}}, %{{[0-9]+}}] {isCTAOnly = true, mode = #nvvm.tma_load_mode<im2col>}
kernel.func @padded(%a: !b, %b: !b, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 32, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[456, 960] strides [960, 1]>, <[6, 4, 19, 3, 5, 64] strides [16192, 2944, 64, 1472, 64, 1]>, <[6, 11, 23, 64] strides [11520, 1280, 64, 1] offset -1344 valid [0 : 6, 1 : 10, 1 : 21, 0 : 64]>]> : !b -> !kernel.view<456x960xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<456x960xbf16, global> -> tensor<456x960xbf16>
  %2 = kernel.view %b map <[<[960, 32] strides [1, 960]>]> : !b -> !kernel.view<960x32xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<960x32xbf16, global> -> tensor<960x32xbf16>
  %z = arith.constant dense<0.0> : tensor<456x32xf32>
  %4 = kernel.dot %1, %3, %z : tensor<456x960xbf16>, tensor<960x32xbf16> -> tensor<456x32xf32>
  %5 = arith.truncf %4 : tensor<456x32xf32> to tensor<456x32xbf16>
  %6 = kernel.view %c map <[<[456, 32] strides [32, 1]>]> : !b -> !kernel.view<456x32xbf16, global>
  kernel.store %5, %6[%c0, %c0] : tensor<456x32xbf16>, !kernel.view<456x32xbf16, global>
  kernel.return
}

// 72 channels are two slices for each element of a window; what fills the second one is zero on both sides. A single
// image without padding.

// CHECK-LABEL: kernel.func @channels
// CHECK: kernel.view %arg0 map <[<[1, 10, 10, 72] strides [7200, 720, 72, 1]>]>
// CHECK: kernel.view %arg1 map <[<[9, 72, 64] strides [4608, 64, 1]>]>
// CHECK: scf.for %[[DEPTH:[a-z0-9]*]] = %c0 to %c1152 step %c64
// CHECK: %[[ELEMENT:.*]] = arith.divui %[[DEPTH]], %c128
// CHECK: %[[CHANNEL:.*]] = arith.remui %[[DEPTH]], %c128
// CHECK: kernel.async_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %[[CHANNEL]]] pixels <low = [0, 0] high = [-2, -2] steps = [1, 1]>
// CHECK: kernel.async_load %{{.*}}[%[[ELEMENT]], %[[CHANNEL]], %c0] {{.*}} : <9x72x64xbf16, global>, <64x64xbf16, shared
// A tile has one panel of results, and each leaves out of the same memory.
// CHECK: kernel.async_wait pending 0 read
// CHECK: kernel.async_store
kernel.func @channels(%a: !b, %b: !b, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 648] strides [648, 1]>, <[8, 8, 3, 3, 72] strides [720, 72, 720, 72, 1]>]> : !b -> !kernel.view<64x648xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<64x648xbf16, global> -> tensor<64x648xbf16>
  %2 = kernel.view %b map <[<[648, 64] strides [64, 1]>]> : !b -> !kernel.view<648x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<648x64xbf16, global> -> tensor<648x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x648xbf16>, tensor<648x64xbf16> -> tensor<64x64xf32>
  %5 = arith.truncf %4 : tensor<64x64xf32> to tensor<64x64xbf16>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !b -> !kernel.view<64x64xbf16, global>
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xbf16>, !kernel.view<64x64xbf16, global>
  kernel.return
}

// Every second position of every second row of images: no window, but steps.

// CHECK-LABEL: kernel.func @steps
// CHECK: kernel.view %arg0 map <[<[2, 8, 8, 64] strides [16384, 2048, 128, 1]>]>
// CHECK: kernel.async_load {{.*}} pixels <low = [0, 0] high = [0, 0] steps = [1, 1]> at[%c0, %c0]
kernel.func @steps(%a: !b, %b: !b, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[128, 64] strides [64, 1]>, <[2, 8, 8, 64] strides [16384, 2048, 128, 1]>]> : !b -> !kernel.view<128x64xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<128x64xbf16, global> -> tensor<128x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !kernel.view<64x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<64x64xbf16, global> -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
  %5 = arith.truncf %4 : tensor<128x64xf32> to tensor<128x64xbf16>
  %6 = kernel.view %c map <[<[128, 64] strides [64, 1]>]> : !b -> !kernel.view<128x64xbf16, global>
  kernel.store %5, %6[%c0, %c0] : tensor<128x64xbf16>, !kernel.view<128x64xbf16, global>
  kernel.return
}
