// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// C = A^T x B^T + bias of 136 x 200 and 72 deep, in batches of which B has none.

// CHECK-LABEL: kernel.func @product
// CHECK-SAME: attributes {form = #kernel.form<machine>, programs = 8 : i64, threads = 384 : i64}
// Every factor has a view with its columns next to each other, and a ring; each group of warps a box of A.
// CHECK: kernel.view %arg0 map <[<[2, 72, 136] strides [9792, 136, 1]>]>
// CHECK: kernel.alloc : <3x2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>
// CHECK: kernel.view %arg1 map <[<[200, 72] strides [72, 1]>]>
// CHECK: kernel.alloc : <3x128x64xbf16, shared, #kernel.shared<swizzle = 128>>
// CHECK: kernel.alloc : <2x2x64x64xbf16, shared, #kernel.shared<swizzle = 128>>
// CHECK: kernel.barriers arrivals 1 : <3>
// CHECK: kernel.barriers arrivals 2 : <3>
// CHECK: kernel.role "producer" count 1 threads 128 registers 40 single
// Four tiles a batch.
// CHECK: scf.for %{{.*}} = %{{.*}} to %c8 step
// CHECK: kernel.wait
// CHECK: kernel.expect {{.*}} bytes 32768
// CHECK: kernel.async_load {{.*}} : <2x72x136xbf16, global>, <64x64xbf16, shared
// CHECK: kernel.async_load {{.*}} : <2x72x136xbf16, global>, <64x64xbf16, shared
// CHECK: kernel.async_load {{.*}} : <200x72xbf16, global>, <128x64xbf16, shared
// CHECK: kernel.role "consumer" count 2 threads 128 registers 232
// CHECK: kernel.mma_async %{{.*}} transposed, %{{.*}} transposed
// CHECK: kernel.mma_wait pending 1
// CHECK: kernel.mma_wait pending 0
// Two panels take turns.
// CHECK: kernel.async_wait pending 1 read
// CHECK-NOT: kernel.async_wait pending 0 read
// The bias lies along the columns, of which the last tile lacks some.
// CHECK: kernel.load %{{.*}} in_bounds [false] : <200xf32, global> -> tensor<16xf32, #kernel.slice<dim = 0, #kernel.frag<wgmma_acc>>>
// What lies along columns is computed for these alone. An inverse root is an instruction.
// CHECK: math.rsqrt {{.*}} fastmath<afn> : tensor<16xf32, #kernel.slice<dim = 0, #kernel.frag<wgmma_acc>>>
// CHECK: kernel.broadcast {{.*}} dims [1]
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: kernel.store {{.*}} : tensor<64x16xbf16, #kernel.frag<wgmma_acc>>, <64x64xbf16, shared
// CHECK: kernel.async_store
!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!left = !kernel.view<2x136x72xbf16, global>
!right = !kernel.view<2x72x200xbf16, global>
!result = !kernel.view<2x136x200xbf16, global>
kernel.func @product(%a: !b, %b: !b, %bias: !f, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[2, 136, 72] strides [9792, 1, 136]>]> : !b -> !left
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] : !left -> tensor<2x136x72xbf16>
  %2 = kernel.view %b map <[<[2, 72, 200] strides [0, 1, 72]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !right -> tensor<2x72x200xbf16>
  %z = arith.constant dense<0.0> : tensor<2x136x200xf32>
  %4 = kernel.dot %1, %3, %z : tensor<2x136x72xbf16>, tensor<2x72x200xbf16> -> tensor<2x136x200xf32>
  %5 = kernel.view %bias map <[<[200] strides [1]>]> : !f -> !kernel.view<200xf32, global>
  %6 = kernel.load %5[%c0] axes ["n"] : !kernel.view<200xf32, global> -> tensor<200xf32>
  %r = math.rsqrt %6 : tensor<200xf32>
  %7 = kernel.broadcast %r dims [2] : tensor<200xf32> -> tensor<2x136x200xf32>
  %8 = arith.addf %4, %7 : tensor<2x136x200xf32>
  %9 = arith.truncf %8 : tensor<2x136x200xf32> to tensor<2x136x200xbf16>
  %10 = kernel.view %c map <[<[2, 136, 200] strides [27200, 200, 1]>]> : !b -> !result
  kernel.store %9, %10[%c0, %c0, %c0] : tensor<2x136x200xbf16>, !result
  kernel.return
}
