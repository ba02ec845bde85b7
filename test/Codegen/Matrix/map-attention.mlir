// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// Causal attention of 6 heads, which share keys and values in twos, 200 queries and keys, [batch, row, head, feature].

// CHECK-LABEL: kernel.func @causal
// CHECK-SAME: attributes {form = #kernel.form<machine>, programs = 24 : i64, threads = 384 : i64}
// CHECK: kernel.alloc : <128x64xbf16, shared
// CHECK: kernel.view %arg0 map <[<[2, 6, 200, 64] strides [76800, 64, 384, 1]>]>
// CHECK: kernel.alloc : <2x128x64xbf16, shared
// Keys as their heads lie, of which there are three.
// CHECK: kernel.view %arg1 map <[<[2, 3, 200, 64] strides [38400, 64, 192, 1]>]>
// CHECK: kernel.view %arg2 map <[<[2, 3, 200, 64] strides [38400, 64, 192, 1]>]>
// CHECK: kernel.role "producer" count 1 threads 128 registers 24 single
// CHECK: kernel.async_load {{.*}} : <2x3x200x64xbf16, global>, <128x64xbf16, shared
// CHECK: kernel.async_load {{.*}} : <2x6x200x64xbf16, global>, <128x64xbf16, shared
// CHECK: kernel.role "consumer" count 2 threads 128 registers 240
// The last block is masked: by the diagonal, and because there are no keys behind the 200th.
// CHECK: kernel.mma_async {{.*}} transposed :
// CHECK: kernel.mma_wait pending 0
// CHECK: kernel.iota dim 0 base {{.*}} : tensor<64xi32, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: kernel.iota dim 1 base
// CHECK: arith.cmpi sle
// CHECK: arith.select
// CHECK: kernel.reduce max
// CHECK: math.exp2 {{.*}} fastmath<afn>
// CHECK: kernel.convert {{.*}} -> tensor<64x128xbf16, #kernel.frag<wgmma_a>>
// Blocks before it are not.
// CHECK: scf.for
// CHECK: kernel.mma_async {{.*}} transposed :
// CHECK: kernel.mma_async {{.*}} acc
// CHECK: kernel.mma_wait pending 1
// CHECK-NOT: arith.cmpi sle
// CHECK: kernel.reduce max
// CHECK: arith.maximumf
// CHECK: kernel.mma_wait pending 0
// CHECK: scf.yield
// CHECK: kernel.reduce add {{.*}} : tensor<64x8xf32
// One division for each row.
// CHECK: arith.divf {{.*}} : tensor<64xf32
// CHECK: kernel.async_store {{.*}} : <64x64xbf16, shared, #kernel.shared<swizzle = 128>>, <2x6x200x64xbf16, global>
!b = !kernel.buffer<bf16, global>
!all = !kernel.view<2x6x200x64xbf16, global>
!turned = !kernel.view<2x6x64x200xbf16, global>
kernel.func @causal(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[2, 6, 200, 64] strides [76800, 64, 384, 1]>]> : !b -> !all
  %1 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["b", "h", "m", "k"] : !all -> tensor<2x6x200x64xbf16>
  %2 = kernel.view %k map <[<[2, 6, 64, 200] strides [76800, 12800, 1, 64]>, <[2, 3, 2, 200, 64] strides [38400, 64, 0, 192, 1]>]> : !b -> !turned
  %3 = kernel.load %2[%c0, %c0, %c0, %c0] axes ["b", "h", "k", "n"] : !turned -> tensor<2x6x64x200xbf16>
  %z = arith.constant dense<0.0> : tensor<2x6x200x200xf32>
  %4 = kernel.dot %1, %3, %z : tensor<2x6x200x64xbf16>, tensor<2x6x64x200xbf16> -> tensor<2x6x200x200xf32>
  %s = arith.constant dense<0.125> : tensor<2x6x200x200xf32>
  %5 = arith.mulf %4, %s : tensor<2x6x200x200xf32>
  %6 = kernel.iota dim 0 axes ["n"] : tensor<200xi32>
  %7 = kernel.iota dim 0 axes ["m"] : tensor<200xi32>
  %8 = kernel.broadcast %6 dims [1] : tensor<200xi32> -> tensor<200x200xi32>
  %9 = kernel.broadcast %7 dims [0] : tensor<200xi32> -> tensor<200x200xi32>
  %10 = arith.cmpi sle, %8, %9 : tensor<200x200xi32>
  %11 = kernel.broadcast %10 dims [2, 3] : tensor<200x200xi1> -> tensor<2x6x200x200xi1>
  %i = arith.constant dense<0xFF800000> : tensor<2x6x200x200xf32>
  %12 = arith.select %11, %5, %i : tensor<2x6x200x200xi1>, tensor<2x6x200x200xf32>
  %13 = kernel.reduce max %12 dims [3] : tensor<2x6x200x200xf32> -> tensor<2x6x200xf32>
  %14 = kernel.broadcast %13 dims [0, 1, 2] : tensor<2x6x200xf32> -> tensor<2x6x200x200xf32>
  %15 = arith.subf %12, %14 : tensor<2x6x200x200xf32>
  %16 = math.exp %15 : tensor<2x6x200x200xf32>
  %17 = kernel.reduce add %16 dims [3] : tensor<2x6x200x200xf32> -> tensor<2x6x200xf32>
  %w = arith.constant dense<0.00390625> : tensor<2x6x200x200xf32>
  %19 = arith.mulf %16, %w : tensor<2x6x200x200xf32>
  %x = arith.constant dense<0.00390625> : tensor<2x6x200xf32>
  %18 = arith.mulf %17, %x : tensor<2x6x200xf32>
  %20 = kernel.view %v map <[<[2, 6, 200, 64] strides [76800, 12800, 64, 1]>, <[2, 3, 2, 200, 64] strides [38400, 64, 0, 192, 1]>]> : !b -> !all
  %21 = kernel.load %20[%c0, %c0, %c0, %c0] axes ["b", "h", "n", "d"] : !all -> tensor<2x6x200x64xbf16>
  %y = arith.constant dense<0.0> : tensor<2x6x200x64xf32>
  %22 = kernel.dot %19, %21, %y : tensor<2x6x200x200xf32>, tensor<2x6x200x64xbf16> -> tensor<2x6x200x64xf32>
  %23 = kernel.broadcast %18 dims [0, 1, 2] : tensor<2x6x200xf32> -> tensor<2x6x200x64xf32>
  %24 = arith.divf %22, %23 : tensor<2x6x200x64xf32>
  %25 = arith.truncf %24 : tensor<2x6x200x64xf32> to tensor<2x6x200x64xbf16>
  %26 = kernel.view %o map <[<[2, 6, 200, 64] strides [76800, 64, 384, 1]>]> : !b -> !all
  kernel.store %25, %26[%c0, %c0, %c0, %c0] : tensor<2x6x200x64xbf16>, !all
  kernel.return
}

// What is read for each of the scores, and for each key. Without a scale, and of one group of warps.

// CHECK-LABEL: kernel.func @masked
// CHECK-SAME: attributes {form = #kernel.form<machine>, programs = 2 : i64, threads = 256 : i64}
// CHECK: kernel.role "consumer" count 1 threads 128 {
// What is read for each of the scores is on its way before the products with the block start.
// CHECK: scf.for
// CHECK: kernel.mma_async
// CHECK: kernel.mma_wait pending 0
// CHECK: [[BIAS:%.*]] = kernel.load {{.*}} in_bounds [true, true] : <128x128xf32, global> -> tensor<64x64xf32, #kernel.frag<wgmma_acc>>
// CHECK: kernel.mma_async
// CHECK: kernel.mma_wait pending 1
// CHECK: kernel.load {{.*}} in_bounds [true] : <128xi1, global> -> tensor<64xi1, #kernel.slice<dim = 0, #kernel.frag<wgmma_acc>>>
// CHECK: kernel.broadcast {{.*}} dims [1]
// CHECK: arith.addf {{.*}}[[BIAS]]
// CHECK: arith.select
// CHECK: [[HERE:%.*]] = kernel.reduce max
// CHECK-NEXT: [[MAX:%.*]] = arith.maximumf [[BEFORE:%.*]], [[HERE]]
// A row may have seen nothing but a mask: from minus infinity no distance can be taken, and from a large number it comes
// before it is scaled. Where no row has, all is one fused multiply-add.
// CHECK-NEXT: [[SIZE:%.*]] = math.absf [[MAX]]
// CHECK-NEXT: [[IS_FAR:%.*]] = arith.cmpf ogt, [[SIZE]]
// CHECK-NEXT: [[FAR:%.*]] = kernel.any [[IS_FAR]]
// CHECK-NEXT: [[TAKEN:%.*]]:3 = scf.if [[FAR]]
// CHECK: [[IS_NONE:%.*]] = arith.cmpf oeq, [[MAX]]
// CHECK: [[FROM:%.*]] = arith.select [[IS_NONE]]
// CHECK: [[SPREAD:%.*]] = kernel.broadcast [[FROM]]
// CHECK: arith.subf {{.*}}, [[SPREAD]]
// CHECK: } else {
// CHECK-NEXT: math.fma [[MAX]]
// CHECK-NEXT: scf.yield
// What was summed up before shrinks by a distance, too.
// CHECK: arith.subf [[BEFORE]], [[TAKEN]]#1
// CHECK: math.fma [[TAKEN]]#0
// CHECK: math.exp2
// Of nothing but minus infinity sums are NaN.
// CHECK: [[TOTAL:%.*]] = kernel.reduce add
// CHECK: [[NONE:%.*]] = arith.cmpf oeq, [[MAX]]
// CHECK: arith.select [[NONE]], {{.*}}, [[TOTAL]]
!f = !kernel.buffer<f32, global>
!c = !kernel.buffer<i1, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
kernel.func @masked(%q: !b, %k: !b, %v: !b, %o: !b, %bias: !f, %open: !c) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %b0 = kernel.view %bias map <[<[128, 128] strides [128, 1]>]> : !f -> !kernel.view<128x128xf32, global>
  %b1 = kernel.load %b0[%c0, %c0] axes ["m", "n"] : !kernel.view<128x128xf32, global> -> tensor<128x128xf32>
  %b2 = arith.addf %4, %b1 : tensor<128x128xf32>
  %o0 = kernel.view %open map <[<[128] strides [1]>]> : !c -> !kernel.view<128xi1, global>
  %o1 = kernel.load %o0[%c0] axes ["n"] : !kernel.view<128xi1, global> -> tensor<128xi1>
  %o2 = kernel.broadcast %o1 dims [1] : tensor<128xi1> -> tensor<128x128xi1>
  %i = arith.constant dense<0xFF800000> : tensor<128x128xf32>
  %5 = arith.select %o2, %b2, %i : tensor<128x128xi1>, tensor<128x128xf32>
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

// A factor of each head is read behind the last sum.

// CHECK-LABEL: kernel.func @sink
// CHECK: kernel.role "consumer"
// CHECK: %[[FACTORS:.*]] = kernel.view %arg4 map <[<[3] strides [1]>]>
// CHECK: %[[FACTOR:.*]] = kernel.load %[[FACTORS]][%{{.*}}] {{.*}} -> f32
// CHECK: arith.mulf {{.*}} : tensor<64x64xf32
// CHECK: kernel.async_store
!heads = !kernel.view<3x128x64xbf16, global>
!turnedHeads = !kernel.view<3x64x128xbf16, global>
kernel.func @sink(%q: !b, %k: !b, %v: !b, %o: !b, %factors: !f) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[3, 128, 64] strides [8192, 64, 1]>]> : !b -> !heads
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["h", "m", "k"] : !heads -> tensor<3x128x64xbf16>
  %2 = kernel.view %k map <[<[3, 64, 128] strides [8192, 1, 64]>]> : !b -> !turnedHeads
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["h", "k", "n"] : !turnedHeads -> tensor<3x64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<3x128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<3x128x64xbf16>, tensor<3x64x128xbf16> -> tensor<3x128x128xf32>
  %6 = kernel.reduce max %4 dims [2] : tensor<3x128x128xf32> -> tensor<3x128xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<3x128xf32> -> tensor<3x128x128xf32>
  %8 = arith.subf %4, %7 : tensor<3x128x128xf32>
  %9 = math.exp %8 : tensor<3x128x128xf32>
  %13 = kernel.view %v map <[<[3, 128, 64] strides [8192, 64, 1]>]> : !b -> !heads
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["h", "n", "d"] : !heads -> tensor<3x128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<3x128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<3x128x128xf32>, tensor<3x128x64xbf16> -> tensor<3x128x64xf32>
  %f0 = kernel.view %factors map <[<[3] strides [1]>]> : !f -> !kernel.view<3xf32, global>
  %f1 = kernel.load %f0[%c0] axes ["h"] : !kernel.view<3xf32, global> -> tensor<3xf32>
  %f2 = kernel.broadcast %f1 dims [0] : tensor<3xf32> -> tensor<3x128x64xf32>
  %17 = arith.mulf %15, %f2 : tensor<3x128x64xf32>
  %18 = arith.truncf %17 : tensor<3x128x64xf32> to tensor<3x128x64xbf16>
  %19 = kernel.view %o map <[<[3, 128, 64] strides [8192, 64, 1]>]> : !b -> !heads
  kernel.store %18, %19[%c0, %c0, %c0] : tensor<3x128x64xbf16>, !heads
  kernel.return
}

// Of 72 features in two panels of 64 the first 80 are multiplied: the others are zero.
// CHECK-LABEL: kernel.func @few_features
// CHECK: kernel.role "producer"
// CHECK: kernel.async_load {{.*}} : <128x72xbf16, global>, <64x128xbf16, shared, #kernel.shared<swizzle = 128>>
// CHECK: kernel.role "consumer"
// CHECK: kernel.mma_async {{.*}} : !kernel.view<64x80xbf16, shared, #kernel.shared<swizzle = 128>>, <64x80xbf16, shared, #kernel.shared<swizzle = 128>>
!few = !kernel.view<128x72xbf16, global>
!fewt = !kernel.view<72x128xbf16, global>
!fb = !kernel.buffer<bf16, global>
kernel.func @few_features(%q: !fb, %k: !fb, %v: !fb, %o: !fb) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 72] strides [72, 1]>]> : !fb -> !few
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !few -> tensor<128x72xbf16>
  %2 = kernel.view %k map <[<[72, 128] strides [1, 72]>]> : !fb -> !fewt
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !fewt -> tensor<72x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x72xbf16>, tensor<72x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 72] strides [72, 1]>]> : !fb -> !few
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !few -> tensor<128x72xbf16>
  %y = arith.constant dense<0.0> : tensor<128x72xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x72xbf16> -> tensor<128x72xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x72xf32>
  %17 = arith.divf %15, %16 : tensor<128x72xf32>
  %18 = arith.truncf %17 : tensor<128x72xf32> to tensor<128x72xbf16>
  %19 = kernel.view %o map <[<[128, 72] strides [72, 1]>]> : !fb -> !few
  kernel.store %18, %19[%c0, %c0] : tensor<128x72xbf16>, !few
  kernel.return
}
