// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-map-tensor-cores

!f = !kernel.buffer<f32, global>
!view = !kernel.view<64x64xf32, global>
// expected-error @below {{is not for tensor cores: f32 with all digits passes through Hopper's copy engine}}
kernel.func @exact(%a: !f, %b: !f, %c: !f) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 32, stages 3, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !f -> !view
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !view -> tensor<64x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [1, 64]>]> : !f -> !view
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !view -> tensor<64x64xf32>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !view
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !view
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!view = !kernel.view<64x64xbf16, global>
!out = !kernel.view<64x64xf32, global>
// expected-error @below {{is not for tensor cores: slices have 64 or 128 bytes along the contraction}}
kernel.func @slices(%a: !b, %b: !b, %c: !f) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 128, stages 3, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !view
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !view -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [1, 64]>]> : !b -> !view
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !view -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!view = !kernel.view<64x64xbf16, global>
!right = !kernel.view<64x192xbf16, global>
// expected-error @below {{is not for tensor cores: a factor that does not run along the contraction has tiles of 2^n elements}}
kernel.func @across(%a: !b, %b: !b, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 192, 32, stages 3, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !view
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !view -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 192] strides [192, 1]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<64x192xbf16>
  %z = arith.constant dense<0.0> : tensor<64x192xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x192xbf16> -> tensor<64x192xf32>
  %5 = arith.truncf %4 : tensor<64x192xf32> to tensor<64x192xbf16>
  %6 = kernel.view %c map <[<[64, 192] strides [192, 1]>]> : !b -> !right
  kernel.store %5, %6[%c0, %c0] : tensor<64x192xbf16>, !right
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
// expected-error @below {{is not for tensor cores: windows of images are fetched by Hopper's copy engine}}
kernel.func @steps(%a: !b, %b: !b, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 32, stages 3, group 8 warps 4>]>} {
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

// -----

!e = !kernel.buffer<f8E4M3FN, global>
!f = !kernel.buffer<f32, global>
!view = !kernel.view<64x256xf8E4M3FN, global>
!right = !kernel.view<256x64xf8E4M3FN, global>
!out = !kernel.view<64x64xf32, global>
// expected-error @below {{is not for tensor cores: f8 is multiplied by Hopper's tensor cores}}
kernel.func @f8(%a: !e, %b: !e, %c: !f) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 128, stages 3, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 256] strides [256, 1]>]> : !e -> !view
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !view -> tensor<64x256xf8E4M3FN>
  %2 = kernel.view %b map <[<[256, 64] strides [1, 256]>]> : !e -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<256x64xf8E4M3FN>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x256xf8E4M3FN>, tensor<256x64xf8E4M3FN> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}
