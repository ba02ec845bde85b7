// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s

// What is rounded to bf16 and widened again is the upper half of a pair: one conversion, of which nothing is moved.
// CHECK-LABEL: llvm.func @round
// CHECK: [[NONE:%.*]] = llvm.mlir.constant(0.000000e+00 : f32) : f32
// CHECK: [[PAIR:%.*]] = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"({{.*}}, [[NONE]]) : (f32, f32) -> vector<2xbf16>
// CHECK: llvm.bitcast [[PAIR]] : vector<2xbf16> to f32
// CHECK-NOT: llvm.fpext
!row = tensor<64xf32, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
!half = tensor<64xbf16, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
kernel.func @round(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64, programs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %view = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %0 = kernel.load %view[%c0] in_bounds [true] : !kernel.view<64xf32, global> -> !row
  %1 = arith.truncf %0 : !row to !half
  %2 = arith.extf %1 : !half to !row
  kernel.store %2, %view[%c0] in_bounds [true] : !row, !kernel.view<64xf32, global>
  kernel.return
}

// An inverse root that may be approximated is an instruction, which keeps denormals.
// CHECK-LABEL: llvm.func @inverse_root
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
kernel.func @inverse_root(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64, programs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %view = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %0 = kernel.load %view[%c0] in_bounds [true] : !kernel.view<64xf32, global> -> !row
  %1 = math.rsqrt %0 fastmath<afn> : !row
  kernel.store %1, %view[%c0] in_bounds [true] : !row, !kernel.view<64xf32, global>
  kernel.return
}

// So is a tangent.
// CHECK-LABEL: llvm.func @tangent
// CHECK: llvm.intr.tanh(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
kernel.func @tangent(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>, threads = 128 : i64, programs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %view = kernel.view %x map <[<[64] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64xf32, global>
  %0 = kernel.load %view[%c0] in_bounds [true] : !kernel.view<64xf32, global> -> !row
  %1 = math.tanh %0 fastmath<afn> : !row
  kernel.store %1, %view[%c0] in_bounds [true] : !row, !kernel.view<64xf32, global>
  kernel.return
}
