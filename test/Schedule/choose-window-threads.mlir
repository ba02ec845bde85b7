// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// Windows that stride are read one by one: neighbouring threads have neighbouring columns, and a thread has all rows of a column.
// CHECK-LABEL: kernel.func @pool
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i2", 1>]>
kernel.func @pool(%arg0: !kernel.buffer<f16, global>, %arg1: !kernel.buffer<f16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[16384, 13, 13, 7, 7] strides [1024, 64, 2, 32, 1]>]> : <f16, global> -> <16384x13x13x7x7xf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "k0", "k1"] in_bounds [true, true, true, true, true] : <16384x13x13x7x7xf16, global> -> tensor<16384x13x13x7x7xf16>
  %2 = arith.extf %1 : tensor<16384x13x13x7x7xf16> to tensor<16384x13x13x7x7xf32>
  %3 = kernel.reduce add %2 dims [3, 4] : tensor<16384x13x13x7x7xf32> -> tensor<16384x13x13xf32>
  %cst = arith.constant dense<4.900000e+01> : tensor<16384x13x13xf32>
  %4 = arith.divf %3, %cst : tensor<16384x13x13xf32>
  %5 = arith.truncf %4 : tensor<16384x13x13xf32> to tensor<16384x13x13xf16>
  %6 = kernel.view %arg1 map <[<[16384, 13, 13] strides [169, 13, 1]>]> : <f16, global> -> <16384x13x13xf16, global>
  kernel.store %5, %6[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<16384x13x13xf16>, <16384x13x13xf16, global>
  kernel.return
}

// Channels come last in what is read, first in what is written: neighbours read neighbours.
// CHECK-LABEL: kernel.func @channels_last
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i2", 1>, #kernel.grid_step<"i3", 1>, #kernel.grid_step<"i1", 8>
kernel.func @channels_last(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[64, 64, 13, 13, 7, 7] strides [65536, 1, 4096, 128, 2048, 64]>]> : <bf16, global> -> <64x64x13x13x7x7xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "k0", "k1"] in_bounds [true, true, true, true, true, true] : <64x64x13x13x7x7xbf16, global> -> tensor<64x64x13x13x7x7xbf16>
  %2 = arith.extf %1 : tensor<64x64x13x13x7x7xbf16> to tensor<64x64x13x13x7x7xf32>
  %3 = kernel.reduce add %2 dims [4, 5] : tensor<64x64x13x13x7x7xf32> -> tensor<64x64x13x13xf32>
  %cst = arith.constant dense<4.900000e+01> : tensor<64x64x13x13xf32>
  %4 = arith.divf %3, %cst : tensor<64x64x13x13xf32>
  %5 = arith.truncf %4 : tensor<64x64x13x13xf32> to tensor<64x64x13x13xbf16>
  %6 = kernel.view %arg1 map <[<[64, 64, 13, 13] strides [10816, 169, 13, 1]>]> : <bf16, global> -> <64x64x13x13xbf16, global>
  kernel.store %5, %6[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<64x64x13x13xbf16>, <64x64x13x13xbf16, global>
  kernel.return
}

// The gradient of a causal depthwise filter: channels lie side by side in both operands, not places of the window.
// CHECK-LABEL: kernel.func @causal
// CHECK-SAME: {row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"i0", 128>, #kernel.grid_step<"i1", 1>
// CHECK-SAME: threads = 512
kernel.func @causal(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>, %arg2: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[2, 5120, 4099, 4] strides [21002240, 4102, 1, 1]>, <[2, 5120, 4102] strides [20971520, 1, 5120] offset -15360 valid [0 : 2, 0 : 5120, 3 : 4099]>]> : <bf16, global> -> <2x5120x4099x4xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "i1"] in_bounds [true, true, true, true] : <2x5120x4099x4xbf16, global> -> tensor<2x5120x4099x4xbf16>
  %2 = arith.extf %1 : tensor<2x5120x4099x4xbf16> to tensor<2x5120x4099x4xf32>
  %3 = kernel.view %arg1 map <[<[2, 5120, 4099] strides [20971520, 1, 5120] valid [0 : 2, 0 : 5120, 0 : 4096]>]> : <bf16, global> -> <2x5120x4099xbf16, global>
  %4 = kernel.load %3[%c0, %c0, %c0] axes ["k0", "i0", "k1"] in_bounds [true, true, true] : <2x5120x4099xbf16, global> -> tensor<2x5120x4099xbf16>
  %5 = arith.extf %4 : tensor<2x5120x4099xbf16> to tensor<2x5120x4099xf32>
  %6 = kernel.broadcast %5 dims [0, 1, 2] : tensor<2x5120x4099xf32> -> tensor<2x5120x4099x4xf32>
  %7 = arith.mulf %6, %2 : tensor<2x5120x4099x4xf32>
  %8 = kernel.reduce add %7 dims [0, 2] : tensor<2x5120x4099x4xf32> -> tensor<5120x4xf32>
  %9 = arith.truncf %8 : tensor<5120x4xf32> to tensor<5120x4xbf16>
  %10 = kernel.view %arg2 map <[<[5120, 4] strides [4, 1]>]> : <bf16, global> -> <5120x4xbf16, global>
  kernel.store %9, %10[%c0, %c0] in_bounds [true, true] : tensor<5120x4xbf16>, <5120x4xbf16, global>
  kernel.return
}

// The gradient of a depthwise filter whose images lie along rows: a workgroup has all places of the window.
// CHECK-LABEL: kernel.func @taps
// CHECK-SAME: {min_resident_threads = 512 : i64, row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>]>, threads = 256 : i64}
kernel.func @taps(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>, %arg2: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg1 map <[<[4, 96, 32, 32, 3, 3] strides [130560, 1360, 40, 1, 40, 1]>]> : <bf16, global> -> <4x96x32x32x3x3xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2", "i1", "i2"] in_bounds [true, true, true, true, true, true] : <4x96x32x32x3x3xbf16, global> -> tensor<4x96x32x32x3x3xbf16>
  %2 = arith.extf %1 : tensor<4x96x32x32x3x3xbf16> to tensor<4x96x32x32x3x3xf32>
  %3 = kernel.view %arg0 map <[<[4, 96, 32, 32] strides [98304, 1024, 32, 1]>]> : <bf16, global> -> <4x96x32x32xbf16, global>
  %4 = kernel.load %3[%c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2"] in_bounds [true, true, true, true] : <4x96x32x32xbf16, global> -> tensor<4x96x32x32xbf16>
  %5 = arith.extf %4 : tensor<4x96x32x32xbf16> to tensor<4x96x32x32xf32>
  %6 = kernel.broadcast %5 dims [0, 1, 2, 3] : tensor<4x96x32x32xf32> -> tensor<4x96x32x32x3x3xf32>
  %7 = arith.mulf %6, %2 : tensor<4x96x32x32x3x3xf32>
  %8 = kernel.reduce add %7 dims [0, 2, 3] : tensor<4x96x32x32x3x3xf32> -> tensor<96x3x3xf32>
  %9 = kernel.view %arg2 map <[<[96, 3, 3] strides [9, 3, 1]>]> : <f32, global> -> <96x3x3xf32, global>
  kernel.store %8, %9[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<96x3x3xf32>, <96x3x3xf32, global>
  kernel.return
}

// Of a group's channels, which the other operand is the same for, a workgroup has the places of all windows; and as few
// threads as keep the machine busy, so that each adds up several vectors before they are combined.
// CHECK-LABEL: kernel.func @groups
// CHECK-SAME: row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 1>]>, threads = 64 : i64}
kernel.func @groups(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>, %arg2: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg1 map <[<[1024, 4, 32, 32, 3, 3] strides [5440, 1360, 40, 1, 40, 1]>]> : <f32, global> -> <1024x4x32x32x3x3xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i2", "k0", "k1", "i3", "i4"] in_bounds [true, true, true, true, true, true] : <1024x4x32x32x3x3xf32, global> -> tensor<1024x4x32x32x3x3xf32>
  %2 = kernel.view %arg0 map <[<[1024, 8, 32, 32] strides [8192, 1024, 32, 1]>]> : <f32, global> -> <1024x8x32x32xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0, %c0] axes ["i0", "i1", "k0", "k1"] in_bounds [true, true, true, true] : <1024x8x32x32xf32, global> -> tensor<1024x8x32x32xf32>
  %4 = kernel.broadcast %3 dims [0, 1, 3, 4] : tensor<1024x8x32x32xf32> -> tensor<1024x8x4x32x32x3x3xf32>
  %5 = kernel.broadcast %1 dims [0, 2, 3, 4, 5, 6] : tensor<1024x4x32x32x3x3xf32> -> tensor<1024x8x4x32x32x3x3xf32>
  %6 = arith.mulf %4, %5 : tensor<1024x8x4x32x32x3x3xf32>
  %7 = kernel.reduce add %6 dims [3, 4] : tensor<1024x8x4x32x32x3x3xf32> -> tensor<1024x8x4x3x3xf32>
  %8 = kernel.view %arg2 map <[<[1024, 8, 4, 3, 3] strides [288, 36, 9, 3, 1]>]> : <f32, global> -> <1024x8x4x3x3xf32, global>
  kernel.store %7, %8[%c0, %c0, %c0, %c0, %c0] in_bounds [true, true, true, true, true] : tensor<1024x8x4x3x3xf32>, <1024x8x4x3x3xf32, global>
  kernel.return
}

// A thread has a whole row of 14, and no more threads than there are of these.
// CHECK-LABEL: kernel.func @rows_of_14
// CHECK-SAME: row_groups, schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 1>, #kernel.grid_step<"i2", 2>]>, threads = 128 : i64}
kernel.func @rows_of_14(%arg0: !kernel.buffer<f16, global>, %arg1: !kernel.buffer<f16, global>, %arg2: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg1 map <[<[8, 32, 14, 14, 8, 5, 5] strides [110592, 3456, 24, 1, 432, 24, 1]>]> : <f16, global> -> <8x32x14x14x8x5x5xf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2", "i2", "i3", "i4"] in_bounds [true, true, true, true, true, true, true] : <8x32x14x14x8x5x5xf16, global> -> tensor<8x32x14x14x8x5x5xf16>
  %2 = arith.extf %1 : tensor<8x32x14x14x8x5x5xf16> to tensor<8x32x14x14x8x5x5xf32>
  %3 = kernel.view %arg0 map <[<[8, 32, 8, 14, 14] strides [50176, 1568, 196, 14, 1]>]> : <f16, global> -> <8x32x8x14x14xf16, global>
  %4 = kernel.load %3[%c0, %c0, %c0, %c0, %c0] axes ["k0", "i0", "i1", "k1", "k2"] in_bounds [true, true, true, true, true] : <8x32x8x14x14xf16, global> -> tensor<8x32x8x14x14xf16>
  %5 = arith.extf %4 : tensor<8x32x8x14x14xf16> to tensor<8x32x8x14x14xf32>
  %6 = kernel.broadcast %5 dims [0, 1, 2, 3, 4] : tensor<8x32x8x14x14xf32> -> tensor<8x32x8x14x14x8x5x5xf32>
  %7 = kernel.broadcast %2 dims [0, 1, 3, 4, 5, 6, 7] : tensor<8x32x14x14x8x5x5xf32> -> tensor<8x32x8x14x14x8x5x5xf32>
  %8 = arith.mulf %6, %7 : tensor<8x32x8x14x14x8x5x5xf32>
  %9 = kernel.reduce add %8 dims [0, 3, 4] : tensor<8x32x8x14x14x8x5x5xf32> -> tensor<32x8x8x5x5xf32>
  %10 = kernel.view %arg2 map <[<[32, 8, 8, 5, 5] strides [1600, 200, 25, 5, 1]>]> : <f32, global> -> <32x8x8x5x5xf32, global>
  kernel.store %9, %10[%c0, %c0, %c0, %c0, %c0] in_bounds [true, true, true, true, true] : tensor<32x8x8x5x5xf32>, <32x8x8x5x5xf32, global>
  kernel.return
}

// Of few channels a row of the window is a program's: each reads what all of them do.
// CHECK-LABEL: kernel.func @few
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 1>]>, threads = 256 : i64}
kernel.func @few(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>, %arg2: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg1 map <[<[4, 8, 32, 32, 3, 3] strides [10880, 1360, 40, 1, 40, 1]>]> : <f32, global> -> <4x8x32x32x3x3xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2", "i1", "i2"] in_bounds [true, true, true, true, true, true] : <4x8x32x32x3x3xf32, global> -> tensor<4x8x32x32x3x3xf32>
  %2 = kernel.view %arg0 map <[<[4, 8, 32, 32] strides [8192, 1024, 32, 1]>]> : <f32, global> -> <4x8x32x32xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2"] in_bounds [true, true, true, true] : <4x8x32x32xf32, global> -> tensor<4x8x32x32xf32>
  %4 = kernel.broadcast %3 dims [0, 1, 2, 3] : tensor<4x8x32x32xf32> -> tensor<4x8x32x32x3x3xf32>
  %5 = arith.mulf %4, %1 : tensor<4x8x32x32x3x3xf32>
  %6 = kernel.reduce add %5 dims [0, 2, 3] : tensor<4x8x32x32x3x3xf32> -> tensor<8x3x3xf32>
  %7 = kernel.view %arg2 map <[<[8, 3, 3] strides [9, 3, 1]>]> : <f32, global> -> <8x3x3xf32, global>
  kernel.store %6, %7[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<8x3x3xf32>, <8x3x3xf32, global>
  kernel.return
}

// Rows of 14 results are no whole vectors: neighbouring threads have pairs of them, and read pairs. Seven of a thread would
// be read and written one by one.
// CHECK-LABEL: kernel.func @short_rows
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 1>, #kernel.grid_step<"i2", 7>, #kernel.grid_step<"i3", 2>
kernel.func @short_rows(%arg0: !kernel.buffer<f16, global>, %arg1: !kernel.buffer<f16, global>, %arg2: !kernel.buffer<f16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg1 map <[<[512, 144, 14, 14, 3, 3] strides [36864, 256, 16, 1, 16, 1]>]> : <f16, global> -> <512x144x14x14x3x3xf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "k0", "k1"] in_bounds [true, true, true, true, true, true] : <512x144x14x14x3x3xf16, global> -> tensor<512x144x14x14x3x3xf16>
  %2 = arith.extf %1 : tensor<512x144x14x14x3x3xf16> to tensor<512x144x14x14x3x3xf32>
  %3 = kernel.view %arg0 map <[<[144, 3, 3] strides [9, 3, 1]>]> : <f16, global> -> <144x3x3xf16, global>
  %4 = kernel.load %3[%c0, %c0, %c0] axes ["i1", "k0", "k1"] in_bounds [true, true, true] : <144x3x3xf16, global> -> tensor<144x3x3xf16>
  %5 = arith.extf %4 : tensor<144x3x3xf16> to tensor<144x3x3xf32>
  %6 = kernel.broadcast %5 dims [1, 4, 5] : tensor<144x3x3xf32> -> tensor<512x144x14x14x3x3xf32>
  %7 = arith.mulf %2, %6 : tensor<512x144x14x14x3x3xf32>
  %8 = kernel.reduce add %7 dims [4, 5] : tensor<512x144x14x14x3x3xf32> -> tensor<512x144x14x14xf32>
  %9 = arith.truncf %8 : tensor<512x144x14x14xf32> to tensor<512x144x14x14xf16>
  %10 = kernel.view %arg2 map <[<[512, 144, 14, 14] strides [28224, 196, 14, 1]>]> : <f16, global> -> <512x144x14x14xf16, global>
  kernel.store %9, %10[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<512x144x14x14xf16>, <512x144x14x14xf16, global>
  kernel.return
}

// Means of large windows, too: seven rows of pairs.
// CHECK-LABEL: kernel.func @means
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 7>, #kernel.grid_step<"i2", 2>
kernel.func @means(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[131072, 14, 14, 5, 5] strides [432, 24, 1, 24, 1]>]> : <bf16, global> -> <131072x14x14x5x5xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "k0", "k1"] in_bounds [true, true, true, true, true] : <131072x14x14x5x5xbf16, global> -> tensor<131072x14x14x5x5xbf16>
  %2 = arith.extf %1 : tensor<131072x14x14x5x5xbf16> to tensor<131072x14x14x5x5xf32>
  %3 = kernel.reduce add %2 dims [3, 4] : tensor<131072x14x14x5x5xf32> -> tensor<131072x14x14xf32>
  %4 = arith.truncf %3 : tensor<131072x14x14xf32> to tensor<131072x14x14xbf16>
  %5 = kernel.view %arg1 map <[<[131072, 14, 14] strides [196, 14, 1]>]> : <bf16, global> -> <131072x14x14xbf16, global>
  kernel.store %4, %5[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<131072x14x14xbf16>, <131072x14x14xbf16, global>
  kernel.return
}

// A window's maximum, and the first place that has it: code writes out seven rows, whose maxima stay in registers. All 14
// rows would be a loop, which passes them to the second one through memory.
// CHECK-LABEL: kernel.func @first_maxima
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 7>, #kernel.grid_step<"i2", 2>
kernel.func @first_maxima(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<i8, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[131072, 14, 14, 5, 5] strides [432, 24, 1, 24, 1]>]> : <bf16, global> -> <131072x14x14x5x5xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "k0", "k1"] in_bounds [true, true, true, true, true] : <131072x14x14x5x5xbf16, global> -> tensor<131072x14x14x5x5xbf16>
  %2 = kernel.reduce max %1 dims [3, 4] : tensor<131072x14x14x5x5xbf16> -> tensor<131072x14x14xbf16>
  %3 = kernel.broadcast %2 dims [0, 1, 2] : tensor<131072x14x14xbf16> -> tensor<131072x14x14x5x5xbf16>
  %4 = arith.cmpf oeq, %1, %3 : tensor<131072x14x14x5x5xbf16>
  %5 = kernel.iota dim 0 axes ["k1"] : tensor<5xi32>
  %6 = kernel.broadcast %5 dims [4] : tensor<5xi32> -> tensor<131072x14x14x5x5xi32>
  %cst = arith.constant dense<25> : tensor<131072x14x14x5x5xi32>
  %7 = arith.select %4, %6, %cst : tensor<131072x14x14x5x5xi1>, tensor<131072x14x14x5x5xi32>
  %8 = kernel.reduce min %7 dims [3, 4] : tensor<131072x14x14x5x5xi32> -> tensor<131072x14x14xi32>
  %9 = arith.trunci %8 : tensor<131072x14x14xi32> to tensor<131072x14x14xi8>
  %10 = kernel.view %arg1 map <[<[131072, 14, 14] strides [196, 14, 1]>]> : <i8, global> -> <131072x14x14xi8, global>
  kernel.store %9, %10[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<131072x14x14xi8>, <131072x14x14xi8, global>
  kernel.return
}
