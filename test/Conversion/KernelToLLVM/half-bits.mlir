// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm | FileCheck %s --check-prefix=HALF
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64 -zyx-convert-kernel-to-llvm | FileCheck %s --check-prefix=BITS

// A processor without conversions of f16 would call a function for each.
#x = #kernel.map<[#kernel.block<[16] strides [1]>]>
!buffer = !kernel.buffer<f16, global>
!view = !kernel.view<16xf16, global>
// HALF-LABEL: llvm.func internal @half.body
// HALF: llvm.fpext {{.*}} : vector<16xf16> to vector<16xf32>
// HALF: llvm.fptrunc {{.*}} : vector<16xf32> to vector<16xf16>
// BITS-LABEL: llvm.func internal @half.body
// BITS-NOT: xf16
// BITS: llvm.zext {{.*}} : vector<16xi16> to vector<16xi32>
// BITS: llvm.fmul {{.*}} : vector<16xf32>
// BITS: llvm.fadd {{.*}} : vector<16xf32>
// BITS: llvm.trunc {{.*}} : vector<16xi32> to vector<16xi16>
// BITS-NOT: xf16
// BITS: llvm.return
kernel.func @half(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : vector<16xf16>
  %xs = kernel.view %x map #x : !buffer -> !view
  %v = kernel.load %xs[%c0] : !view -> vector<16xf16>
  %s = arith.addf %v, %one : vector<16xf16>
  kernel.store %s, %xs[%c0] : vector<16xf16>, !view
  kernel.return
}

// What LLVM knows of a scalar before it is rounded would make another conversion of it, which is a function.
#y = #kernel.map<[#kernel.block<[1] strides [1]>]>
!one = !kernel.view<1xf16, global>
// HALF-LABEL: llvm.func internal @scalar.body
// HALF: %[[SIGNED:.*]] = llvm.intr.copysign
// HALF: %[[FENCED:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[SIGNED]]) : (f32) -> f32
// HALF: llvm.fptrunc %[[FENCED]] : f32 to f16
// BITS-LABEL: llvm.func internal @scalar.body
// BITS-NOT: llvm.fptrunc
// BITS: llvm.return
kernel.func @scalar(%x: !buffer, %a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #y : !buffer -> !one
  %as = kernel.view %a map #y : !kernel.buffer<f32, global> -> !kernel.view<1xf32, global>
  %bs = kernel.view %b map #y : !kernel.buffer<f32, global> -> !kernel.view<1xf32, global>
  %m = kernel.load %as[%c0] : !kernel.view<1xf32, global> -> f32
  %s = kernel.load %bs[%c0] : !kernel.view<1xf32, global> -> f32
  %signed = math.copysign %m, %s : f32
  %h = arith.truncf %signed : f32 to f16
  kernel.store %h, %xs[%c0] : f16, !one
  kernel.return
}
