// RUN: zyx-compile %s --entry=add --target=opencl --stop-after=target -o %t.add.cl
// RUN: FileCheck %s --check-prefix=ADD < %t.add.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.add.cl
// RUN: zyx-compile %s --entry=exp --target=opencl --stop-after=target -o %t.exp.cl
// RUN: FileCheck %s --check-prefix=EXP < %t.exp.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.exp.cl
// RUN: zyx-compile %s --entry=rows --target=opencl --stop-after=target -o %t.rows.cl
// RUN: FileCheck %s --check-prefix=ROWS < %t.rows.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.rows.cl
// RUN: zyx-compile %s --entry=softmax --target=opencl --stop-after=target -o %t.softmax.cl
// RUN: FileCheck %s --check-prefix=SOFTMAX < %t.softmax.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.softmax.cl
// RUN: zyx-compile %s --entry=product --target=opencl --stop-after=target -o %t.product.cl
// RUN: FileCheck %s --check-prefix=PRODUCT < %t.product.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.product.cl
// RUN: zyx-compile %s --entry=scan --target=opencl --stop-after=target -o %t.scan.cl
// RUN: FileCheck %s --check-prefix=SCAN < %t.scan.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.scan.cl
// RUN: zyx-compile %s --entry=sort --target=opencl --stop-after=target -o %t.sort.cl
// RUN: FileCheck %s --check-prefix=SORT < %t.sort.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.sort.cl
// RUN: zyx-compile %s --entry=attention --target=opencl --stop-after=target -o %t.attention.cl
// RUN: FileCheck %s --check-prefix=ATTENTION < %t.attention.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.attention.cl
// RUN: zyx-compile %s --entry=pairs --target=opencl --stop-after=target -o %t.pairs.cl
// RUN: FileCheck %s --check-prefix=PAIRS < %t.pairs.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.pairs.cl
// RUN: zyx-compile %s --entry=gather --target=opencl --stop-after=target -o %t.gather.cl
// RUN: FileCheck %s --check-prefix=GATHER < %t.gather.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.gather.cl
// RUN: zyx-compile %s --entry=scatter --target=opencl --stop-after=target -o %t.scatter.cl
// RUN: FileCheck %s --check-prefix=SCATTER < %t.scatter.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.scatter.cl
// RUN: zyx-compile %s --entry=convolution --target=opencl --stop-after=target -o %t.convolution.cl
// RUN: FileCheck %s --check-prefix=CONVOLUTION < %t.convolution.cl
// RUN: clang-22 -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -Werror -fsyntax-only %t.convolution.cl

// A kernel of each family in OpenCL C, which clang takes.

// A program is a thread, which has four elements, each four one access; nothing is contracted.
// ADD-LABEL: __kernel void k_add_0(
// ADD: const float4 [[X:v[0-9]+]] = *(__global const float4 *)(b0 + {{v[0-9]+}});
// ADD-NOT: fma
// ADD-NOT: barrier
// ADD: const float4 [[S:v[0-9]+]] = (float4)({{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}}, {{v[0-9]+}});
// ADD: *(__global float4 *)(b2 + {{v[0-9]+}}) = [[S]];
func.func @add(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %p = graph.binary mul %x, %y : tensor<64x1024xf32>
  %s = graph.binary add %p, %x : tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}

// EXP-LABEL: __kernel void k_exp_0(
// EXP: fma(
// EXP: *(__global float4 *)(b1 + 
func.func @exp(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %y = graph.unary exp %x : tensor<4096xf32>
  return %y : tensor<4096xf32>
}

// A row per workgroup, whose threads meet in shared memory.
// ROWS-LABEL: void k_rows_0(
// ROWS: __local float
// ROWS: get_local_id(0)
// ROWS: barrier(CLK_LOCAL_MEM_FENCE);
// ROWS-NOT: CLK_GLOBAL_MEM_FENCE
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// Both reductions and the quotient in one kernel.
// SOFTMAX-LABEL: void k_softmax_0(
// Maxima of a row are those of integers.
// SOFTMAX: (uint)zyx_shrs((int)v{{[0-9]+}}, 31u, 32)
// SOFTMAX-NOT: zyx_maximum_f32(
// SOFTMAX: barrier(CLK_LOCAL_MEM_FENCE);
// SOFTMAX: {{v[0-9]+ / v[0-9]+|a[0-9]+ / v[0-9]+}}
// SOFTMAX-NOT: __kernel
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
// PRODUCT-LABEL: void k_product_0(
// PRODUCT-COUNT-2: __local float
// PRODUCT: barrier(CLK_LOCAL_MEM_FENCE);
// PRODUCT: fma(
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

// SCAN-LABEL: void k_scan_0(
// SCAN: __local float
// SCAN: barrier(
func.func @scan(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %y = graph.scan add %x dim = 1 : tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}

// SORT-LABEL: void k_sort_0_sort(
// SORT: barrier(
func.func @sort(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %y = graph.sort values %x dim = 1 : tensor<64x1000xf32> -> tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}

// Scores stay in the workgroup.
// ATTENTION-LABEL: void k_attention_0(
// ATTENTION: __local float
// ATTENTION: barrier(CLK_LOCAL_MEM_FENCE);
// ATTENTION: fma(
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

// Each sum of two f16 is rounded once.
// PAIRS-LABEL: __kernel void k_pairs_0(
// PAIRS: zyx_f16_from_f32(zyx_f16_to_f32({{v[0-9]+}}.s0) + zyx_f16_to_f32({{v[0-9]+}}.s0));
func.func @pairs(%x: tensor<4096xf16>, %y: tensor<4096xf16>) -> tensor<4096xf16> {
  %s = graph.binary add %x, %y : tensor<4096xf16>
  return %s : tensor<4096xf16>
}

// A row is read where it is, in a vector; an index from outside reads the first one, and takes nothing of it.
// GATHER-LABEL: __kernel void k_gather_0(
// GATHER: const uint [[I:v[0-9]+]] = b1[
// GATHER: (int)[[I]];
// GATHER: < UINT64_C(1000));
// GATHER: = ([[INSIDE:v[0-9]+]] ? [[ROW:v[0-9]+]] : UINT64_C(0));
// GATHER-NEXT: [[READ:v[0-9]+]] = *(__global const float4 *)(b0 +
// GATHER-NEXT: = ([[INSIDE]] ? [[READ]].s0 : 0x0p0f);
// GATHER: *(__global float4 *)(b2 +
func.func @gather(%x: tensor<1000x64xf32>, %i: tensor<512xi32>) -> tensor<512x64xf32> {
  %y = graph.gather %x[%i] dim = 0 : (tensor<1000x64xf32>, tensor<512xi32>) -> tensor<512x64xf32>
  return %y : tensor<512x64xf32>
}

// Updates are sorted by their rows in a workgroup, of which each row is written by one thread: there are no atomics of floats.
// SCATTER-LABEL: void k_scatter_0(
// SCATTER: barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// SCATTER-NOT: atomic
func.func @scatter(%x: tensor<1000x64xf32>, %i: tensor<512xi32>, %u: tensor<512x64xf32>) -> tensor<1000x64xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<1000x64xf32>, tensor<512xi32>, tensor<512x64xf32>) -> tensor<1000x64xf32>
  return %y : tensor<1000x64xf32>
}

// A product whose windows are gathered as they come to shared memory.
// CONVOLUTION-LABEL: void k_convolution_0(
// CONVOLUTION-COUNT-2: __local float
// CONVOLUTION: barrier(CLK_LOCAL_MEM_FENCE);
// CONVOLUTION: fma(
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
