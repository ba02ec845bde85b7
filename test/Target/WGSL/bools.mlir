// RUN: zyx-translate --kernel-to-target --target=webgpu %s | FileCheck %s

// Mesa makes a choice between x and 0 of a bool's number times x, where NaN is lost: it does not see that the number is a bool's.

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>
!f32 = !kernel.buffer<f32, global>

// CHECK-LABEL: fn k_hot(
// CHECK: let [[HOT:v[0-9]+]]: f32 = f32(
// CHECK: fma(zyx_f32(bitcast<u32>([[HOT]])),
// CHECK: zyx_f32(bitcast<u32>([[HOT]])) *
kernel.func @hot(%x: !f32, %y: !f32) attributes {form = #kernel.form<lowered>} {
  %c7 = arith.constant 7 : index
  %xs = kernel.view %x map #all : !f32 -> !kernel.view<1000xf32, global>
  %ys = kernel.view %y map #all : !f32 -> !kernel.view<1000xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf32, global> -> f32
    %is = arith.cmpi eq, %i, %c7 : index
    %hot = arith.uitofp %is : i1 to f32
    %s = math.fma %hot, %v, %v : f32
    %p = arith.mulf %hot, %v : f32
    kernel.store %s, %xs[%i] : f32, !kernel.view<1000xf32, global>
    kernel.store %p, %ys[%i] : f32, !kernel.view<1000xf32, global>
  }
  kernel.return
}
