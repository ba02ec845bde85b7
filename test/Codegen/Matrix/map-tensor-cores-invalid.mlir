// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores

// expected-error @below {{is not for tensor cores: there is no dot}}
kernel.func @nothing() attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  kernel.return
}

// -----

// expected-error @below {{tiles of tensor cores have 64, 128 or 192 rows and 16, 32 and so on to 256 columns, not 96 x 64}}
#step = #kernel.tensor_step<96, 64, 64, stages 2, group 8>

// -----

// expected-error @below {{tiles of tensor cores have 64, 128 or 192 rows and 16, 32 and so on to 256 columns, not 64 x 320}}
#step = #kernel.tensor_step<64, 320, 64, stages 2, group 8>

// -----

// expected-error @below {{tiles of tensor cores have 64, 128 or 192 rows and 16, 32 and so on to 256 columns, not 64 x 56}}
#step = #kernel.tensor_step<64, 56, 64, stages 2, group 8>

// -----

// expected-error @below {{at most 8 workgroups share a tile, and each finishes 16 columns or a multiple; 16 do not share 256}}
#step = #kernel.tensor_step<64, 256, 64, stages 2, group 8, split 16>

// -----

// expected-error @below {{at most 8 workgroups share a tile, and each finishes 16 columns or a multiple; 4 do not share 96}}
#step = #kernel.tensor_step<64, 96, 64, stages 2, group 8, split 4>

// -----

// expected-error @below {{slices of 32, 64 or 128 elements pass through two stages or more, not of 48 through 2}}
#step = #kernel.tensor_step<64, 64, 48, stages 2, group 8>

// -----

// expected-error @below {{slices of 32, 64 or 128 elements pass through two stages or more, not of 64 through 1}}
#step = #kernel.tensor_step<64, 64, 64, stages 1, group 8>

// -----

// expected-error @below {{schedule holds #kernel.tensor_step<64, 64, 64, stages 2, group 8> and other steps}}
#schedule = #kernel.schedule<[#kernel.swap_step, #kernel.tensor_step<64, 64, 64, stages 2, group 8>]>

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<64x64xbf16, global>
// expected-error @below {{a factor that does not run along the contraction lies in panels of 64 columns}}
kernel.func @panels(%a: !b, %b: !b, %c: !b) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 32, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %5 = arith.truncf %4 : tensor<64x64xf32> to tensor<64x64xbf16>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<i8, global>
!f = !kernel.buffer<i32, global>
!m = !kernel.view<64x64xi8, global>
!o = !kernel.view<64x64xi32, global>
// expected-error @below {{is not for tensor cores: a factor of 8 or 32 bits does not run along the contraction}}
kernel.func @across(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 128, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xi8>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xi8>
  %z = arith.constant dense<0> : tensor<64x64xi32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xi32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<i8, global>
!f = !kernel.buffer<i32, global>
!m = !kernel.view<64x64xi8, global>
!o = !kernel.view<64x64xi32, global>
// expected-error @below {{has slices of 64 elements, which are not 128 bytes}}
kernel.func @slices(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xi8>
  %2 = kernel.view %b map <[<[64, 64] strides [1, 64]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xi8>
  %z = arith.constant dense<0> : tensor<64x64xi32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xi32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{is not for tensor cores: sums do not begin with zero}}
kernel.func @ones(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<1.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{there are two dots}}
kernel.func @two(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %10 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %12 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %13 = kernel.load %12[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %y = arith.constant dense<0.0> : tensor<64x64xf32>
  %14 = kernel.dot %11, %13, %y : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{nothing is stored}}
kernel.func @unstored(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{a result is stored through more than strides}}
kernel.func @stored(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1] valid [0 : 60, 0 : 64]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{a result is stored through more than strides}}
kernel.func @unread(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %5 = arith.constant dense<2.0> : tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{there are loops}}
kernel.func @loops(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
  }
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{what is read behind the dot is read through more than strides}}
kernel.func @read(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %7 = kernel.view %c map <[<[64, 64] strides [64, 1] valid [0 : 60, 0 : 64]>]> : !f -> !o
  %8 = kernel.load %7[%c0, %c0] axes ["m", "n"] : !o -> tensor<64x64xf32>
  %5 = arith.addf %4, %8 : tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

// Pieces of 16 columns would lie in two groups.
!b = !kernel.buffer<bf16, global>
!m = !kernel.view<64x64xbf16, global>
!w = !kernel.view<64x120xbf16, global>
// expected-error @below {{what is read behind the dot is read through more than strides}}
kernel.func @short_groups(%a: !b, %b: !b, %s: !b, %c: !b) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 128, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 120] strides [120, 1]>]> : !b -> !w
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !w -> tensor<64x120xbf16>
  %z = arith.constant dense<0.0> : tensor<64x120xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x120xbf16> -> tensor<64x120xf32>
  %5 = kernel.view %s map <[<[64, 120] strides [120, 1]>, <[64, 3, 40] strides [3, 1, 0]>]> : !b -> !w
  %6 = kernel.load %5[%c0, %c0] axes ["m", "n"] : !w -> tensor<64x120xbf16>
  %7 = arith.extf %6 : tensor<64x120xbf16> to tensor<64x120xf32>
  %8 = arith.addf %4, %7 : tensor<64x120xf32>
  %9 = arith.truncf %8 : tensor<64x120xf32> to tensor<64x120xbf16>
  %10 = kernel.view %c map <[<[64, 120] strides [120, 1]>]> : !b -> !w
  kernel.store %9, %10[%c0, %c0] : tensor<64x120xbf16>, !w
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{what is computed behind the dot has other axes or elements}}
kernel.func @doubles(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %7 = arith.extf %4 : tensor<64x64xf32> to tensor<64x64xf64>
  %5 = arith.truncf %7 : tensor<64x64xf64> to tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{axes of the dot are one, or empty}}
kernel.func @empty(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[0, 64] strides [64, 1]>]> : !b -> !kernel.view<0x64xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<0x64xbf16, global> -> tensor<0x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<0x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<0x64xbf16>, tensor<64x64xbf16> -> tensor<0x64xf32>
  %6 = kernel.view %c map <[<[0, 64] strides [64, 1]>]> : !f -> !kernel.view<0x64xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<0x64xf32>, !kernel.view<0x64xf32, global>
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<2x2x2x2x64x64xbf16, global>
!o = !kernel.view<2x2x2x2x64x64xf32, global>
// expected-error @below {{a factor has more than 5 dimensions}}
kernel.func @dimensions(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[2, 2, 2, 2, 64, 64] strides [32768, 16384, 8192, 4096, 64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["p", "q", "r", "s", "m", "k"] : !m -> tensor<2x2x2x2x64x64xbf16>
  %2 = kernel.view %b map <[<[2, 2, 2, 2, 64, 64] strides [32768, 16384, 8192, 4096, 64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0, %c0, %c0, %c0, %c0] axes ["p", "q", "r", "s", "k", "n"] : !m -> tensor<2x2x2x2x64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<2x2x2x2x64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<2x2x2x2x64x64xbf16>, tensor<2x2x2x2x64x64xbf16> -> tensor<2x2x2x2x64x64xf32>
  %6 = kernel.view %c map <[<[2, 2, 2, 2, 64, 64] strides [32768, 16384, 8192, 4096, 64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0, %c0, %c0, %c0, %c0] : tensor<2x2x2x2x64x64xf32>, !o
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xbf16, global>
!o = !kernel.view<64x64xf32, global>
// expected-error @below {{is not for tensor cores: tiles of 192 rows have at most 192 columns, of one workgroup, whose tensor cores keep the sums}}
kernel.func @three_groups(%a: !b, %b: !b, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<192, 208, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !o
  kernel.return
}

// -----

!f = !kernel.buffer<f32, global>
!m = !kernel.view<64x64xf32, global>
// expected-error @below {{is not for tensor cores: threads multiply tiles of 128 columns, each in one workgroup}}
kernel.func @narrow(%a: !f, %b: !f, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 32, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !f -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<64x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [1, 64]>]> : !f -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> tensor<64x64xf32>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !m
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !m
  kernel.return
}

// -----

!f = !kernel.buffer<f32, global>
!w = !kernel.view<456x960xf32, global>
!r = !kernel.view<960x128xf32, global>
!o = !kernel.view<456x128xf32, global>
// expected-error @below {{is not for tensor cores: a factor of 8 or 32 bits has windows}}
kernel.func @windows(%a: !f, %b: !f, %c: !f) attributes {schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[456, 960] strides [960, 1]>, <[6, 4, 19, 3, 5, 64] strides [16192, 2944, 64, 1472, 64, 1]>, <[6, 11, 23, 64] strides [11520, 1280, 64, 1] offset -1344 valid [0 : 6, 1 : 10, 1 : 21, 0 : 64]>]> : !f -> !w
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !w -> tensor<456x960xf32>
  %2 = kernel.view %b map <[<[960, 128] strides [1, 960]>]> : !f -> !r
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !r -> tensor<960x128xf32>
  %z = arith.constant dense<0.0> : tensor<456x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<456x960xf32>, tensor<960x128xf32> -> tensor<456x128xf32>
  %6 = kernel.view %c map <[<[456, 128] strides [128, 1]>]> : !f -> !o
  kernel.store %4, %6[%c0, %c0] : tensor<456x128xf32>, !o
  kernel.return
}
