// RUN: zyx-opt %s --split-input-file --verify-diagnostics -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: sums are not in f32, from zero on}}
kernel.func @from_one(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<1.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: there is more than a chain of products}}
kernel.func @gather(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %i = kernel.iota dim 0 : tensor<128xi64>
  %s = kernel.gather %5[%i] : !kernel.view<128xf32, global>, tensor<128xi64> -> tensor<128xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: products are not of what is read, or of what is computed with what is read}}
kernel.func @right(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %p = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %x = kernel.transpose %p order [1, 0] : tensor<128x64xbf16> -> tensor<64x128xbf16>
  %w = arith.constant dense<0.0> : tensor<128x128xf32>
  %r = kernel.load %0[%c0, %c0] axes ["r", "d"] : !m -> tensor<128x64xbf16>
  %e = arith.negf %r : tensor<128x64xbf16>
  %v = kernel.dot %e, %x, %w : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: there is not a result for each product of what is computed, and an inner product for each of these}}
kernel.func @two_results(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  %15 = kernel.view %o map <[<[128, 64] strides [64, 1] offset 8192>]> : !b -> !m
  kernel.store %13, %15[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: factors are not of one 16-bit type}}
kernel.func @wide(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %l map <[<[128, 64] strides [64, 1]>]> : !f -> !kernel.view<128x64xf32, global>
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !kernel.view<128x64xf32, global> -> tensor<128x64xf32>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xf32> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: factors do not lie on multiples of 16 bytes, features side by side}}
kernel.func @shifted(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64] offset 1>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: factors do not lie on multiples of 16 bytes, features side by side}}
kernel.func @shifted_again(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1] offset 1>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: results do not lie on multiples of 16 bytes, features side by side, in the type of the factors}}
kernel.func @shifted_result(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1] offset 1>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: results are not computed element by element of one sum each}}
kernel.func @result_of_rows(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %v = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %w = arith.addf %12, %v : tensor<128x64xf32>
  %13 = arith.truncf %w : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: what is multiplied is not computed element by element, of what lies along rows and columns}}
kernel.func @places(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %i = kernel.iota dim 1 axes ["m", "n"] : tensor<128x128xi32>
  %r = arith.sitofp %i : tensor<128x128xi32> to tensor<128x128xf32>
  %s = arith.addf %4, %r : tensor<128x128xf32>
  %8 = arith.subf %s, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: its products do not have the same rows and columns}}
kernel.func @other_columns(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %20 = kernel.view %q map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %21 = kernel.load %20[%c0, %c0] axes ["k", "p"] : !t -> tensor<64x128xbf16>
  %22 = arith.constant dense<0.0> : tensor<128x128xf32>
  %23 = kernel.dot %1, %21, %22 : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: its products do not have the same rows and columns}}
kernel.func @other_rows(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %20 = kernel.view %q map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %21 = kernel.load %20[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %22 = arith.constant dense<0.0> : tensor<128x128xf32>
  %23 = kernel.dot %1, %21, %22 : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  %30 = kernel.transpose %9 order [1, 0] : tensor<128x128xf32> -> tensor<128x128xf32>
  %31 = kernel.load %0[%c0, %c0] axes ["m", "e"] : !m -> tensor<128x64xbf16>
  %x = arith.constant dense<0.0> : tensor<128x64xf32>
  %32 = kernel.dot %30, %31, %x : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %33 = arith.truncf %32 : tensor<128x64xf32> to tensor<128x64xbf16>
  %34 = kernel.view %o map <[<[128, 64] strides [64, 1] offset 8192>]> : !b -> !m
  kernel.store %33, %34[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: results have more than 256 columns together}}
kernel.func @many_columns(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 512] strides [512, 1]>]> : !b -> !kernel.view<128x512xbf16, global>
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !kernel.view<128x512xbf16, global> -> tensor<128x512xbf16>
  %y = arith.constant dense<0.0> : tensor<128x512xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x512xbf16> -> tensor<128x512xf32>
  %13 = arith.truncf %12 : tensor<128x512xf32> to tensor<128x512xbf16>
  %14 = kernel.view %o map <[<[128, 512] strides [512, 1]>]> : !b -> !kernel.view<128x512xbf16, global>
  kernel.store %13, %14[%c0, %c0] : tensor<128x512xbf16>, !kernel.view<128x512xbf16, global>
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: results in f32 are stored through more than strides}}
kernel.func @through_bounds(%q: !b, %k: !b, %l: !f, %o: !f) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = kernel.view %o map <[<[128, 64] strides [64, 1]>, <[128, 64] strides [64, 1] valid [0 : 100, 0 : 64]>]> : !f -> !kernel.view<128x64xf32, global>
  kernel.store %12, %13[%c0, %c0] : tensor<128x64xf32>, !kernel.view<128x64xf32, global>
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: what is multiplied has more digits than the other factor, and sums of so few terms show them}}
kernel.func @terms(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %9 = arith.mulf %4, %7 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xbf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<f16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<128x64xf16, global>
!t = !kernel.view<64x128xf16, global>
// expected-error @below {{is no chain of products for tensor cores: what is multiplied has more digits than the other factor, and numbers that its type lacks}}
kernel.func @digits(%q: !b, %k: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
  %5 = kernel.view %l map <[<[128] strides [1]>]> : !f -> !kernel.view<128xf32, global>
  %6 = kernel.load %5[%c0] axes ["m"] : !kernel.view<128xf32, global> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %9 = arith.mulf %4, %7 : tensor<128x128xf32>
  %10 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %11 = kernel.load %10[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %12 = kernel.dot %9, %11, %y : tensor<128x128xf32>, tensor<128x64xf16> -> tensor<128x64xf32>
  %13 = arith.truncf %12 : tensor<128x64xf32> to tensor<128x64xf16>
  %14 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : tensor<128x64xf16>, !m
  kernel.return
}

// -----

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!m = !kernel.view<16x128x64xbf16, global>
!t = !kernel.view<16x64x128xbf16, global>
// expected-error @below {{is no chain of products for tensor cores: it is no sum over batches, with one result, of what is computed of products element by element}}
kernel.func @masked_total(%q: !b, %k: !b, %o: !f) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[16, 128, 64] strides [8192, 64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] : !m -> tensor<16x128x64xbf16>
  %2 = kernel.view %k map <[<[16, 64, 128] strides [8192, 1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !t -> tensor<16x64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<16x128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<16x128x64xbf16>, tensor<16x64x128xbf16> -> tensor<16x128x128xf32>
  %5 = kernel.reduce add %4 dims [0] : tensor<16x128x128xf32> -> tensor<128x128xf32>
  %6 = kernel.view %o map <[<[128, 128] strides [128, 1]>]> : !f -> !kernel.view<128x128xf32, global>
  kernel.store %5, %6[%c0, %c0] : tensor<128x128xf32>, !kernel.view<128x128xf32, global>
  kernel.store %5, %6[%c0, %c0] : tensor<128x128xf32>, !kernel.view<128x128xf32, global>
  kernel.return
}
