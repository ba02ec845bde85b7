// RUN: zyx-compile %s --entry=add --target=vulkan --stop-after=target -o %t.add.mlir
// RUN: FileCheck %s --check-prefix=ADD < %t.add.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.add.mlir -o %t.add.spv
// RUN: spirv-val --target-env vulkan1.2 %t.add.spv
// RUN: zyx-compile %s --entry=exp --target=vulkan --stop-after=target -o %t.exp.mlir
// RUN: FileCheck %s --check-prefix=EXP < %t.exp.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.exp.mlir -o %t.exp.spv
// RUN: spirv-val --target-env vulkan1.2 %t.exp.spv
// RUN: zyx-compile %s --entry=rows --target=vulkan --stop-after=target -o %t.rows.mlir
// RUN: FileCheck %s --check-prefix=ROWS < %t.rows.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.rows.mlir -o %t.rows.spv
// RUN: spirv-val --target-env vulkan1.2 %t.rows.spv
// RUN: zyx-compile %s --entry=softmax --target=vulkan --stop-after=target -o %t.softmax.mlir
// RUN: FileCheck %s --check-prefix=SOFTMAX < %t.softmax.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.softmax.mlir -o %t.softmax.spv
// RUN: spirv-val --target-env vulkan1.2 %t.softmax.spv
// RUN: zyx-compile %s --entry=product --target=vulkan --stop-after=target -o %t.product.mlir
// RUN: FileCheck %s --check-prefix=PRODUCT < %t.product.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.product.mlir -o %t.product.spv
// RUN: spirv-val --target-env vulkan1.2 %t.product.spv
// RUN: zyx-compile %s --entry=scan --target=vulkan --stop-after=target -o %t.scan.mlir
// RUN: FileCheck %s --check-prefix=SCAN < %t.scan.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.scan.mlir -o %t.scan.spv
// RUN: spirv-val --target-env vulkan1.2 %t.scan.spv
// RUN: zyx-compile %s --entry=sort --target=vulkan --stop-after=target -o %t.sort.mlir
// RUN: FileCheck %s --check-prefix=SORT < %t.sort.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.sort.mlir -o %t.sort.spv
// RUN: spirv-val --target-env vulkan1.2 %t.sort.spv
// RUN: zyx-compile %s --entry=attention --target=vulkan --stop-after=target -o %t.attention.mlir
// RUN: FileCheck %s --check-prefix=ATTENTION < %t.attention.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.attention.mlir -o %t.attention.spv
// RUN: spirv-val --target-env vulkan1.2 %t.attention.spv
// RUN: zyx-compile %s --entry=pairs --target=vulkan --stop-after=target -o %t.pairs.mlir
// RUN: FileCheck %s --check-prefix=PAIRS < %t.pairs.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.pairs.mlir -o %t.pairs.spv
// RUN: spirv-val --target-env vulkan1.2 %t.pairs.spv
// RUN: zyx-compile %s --entry=gather --target=vulkan --stop-after=target -o %t.gather.mlir
// RUN: FileCheck %s --check-prefix=GATHER < %t.gather.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.gather.mlir -o %t.gather.spv
// RUN: spirv-val --target-env vulkan1.2 %t.gather.spv
// RUN: zyx-compile %s --entry=scatter --target=vulkan --stop-after=target -o %t.scatter.mlir
// RUN: FileCheck %s --check-prefix=SCATTER < %t.scatter.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.scatter.mlir -o %t.scatter.spv
// RUN: spirv-val --target-env vulkan1.2 %t.scatter.spv
// RUN: zyx-compile %s --entry=convolution --target=vulkan --stop-after=target -o %t.convolution.mlir
// RUN: FileCheck %s --check-prefix=CONVOLUTION < %t.convolution.mlir
// RUN: mlir-translate -no-implicit-module -serialize-spirv %t.convolution.mlir -o %t.convolution.spv
// RUN: spirv-val --target-env vulkan1.2 %t.convolution.spv

// A kernel of each family in SPIR-V, which the validator of Khronos takes.

// A program is a thread, which has four elements; nothing is contracted.
// ADD: spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.5, [Shader, Int64, DenormPreserve, RoundingModeRTE, VulkanMemoryModel, PhysicalStorageBufferAddresses], []>
// ADD-LABEL: spirv.func @add_0()
// ADD-COUNT-4: spirv.FMul {{.*}} {no_contraction}
// ADD-NOT: GL.Fma
// ADD-NOT: ControlBarrier
// ADD: spirv.EntryPoint "GLCompute" @add_0, @zyx.arguments
// ADD: spirv.ExecutionMode @add_0 "LocalSize", 64, 1, 1
func.func @add(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %p = graph.binary mul %x, %y : tensor<64x1024xf32>
  %s = graph.binary add %p, %x : tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}

// EXP-LABEL: spirv.func @exp_0(
// EXP: spirv.FMul
// EXP: spirv.Store "PhysicalStorageBuffer"
func.func @exp(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %y = graph.unary exp %x : tensor<4096xf32>
  return %y : tensor<4096xf32>
}

// A row per workgroup, whose threads meet in shared memory.
// ROWS: spirv.GlobalVariable @zyx.shared : !spirv.ptr<!spirv.array<{{[0-9]+}} x f32>, Workgroup>
// ROWS-LABEL: spirv.func @rows_0(
// ROWS: spirv.mlir.addressof @__builtin__LocalInvocationId__
// ROWS: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Both reductions and the quotient, whose reciprocal begins with a guess, in one kernel.
// SOFTMAX-LABEL: spirv.func @softmax_0(
// SOFTMAX: spirv.ControlBarrier
// SOFTMAX: spirv.ISub %cst2129859015_i32
// SOFTMAX-NOT: spirv.func
func.func @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %m = graph.reduce max %x dims = [1] : tensor<64x1000xf32> -> tensor<64xf32>
  %m1 = graph.reshape %m : tensor<64xf32> -> tensor<64x1xf32>
  %m2 = graph.expand %m1 : tensor<64x1xf32> -> tensor<64x1000xf32>
  %d = graph.binary sub %x, %m2 : tensor<64x1000xf32>
  %e = graph.unary exp %d : tensor<64x1000xf32>
  %s = graph.reduce add %e dims = [1] : tensor<64x1000xf32> -> tensor<64xf32>
  %s1 = graph.reshape %s : tensor<64xf32> -> tensor<64x1xf32>
  %s2 = graph.expand %s1 : tensor<64x1xf32> -> tensor<64x1000xf32>
  %y = graph.binary div %e, %s2 : tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}

// Products by threads out of shared memory, with sums in registers.
// PRODUCT-COUNT-2: Workgroup>
// PRODUCT-LABEL: spirv.func @product_0(
// PRODUCT: spirv.ControlBarrier
// PRODUCT: spirv.Load "Workgroup" {{.*}} : vector<4xf32>
// PRODUCT-NOT: spirv.GL.Fma
// PRODUCT: [[P:%.*]] = spirv.FMul {{[^{]*}} : f32
// PRODUCT-NEXT: spirv.FAdd [[P]], {{[^{]*}} : f32
func.func @product(%x: tensor<256x512xf32>, %w: tensor<512x384xf32>) -> tensor<256x384xf32> {
  %0 = graph.reshape %x : tensor<256x512xf32> -> tensor<256x1x512xf32>
  %1 = graph.expand %0 : tensor<256x1x512xf32> -> tensor<256x384x512xf32>
  %2 = graph.permute %w order = [1, 0] : tensor<512x384xf32> -> tensor<384x512xf32>
  %3 = graph.reshape %2 : tensor<384x512xf32> -> tensor<1x384x512xf32>
  %4 = graph.expand %3 : tensor<1x384x512xf32> -> tensor<256x384x512xf32>
  %5 = graph.binary mul %1, %4 : tensor<256x384x512xf32>
  %6 = graph.reduce add %5 dims = [2] : tensor<256x384x512xf32> -> tensor<256x384xf32>
  return %6 : tensor<256x384xf32>
}

// SCAN-LABEL: spirv.func @scan_0(
// SCAN: spirv.ControlBarrier
func.func @scan(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %y = graph.scan add %x dim = 1 : tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}

// SORT-LABEL: spirv.func @sort_0_sort(
// SORT: spirv.ControlBarrier
func.func @sort(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %y = graph.sort values %x dim = 1 : tensor<64x1000xf32> -> tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}

// Scores stay in the workgroup.
// ATTENTION-LABEL: spirv.func @attention_0(
// ATTENTION: spirv.ControlBarrier
// ATTENTION: [[P:%.*]] = spirv.FMul {{[^{]*}} : f32
// ATTENTION-NEXT: spirv.FAdd [[P]], {{[^{]*}} : f32
func.func @attention(%q: tensor<2x384x64xf32>, %k: tensor<2x384x64xf32>, %v: tensor<2x384x64xf32>) -> tensor<2x384x64xf32> {
  %0 = graph.reshape %q : tensor<2x384x64xf32> -> tensor<2x384x1x64xf32>
  %1 = graph.expand %0 : tensor<2x384x1x64xf32> -> tensor<2x384x384x64xf32>
  %2 = graph.reshape %k : tensor<2x384x64xf32> -> tensor<2x1x384x64xf32>
  %3 = graph.expand %2 : tensor<2x1x384x64xf32> -> tensor<2x384x384x64xf32>
  %4 = graph.binary mul %1, %3 : tensor<2x384x384x64xf32>
  %5 = graph.reduce add %4 dims = [3] : tensor<2x384x384x64xf32> -> tensor<2x384x384xf32>
  %6 = graph.reduce max %5 dims = [2] : tensor<2x384x384xf32> -> tensor<2x384xf32>
  %7 = graph.reshape %6 : tensor<2x384xf32> -> tensor<2x384x1xf32>
  %8 = graph.expand %7 : tensor<2x384x1xf32> -> tensor<2x384x384xf32>
  %9 = graph.binary sub %5, %8 : tensor<2x384x384xf32>
  %e = graph.unary exp %9 : tensor<2x384x384xf32>
  %10 = graph.reduce add %e dims = [2] : tensor<2x384x384xf32> -> tensor<2x384xf32>
  %11 = graph.reshape %10 : tensor<2x384xf32> -> tensor<2x384x1xf32>
  %12 = graph.expand %11 : tensor<2x384x1xf32> -> tensor<2x384x384xf32>
  %13 = graph.binary div %e, %12 : tensor<2x384x384xf32>
  %14 = graph.permute %v order = [0, 2, 1] : tensor<2x384x64xf32> -> tensor<2x64x384xf32>
  %15 = graph.reshape %13 : tensor<2x384x384xf32> -> tensor<2x384x1x384xf32>
  %16 = graph.expand %15 : tensor<2x384x1x384xf32> -> tensor<2x384x64x384xf32>
  %17 = graph.reshape %14 : tensor<2x64x384xf32> -> tensor<2x1x64x384xf32>
  %18 = graph.expand %17 : tensor<2x1x64x384xf32> -> tensor<2x384x64x384xf32>
  %19 = graph.binary mul %16, %18 : tensor<2x384x64x384xf32>
  %20 = graph.reduce add %19 dims = [3] : tensor<2x384x64x384xf32> -> tensor<2x384x64xf32>
  return %20 : tensor<2x384x64xf32>
}

// Each sum of two f16 is rounded once: they are bits, and no device needs to have them.
// PAIRS-NOT: Float16
// PAIRS-LABEL: spirv.func @pairs_0(
// PAIRS: spirv.FAdd {{.*}} {no_contraction}
// PAIRS: spirv.Store "PhysicalStorageBuffer" {{.*}} ["Aligned", {{[48]}}] : vector<{{[24]}}xi16>
func.func @pairs(%x: tensor<4096xf16>, %y: tensor<4096xf16>) -> tensor<4096xf16> {
  %s = graph.binary add %x, %y : tensor<4096xf16>
  return %s : tensor<4096xf16>
}

// A row is read where it is; an index from outside reads nothing.
// GATHER-LABEL: spirv.func @gather_0(
// GATHER: spirv.Load "PhysicalStorageBuffer" {{.*}} : i32
// GATHER: spirv.Store "PhysicalStorageBuffer" {{.*}} : vector<4xf32>
func.func @gather(%x: tensor<1000x64xf32>, %i: tensor<512xi32>) -> tensor<512x64xf32> {
  %y = graph.gather %x[%i] dim = 0 : (tensor<1000x64xf32>, tensor<512xi32>) -> tensor<512x64xf32>
  return %y : tensor<512x64xf32>
}

// Updates are sorted by their rows in a workgroup, of which each row is written by one thread: there are no atomics of floats.
// SCATTER-LABEL: spirv.func @scatter_0(
// SCATTER: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// SCATTER-NOT: Atomic
func.func @scatter(%x: tensor<1000x64xf32>, %i: tensor<512xi32>, %u: tensor<512x64xf32>) -> tensor<1000x64xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<1000x64xf32>, tensor<512xi32>, tensor<512x64xf32>) -> tensor<1000x64xf32>
  return %y : tensor<1000x64xf32>
}

// A product whose windows are gathered as they come to shared memory.
// CONVOLUTION-COUNT-2: !spirv.array<{{[0-9]+}} x vector<4xf32>>, Workgroup>
// CONVOLUTION-LABEL: spirv.func @convolution_0(
// CONVOLUTION: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
func.func @convolution(%x: tensor<2x16x34x34xf32>, %f: tensor<32x16x3x3xf32>) -> tensor<2x32x32x32xf32> {
  %0 = graph.window %x dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x16x34x34xf32> -> tensor<2x16x32x32x3x3xf32>
  %1 = graph.reshape %0 : tensor<2x16x32x32x3x3xf32> -> tensor<2x1x16x32x32x3x3xf32>
  %2 = graph.expand %1 : tensor<2x1x16x32x32x3x3xf32> -> tensor<2x32x16x32x32x3x3xf32>
  %3 = graph.reshape %f : tensor<32x16x3x3xf32> -> tensor<1x32x16x1x1x3x3xf32>
  %4 = graph.expand %3 : tensor<1x32x16x1x1x3x3xf32> -> tensor<2x32x16x32x32x3x3xf32>
  %5 = graph.binary mul %2, %4 : tensor<2x32x16x32x32x3x3xf32>
  %6 = graph.reduce add %5 dims = [2, 5, 6] : tensor<2x32x16x32x32x3x3xf32> -> tensor<2x32x32x32xf32>
  return %6 : tensor<2x32x32x32xf32>
}
