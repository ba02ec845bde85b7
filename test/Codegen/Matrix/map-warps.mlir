// RUN: zyx-opt %s --split-input-file --verify-roundtrip -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s
// RUN: zyx-opt %s --split-input-file -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-attach-target=target=sm_80 -zyx-convert-kernel-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: zyx-opt %s --split-input-file -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-map-tensor-cores -canonicalize -cse | zyx-translate --split-input-file --kernel-to-launch-info | FileCheck %s --check-prefix=LAUNCH

// C = A^T x B^T + bias of 136 x 200 and 72 deep, in batches of which B has none: four warps have 64 x 64 each.

// CHECK-LABEL: kernel.func @product
// CHECK-SAME: attributes {form = #kernel.form<machine>, programs = 8 : i64, threads = 128 : i64}
// Of A, whose columns lie next to each other, slices have panels of 64; of B they have rows of 32.
// CHECK: kernel.view %arg0 map <[<[2, 72, 136] strides [9792, 136, 1]>]>
// CHECK: kernel.alloc : <4x32x128xbf16, shared, #kernel.shared<swizzle = 128>>
// CHECK: kernel.view %arg1 map <[<[200, 72] strides [72, 1]>]>
// CHECK: kernel.alloc : <4x128x32xbf16, shared, #kernel.shared<swizzle = 64>>
// CHECK: kernel.role "warp" count 4 threads 32
// Three slices are on their way before the first is multiplied. Sizes are no multiples of tiles.
// CHECK-COUNT-3: kernel.copy_commit
// CHECK: kernel.copy_wait pending 2
// CHECK: kernel.barrier workgroup
// CHECK-COUNT-4: kernel.load_matrix {{.*}} transposed : {{.*}} -> tensor<16x16xbf16, #kernel.frag<mma_a>>
// CHECK: kernel.load_matrix {{.*}} -> tensor<16x64xbf16, #kernel.frag<mma_b>>
// CHECK: scf.for
// The second step is read, the next slice is asked for, the first step is multiplied.
// CHECK-COUNT-5: kernel.load_matrix
// CHECK: kernel.copy_async {{.*}} in_bounds [true, false, false] : <2x72x136xbf16, global>, <32x128xbf16, shared
// CHECK: kernel.copy_async {{.*}} in_bounds [false, false] : <200x72xbf16, global>, <128x32xbf16, shared
// CHECK: kernel.copy_commit
// CHECK-COUNT-4: kernel.mma
// CHECK: kernel.copy_wait pending 2
// CHECK: kernel.barrier workgroup
// CHECK-COUNT-5: kernel.load_matrix
// CHECK-COUNT-4: kernel.mma
// CHECK: scf.yield
// CHECK: kernel.copy_wait pending 0
// CHECK: kernel.barrier workgroup
// The bias lies along the columns, of which the last tile lacks some.
// CHECK: kernel.extract {{.*}} -> tensor<16x16xf32, #kernel.frag<mma_acc>>
// CHECK: kernel.load %{{.*}} in_bounds [false] : <200xf32, global> -> tensor<16xf32, #kernel.slice<dim = 0, #kernel.frag<mma_acc>>>
// CHECK: kernel.broadcast {{.*}} dims [1]
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: kernel.store {{.*}} in_bounds [true, false, false] : tensor<16x16xbf16, #kernel.frag<mma_acc>>

// LAUNCH: kernel product
// LAUNCH-NEXT: threads 128 shared 65536
// LAUNCH-NEXT: programs 8

// NVVM-LABEL: llvm.func @product
// NVVM-SAME: nvvm.maxntid = array<i32: 128, 1, 1>
// Four pieces of 16 bytes of each slice a thread.
// NVVM-COUNT-8: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg, %
// NVVM: nvvm.cp.async.commit.group
// NVVM: nvvm.cp.async.wait.group 2
// NVVM: nvvm.barrier
// NVVM: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>
// NVVM: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>
// NVVM: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
!left = !kernel.view<2x136x72xbf16, global>
!right = !kernel.view<2x72x200xbf16, global>
!result = !kernel.view<2x136x200xbf16, global>
kernel.func @product(%a: !b, %b: !b, %bias: !f, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 4, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[2, 136, 72] strides [9792, 1, 136]>]> : !b -> !left
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] : !left -> tensor<2x136x72xbf16>
  %2 = kernel.view %b map <[<[2, 72, 200] strides [0, 1, 72]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !right -> tensor<2x72x200xbf16>
  %z = arith.constant dense<0.0> : tensor<2x136x200xf32>
  %4 = kernel.dot %1, %3, %z : tensor<2x136x72xbf16>, tensor<2x72x200xbf16> -> tensor<2x136x200xf32>
  %5 = kernel.view %bias map <[<[200] strides [1]>]> : !f -> !kernel.view<200xf32, global>
  %6 = kernel.load %5[%c0] axes ["n"] : !kernel.view<200xf32, global> -> tensor<200xf32>
  %7 = kernel.broadcast %6 dims [2] : tensor<200xf32> -> tensor<2x136x200xf32>
  %8 = arith.addf %4, %7 : tensor<2x136x200xf32>
  %9 = arith.truncf %8 : tensor<2x136x200xf32> to tensor<2x136x200xbf16>
  %10 = kernel.view %c map <[<[2, 136, 200] strides [27200, 200, 1]>]> : !b -> !result
  kernel.store %9, %10[%c0, %c0, %c0] : tensor<2x136x200xbf16>, !result
  kernel.return
}

// -----

// Through registers: the next slice is fetched before this one is multiplied, and put into memory behind it.

// CHECK-LABEL: kernel.func @held
// CHECK: kernel.fetch
// CHECK: kernel.fetch
// CHECK: kernel.store {{.*}} : tensor<64x32xf16, #kernel.frag<pieces>>, <64x32xf16, shared, #kernel.shared<swizzle = 64>>
// CHECK: kernel.barrier workgroup
// CHECK: scf.for
// CHECK: kernel.fetch {{.*}} in_bounds [true, false] : <64x256xf16, global> -> tensor<64x32xf16, #kernel.frag<pieces>>
// CHECK: kernel.mma
// CHECK: kernel.store {{.*}} #kernel.frag<pieces>
// CHECK: kernel.barrier workgroup
// CHECK-NOT: kernel.copy
!h = !kernel.buffer<f16, global>
!view = !kernel.view<64x256xf16, global>
!across = !kernel.view<256x64xf16, global>
!out = !kernel.view<64x64xf16, global>
kernel.func @held(%a: !h, %b: !h, %c: !h) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 32, stages 2, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 256] strides [256, 1]>]> : !h -> !view
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !view -> tensor<64x256xf16>
  %2 = kernel.view %b map <[<[256, 64] strides [1, 256]>]> : !h -> !across
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !across -> tensor<256x64xf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x256xf16>, tensor<256x64xf16> -> tensor<64x64xf32>
  %5 = arith.truncf %4 : tensor<64x64xf32> to tensor<64x64xf16>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !h -> !out
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xf16>, !out
  kernel.return
}

// -----

// Eight bits: 32 elements a step, summed up in integers.

// CHECK-LABEL: kernel.func @bytes
// CHECK: kernel.alloc : <3x64x64xi8, shared, #kernel.shared<swizzle = 64>>
// CHECK: kernel.load_matrix {{.*}} -> tensor<16x32xi8, #kernel.frag<mma_a>>
// CHECK: kernel.mma {{.*}} -> tensor<16x32xi32, #kernel.frag<mma_acc>>
// NVVM-LABEL: llvm.func @bytes
// NVVM: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}} k = 32
!i = !kernel.buffer<i8, global>
!w = !kernel.buffer<i32, global>
!view = !kernel.view<64x256xi8, global>
!across = !kernel.view<256x64xi8, global>
!out = !kernel.view<64x64xi32, global>
kernel.func @bytes(%a: !i, %b: !i, %c: !w) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 64, 64, stages 3, group 8 warps 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 256] strides [256, 1]>]> : !i -> !view
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !view -> tensor<64x256xi8>
  %2 = kernel.view %b map <[<[256, 64] strides [1, 256]>]> : !i -> !across
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !across -> tensor<256x64xi8>
  %z = arith.constant dense<0> : tensor<64x64xi32>
  %4 = kernel.dot %1, %3, %z : tensor<64x256xi8>, tensor<256x64xi8> -> tensor<64x64xi32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !w -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xi32>, !out
  kernel.return
}
