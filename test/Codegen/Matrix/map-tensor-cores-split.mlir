// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %t -zyx-kernel-expand-math -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s --check-prefix=NVVM

// Eleven rows by 256 columns and 1000 deep: of each tile four workgroups have 256 of the contraction, and each
// finishes 32 columns.

// CHECK-LABEL: kernel.func @linear
// CHECK-SAME: attributes {cluster = 4 : i64, form = #kernel.form<machine>, programs = 2 : i64, threads = 256 : i64}
// CHECK: %[[PARTS:.*]] = kernel.alloc : <1x4x64x32xf32, shared>
// CHECK: %[[RECEIVED:.*]] = kernel.barriers arrivals 1 : <1>
// CHECK: kernel.expect %[[RECEIVED]][%c0] bytes 32768
// CHECK: kernel.barrier workgroup
// CHECK: kernel.cluster_arrive
// CHECK: %[[RANK:.*]] = kernel.id cluster_rank
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %c256
// CHECK: %[[PAST:.*]] = arith.addi %[[BEGIN]], %c256
// CHECK: %[[END:.*]] = arith.minui %[[PAST]], %c1000
// CHECK: kernel.role "producer"
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64
// CHECK: kernel.role "consumer" count 1 threads 128 {
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64
// CHECK: kernel.mma_wait pending 0
// CHECK: kernel.cluster_wait
// CHECK: %[[MINE:.*]] = kernel.subview %[[PARTS]][%{{.*}}, %[[RANK]], %c0, %c0]
// CHECK: %[[FIRST:.*]] = kernel.extract %{{.*}}[0, 0]
// CHECK: kernel.cluster_send %[[FIRST]] to %[[MINE]] of %c0 signal %[[RECEIVED]][%c0] : tensor<64x32xf32
// CHECK: kernel.extract %{{.*}}[0, 32]
// CHECK: kernel.cluster_send {{.*}} of %c1
// CHECK: kernel.cluster_send {{.*}} of %c2
// CHECK: kernel.cluster_send {{.*}} of %c3
// CHECK: kernel.wait %[[RECEIVED]][%c0] parity %false cluster
// In the order of the workgroups.
// CHECK: %[[R0:.*]] = kernel.cluster_receive
// CHECK: %[[R1:.*]] = kernel.cluster_receive
// CHECK: %[[S1:.*]] = arith.addf %[[R0]], %[[R1]]
// CHECK: %[[R2:.*]] = kernel.cluster_receive
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %[[R2]]
// CHECK: %[[R3:.*]] = kernel.cluster_receive
// CHECK: arith.addf %[[S2]], %[[R3]]
// A tangent is made of the card's power of two and its inverse, but near zero.
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: arith.divf %{{.*}} fastmath<afn>
// CHECK-COUNT-5: math.fma
// CHECK-NOT: math.tanh
// CHECK: arith.select
// CHECK: math.copysign
// CHECK: kernel.store {{.*}} : tensor<64x16xbf16

// NVVM-LABEL: llvm.func @linear
// NVVM-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// NVVM: nvvm.barrier0
// NVVM: nvvm.cluster.arrive {aligned}
// NVVM: nvvm.read.ptx.sreg.clusterid.x
// NVVM: nvvm.read.ptx.sreg.cluster.ctarank
// NVVM: nvvm.cluster.wait
// NVVM: %[[THERE:.*]] = nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// NVVM: %[[ADDRESS:.*]] = llvm.ptrtoint %[[THERE]] : !llvm.ptr<7> to i32
// NVVM: %[[SIGNAL:.*]] = nvvm.mapa
// NVVM: %[[BARRIER:.*]] = llvm.ptrtoint %[[SIGNAL]]
// NVVM: llvm.inline_asm has_side_effects {{.*}}"st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [$0], {$1, $2, $3, $4}, [$5];", "r,f,f,f,f,r,~{memory}" %[[ADDRESS]], {{.*}}, %[[BARRIER]]
// 16 registers to each of four workgroups.
// NVVM-COUNT-15: st.async
// NVVM-NOT: st.async
// NVVM: nvvm.mbarrier.try_wait {{.*}} {scope = #nvvm.mem_scope<cluster>}
// NVVM-COUNT-16: llvm.load {{.*}} : !llvm.ptr<3> -> vector<4xf32>
// NVVM: llvm.nvvm.ex2.approx.ftz.f
// NVVM: llvm.nvvm.rcp.approx.ftz.f
!b = !kernel.buffer<bf16, global>
!left = !kernel.view<11x1000xbf16, global>
!right = !kernel.view<1000x256xbf16, global>
!result = !kernel.view<11x256xbf16, global>
kernel.func @linear(%a: !b, %b: !b, %c: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 128, 64, stages 4, group 8, split 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[11, 1000] strides [1000, 1]>]> : !b -> !left
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !left -> tensor<11x1000xbf16>
  %2 = kernel.view %b map <[<[1000, 256] strides [1, 1000]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<1000x256xbf16>
  %z = arith.constant dense<0.0> : tensor<11x256xf32>
  %4 = kernel.dot %1, %3, %z : tensor<11x1000xbf16>, tensor<1000x256xbf16> -> tensor<11x256xf32>
  %5 = math.tanh %4 : tensor<11x256xf32>
  %6 = arith.truncf %5 : tensor<11x256xf32> to tensor<11x256xbf16>
  %7 = kernel.view %c map <[<[11, 256] strides [256, 1]>]> : !b -> !result
  kernel.store %6, %7[%c0, %c0] : tensor<11x256xbf16>, !result
  kernel.return
}
