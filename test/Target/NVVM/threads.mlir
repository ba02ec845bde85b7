// RUN: zyx-compile %s --entry=add --target=sm_90a --stop-after=target | FileCheck %s --check-prefixes=PTX,ADD
// RUN: zyx-compile %s --entry=add --target=sm_75 --stop-after=target | FileCheck %s --check-prefix=OLD
// RUN: zyx-compile %s --entry=cast --target=sm_80 --stop-after=target | FileCheck %s --check-prefix=CAST
// RUN: zyx-compile %s --entry=rows --target=sm_80 --stop-after=target | FileCheck %s --check-prefix=ROWS
// RUN: zyx-compile %s --entry=shift --target=sm_80 --stop-after=target | FileCheck %s --check-prefix=SHIFT
// RUN: zyx-compile %s --entry=negated --target=sm_90a --stop-after=target | FileCheck %s --check-prefix=NEGATED
// RUN: zyx-compile %s --entry=negated --target=cuda --stop-after=target | FileCheck %s --check-prefix=NEGATED
// RUN: zyx-compile %s --entry=pairs --target=sm_80 --stop-after=target | FileCheck %s --check-prefix=PAIRS
// RUN: zyx-compile %s --entry=pairs --target=sm_75 --stop-after=target | FileCheck %s --check-prefix=ALONE
// RUN: zyx-compile %s --entry=interleave --target=sm_90a --stop-after=target | FileCheck %s --check-prefix=INTERLEAVE
// RUN: zyx-compile %s --entry=phases --target=sm_90a --stop-after=target | FileCheck %s --check-prefix=PHASES
// RUN: zyx-compile %s --entry=add --target=sm_90a --stop-after=schedule | FileCheck %s --check-prefix=SCHEDULE

// 16 bytes at a time, past the coherent cache; nothing is contracted.
// SCHEDULE: #kernel.grid_step<"i0", 4>
// PTX: .version 8.8
// PTX: .target sm_90a
// OLD: .version 7.8
// OLD: .target sm_75
// ADD: .entry add_0(
// ADD-COUNT-4: .param .u64 {{.*}}.align {{16|1}}
// ADD: .param .u64 add_0_param_4
// ADD: .maxntid 256
// ADD-COUNT-2: ld.global.nc.v4.b32
// ADD: mul.rn.f32
// ADD: add.rn.f32
// ADD-NOT: fma
// ADD: st.global.v4.b32
func.func @add(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %p = graph.binary mul %x, %y : tensor<64x1024xf32>
  %s = graph.binary add %p, %x : tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}

// As many elements as 16 bytes hold of the wider ones.
// CAST: ld.global.nc.v4.b32
// CAST-COUNT-2: cvt.rn.f16x2.f32
// CAST: st.global.v2.b32
func.func @cast(%x: tensor<4096xf32>) -> tensor<4096xf16> {
  %y = graph.cast %x : tensor<4096xf32> -> tensor<4096xf16>
  return %y : tensor<4096xf16>
}

// Elements that alternate are written together.
// INTERLEAVE-NOT: st.global.b16
// INTERLEAVE: st.global.v4.b32
// INTERLEAVE-NOT: st.global
func.func @interleave(%x: tensor<65536x1xf16>, %y: tensor<65536x1xf16>) -> tensor<65536x2xf16> {
  %z = graph.concat %x, %y dim = 1 : (tensor<65536x1xf16>, tensor<65536x1xf16>) -> tensor<65536x2xf16>
  return %z : tensor<65536x2xf16>
}

// Also of four tensors that alternate along two dimensions, in one kernel: a thread has all phases of its elements.
// PHASES: .entry phases_0(
// PHASES-NOT: ld.global.nc.b16
// PHASES-NOT: st.global.b16
// PHASES-COUNT-4: st.global.v4.b32
// PHASES-NOT: st.global
// PHASES-NOT: .entry
func.func @phases(%a: tensor<1x512x1x64xf16>, %b: tensor<1x512x1x64xf16>, %c: tensor<1x512x1x64xf16>, %d: tensor<1x512x1x64xf16>) -> tensor<512x2x64x2xf16> {
  %0 = graph.permute %a order = [1, 0, 3, 2] : tensor<1x512x1x64xf16> -> tensor<512x1x64x1xf16>
  %1 = graph.permute %b order = [1, 0, 3, 2] : tensor<1x512x1x64xf16> -> tensor<512x1x64x1xf16>
  %2 = graph.permute %c order = [1, 0, 3, 2] : tensor<1x512x1x64xf16> -> tensor<512x1x64x1xf16>
  %3 = graph.permute %d order = [1, 0, 3, 2] : tensor<1x512x1x64xf16> -> tensor<512x1x64x1xf16>
  %4 = graph.concat %0, %1 dim = 3 : (tensor<512x1x64x1xf16>, tensor<512x1x64x1xf16>) -> tensor<512x1x64x2xf16>
  %5 = graph.concat %2, %3 dim = 3 : (tensor<512x1x64x1xf16>, tensor<512x1x64x1xf16>) -> tensor<512x1x64x2xf16>
  %6 = graph.concat %4, %5 dim = 1 : (tensor<512x1x64x2xf16>, tensor<512x1x64x2xf16>) -> tensor<512x2x64x2xf16>
  return %6 : tensor<512x2x64x2xf16>
}

// A row per workgroup: 128 threads have two vectors each.
// ROWS: .extern .shared .align 64 .b8 zyx_shared[]
// ROWS: .maxntid 128
// ROWS: ld.global.nc.v4.b32
// ROWS: add.rn.f32
// ROWS: st.shared.b32
// ROWS: bar.sync
// ROWS: ld.shared.b32
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// The instruction takes the low 32 bits of an amount, so the amount is made small before.
// SHIFT: min.u64 %[[AMOUNT:rd[0-9]+]],
// SHIFT: cvt.u32.u64 %[[LOW:r[0-9]+]], %[[AMOUNT]]
// SHIFT: shl.b64 %{{.*}}, %{{.*}}, %[[LOW]]
// SHIFT: selp
func.func @shift(%x: tensor<4096xi64>, %y: tensor<4096xi64>) -> tensor<4096xi64> {
  %z = graph.binary shl %x, %y : tensor<4096xi64>
  return %z : tensor<4096xi64>
}

// ptxas would lose negations in front of max.
// NEGATED: .entry negated_0_and_negated_1(
// NEGATED-NOT: neg.s
// NEGATED-DAG: add.s32 [[X:%r[0-9]+]], %r{{[0-9]+}}, -1; not.b32 [[X]], [[X]];
// NEGATED-DAG: max.s32
// NEGATED-DAG: add.s16 [[Y:%rs[0-9]+]], %rs{{[0-9]+}}, -1; not.b16 [[Y]], [[Y]];
// NEGATED-DAG: min.s16
// NEGATED-NOT: neg.s
func.func @negated(%x: tensor<7x64x2xi32>, %y: tensor<7x48x2xi8>) -> (tensor<64xi32>, tensor<48xi8>) {
  %0 = graph.unary neg %x : tensor<7x64x2xi32>
  %1 = graph.reduce max %0 dims = [0, 2] : tensor<7x64x2xi32> -> tensor<64xi32>
  %2 = graph.unary neg %y : tensor<7x48x2xi8>
  %3 = graph.reduce min %2 dims = [0, 2] : tensor<7x48x2xi8> -> tensor<48xi8>
  return %1, %3 : tensor<64xi32>, tensor<48xi8>
}

// Two bf16 by one instruction, where there is one.
// PAIRS: ld.global.nc.v4.b32
// PAIRS-NOT: cvt
// PAIRS-COUNT-4: fma.rn.bf16x2
// PAIRS: max.NaN.bf16x2
// PAIRS: xor.b32
// PAIRS-NOT: cvt.rn.bf16
// ALONE-NOT: bf16x2
// ALONE: mul.rn.f32
func.func @pairs(%x: tensor<4096xbf16>, %y: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %p = graph.binary mul %x, %y : tensor<4096xbf16>
  %m = graph.binary max %p, %y : tensor<4096xbf16>
  %n = graph.unary neg %m : tensor<4096xbf16>
  return %n : tensor<4096xbf16>
}
