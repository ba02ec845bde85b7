// RUN: zyx-opt %source_dir/test/Dialect/Kernel/paper/attention-hopper.mlir -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s
// RUN: zyx-translate --kernel-to-launch-info %source_dir/test/Dialect/Kernel/paper/attention-hopper.mlir | FileCheck %s --check-prefix=LAUNCH

// LAUNCH: kernel attention
// LAUNCH-NEXT: threads 384 shared 163912
// LAUNCH-NEXT: grid argument 4 step 1
// LAUNCH-NEXT: grid argument 5 step 128
// A box is one panel of 64 columns wide, and one of the leading dimension.
// LAUNCH-NEXT: tensor map of argument 0 {{.*}} box [1, 128, 64]
// LAUNCH: tensor map of argument 3 {{.*}} box [1, 64, 64]

// CHECK-LABEL: llvm.func @attention(
// The last dimension of the grid is x.
// CHECK: nvvm.read.ptx.sreg.ctaid.y
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// Two panels of Q.
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// The first scores need no sum to add to.
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-7: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// Row maxima: in the thread, then among four.
// CHECK: llvm.intr.maximum
// CHECK: nvvm.shfl.sync bfly
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// The weights stay in registers.
// CHECK: llvm.inline_asm {{.*}} "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 1;"
// CHECK-NOT: kernel.
