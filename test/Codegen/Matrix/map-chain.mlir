// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// The gradients of causal attention of 4 heads and 256 queries and keys, with respect to keys and values.

// CHECK-LABEL: kernel.func @dkdv_causal
// CHECK-SAME: attributes {form = #kernel.form<machine>, programs = 8 : i64, threads = 384 : i64}
// Keys and values of a tile; queries and gradients of results are fetched once each, though they are multiplied twice.
// CHECK: kernel.alloc : <128x64xbf16, shared
// CHECK: kernel.alloc : <128x64xbf16, shared
// CHECK: kernel.alloc : <4x96x64xbf16, shared
// CHECK: kernel.alloc : <4x96x64xbf16, shared
// CHECK-NOT: kernel.alloc
// CHECK: kernel.role "producer" count 1 threads 128 registers 24 single
// Queries before the tile's first key see nothing of it.
// CHECK: [[FIRST:%.*]] = arith.minui
// CHECK: kernel.async_load
// CHECK: kernel.async_load
// CHECK: kernel.expect {{.*}} bytes 32768
// CHECK: kernel.async_load
// CHECK: kernel.async_load
// CHECK: kernel.role "consumer" count 2 threads 128 registers 240
// Blocks that the diagonal crosses.
// CHECK: scf.for
// What is subtracted of the second product is there before it starts.
// CHECK: [[BEGIN:%.*]] = kernel.mma_wait pending 0 {{.*}} : tensor<64x96xf32
// CHECK: kernel.mma_async {{.*}} transposed : {{.*}} -> tensor<64x96xf32
// CHECK: kernel.mma_async {{.*}} transposed acc [[BEGIN]] : {{.*}} -> tensor<64x96xf32
// CHECK: arith.cmpi sge
// While it goes on, the exponential of the first: a power of two of one sum.
// CHECK: kernel.mma_wait pending 1
// CHECK: math.fma
// CHECK: math.exp2 {{.*}} fastmath<afn>
// CHECK: arith.select
// CHECK: kernel.convert {{.*}} -> tensor<64x96xbf16, #kernel.frag<wgmma_a>>
// CHECK: kernel.mma_async {{.*}} acc {{.*}} -> tensor<64x64xf32
// CHECK: kernel.mma_wait pending 1
// Of these no more is masked than what does not exist: they have a factor that is zero.
// CHECK-COUNT-1: arith.select
// CHECK: kernel.convert {{.*}} -> tensor<64x96xbf16, #kernel.frag<wgmma_a>>
// CHECK: kernel.mma_async {{.*}} acc {{.*}} -> tensor<64x64xf32
// CHECK: kernel.mma_wait pending 0
// CHECK: kernel.arrive
// Those that it does not cross are not masked, and the scores begin with what is subtracted, too.
// CHECK: scf.for
// CHECK-NOT: arith.cmpi sge
// CHECK: kernel.mma_async {{.*}} transposed acc
// CHECK-NEXT: kernel.mma_commit
// CHECK: kernel.mma_async {{.*}} transposed acc
// CHECK-NOT: math.fma
// CHECK: kernel.convert
// CHECK: kernel.convert
// CHECK: kernel.mma_wait pending 0
// CHECK: scf.yield
// The last one has queries that do not exist.
// CHECK: scf.for
// CHECK: arith.cmpi sle
// CHECK: scf.yield
// Results leave from where keys and values were.
// CHECK: kernel.store
// CHECK: kernel.store
// CHECK: kernel.barrier role async
// CHECK: kernel.async_store
// CHECK: kernel.async_store
!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
kernel.func @dkdv_causal(%q: !b, %k: !b, %l: !f, %g: !b, %v: !b, %delta: !f, %gv: !b, %gk: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 96, 64, stages 4, group 400>]>} {
  %c0 = arith.constant 0 : index
  %ktv = kernel.view %k map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %kt = kernel.load %ktv[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %qtv = kernel.view %q map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %qt = kernel.load %qtv[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %stz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %st = kernel.dot %kt, %qt, %stz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %s = arith.constant dense<0.125> : tensor<4x256x256xf32>
  %5 = arith.mulf %st, %s : tensor<4x256x256xf32>
  %6 = kernel.iota dim 0 axes ["m"] : tensor<256xi32>
  %7 = kernel.iota dim 0 axes ["n"] : tensor<256xi32>
  %8 = kernel.broadcast %6 dims [0] : tensor<256xi32> -> tensor<256x256xi32>
  %9 = kernel.broadcast %7 dims [1] : tensor<256xi32> -> tensor<256x256xi32>
  %10 = arith.cmpi sle, %8, %9 : tensor<256x256xi32>
  %11 = kernel.broadcast %10 dims [1, 2] : tensor<256x256xi1> -> tensor<4x256x256xi1>
  %i = arith.constant dense<0xFF800000> : tensor<4x256x256xf32>
  %12 = arith.select %11, %5, %i : tensor<4x256x256xi1>, tensor<4x256x256xf32>
  %lsev = kernel.view %l map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %lser = kernel.load %lsev[%c0, %c0] axes ["b0", "n"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %lse = kernel.broadcast %lser dims [0, 2] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %15 = arith.subf %12, %lse : tensor<4x256x256xf32>
  %p = math.exp %15 : tensor<4x256x256xf32>
  %vtv = kernel.view %v map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %vt = kernel.load %vtv[%c0, %c0, %c0] axes ["b0", "m", "k0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %gtv = kernel.view %g map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %gt = kernel.load %gtv[%c0, %c0, %c0] axes ["b0", "k0", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %dpz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %dp = kernel.dot %vt, %gt, %dpz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %dlv = kernel.view %delta map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %dlr = kernel.load %dlv[%c0, %c0] axes ["b0", "n"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %dl = kernel.broadcast %dlr dims [0, 2] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %20 = arith.subf %dp, %dl : tensor<4x256x256xf32>
  %ds0 = arith.mulf %p, %20 : tensor<4x256x256xf32>
  %zero = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %ds = arith.select %11, %ds0, %zero : tensor<4x256x256xi1>, tensor<4x256x256xf32>
  %g2v = kernel.view %g map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %g2 = kernel.load %g2v[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %dvz = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %dv = kernel.dot %p, %g2, %dvz : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %q2v = kernel.view %q map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %q2 = kernel.load %q2v[%c0, %c0, %c0] axes ["b0", "n", "n1"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %dkz = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %dk = kernel.dot %ds, %q2, %dkz : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %dvt = arith.truncf %dv : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %dvw = kernel.view %gv map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %dvt, %dvw[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  %dkc = arith.constant dense<0.125> : tensor<4x256x64xf32>
  %dkm = arith.mulf %dk, %dkc : tensor<4x256x64xf32>
  %dkt = arith.truncf %dkm : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %dkw = kernel.view %gk map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %dkt, %dkw[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  kernel.return
}

// Of a window queries before a key and queries far behind it are left out: there are two conditions, of which one crosses
// the first blocks and the other one the last blocks.

// CHECK-LABEL: kernel.func @dkdv_window
// CHECK: kernel.role "producer" count 1 threads 128 registers 24 single
// CHECK: [[END:%.*]] = arith.minui
// CHECK: [[LAST:%.*]] = arith.subi [[END]]
// CHECK: [[FIRST:%.*]] = arith.minui {{.*}}, [[LAST]]
// CHECK: scf.for {{.*}} to [[END]]
// CHECK: kernel.role "consumer"
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi sle
// CHECK: math.exp2
// CHECK-COUNT-1: arith.select
// CHECK: kernel.mma_wait pending 0
// CHECK: scf.for
// CHECK-NOT: arith.cmpi {{sge|sle}}
// CHECK-NOT: arith.select
// CHECK: kernel.mma_wait pending 0
// CHECK: scf.for
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi sle
kernel.func @dkdv_window(%q: !b, %k: !b, %l: !f, %g: !b, %v: !b, %delta: !f, %gv: !b, %gk: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 96, 64, stages 4, group 400>]>} {
  %c0 = arith.constant 0 : index
  %ktv = kernel.view %k map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %kt = kernel.load %ktv[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %qtv = kernel.view %q map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %qt = kernel.load %qtv[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %stz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %st = kernel.dot %kt, %qt, %stz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %s = arith.constant dense<0.125> : tensor<4x256x256xf32>
  %5 = arith.mulf %st, %s : tensor<4x256x256xf32>
  %6 = kernel.iota dim 0 axes ["m"] : tensor<256xi32>
  %7 = kernel.iota dim 0 axes ["n"] : tensor<256xi32>
  %8 = kernel.broadcast %6 dims [0] : tensor<256xi32> -> tensor<256x256xi32>
  %9 = kernel.broadcast %7 dims [1] : tensor<256xi32> -> tensor<256x256xi32>
  %w0 = arith.cmpi sle, %8, %9 : tensor<256x256xi32>
  %w1 = arith.constant dense<70> : tensor<256xi32>
  %w2 = arith.subi %7, %w1 : tensor<256xi32>
  %w3 = kernel.broadcast %w2 dims [1] : tensor<256xi32> -> tensor<256x256xi32>
  %w4 = arith.cmpi sgt, %8, %w3 : tensor<256x256xi32>
  %10 = arith.andi %w0, %w4 : tensor<256x256xi1>
  %11 = kernel.broadcast %10 dims [1, 2] : tensor<256x256xi1> -> tensor<4x256x256xi1>
  %i = arith.constant dense<0xFF800000> : tensor<4x256x256xf32>
  %12 = arith.select %11, %5, %i : tensor<4x256x256xi1>, tensor<4x256x256xf32>
  %lsev = kernel.view %l map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %lser = kernel.load %lsev[%c0, %c0] axes ["b0", "n"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %lse = kernel.broadcast %lser dims [0, 2] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %15 = arith.subf %12, %lse : tensor<4x256x256xf32>
  %p = math.exp %15 : tensor<4x256x256xf32>
  %vtv = kernel.view %v map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %vt = kernel.load %vtv[%c0, %c0, %c0] axes ["b0", "m", "k0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %gtv = kernel.view %g map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %gt = kernel.load %gtv[%c0, %c0, %c0] axes ["b0", "k0", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %dpz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %dp = kernel.dot %vt, %gt, %dpz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %dlv = kernel.view %delta map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %dlr = kernel.load %dlv[%c0, %c0] axes ["b0", "n"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %dl = kernel.broadcast %dlr dims [0, 2] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %20 = arith.subf %dp, %dl : tensor<4x256x256xf32>
  %ds0 = arith.mulf %p, %20 : tensor<4x256x256xf32>
  %zero = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %ds = arith.select %11, %ds0, %zero : tensor<4x256x256xi1>, tensor<4x256x256xf32>
  %g2v = kernel.view %g map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %g2 = kernel.load %g2v[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %dvz = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %dv = kernel.dot %p, %g2, %dvz : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %q2v = kernel.view %q map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %q2 = kernel.load %q2v[%c0, %c0, %c0] axes ["b0", "n", "n1"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %dkz = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %dk = kernel.dot %ds, %q2, %dkz : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %dvt = arith.truncf %dv : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %dvw = kernel.view %gv map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %dvt, %dvw[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  %dkc = arith.constant dense<0.125> : tensor<4x256x64xf32>
  %dkm = arith.mulf %dk, %dkc : tensor<4x256x64xf32>
  %dkt = arith.truncf %dkm : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %dkw = kernel.view %gk map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %dkt, %dkw[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  kernel.return
}

// With respect to queries: what rows have is read once for a tile, before it walks the keys.

// CHECK-LABEL: kernel.func @dq
// CHECK: kernel.role "consumer"
// CHECK: kernel.load {{.*}} -> tensor<64xf32, #kernel.slice<dim = 1
// CHECK: kernel.load {{.*}} -> tensor<64xf32, #kernel.slice<dim = 1
// CHECK: scf.for
// CHECK-NOT: kernel.load
// CHECK: scf.yield
// CHECK-NOT: scf.for
// CHECK: kernel.async_store
kernel.func @dq(%q: !b, %k: !b, %l: !f, %g: !b, %v: !b, %delta: !f, %gq: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 4, group 400>]>} {
  %c0 = arith.constant 0 : index
  %qtv = kernel.view %q map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %qt = kernel.load %qtv[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %ktv = kernel.view %k map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %kt = kernel.load %ktv[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %stz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %st = kernel.dot %qt, %kt, %stz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %s = arith.constant dense<0.125> : tensor<4x256x256xf32>
  %5 = arith.mulf %st, %s : tensor<4x256x256xf32>
  %lsev = kernel.view %l map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %lser = kernel.load %lsev[%c0, %c0] axes ["b0", "m"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %lse = kernel.broadcast %lser dims [0, 1] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %15 = arith.subf %5, %lse : tensor<4x256x256xf32>
  %p = math.exp %15 : tensor<4x256x256xf32>
  %gtv = kernel.view %g map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %gt = kernel.load %gtv[%c0, %c0, %c0] axes ["b0", "m", "k0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %vtv = kernel.view %v map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %vt = kernel.load %vtv[%c0, %c0, %c0] axes ["b0", "k0", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %dpz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %dp = kernel.dot %gt, %vt, %dpz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %dlv = kernel.view %delta map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %dlr = kernel.load %dlv[%c0, %c0] axes ["b0", "m"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %dl = kernel.broadcast %dlr dims [0, 1] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %20 = arith.subf %dp, %dl : tensor<4x256x256xf32>
  %ds0 = arith.mulf %p, %20 : tensor<4x256x256xf32>
  %k2v = kernel.view %k map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %k2 = kernel.load %k2v[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %dqz = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %dq = kernel.dot %ds0, %k2, %dqz : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %dqc = arith.constant dense<0.125> : tensor<4x256x64xf32>
  %dqm = arith.mulf %dq, %dqc : tensor<4x256x64xf32>
  %dqt = arith.truncf %dqm : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %dqw = kernel.view %gq map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %dqt, %dqw[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  kernel.return
}

// The attention with one more result: the logarithm of the sum of exponentials of each row.

// CHECK-LABEL: kernel.func @fwd
// CHECK: kernel.role "consumer"
// CHECK: math.log {{.*}} : tensor<64xf32, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
// CHECK: kernel.store {{.*}} : tensor<64xf32, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>, <4x256xf32, global>
// CHECK: kernel.store {{.*}} <64x64xbf16, shared
kernel.func @fwd(%q: !b, %k: !b, %v: !b, %l: !f, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 400>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %2 = kernel.view %k map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %z = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %s = arith.constant dense<0.125> : tensor<4x256x256xf32>
  %5 = arith.mulf %4, %s : tensor<4x256x256xf32>
  %13 = kernel.reduce max %5 dims [2] : tensor<4x256x256xf32> -> tensor<4x256xf32>
  %14 = kernel.broadcast %13 dims [0, 1] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %15 = arith.subf %5, %14 : tensor<4x256x256xf32>
  %16 = math.exp %15 : tensor<4x256x256xf32>
  %17 = kernel.reduce add %16 dims [2] : tensor<4x256x256xf32> -> tensor<4x256xf32>
  %ln = math.log %17 : tensor<4x256xf32>
  %lse = arith.addf %13, %ln : tensor<4x256xf32>
  %w = arith.constant dense<0.00390625> : tensor<4x256x256xf32>
  %19 = arith.mulf %16, %w : tensor<4x256x256xf32>
  %x = arith.constant dense<0.00390625> : tensor<4x256xf32>
  %18 = arith.mulf %17, %x : tensor<4x256xf32>
  %20 = kernel.view %v map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %21 = kernel.load %20[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %y = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %22 = kernel.dot %19, %21, %y : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %23 = kernel.broadcast %18 dims [0, 1] : tensor<4x256xf32> -> tensor<4x256x64xf32>
  %24 = arith.divf %22, %23 : tensor<4x256x64xf32>
  %25 = arith.truncf %24 : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %26 = kernel.view %l map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  kernel.store %lse, %26[%c0, %c0] : tensor<4x256xf32>, !kernel.view<4x256xf32, global>
  %27 = kernel.view %o map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %25, %27[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  kernel.return
}

// Of a mask that is added. What the logarithm lost when it was rounded is subtracted where it is beyond 2048, and read
// there alone: where it is, the difference is taken before it is scaled, since what is scaled may leave f32.

// CHECK-LABEL: kernel.func @dv_masked
// CHECK: kernel.role "consumer"
// CHECK: scf.for
// CHECK: scf.for
// CHECK: kernel.mma_async
// CHECK: [[SUM:%.*]] = kernel.load {{.*}} -> tensor<64xf32, #kernel.slice<dim = 0
// CHECK-NOT: kernel.load
// CHECK: kernel.mma_wait
// CHECK: [[X:%.*]] = arith.addf
// CHECK: [[SIZE:%.*]] = math.absf [[SUM]]
// CHECK: [[IS_FAR:%.*]] = arith.cmpf ogt, [[SIZE]]
// CHECK: [[FAR:%.*]] = kernel.any [[IS_FAR]] : tensor<64xi1, #kernel.slice<dim = 0
// CHECK: [[TAKEN:%.*]]:2 = scf.if [[FAR]]
// CHECK: [[DISTANCE:%.*]] = arith.subf [[X]]
// CHECK: [[LOST:%.*]] = kernel.load {{.*}} -> tensor<64xf32, #kernel.slice<dim = 0
// CHECK: arith.select {{.*}}, [[LOST]]
// CHECK: arith.subf [[DISTANCE]]
// CHECK: } else {
// CHECK-NEXT: [[DOWN:%.*]] = arith.mulf [[SUM]]
// CHECK-NEXT: scf.yield [[X]], [[DOWN]]
// CHECK: [[ALL:%.*]] = kernel.broadcast [[TAKEN]]#1
// CHECK: math.fma [[TAKEN]]#0, {{.*}}, [[ALL]]
// CHECK: math.exp2
// CHECK: kernel.async_store
kernel.func @dv_masked(%q: !b, %k: !b, %mask: !f, %l: !f, %rest: !f, %g: !b, %gv: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 4, group 400>]>} {
  %c0 = arith.constant 0 : index
  %ktv = kernel.view %k map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %kt = kernel.load %ktv[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %qtv = kernel.view %q map <[<[4, 64, 256] strides [16384, 1, 64]>]> : !b -> !kernel.view<4x64x256xbf16, global>
  %qt = kernel.load %qtv[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<4x64x256xbf16, global> -> tensor<4x64x256xbf16>
  %stz = arith.constant dense<0.0> : tensor<4x256x256xf32>
  %st = kernel.dot %kt, %qt, %stz : tensor<4x256x64xbf16>, tensor<4x64x256xbf16> -> tensor<4x256x256xf32>
  %mv = kernel.view %mask map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %mr = kernel.load %mv[%c0, %c0] axes ["b0", "m"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %m = kernel.broadcast %mr dims [0, 1] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %5 = arith.addf %st, %m : tensor<4x256x256xf32>
  %lv = kernel.view %l map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %lr = kernel.load %lv[%c0, %c0] axes ["b0", "n"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %lb = kernel.broadcast %lr dims [0, 2] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %6 = arith.subf %5, %lb : tensor<4x256x256xf32>
  %size = math.absf %lr : tensor<4x256xf32>
  %limit = arith.constant dense<2048.0> : tensor<4x256xf32>
  %far = arith.cmpf ogt, %size, %limit : tensor<4x256xf32>
  %rv = kernel.view %rest map <[<[4, 256] strides [256, 1]>]> : !f -> !kernel.view<4x256xf32, global>
  %rr = kernel.load %rv[%c0, %c0] axes ["b0", "n"] : !kernel.view<4x256xf32, global> -> tensor<4x256xf32>
  %none = arith.constant dense<0.0> : tensor<4x256xf32>
  %lost = arith.select %far, %rr, %none : tensor<4x256xi1>, tensor<4x256xf32>
  %rb = kernel.broadcast %lost dims [0, 2] : tensor<4x256xf32> -> tensor<4x256x256xf32>
  %7 = arith.subf %6, %rb : tensor<4x256x256xf32>
  %p = math.exp %7 : tensor<4x256x256xf32>
  %g2v = kernel.view %g map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  %g2 = kernel.load %g2v[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<4x256x64xbf16, global> -> tensor<4x256x64xbf16>
  %dvz = arith.constant dense<0.0> : tensor<4x256x64xf32>
  %dv = kernel.dot %p, %g2, %dvz : tensor<4x256x256xf32>, tensor<4x256x64xbf16> -> tensor<4x256x64xf32>
  %dvt = arith.truncf %dv : tensor<4x256x64xf32> to tensor<4x256x64xbf16>
  %dvw = kernel.view %gv map <[<[4, 256, 64] strides [16384, 64, 1]>]> : !b -> !kernel.view<4x256x64xbf16, global>
  kernel.store %dvt, %dvw[%c0, %c0, %c0] : tensor<4x256x64xbf16>, !kernel.view<4x256x64xbf16, global>
  kernel.return
}
