// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm | FileCheck %s --check-prefix=HALF
// RUN: zyx-opt %s -zyx-convert-kernel-to-llvm=half-conversion=false | FileCheck %s --check-prefix=BITS

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
kernel.func @half(%x: !buffer) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : vector<16xf16>
  %xs = kernel.view %x map #x : !buffer -> !view
  %v = kernel.load %xs[%c0] : !view -> vector<16xf16>
  %s = arith.addf %v, %one : vector<16xf16>
  kernel.store %s, %xs[%c0] : vector<16xf16>, !view
  kernel.return
}
