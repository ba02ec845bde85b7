// RUN: zyx-translate --kernel-to-asm --target=x86-64-v4 %s | FileCheck %s --check-prefix=V4
// RUN: zyx-translate --kernel-to-asm --target=x86-64-v3 %s | FileCheck %s --check-prefix=V3
// RUN: zyx-translate --kernel-to-llvmir --target=x86-64-v4 %s | FileCheck %s --check-prefix=IR

// Native vectors stay what they are, and nothing is contracted.
// V4-LABEL: axpy.body:
// V4-NOT: fmadd
// V4: vmulps {{.*}}%zmm
// V4: vaddps {{.*}}%zmm
// V4-NOT: fmadd
// V4-LABEL: axpy:
// V3-LABEL: axpy.body:
// V3: vmulps {{.*}}%ymm
// V3-NOT: zmm

// Buffers do not alias: what the loop does not change is read once, before it.
// IR-LABEL: define internal void @axpy.body(ptr noalias
// IR: load float
// IR: br label
// IR-NOT: load float,
// IR: fmul <16 x float>
#x = #kernel.map<[#kernel.block<[1024] strides [1]>]>
#s = #kernel.map<[#kernel.block<[] strides []>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<1024xf32, global>
!s = !kernel.view<f32, global>
kernel.func @axpy(%a: !buffer, %x: !buffer, %y: !buffer) attributes {form = #kernel.form<lowered>} {
  %as = kernel.view %a map #s : !buffer -> !s
  %xs = kernel.view %x map #x : !buffer -> !x
  %ys = kernel.view %y map #x : !buffer -> !x
  kernel.grid (%i) in [1024] step [16] {
    %f = kernel.load %as[] : !s -> f32
    %v = vector.broadcast %f : f32 to vector<16xf32>
    %w = kernel.load %xs[%i] : !x -> vector<16xf32>
    %p = arith.mulf %v, %w : vector<16xf32>
    %z = kernel.load %ys[%i] : !x -> vector<16xf32>
    %t = arith.addf %p, %z : vector<16xf32>
    kernel.store %t, %ys[%i] : vector<16xf32>, !x
  }
  kernel.return
}
