// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=c -zyx-schedule-choose | FileCheck %s --check-prefix=C
// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=abacus -zyx-schedule-choose 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: abacus

!v = !kernel.view<1000x1000xf32, global>

// CHECK-LABEL: kernel.func @elements
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
// C-LABEL: kernel.func @elements
// C-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
kernel.func @elements(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [true, true] : tensor<1000x1000xf32>, !v
  kernel.return
}

// A few rows at once; columns in pieces that memory likes.
// CHECK-LABEL: kernel.func @row_sums
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
kernel.func @row_sums(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1000xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %r = kernel.reduce add %t dims [1] : tensor<1000x1000xf32> -> tensor<1000xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<1000xf32>, !kernel.view<1000xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @column_sums
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"j", 256>]>
kernel.func @column_sums(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1000xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["k", "j"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %r = kernel.reduce add %t dims [0] : tensor<1000x1000xf32> -> tensor<1000xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<1000xf32>, !kernel.view<1000xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @product
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"m", 256>, #kernel.grid_step<"n", 144>, #kernel.block_step<<8 x 48, rows 1000, depth 512, pack rhs>>]>
// C-LABEL:     kernel.func @product
// C-NOT:       block_step
kernel.func @product(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %b = kernel.view %w map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %c = kernel.view %y map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %z = arith.constant dense<0.0> : tensor<1000x1000xf32>
  %d = kernel.dot %at, %bt, %z : tensor<1000x1000xf32>, tensor<1000x1000xf32> -> tensor<1000x1000xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<1000x1000xf32>, !v
  kernel.return
}

// Two axes of one name cannot be told apart by a step, so neither is split.
// CHECK-LABEL: kernel.func @one_name
// CHECK-SAME:  schedule = #kernel.schedule<[]>
kernel.func @one_name(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %b = kernel.view %w map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %c = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %at = kernel.load %a[%c0] axes ["i"] in_bounds [true] : !kernel.view<8xf32, global> -> tensor<8xf32>
  %bt = kernel.load %b[%c0] axes ["i"] in_bounds [true] : !kernel.view<8xf32, global> -> tensor<8xf32>
  %s = kernel.reduce add %bt dims [0] : tensor<8xf32> -> tensor<f32>
  %sb = kernel.broadcast %s dims [] : tensor<f32> -> tensor<8xf32>
  %r = arith.addf %at, %sb : tensor<8xf32>
  kernel.store %r, %c[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}

// Few rows: the right factor is read once, as it lies, in pieces of a few of its rows.
// CHECK-LABEL: kernel.func @few_rows
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"n", 256>, #kernel.block_step<<4 x 64, rows 4, depth 16>>]>
kernel.func @few_rows(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[4, 512] strides [512, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x512xf32, global>
  %b = kernel.view %w map <[<[512, 1024] strides [1024, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<512x1024xf32, global>
  %c = kernel.view %y map <[<[4, 1024] strides [1024, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x1024xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<4x512xf32, global> -> tensor<4x512xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<512x1024xf32, global> -> tensor<512x1024xf32>
  %z = arith.constant dense<0.0> : tensor<4x1024xf32>
  %d = kernel.dot %at, %bt, %z : tensor<4x512xf32>, tensor<512x1024xf32> -> tensor<4x1024xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<4x1024xf32>, !kernel.view<4x1024xf32, global>
  kernel.return
}

// Few rows, and both factors lie along the contraction.
// CHECK-LABEL: kernel.func @along_depth
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"n", 256>, #kernel.block_step<<4 x 6 along depth, rows 4, depth 512>>]>
kernel.func @along_depth(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[4, 512] strides [512, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x512xf32, global>
  %b = kernel.view %w map <[<[512, 1024] strides [1, 512]>]> : !kernel.buffer<f32, global> -> !kernel.view<512x1024xf32, global>
  %c = kernel.view %y map <[<[4, 1024] strides [1024, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x1024xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<4x512xf32, global> -> tensor<4x512xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<512x1024xf32, global> -> tensor<512x1024xf32>
  %z = arith.constant dense<0.0> : tensor<4x1024xf32>
  %d = kernel.dot %at, %bt, %z : tensor<4x512xf32>, tensor<512x1024xf32> -> tensor<4x1024xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<4x1024xf32>, !kernel.view<4x1024xf32, global>
  kernel.return
}

// A right factor that lies along the contraction is packed; the left one lies well.
// CHECK-LABEL: kernel.func @transposed
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"m", 64>, #kernel.grid_step<"n", 64>, #kernel.block_step<<8 x 48, rows 128, depth 128, pack rhs>>]>
kernel.func @transposed(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[128, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<128x128xf32, global>
  %b = kernel.view %w map <[<[128, 128] strides [1, 128]>]> : !kernel.buffer<f32, global> -> !kernel.view<128x128xf32, global>
  %c = kernel.view %y map <[<[128, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<128x128xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<128x128xf32, global> -> tensor<128x128xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<128x128xf32, global> -> tensor<128x128xf32>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %d = kernel.dot %at, %bt, %z : tensor<128x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<128x128xf32>, !kernel.view<128x128xf32, global>
  kernel.return
}

// Columns of half a vector take as many rows as the registers hold.
// CHECK-LABEL: kernel.func @narrow
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"m", 264>, #kernel.block_step<<24 x 16, rows 24, depth 100>>]>
kernel.func @narrow(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[1000, 100] strides [100, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1000x100xf32, global>
  %b = kernel.view %w map <[<[100, 8] strides [8, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100x8xf32, global>
  %c = kernel.view %y map <[<[1000, 8] strides [8, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1000x8xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<1000x100xf32, global> -> tensor<1000x100xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<100x8xf32, global> -> tensor<100x8xf32>
  %z = arith.constant dense<0.0> : tensor<1000x8xf32>
  %d = kernel.dot %at, %bt, %z : tensor<1000x100xf32>, tensor<100x8xf32> -> tensor<1000x8xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<1000x8xf32>, !kernel.view<1000x8xf32, global>
  kernel.return
}

// The window of a convolution is packed, whatever its depth is: one by one its elements are dear.
// CHECK-LABEL: kernel.func @convolution
// CHECK-SAME: pack lhs>
kernel.func @convolution(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[12544, 147] strides [147, 1]>, <[112, 112, 7, 7, 3] strides [1380, 6, 690, 3, 1]>, <[230, 230, 3] strides [672, 3, 1] offset -2025 valid [3 : 227, 3 : 227, 0 : 3]>]> : !kernel.buffer<f32, global> -> !kernel.view<12544x147xf32, global>
  %ws = kernel.view %w map <[<[147, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<147x64xf32, global>
  %ys = kernel.view %y map <[<[12544, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<12544x64xf32, global>
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<12544x147xf32, global> -> tensor<12544x147xf32>
  %b = kernel.load %ws[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<147x64xf32, global> -> tensor<147x64xf32>
  %zero = arith.constant dense<0.0> : tensor<12544x64xf32>
  %d = kernel.dot %a, %b, %zero : tensor<12544x147xf32>, tensor<147x64xf32> -> tensor<12544x64xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<12544x64xf32>, !kernel.view<12544x64xf32, global>
  kernel.return
}

// A depthwise convolution: two vectors of channels, and so many rows that what they read overlaps little and stays near.
// CHECK-LABEL: kernel.func @depthwise
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i", 7>, #kernel.grid_step<"j", 56>, #kernel.grid_step<"c", 32>]>
kernel.func @depthwise(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[112, 112, 64, 3, 3] strides [7296, 64, 1, 7296, 64]>, <[114, 114, 64] strides [7168, 64, 1] offset -7232 valid [1 : 113, 1 : 113, 0 : 64]>]> : !kernel.buffer<f32, global> -> !kernel.view<112x112x64x3x3xf32, global>
  %ws = kernel.view %w map <[<[64, 3, 3] strides [1, 192, 64]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x3x3xf32, global>
  %ys = kernel.view %y map <[<[112, 112, 64] strides [7168, 64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<112x112x64xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0, %c0] axes ["i", "j", "c", "p", "q"] in_bounds [true, true, true, true, true] : !kernel.view<112x112x64x3x3xf32, global> -> tensor<112x112x64x3x3xf32>
  %f = kernel.load %ws[%c0, %c0, %c0] axes ["c", "p", "q"] in_bounds [true, true, true] : !kernel.view<64x3x3xf32, global> -> tensor<64x3x3xf32>
  %b = kernel.broadcast %f dims [2, 3, 4] : tensor<64x3x3xf32> -> tensor<112x112x64x3x3xf32>
  %p = arith.mulf %a, %b : tensor<112x112x64x3x3xf32>
  %s = kernel.reduce add %p dims [3, 4] : tensor<112x112x64x3x3xf32> -> tensor<112x112x64xf32>
  kernel.store %s, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<112x112x64xf32>, !kernel.view<112x112x64xf32, global>
  kernel.return
}

// Channels are the first dimension of the tile, but neighbours in memory: a program has all of them.
// CHECK-LABEL: kernel.func @channels_last
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"h", 1>, #kernel.grid_step<"w", 8>]>
kernel.func @channels_last(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[512, 28, 28] strides [1, 14336, 512]>]> : !kernel.buffer<f32, global> -> !kernel.view<512x28x28xf32, global>
  %ys = kernel.view %y map <[<[512, 28, 28] strides [1, 14336, 512]>]> : !kernel.buffer<f32, global> -> !kernel.view<512x28x28xf32, global>
  %a = kernel.load %xs[%c0, %c0, %c0] axes ["c", "h", "w"] in_bounds [true, true, true] : !kernel.view<512x28x28xf32, global> -> tensor<512x28x28xf32>
  %b = arith.addf %a, %a : tensor<512x28x28xf32>
  kernel.store %b, %ys[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<512x28x28xf32>, !kernel.view<512x28x28xf32, global>
  kernel.return
}

// Blocks of what is read along one axis and written along another, one after the other as they are read.
// CHECK-LABEL: kernel.func @squares
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"j", 32>, #kernel.grid_step<"i", 64>]>
// C-LABEL: kernel.func @squares
// C-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
kernel.func @squares(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1, 1000]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [true, true] : tensor<1000x1000xf32>, !v
  kernel.return
}

// What is too large for any cache is read ahead of them and written past them.
// CHECK-LABEL: kernel.func @large
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4096>, #kernel.stream_step]>
// C-LABEL: kernel.func @large
// C-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4096>]>
kernel.func @large(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8388608] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8388608xf32, global>
  %w = kernel.view %y map <[<[8388608] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8388608xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<8388608xf32, global> -> tensor<8388608xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<8388608xf32>, !kernel.view<8388608xf32, global>
  kernel.return
}

// Of a sum over everything, what is read is too large.
// CHECK-LABEL: kernel.func @everything
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.stream_step]>
kernel.func @everything(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[8388608] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8388608xf32, global>
  %w = kernel.view %y map <[<[] strides []>]> : !kernel.buffer<f32, global> -> !kernel.view<f32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<8388608xf32, global> -> tensor<8388608xf32>
  %s = kernel.reduce add %t dims [0] : tensor<8388608xf32> -> tensor<f32>
  kernel.store %s, %w[] : tensor<f32>, !kernel.view<f32, global>
  kernel.return
}

// Rows of the left factor that are a multiple of a page apart fall on one place of the first cache: no more are read side by
// side than stay there. Others are as many as there are registers.
// CHECK-LABEL: kernel.func @colliding
// CHECK-SAME:  #kernel.block_step<<8 x 16, rows {{[0-9]+}}, depth {{[0-9]+}}, pack rhs>>
kernel.func @colliding(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[2048, 2048] strides [2048, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2048x2048xf32, global>
  %u = kernel.view %w map <[<[2048, 16] strides [1, 2048]>]> : !kernel.buffer<f32, global> -> !kernel.view<2048x16xf32, global>
  %z = kernel.view %y map <[<[2048, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2048x16xf32, global>
  %a = kernel.load %v[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2048x2048xf32, global> -> tensor<2048x2048xf32>
  %b = kernel.load %u[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<2048x16xf32, global> -> tensor<2048x16xf32>
  %zero = arith.constant dense<0.0> : tensor<2048x16xf32>
  %d = kernel.dot %a, %b, %zero : tensor<2048x2048xf32>, tensor<2048x16xf32> -> tensor<2048x16xf32>
  kernel.store %d, %z[%c0, %c0] in_bounds [true, true] : tensor<2048x16xf32>, !kernel.view<2048x16xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @apart
// CHECK-SAME:  #kernel.block_step<<24 x 16, rows {{[0-9]+}}, depth {{[0-9]+}}, pack rhs>>
kernel.func @apart(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[2048, 2064] strides [2064, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2048x2064xf32, global>
  %u = kernel.view %w map <[<[2064, 16] strides [1, 2064]>]> : !kernel.buffer<f32, global> -> !kernel.view<2064x16xf32, global>
  %z = kernel.view %y map <[<[2048, 16] strides [16, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2048x16xf32, global>
  %a = kernel.load %v[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2048x2064xf32, global> -> tensor<2048x2064xf32>
  %b = kernel.load %u[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<2064x16xf32, global> -> tensor<2064x16xf32>
  %zero = arith.constant dense<0.0> : tensor<2048x16xf32>
  %d = kernel.dot %a, %b, %zero : tensor<2048x2064xf32>, tensor<2064x16xf32> -> tensor<2048x16xf32>
  kernel.store %d, %z[%c0, %c0] in_bounds [true, true] : tensor<2048x16xf32>, !kernel.view<2048x16xf32, global>
  kernel.return
}

// Windows without padding that overlap are copied, though lanes of results read every second element: a program has few
// channels.
// CHECK-LABEL: kernel.func @moved_windows
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
kernel.func @moved_windows(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[256, 13, 13, 3, 3] strides [784, 56, 2, 28, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256x13x13x3x3xf32, global>
  %w = kernel.view %y map <[<[256, 13, 13] strides [169, 13, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256x13x13xf32, global>
  %t = kernel.load %v[%c0, %c0, %c0, %c0, %c0] axes ["i", "a", "b", "k", "l"] in_bounds [true, true, true, true, true] : !kernel.view<256x13x13x3x3xf32, global> -> tensor<256x13x13x3x3xf32>
  %r = kernel.reduce add %t dims [3, 4] : tensor<256x13x13x3x3xf32> -> tensor<256x13x13xf32>
  kernel.store %r, %w[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<256x13x13xf32>, !kernel.view<256x13x13xf32, global>
  kernel.return
}
