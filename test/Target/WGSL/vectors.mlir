// RUN: rm -rf %t && split-file %s %t
// RUN: zyx-compile %t/graphs.mlir --entry=add --target=webgpu --stop-after=target -o %t/add.wgsl
// RUN: FileCheck %s --check-prefix=ADD < %t/add.wgsl
// RUN: zyx-compile %t/graphs.mlir --entry=product --target=webgpu --stop-after=target -o %t/product.wgsl
// RUN: FileCheck %s --check-prefix=PRODUCT < %t/product.wgsl
// RUN: zyx-translate --kernel-to-target --target=webgpu %t/kernels.mlir | FileCheck %s --check-prefix=KERNELS

// Indices of vectors are those of elements divided: no division is left where all terms are multiples.
// Memory of WGSL has one type: that of vectors where all accesses are such, of 32 bits and of as many lanes.

//--- graphs.mlir
// ADD: @group(0) @binding(0) var<storage, read_write> b0_add_0: array<vec4<f32>>;
// ADD: @group(0) @binding(2) var<storage, read_write> b2_add_0: array<vec4<f32>>;
// ADD: let [[X:v[0-9]+]]: vec4<f32> = b0_add_0[{{[a-z][0-9]+}}];
// ADD: [[X]][3]
// ADD: let [[S:v[0-9]+]]: vec4<f32> = vec4<f32>({{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
// ADD: b2_add_0[{{[a-z][0-9]+}}] = [[S]];
func.func @add(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %s = graph.binary add %x, %y : tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}

// Both slices have vectors. Of the left factor, whose neighbours lie along the sum, threads read elements of several
// rows, and write them as one.
// PRODUCT-COUNT-2: var<workgroup> p{{[0-9]+}}_product_0: array<vec4<f32>, {{[0-9]+}}>;
// PRODUCT: b0_product_0: array<f32>;
// PRODUCT: b1_product_0: array<vec4<f32>>;
// PRODUCT: b2_product_0: array<vec4<f32>>;
// PRODUCT: let [[L:v[0-9]+]]: vec4<f32> = vec4<f32>({{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
// PRODUCT: p{{[0-9]+}}_product_0[{{[a-z][0-9]+}}] = [[L]];
// PRODUCT: workgroupBarrier();
// PRODUCT: fma(
func.func @product(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %t = graph.permute %b order = [1, 0] : tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %ar = graph.reshape %a : tensor<1024x1024xf32> -> tensor<1024x1x1024xf32>
  %br = graph.reshape %t : tensor<1024x1024xf32> -> tensor<1x1024x1024xf32>
  %ae = graph.expand %ar : tensor<1024x1x1024xf32> -> tensor<1024x1024x1024xf32>
  %be = graph.expand %br : tensor<1x1024x1024xf32> -> tensor<1024x1024x1024xf32>
  %p = graph.binary mul %ae, %be : tensor<1024x1024x1024xf32>
  %c = graph.reduce add %p dims = [2] : tensor<1024x1024x1024xf32> -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}

//--- kernels.mlir
#all = #kernel.map<[#kernel.block<[64] strides [1]>]>
!f = !kernel.buffer<f32, global>
!h = !kernel.buffer<i16, global>

// The second buffer is read by vectors and by elements, those of the third have 16 bits, and of the shared array an
// element is read by itself.
// KERNELS: var<workgroup> p[[P:[0-9]+]]_k: array<f32, 64>;
// KERNELS: b0_k: array<vec4<f32>>;
// KERNELS: b1_k: array<f32>;
// KERNELS: b2_k: array<atomic<u32>>;
// KERNELS-NOT: vec4
// KERNELS: let [[V:v[0-9]+]]: vec4<f32> = b0_k[{{[a-z][0-9]+}}];
// KERNELS-COUNT-4: p[[P]]_k[{{.*}}] = [[V]][
// KERNELS-NOT: vec4
// KERNELS: b1_k[
// KERNELS-NOT: vec4
// KERNELS: atomicOr(&b2_k[
kernel.func @k(%x: !f, %y: !f, %z: !h) attributes {form = #kernel.form<lowered>, threads = 16 : i64} {
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : i16
  %sevens = vector.from_elements %seven, %seven, %seven, %seven : vector<4xi16>
  %xs = kernel.view %x map #all : !f -> !kernel.view<64xf32, global>
  %ys = kernel.view %y map #all : !f -> !kernel.view<64xf32, global>
  %zs = kernel.view %z map #all : !h -> !kernel.view<64xi16, global>
  %s = kernel.alloc : !kernel.view<64xf32, shared>
  %t = kernel.id thread
  %at = arith.muli %t, %c4 : index
  %v = kernel.load %xs[%at] : !kernel.view<64xf32, global> -> vector<4xf32>
  kernel.store %v, %s[%at] : vector<4xf32>, !kernel.view<64xf32, shared>
  kernel.barrier workgroup
  %e = kernel.load %s[%one] : !kernel.view<64xf32, shared> -> f32
  %w = kernel.load %ys[%at] : !kernel.view<64xf32, global> -> vector<4xf32>
  %w0 = vector.extract %w[0] : f32 from vector<4xf32>
  %sum = arith.addf %w0, %e : f32
  kernel.store %sum, %ys[%t] : f32, !kernel.view<64xf32, global>
  kernel.store %sevens, %zs[%at] : vector<4xi16>, !kernel.view<64xi16, global>
  kernel.return
}
