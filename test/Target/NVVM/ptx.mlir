// RUN: zyx-translate --kernel-to-ptx %source_dir/test/Dialect/Kernel/paper/gemm-hopper.mlir -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: zyx-translate --kernel-to-ptx %source_dir/test/Dialect/Kernel/paper/attention-hopper.mlir | FileCheck %s --check-prefix=ATTENTION

// CHECK: // kernel gemm threads 384 shared 229440
// CHECK: .version 8.8
// CHECK: .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 zyx_shared[];
// CHECK: .visible .entry gemm(
// CHECK: .param .align 64 .b8 gemm_param_0[128]
// CHECK: .maxntid 384
// CHECK: cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16

// ATTENTION: // kernel attention threads 384 shared 163912
// ATTENTION: .visible .entry attention(
// ATTENTION: ex2.approx.ftz.f32
