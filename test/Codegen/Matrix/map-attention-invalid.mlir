// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: there is more than an attention}}
kernel.func @two_results(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  %20 = kernel.view %o map <[<[128, 64] strides [64, 1] offset 8192>]> : !b -> !m
  kernel.store %18, %20[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: sums are not in f32, from zero on}}
kernel.func @from_one(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<1.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: its weights are no exponentials in f32}}
kernel.func @powers(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp2 %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: its weights are not relative to a maximum}}
kernel.func @no_maximum(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce min %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
!h = !kernel.buffer<f16, global>
!n = !kernel.view<128x64xf16, global>
// expected-error @below {{is no attention for tensor cores: queries, keys, values and results are not of one 16-bit type}}
kernel.func @narrow(%q: !b, %k: !b, %v: !h, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !h -> !n
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !n -> tensor<128x64xf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: queries, keys or values are computed}}
kernel.func @computed(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %p = arith.negf %1 : tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %p, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: queries, keys, values or results do not lie on multiples of 16 bytes, features side by side}}
kernel.func @unaligned(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [68, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: it sums up more than its weights}}
kernel.func @squares(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %r = arith.mulf %9, %9 : tensor<128x128xf32>
  %10 = kernel.reduce add %r dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: scores are not computed element by element, of what lies along queries and keys}}
kernel.func @sines(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = math.sin %4 : tensor<128x128xf32>
  %6 = kernel.reduce max %5 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %5, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no attention for tensor cores: results are not computed element by element of sums}}
kernel.func @later(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %s = math.sin %17 : tensor<128x64xf32>
  %18 = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{walks blocks: its tiles are of groups of four warps, its slices of 64 elements}}
kernel.func @shared(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}
