// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %t -zyx-kernel-expand-math -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s --check-prefix=NVVM

// Integers are summed up in place, in i32.
// CHECK-LABEL: kernel.func @bytes
// CHECK: kernel.alloc : <4x128x128xi8, shared, #kernel.shared<swizzle = 128>>
// CHECK: kernel.expect {{.*}} bytes 49152
// CHECK: scf.for {{.*}} step %c128 iter_args
// CHECK: kernel.mma_async {{.*}} transposed acc %{{.*}} : tensor<64x256xi32
// CHECK: kernel.mma_wait pending 1
// CHECK: kernel.store {{.*}} : tensor<64x16xi32
// NVVM-LABEL: llvm.func @bytes
// NVVM-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 32>, D[<s32>, <one>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>]
// NVVM-NOT: nvvm.wgmma.mma_async
// NVVM: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 1;", "=r
!i8 = !kernel.buffer<i8, global>
!i32 = !kernel.buffer<i32, global>
!bytes = !kernel.view<256x512xi8, global>
!turned = !kernel.view<512x256xi8, global>
!words = !kernel.view<256x256xi32, global>
kernel.func @bytes(%a: !i8, %b: !i8, %c: !i32) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 256, 128, stages 4, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [512, 1]>]> : !i8 -> !bytes
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !bytes -> tensor<256x512xi8>
  %2 = kernel.view %b map <[<[512, 256] strides [1, 512]>]> : !i8 -> !turned
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !turned -> tensor<512x256xi8>
  %z = arith.constant dense<0> : tensor<256x256xi32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xi8>, tensor<512x256xi8> -> tensor<256x256xi32>
  %7 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !i32 -> !words
  kernel.store %4, %7[%c0, %c0] : tensor<256x256xi32>, !words
  kernel.return
}

// Sums of f8 lose digits where they are long: each slice has its own, which is added in f32. Factors may differ.
// CHECK-LABEL: kernel.func @f8
// CHECK: %[[LAST:.*]]:3 = scf.for {{.*}} step %c128 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[SUM:.*]] = %
// CHECK: kernel.wait
// CHECK: %[[SLICE:.*]] = kernel.mma_async %{{.*}}, %{{.*}} transposed : {{.*}}f8E4M3FN{{.*}}f8E5M2
// CHECK: %[[DONE:.*]] = kernel.mma_wait pending 0 %[[SLICE]]
// CHECK: kernel.arrive
// CHECK: arith.addf %[[SUM]], %[[DONE]] : tensor<64x128xf32
// NVVM-LABEL: llvm.func @f8
// NVVM: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 32>, D[<f32>, <zero>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>]
// NVVM-COUNT-3: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
!e4 = !kernel.buffer<f8E4M3FN, global>
!e5 = !kernel.buffer<f8E5M2, global>
!bf = !kernel.buffer<bf16, global>
!fours = !kernel.view<256x512xf8E4M3FN, global>
!fives = !kernel.view<512x256xf8E5M2, global>
!halves = !kernel.view<256x256xbf16, global>
kernel.func @f8(%a: !e4, %b: !e5, %c: !bf) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 128, stages 4, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [512, 1]>]> : !e4 -> !fours
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !fours -> tensor<256x512xf8E4M3FN>
  %2 = kernel.view %b map <[<[512, 256] strides [1, 512]>]> : !e5 -> !fives
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !fives -> tensor<512x256xf8E5M2>
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xf8E4M3FN>, tensor<512x256xf8E5M2> -> tensor<256x256xf32>
  %5 = arith.truncf %4 : tensor<256x256xf32> to tensor<256x256xbf16>
  %7 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !bf -> !halves
  kernel.store %5, %7[%c0, %c0] : tensor<256x256xbf16>, !halves
  kernel.return
}

// Factors of f32 are cut where the step says so.
// CHECK-LABEL: kernel.func @cut
// CHECK: kernel.mma_async {{.*}}64x32xf32
// NVVM-LABEL: llvm.func @cut
// NVVM-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 8>, D[<f32>, <one>], A[<tf32>, <one>, <row>], B[<tf32>, <one>, <col>]
!f32 = !kernel.buffer<f32, global>
!single = !kernel.view<256x512xf32, global>
!right = !kernel.view<512x256xf32, global>
!result = !kernel.view<256x256xf32, global>
kernel.func @cut(%a: !f32, %b: !f32, %c: !f32) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 4, group 8 tf32 true>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [512, 1]>]> : !f32 -> !single
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !single -> tensor<256x512xf32>
  %2 = kernel.view %b map <[<[512, 256] strides [1, 512]>]> : !f32 -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x256xf32>
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xf32>, tensor<512x256xf32> -> tensor<256x256xf32>
  %7 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !f32 -> !result
  kernel.store %4, %7[%c0, %c0] : tensor<256x256xf32>, !result
  kernel.return
}

// Else threads multiply: eight rows by eight columns each. Slices of factors whose contraction runs along rows come to a
// place of their own, and others turn them. All have read before a stage is given back. Of 256 x 256 nothing lies outside; a
// bias is one number for each column.
// CHECK-LABEL: kernel.func @exact
// CHECK-SAME: threads = 512
// CHECK: %[[LEFT:.*]] = kernel.alloc : <3x2x32x64xf32
// CHECK: %[[RAW_LEFT:.*]] = kernel.alloc : <3x128x32xf32
// CHECK: %[[RIGHT:.*]] = kernel.alloc : <3x32x128xf32
// CHECK: %[[RAW_RIGHT:.*]] = kernel.alloc : <3x128x32xf32
// CHECK: %[[FULL:.*]] = kernel.barriers arrivals 1
// CHECK: %[[EMPTY:.*]] = kernel.barriers arrivals 2
// CHECK: %[[TURNED:.*]] = kernel.barriers arrivals 1
// CHECK: kernel.role "producer"
// CHECK: kernel.expect %[[FULL]]{{.*}} bytes 32768
// CHECK: kernel.role "transposer"
// CHECK: kernel.wait %[[FULL]]
// CHECK-COUNT-3: kernel.transpose_shared
// CHECK-NOT: kernel.transpose_shared
// CHECK: kernel.barrier role
// CHECK: kernel.arrive %[[TURNED]]
// CHECK: kernel.role "consumer"
// CHECK-NOT: kernel.wait %[[FULL]]
// CHECK: kernel.wait %[[TURNED]]
// CHECK: kernel.outer_products {{.*}} -> tensor<64x128xf32, #kernel.frag<block>>
// CHECK: kernel.barrier role
// CHECK: kernel.arrive
// CHECK: kernel.load {{.*}} -> tensor<128xf32, #kernel.slice<dim = 0, #kernel.frag<block>>>
// CHECK: kernel.broadcast
// CHECK: kernel.store {{.*}} : tensor<64x128xf32, #kernel.frag<block>>
// NVVM-LABEL: llvm.func @exact
// NVVM-COUNT-16: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// NVVM: nvvm.mbarrier.arrive
// NVVM-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// NVVM-COUNT-64: llvm.intr.fma
// NVVM: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// NVVM: nvvm.barrier id
// NVVM: nvvm.mbarrier.arrive
// NVVM-COUNT-16: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// NVVM-NOT: llvm.store
kernel.func @exact(%a: !f32, %b: !f32, %bias: !f32, %c: !f32) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [512, 1]>]> : !f32 -> !single
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !single -> tensor<256x512xf32>
  %2 = kernel.view %b map <[<[512, 256] strides [1, 512]>]> : !f32 -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x256xf32>
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xf32>, tensor<512x256xf32> -> tensor<256x256xf32>
  %5 = kernel.view %bias map <[<[256] strides [1]>]> : !f32 -> !kernel.view<256xf32, global>
  %6 = kernel.load %5[%c0] axes ["n"] : !kernel.view<256xf32, global> -> tensor<256xf32>
  %8 = kernel.broadcast %6 dims [1] : tensor<256xf32> -> tensor<256x256xf32>
  %9 = arith.addf %4, %8 : tensor<256x256xf32>
  %7 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !f32 -> !result
  kernel.store %9, %7[%c0, %c0] : tensor<256x256xf32>, !result
  kernel.return
}

// What runs across the contraction is multiplied as it comes: of a left factor each group has copies of its own. Rows of
// 254 f32 are written one by one, and those behind the last column not at all.
// CHECK-LABEL: kernel.func @across
// CHECK-SAME: threads = 384
// CHECK: kernel.alloc : <4x2x32x64xf32
// CHECK-NEXT: kernel.view
// CHECK-NEXT: kernel.alloc : <4x32x128xf32
// CHECK-NOT: kernel.alloc
// CHECK: kernel.expect {{.*}} bytes 32768
// CHECK-COUNT-3: kernel.async_load
// CHECK-NOT: kernel.async_load
// CHECK-NOT: kernel.transpose_shared
// CHECK: kernel.wait
// CHECK: kernel.outer_products {{.*}} -> tensor<64x128xf32, #kernel.frag<block>>
// NVVM-LABEL: llvm.func @across
// NVVM-COUNT-64: llvm.store {{.*}} : f32, !llvm.ptr<1>
// NVVM-NOT: llvm.store
!rights = !kernel.view<512x254xf32, global>
!results = !kernel.view<256x254xf32, global>
kernel.func @across(%a: !f32, %b: !f32, %c: !f32) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 4, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [1, 256]>]> : !f32 -> !kernel.view<256x512xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<256x512xf32, global> -> tensor<256x512xf32>
  %2 = kernel.view %b map <[<[512, 254] strides [256, 1]>]> : !f32 -> !rights
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !rights -> tensor<512x254xf32>
  %z = arith.constant dense<0.0> : tensor<256x254xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xf32>, tensor<512x254xf32> -> tensor<256x254xf32>
  %7 = kernel.view %c map <[<[256, 254] strides [254, 1]>]> : !f32 -> !results
  kernel.store %4, %7[%c0, %c0] : tensor<256x254xf32>, !results
  kernel.return
}

// Of tiles of 64 rows two groups have 32 each, which are half of what is copied.
// CHECK-LABEL: kernel.func @low
// CHECK-SAME: threads = 384
// CHECK: %[[LEFT:.*]] = kernel.alloc : <4x1x32x64xf32
// CHECK: kernel.barriers arrivals 2
// CHECK: kernel.role "consumer"{{.*}} count 2
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c32
// CHECK: kernel.subview %[[LEFT]][%{{.*}}, %c0, %c0, %[[ROW]]]
// CHECK: kernel.outer_products {{.*}} -> tensor<32x128xf32, #kernel.frag<block>>
// NVVM-LABEL: llvm.func @low
// NVVM-COUNT-32: llvm.intr.fma
// NVVM-COUNT-8: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// NVVM-NOT: llvm.store
kernel.func @low(%a: !f32, %b: !f32, %c: !f32) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 128, 32, stages 4, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [1, 256]>]> : !f32 -> !kernel.view<256x512xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<256x512xf32, global> -> tensor<256x512xf32>
  %2 = kernel.view %b map <[<[512, 256] strides [256, 1]>]> : !f32 -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x256xf32>
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xf32>, tensor<512x256xf32> -> tensor<256x256xf32>
  %7 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !f32 -> !result
  kernel.store %4, %7[%c0, %c0] : tensor<256x256xf32>, !result
  kernel.return
}

// Behind a product e^x - 1 is computed on its registers.
// CHECK-LABEL: kernel.func @less_one
// CHECK: kernel.mma_wait
// CHECK: math.expm1 %{{.*}} : tensor<64x16xf32, #kernel.frag
// CHECK: kernel.store {{.*}} : tensor<64x16xbf16
// NVVM-LABEL: llvm.func @less_one
// NVVM: nvvm.wgmma.mma_async
// NVVM: llvm.intr.fma
// NVVM-NOT: expm1
// NVVM: llvm.return
!half = !kernel.buffer<bf16, global>
kernel.func @less_one(%a: !half, %b: !half, %c: !half) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 4, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[256, 512] strides [512, 1]>]> : !half -> !kernel.view<256x512xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<256x512xbf16, global> -> tensor<256x512xbf16>
  %2 = kernel.view %b map <[<[512, 256] strides [1, 512]>]> : !half -> !kernel.view<512x256xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<512x256xbf16, global> -> tensor<512x256xbf16>
  %z = arith.constant dense<0.0> : tensor<256x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<256x512xbf16>, tensor<512x256xbf16> -> tensor<256x256xf32>
  %5 = math.expm1 %4 : tensor<256x256xf32>
  %6 = arith.truncf %5 : tensor<256x256xf32> to tensor<256x256xbf16>
  %7 = kernel.view %c map <[<[256, 256] strides [256, 1]>]> : !half -> !kernel.view<256x256xbf16, global>
  kernel.store %6, %7[%c0, %c0] : tensor<256x256xbf16>, !kernel.view<256x256xbf16, global>
  kernel.return
}
