// RUN: zyx-compile %s --entry=add --target=gfx942 --stop-after=target | FileCheck %s --check-prefixes=ADD,ADD-CDNA --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=add --target=gfx1100 --stop-after=target | FileCheck %s --check-prefixes=ADD,ADD-RDNA3 --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=add --target=gfx1201 --stop-after=target | FileCheck %s --check-prefixes=ADD,ADD-RDNA4 --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=exp --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=EXP --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=exp --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=EXP --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=exp --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=EXP --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=rows --target=gfx942 --stop-after=target | FileCheck %s --check-prefixes=ROWS,ROWS-CDNA --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=rows --target=gfx1100 --stop-after=target | FileCheck %s --check-prefixes=ROWS,ROWS-RDNA3 --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=rows --target=gfx1201 --stop-after=target | FileCheck %s --check-prefixes=ROWS,ROWS-RDNA4 --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=softmax --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=SOFTMAX --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=softmax --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=SOFTMAX --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=softmax --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=SOFTMAX --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=product --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=PRODUCT --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=product --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=PRODUCT --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=product --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=PRODUCT --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=scan --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=SCAN --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=scan --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=SCAN --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=scan --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=SCAN --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=sort --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=SORT --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=sort --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=SORT --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=sort --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=SORT --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=attention --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=ATTENTION --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=attention --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=ATTENTION --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=attention --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=ATTENTION --implicit-check-not=scratch_ --implicit-check-not=flat_load --implicit-check-not=flat_store --implicit-check-not=s_swappc
// RUN: zyx-compile %s --entry=pairs --target=gfx942 --stop-after=target | FileCheck %s --check-prefix=PAIRS
// RUN: zyx-compile %s --entry=pairs --target=gfx1100 --stop-after=target | FileCheck %s --check-prefix=PAIRS
// RUN: zyx-compile %s --entry=pairs --target=gfx1201 --stop-after=target | FileCheck %s --check-prefix=PAIRS

// The generic path to AMD's GPUs, on each of three. No kernel has scratch memory, calls a function, or has to find out in
// which memory an address is. Kernels of code objects' version 5 have the waves of the record. Behind a barrier nobody
// waits for buffers: what is fenced is shared memory alone.

// 16 bytes at a time; nothing is contracted.
// ADD-CDNA: .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
// ADD-RDNA3: .amdgcn_target "amdgcn-amd-amdhsa--gfx1100"
// ADD-RDNA4: .amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
// ADD: .amdhsa_code_object_version 5
// ADD-LABEL: add_0:
// ADD-CDNA-COUNT-2: global_load_dwordx4
// ADD-RDNA3-COUNT-2: global_load_b128
// ADD-RDNA4-COUNT-2: global_load_b128
// ADD-NOT: fma
// ADD-CDNA: global_store_dwordx4
// ADD-RDNA3: global_store_b128
// ADD-RDNA4: global_store_b128
// ADD: .amdhsa_private_segment_fixed_size 0
// ADD: .max_flat_workgroup_size: 256
// ADD-CDNA: .wavefront_size: 64
// ADD-RDNA3: .wavefront_size: 32
// ADD-RDNA4: .wavefront_size: 32
func.func @add(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %p = graph.binary mul %x, %y : tensor<64x1024xf32>
  %s = graph.binary add %p, %x : tensor<64x1024xf32>
  return %s : tensor<64x1024xf32>
}

// The machine's own powers of two, and four elements by a thread.
// EXP-LABEL: exp_0:
// EXP-COUNT-4: v_exp_f32
// EXP: .amdhsa_private_segment_fixed_size 0
func.func @exp(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %y = graph.unary exp %x : tensor<4096xf32>
  return %y : tensor<4096xf32>
}

// A row per workgroup, whose threads meet in shared memory: no wait for what was loaded from or stored to buffers, and no
// cache is emptied.
// ROWS-LABEL: rows_0:
// ROWS-CDNA: global_load_dwordx4
// ROWS-CDNA: ds_write_b32
// ROWS-CDNA-NEXT: s_waitcnt lgkmcnt(0)
// ROWS-CDNA-NEXT: s_barrier
// ROWS-CDNA-NOT: buffer_inv
// ROWS-CDNA: ds_read
// ROWS-RDNA3: ds_store_b32
// ROWS-RDNA3-NEXT: s_waitcnt lgkmcnt(0)
// ROWS-RDNA3-NEXT: s_barrier
// ROWS-RDNA3-NOT: buffer_gl0_inv
// ROWS-RDNA3: ds_load
// ROWS-RDNA4: ds_store_b32
// ROWS-RDNA4: s_wait_dscnt
// ROWS-RDNA4: s_barrier_signal -1
// ROWS-RDNA4: s_barrier_wait
// ROWS-RDNA4-NOT: global_inv
// ROWS-RDNA4: ds_load
// ROWS: .max_flat_workgroup_size: 128
// ROWS: .private_segment_fixed_size: 0
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64xf32> {
  %y = graph.reduce add %x dims = [1] : tensor<64x1024xf32> -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// SOFTMAX-LABEL: softmax_0:
// SOFTMAX: v_max
// SOFTMAX: v_exp_f32
// SOFTMAX: v_div_fixup_f32
// SOFTMAX: .private_segment_fixed_size: 0
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

// Products by threads out of shared memory.
// PRODUCT-LABEL: product_0:
// PRODUCT: s_barrier
// PRODUCT: {{v_pk_fma_f32|v_fma|v_dual_fmac_f32|v_fmac_f32|v_dual_fma}}
// PRODUCT: .private_segment_fixed_size: 0
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

// SCAN-LABEL: scan_0:
// SCAN: s_barrier
// SCAN: .private_segment_fixed_size: 0
func.func @scan(%x: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %y = graph.scan add %x dim = 1 : tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}

// SORT-LABEL: sort_0_sort:
// SORT: s_barrier
// SORT: .private_segment_fixed_size: 0
func.func @sort(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %y = graph.sort values %x dim = 1 : tensor<64x1000xf32> -> tensor<64x1000xf32>
  return %y : tensor<64x1000xf32>
}

// ATTENTION-LABEL: attention_0:
// ATTENTION: s_barrier
// ATTENTION: v_exp_f32
// ATTENTION: .private_segment_fixed_size: 0
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

// Two elements of 16 bits are added at a time.
// PAIRS-LABEL: pairs_0:
// PAIRS: v_pk_add_f16
func.func @pairs(%x: tensor<4096xf16>, %y: tensor<4096xf16>) -> tensor<4096xf16> {
  %s = graph.binary add %x, %y : tensor<4096xf16>
  return %s : tensor<4096xf16>
}
