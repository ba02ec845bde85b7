// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v3 -zyx-schedule-choose | FileCheck %s --check-prefix=CPU
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose -zyx-kernel-apply-schedule -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s --check-prefix=LOWERED
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.workgroupThreads=128' -zyx-schedule-choose \
// RUN:   | FileCheck %s --check-prefix=LIMIT --implicit-check-not=' threads = {{(129|1[3-9][0-9]|[2-9][0-9][0-9])}}'

// No workgroup has more threads than the record's.
// LIMIT: threads = 128 : i64

!f = !kernel.buffer<f32, global>

// Of 48 columns there are strips for three workgroups, of 4 vectors in 32 rows at a time: fewer would not fill sectors of memory.
// CHECK-LABEL: kernel.func @columns({{.*}} attributes {row_groups, schedule = {{.*}}<"c", 16>{{.*}} threads = 128 : i64}
// CPU-LABEL: kernel.func @columns
// CPU-NOT: row_groups
// Threads walk rows from their group's on, and one of them adds up what the groups have of a column.
// LOWERED-LABEL: kernel.func @columns
// LOWERED: kernel.alloc : <32x16xf32, shared>
// LOWERED: scf.for %{{.*}} = %[[GROUP:.*]] to %c256 step %c256{{.*}} iter_args
// LOWERED: kernel.barrier workgroup
// LOWERED: scf.for %{{.*}} = %{{.*}} to %c16{{.*}} step %c128
kernel.func @columns(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[333, 48] strides [48, 1]>]> : !f -> !kernel.view<333x48xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !kernel.view<333x48xf32, global> -> tensor<333x48xf32>
  %2 = kernel.reduce add %1 dims [0] : tensor<333x48xf32> -> tensor<48xf32>
  %3 = kernel.view %y map <[<[48] strides [1]>]> : !f -> !kernel.view<48xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<48xf32>, !kernel.view<48xf32, global>
  kernel.return
}

// Images across whose channels sums go: 224 strips of 7 vectors leave the machine idle, so that a thread has three rows.
// CHECK-LABEL: kernel.func @across({{.*}} attributes {row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"n", 1>, #kernel.grid_step<"p", 28>{{.*}}]>, threads = 224 : i64}
kernel.func @across(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[32, 96, 196] strides [18816, 196, 1]>]> : !f -> !kernel.view<32x96x196xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["n", "c", "p"] in_bounds [true, true, true] : !kernel.view<32x96x196xf32, global> -> tensor<32x96x196xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<32x96x196xf32> -> tensor<32x196xf32>
  %3 = kernel.view %y map <[<[32, 196] strides [196, 1]>]> : !f -> !kernel.view<32x196xf32, global>
  kernel.store %2, %3[%c0, %c0] in_bounds [true, true] : tensor<32x196xf32>, !kernel.view<32x196xf32, global>
  kernel.return
}

// Short rows of many images: 7 vectors of two elements, and 32 rows at a time, in two turns. Few channels have larger
// workgroups, with groups no more than the turns need.
// CHECK-LABEL: kernel.func @channels({{.*}} attributes {row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"c", 1>]>, threads = 448 : i64}
kernel.func @channels(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[64, 10, 14, 14] strides [1960, 196, 14, 1]>]> : !f -> !kernel.view<64x10x14x14xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["n", "c", "h", "w"] in_bounds [true, true, true, true] : !kernel.view<64x10x14x14xf32, global> -> tensor<64x10x14x14xf32>
  %2 = kernel.reduce add %1 dims [0, 2, 3] : tensor<64x10x14x14xf32> -> tensor<10xf32>
  %3 = kernel.view %y map <[<[10] strides [1]>]> : !f -> !kernel.view<10xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<10xf32>, !kernel.view<10xf32, global>
  kernel.return
}

// 98 vectors are a row that threads could share, but there are too few channels for that: groups of threads have its images.
// CHECK-LABEL: kernel.func @images({{.*}} attributes {row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"c", 1>]>, threads = 224 : i64}
kernel.func @images(%x: !kernel.buffer<bf16, global>, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[8, 384, 784] strides [301056, 784, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<8x384x784xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["n", "c", "p"] in_bounds [true, true, true] : !kernel.view<8x384x784xbf16, global> -> tensor<8x384x784xbf16>
  %2 = arith.extf %1 : tensor<8x384x784xbf16> to tensor<8x384x784xf32>
  %3 = kernel.reduce add %2 dims [0, 2] : tensor<8x384x784xf32> -> tensor<384xf32>
  %4 = kernel.view %y map <[<[384] strides [1]>]> : !f -> !kernel.view<384xf32, global>
  kernel.store %3, %4[%c0] in_bounds [true] : tensor<384xf32>, !kernel.view<384xf32, global>
  kernel.return
}

// No more than one channel a core: their workgroups have 512 threads, of which four groups of 98 have four turns each.
// CHECK-LABEL: kernel.func @few_images({{.*}} attributes {row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"c", 1>]>, threads = 416 : i64}
kernel.func @few_images(%x: !kernel.buffer<bf16, global>, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[16, 64, 784] strides [50176, 784, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<16x64x784xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["n", "c", "p"] in_bounds [true, true, true] : !kernel.view<16x64x784xbf16, global> -> tensor<16x64x784xbf16>
  %2 = arith.extf %1 : tensor<16x64x784xbf16> to tensor<16x64x784xf32>
  %3 = kernel.reduce add %2 dims [0, 2] : tensor<16x64x784xf32> -> tensor<64xf32>
  %4 = kernel.view %y map <[<[64] strides [1]>]> : !f -> !kernel.view<64xf32, global>
  kernel.store %3, %4[%c0] in_bounds [true] : tensor<64xf32>, !kernel.view<64xf32, global>
  kernel.return
}

// Two channels a core, whose rows leave a workgroup of 256 threads no second group.
// CHECK-LABEL: kernel.func @wide_images({{.*}} attributes {row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"c", 1>]>, threads = 416 : i64}
kernel.func @wide_images(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[20, 256, 784] strides [200704, 784, 1]>]> : !f -> !kernel.view<20x256x784xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["n", "c", "p"] in_bounds [true, true, true] : !kernel.view<20x256x784xf32, global> -> tensor<20x256x784xf32>
  %2 = kernel.reduce add %1 dims [0, 2] : tensor<20x256x784xf32> -> tensor<256xf32>
  %3 = kernel.view %y map <[<[256] strides [1]>]> : !f -> !kernel.view<256xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<256xf32>, !kernel.view<256xf32, global>
  kernel.return
}

// Rows of 321 elements have no whole vectors: neighbours write one each.
// CHECK-LABEL: kernel.func @odd({{.*}}grid_step<"r", 4>, #kernel.grid_step<"c", 1>
kernel.func @odd(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[100] strides [1]>]> : !f -> !kernel.view<100xf32, global>
  %1 = kernel.load %0[%c0] axes ["r"] in_bounds [true] : !kernel.view<100xf32, global> -> tensor<100xf32>
  %2 = kernel.view %x map <[<[321] strides [1]>]> : !f -> !kernel.view<321xf32, global>
  %3 = kernel.load %2[%c0] axes ["c"] in_bounds [true] : !kernel.view<321xf32, global> -> tensor<321xf32>
  %4 = kernel.broadcast %1 dims [0] : tensor<100xf32> -> tensor<100x321xf32>
  %5 = kernel.broadcast %3 dims [1] : tensor<321xf32> -> tensor<100x321xf32>
  %6 = arith.addf %4, %5 : tensor<100x321xf32>
  %7 = kernel.view %y map <[<[100, 321] strides [321, 1]>]> : !f -> !kernel.view<100x321xf32, global>
  kernel.store %6, %7[%c0, %c0] in_bounds [true, true] : tensor<100x321xf32>, !kernel.view<100x321xf32, global>
  kernel.return
}

// Two rows are too few for groups, whatever else is combined beside: nobody shares.
// CHECK-LABEL: kernel.func @uneven({{.*}} attributes {schedule = #kernel.schedule<[#kernel.grid_step<"c", {{[0-9]+}}>
kernel.func @uneven(%x: !f, %y: !f, %z: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[2, 256] strides [256, 1]>]> : !f -> !kernel.view<2x256xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !kernel.view<2x256xf32, global> -> tensor<2x256xf32>
  %2 = kernel.reduce add %1 dims [0] : tensor<2x256xf32> -> tensor<256xf32>
  %3 = kernel.view %y map <[<[64, 256] strides [256, 1]>]> : !f -> !kernel.view<64x256xf32, global>
  %4 = kernel.load %3[%c0, %c0] axes ["s", "c"] in_bounds [true, true] : !kernel.view<64x256xf32, global> -> tensor<64x256xf32>
  %5 = kernel.reduce add %4 dims [0] : tensor<64x256xf32> -> tensor<256xf32>
  %6 = arith.mulf %2, %5 : tensor<256xf32>
  %7 = kernel.view %z map <[<[256] strides [1]>]> : !f -> !kernel.view<256xf32, global>
  kernel.store %6, %7[%c0] in_bounds [true] : tensor<256xf32>, !kernel.view<256xf32, global>
  kernel.return
}

// Rows are added up by threads that share them. Of each column one element is looked at, which does not count: threads
// do not share columns for it.
// CHECK-LABEL: kernel.func @picked({{.*}} attributes {schedule = #kernel.schedule<[#kernel.grid_step<"r", 1>]>, threads = 128 : i64}
kernel.func @picked(%x: !f, %y: !f, %z: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[1024, 1024] strides [1024, 1]>]> : !f -> !kernel.view<1024x1024xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !kernel.view<1024x1024xf32, global> -> tensor<1024x1024xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %3 = kernel.view %x map <[<[1024, 1024] strides [1, 1024]>]> : !f -> !kernel.view<1024x1024xf32, global>
  %4 = kernel.load %3[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !kernel.view<1024x1024xf32, global> -> tensor<1024x1024xf32>
  %5 = kernel.iota dim 0 axes ["r"] : tensor<1024xi32>
  %6 = kernel.iota dim 0 axes ["c"] : tensor<1024xi32>
  %7 = kernel.broadcast %5 dims [0] : tensor<1024xi32> -> tensor<1024x1024xi32>
  %8 = kernel.broadcast %6 dims [1] : tensor<1024xi32> -> tensor<1024x1024xi32>
  %9 = arith.cmpi eq, %7, %8 : tensor<1024x1024xi32>
  %zero = arith.constant dense<0.0> : tensor<1024x1024xf32>
  %10 = arith.select %9, %4, %zero : tensor<1024x1024xi1>, tensor<1024x1024xf32>
  %11 = kernel.reduce add %10 dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %12 = arith.addf %2, %11 : tensor<1024xf32>
  %13 = kernel.view %z map <[<[1024] strides [1]>]> : !f -> !kernel.view<1024xf32, global>
  kernel.store %12, %13[%c0] in_bounds [true] : tensor<1024xf32>, !kernel.view<1024xf32, global>
  kernel.return
}

// Few rows for each column, as of an image that was upsampled, whose channels come last in memory: neighbouring threads have neighbouring
// channels, in whatever order the axes stand.
// CHECK-LABEL: kernel.func @in_order_of_memory
// CHECK-SAME:  [#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i2", 1>, #kernel.grid_step<"i3", 1>, #kernel.grid_step<"i1", 4>
kernel.func @in_order_of_memory(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[8, 128, 112, 2, 112, 2] strides [6422528, 1, 57344, 28672, 256, 128]>]> : <f32, global> -> <8x128x112x2x112x2xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "k0", "i3", "k1"] in_bounds [true, true, true, true, true, true] : <8x128x112x2x112x2xf32, global> -> tensor<8x128x112x2x112x2xf32>
  %2 = kernel.reduce add %1 dims [3, 5] : tensor<8x128x112x2x112x2xf32> -> tensor<8x128x112x112xf32>
  %3 = kernel.view %y map <[<[8, 128, 112, 112] strides [1605632, 1, 14336, 128]>]> : <f32, global> -> <8x128x112x112xf32, global>
  kernel.store %2, %3[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<8x128x112x112xf32>, <8x128x112x112xf32, global>
  kernel.return
}
