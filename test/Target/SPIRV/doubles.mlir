// RUN: zyx-translate --kernel-to-target --target=vulkan %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: zyx-translate --kernel-to-target --target=vulkan --mlir-print-debuginfo %s | FileCheck %s --check-prefix=PLACES
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.mlir -o %t.spv
// RUN: spirv-val --target-env vulkan1.2 %t.spv

// Not every device has f64: a module of it asks for it.
// CHECK: spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.5, [Shader, Float64, Int64,

#all = #kernel.map<[#kernel.block<[1000] strides [1]>]>

// Maxima of 64 bits are chosen by a comparison of signed integers: a driver has wrong digits for max(x + c, c) - c.
// CHECK-LABEL: spirv.func @maxima_of_64_bits()
// CHECK-NOT: UMax
// CHECK-NOT: spirv.UGreaterThan
// CHECK: spirv.SGreaterThan %{{.*}}, %{{.*}} : i64
// CHECK: spirv.Select
// CHECK-NOT: spirv.ISub
// CHECK: spirv.Return
// PLACES: spirv.Store "PhysicalStorageBuffer" {{.*}} loc("{{.*}}doubles.mlir":[[@LINE+7]]:5)
kernel.func @maxima_of_64_bits(%x: !kernel.buffer<f64, global>) attributes {form = #kernel.form<lowered>} {
  %zero = arith.constant 0.0 : f64
  %xs = kernel.view %x map #all : !kernel.buffer<f64, global> -> !kernel.view<1000xf64, global>
  kernel.grid (%i) in [1000] step [1] {
    %v = kernel.load %xs[%i] : !kernel.view<1000xf64, global> -> f64
    %most = arith.maximumf %v, %zero : f64
    kernel.store %most, %xs[%i] : f64, !kernel.view<1000xf64, global>
  }
  kernel.return
}
