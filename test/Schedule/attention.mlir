// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s

// A program per batch and block of queries, along which vectors lie; keys in one pass.
// CHECK-LABEL: kernel.func @many_0
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.swap_step, #kernel.grid_step<"b0", 1>, #kernel.grid_step<"m", 64>, #kernel.online_step<"n", 64>]>
kernel.func @many_0(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>, %arg2: !kernel.buffer<f32, global>, %arg3: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[2, 200, 16] strides [3200, 16, 1]>]> : <f32, global> -> <2x200x16xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <2x200x16xf32, global> -> tensor<2x200x16xf32>
  %2 = kernel.view %arg1 map <[<[2, 16, 150] strides [2400, 1, 16]>]> : <f32, global> -> <2x16x150xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <2x16x150xf32, global> -> tensor<2x16x150xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<2x200x150xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<2x200x16xf32>, tensor<2x16x150xf32> -> tensor<2x200x150xf32>
  %cst_0 = arith.constant dense<2.500000e-01> : tensor<2x200x150xf32>
  %5 = arith.mulf %4, %cst_0 : tensor<2x200x150xf32>
  %6 = kernel.reduce max %5 dims [2] : tensor<2x200x150xf32> -> tensor<2x200xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<2x200xf32> -> tensor<2x200x150xf32>
  %8 = arith.subf %5, %7 : tensor<2x200x150xf32>
  %9 = math.exp %8 : tensor<2x200x150xf32>
  %10 = kernel.reduce add %9 dims [2] : tensor<2x200x150xf32> -> tensor<2x200xf32>
  %cst_1 = arith.constant dense<3.906250e-03> : tensor<2x200xf32>
  %11 = arith.mulf %10, %cst_1 : tensor<2x200xf32>
  %cst_2 = arith.constant dense<3.906250e-03> : tensor<2x200x150xf32>
  %12 = arith.mulf %9, %cst_2 : tensor<2x200x150xf32>
  %13 = kernel.view %arg2 map <[<[2, 150, 8] strides [1200, 8, 1]>]> : <f32, global> -> <2x150x8xf32, global>
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b0", "n", "n1"] in_bounds [true, true, true] : <2x150x8xf32, global> -> tensor<2x150x8xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<2x200x8xf32>
  %15 = kernel.dot %12, %14, %cst_3 : tensor<2x200x150xf32>, tensor<2x150x8xf32> -> tensor<2x200x8xf32>
  %16 = kernel.broadcast %11 dims [0, 1] : tensor<2x200xf32> -> tensor<2x200x8xf32>
  %17 = arith.divf %15, %16 : tensor<2x200x8xf32>
  %18 = kernel.view %arg3 map <[<[2, 200, 8] strides [1600, 8, 1]>]> : <f32, global> -> <2x200x8xf32, global>
  kernel.store %17, %18[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x200x8xf32>, <2x200x8xf32, global>
  kernel.return
}

// Keys that are one block are walked, too.
// CHECK-LABEL: kernel.func @one_block
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.swap_step, #kernel.grid_step<"b0", 1>, #kernel.online_step<"n", 64>]>
kernel.func @one_block(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>, %arg2: !kernel.buffer<f32, global>, %arg3: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[2, 49, 16] strides [784, 16, 1]>]> : <f32, global> -> <2x49x16xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <2x49x16xf32, global> -> tensor<2x49x16xf32>
  %2 = kernel.view %arg1 map <[<[2, 16, 49] strides [784, 1, 16]>]> : <f32, global> -> <2x16x49xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <2x16x49xf32, global> -> tensor<2x16x49xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<2x49x49xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<2x49x16xf32>, tensor<2x16x49xf32> -> tensor<2x49x49xf32>
  %cst_0 = arith.constant dense<2.500000e-01> : tensor<2x49x49xf32>
  %5 = arith.mulf %4, %cst_0 : tensor<2x49x49xf32>
  %6 = kernel.reduce max %5 dims [2] : tensor<2x49x49xf32> -> tensor<2x49xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<2x49xf32> -> tensor<2x49x49xf32>
  %8 = arith.subf %5, %7 : tensor<2x49x49xf32>
  %9 = math.exp %8 : tensor<2x49x49xf32>
  %10 = kernel.reduce add %9 dims [2] : tensor<2x49x49xf32> -> tensor<2x49xf32>
  %cst_1 = arith.constant dense<3.906250e-03> : tensor<2x49xf32>
  %11 = arith.mulf %10, %cst_1 : tensor<2x49xf32>
  %cst_2 = arith.constant dense<3.906250e-03> : tensor<2x49x49xf32>
  %12 = arith.mulf %9, %cst_2 : tensor<2x49x49xf32>
  %13 = kernel.view %arg2 map <[<[2, 49, 8] strides [392, 8, 1]>]> : <f32, global> -> <2x49x8xf32, global>
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b0", "n", "n1"] in_bounds [true, true, true] : <2x49x8xf32, global> -> tensor<2x49x8xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<2x49x8xf32>
  %15 = kernel.dot %12, %14, %cst_3 : tensor<2x49x49xf32>, tensor<2x49x8xf32> -> tensor<2x49x8xf32>
  %16 = kernel.broadcast %11 dims [0, 1] : tensor<2x49xf32> -> tensor<2x49x8xf32>
  %17 = arith.divf %15, %16 : tensor<2x49x8xf32>
  %18 = kernel.view %arg3 map <[<[2, 49, 8] strides [392, 8, 1]>]> : <f32, global> -> <2x49x8xf32, global>
  kernel.store %17, %18[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x49x8xf32>, <2x49x8xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @few_0
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.swap_step, #kernel.grid_step<"b0", 1>, #kernel.online_step<"n", 64>]>
kernel.func @few_0(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>, %arg2: !kernel.buffer<f32, global>, %arg3: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[2, 3, 16] strides [48, 16, 1]>]> : <f32, global> -> <2x3x16xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <2x3x16xf32, global> -> tensor<2x3x16xf32>
  %2 = kernel.view %arg1 map <[<[2, 16, 150] strides [2400, 1, 16]>]> : <f32, global> -> <2x16x150xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <2x16x150xf32, global> -> tensor<2x16x150xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<2x3x150xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<2x3x16xf32>, tensor<2x16x150xf32> -> tensor<2x3x150xf32>
  %cst_0 = arith.constant dense<2.500000e-01> : tensor<2x3x150xf32>
  %5 = arith.mulf %4, %cst_0 : tensor<2x3x150xf32>
  %6 = kernel.reduce max %5 dims [2] : tensor<2x3x150xf32> -> tensor<2x3xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<2x3xf32> -> tensor<2x3x150xf32>
  %8 = arith.subf %5, %7 : tensor<2x3x150xf32>
  %9 = math.exp %8 : tensor<2x3x150xf32>
  %10 = kernel.reduce add %9 dims [2] : tensor<2x3x150xf32> -> tensor<2x3xf32>
  %cst_1 = arith.constant dense<3.906250e-03> : tensor<2x3xf32>
  %11 = arith.mulf %10, %cst_1 : tensor<2x3xf32>
  %cst_2 = arith.constant dense<3.906250e-03> : tensor<2x3x150xf32>
  %12 = arith.mulf %9, %cst_2 : tensor<2x3x150xf32>
  %13 = kernel.view %arg2 map <[<[2, 150, 8] strides [1200, 8, 1]>]> : <f32, global> -> <2x150x8xf32, global>
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b0", "n", "n1"] in_bounds [true, true, true] : <2x150x8xf32, global> -> tensor<2x150x8xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<2x3x8xf32>
  %15 = kernel.dot %12, %14, %cst_3 : tensor<2x3x150xf32>, tensor<2x150x8xf32> -> tensor<2x3x8xf32>
  %16 = kernel.broadcast %11 dims [0, 1] : tensor<2x3xf32> -> tensor<2x3x8xf32>
  %17 = arith.divf %15, %16 : tensor<2x3x8xf32>
  %18 = kernel.view %arg3 map <[<[2, 3, 8] strides [24, 8, 1]>]> : <f32, global> -> <2x3x8xf32, global>
  kernel.store %17, %18[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x3x8xf32>, <2x3x8xf32, global>
  kernel.return
}

// Vectors of three queries would be mostly empty: they lie along features.
// CHECK-LABEL: kernel.func @few_of_64
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"b0", 1>, #kernel.block_step<<3 x 7 along depth, rows 3, depth 64>>, #kernel.block_step<<3 x 64, rows 3, depth 300>>, #kernel.online_step<"n", 256>]>
kernel.func @few_of_64(%arg0: !kernel.buffer<f32, global>, %arg1: !kernel.buffer<f32, global>, %arg2: !kernel.buffer<f32, global>, %arg3: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[2, 3, 64] strides [192, 64, 1]>]> : <f32, global> -> <2x3x64xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <2x3x64xf32, global> -> tensor<2x3x64xf32>
  %2 = kernel.view %arg1 map <[<[2, 64, 300] strides [19200, 1, 64]>]> : <f32, global> -> <2x64x300xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <2x64x300xf32, global> -> tensor<2x64x300xf32>
  %cst = arith.constant dense<0.000000e+00> : tensor<2x3x300xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<2x3x64xf32>, tensor<2x64x300xf32> -> tensor<2x3x300xf32>
  %cst_0 = arith.constant dense<2.500000e-01> : tensor<2x3x300xf32>
  %5 = arith.mulf %4, %cst_0 : tensor<2x3x300xf32>
  %6 = kernel.reduce max %5 dims [2] : tensor<2x3x300xf32> -> tensor<2x3xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<2x3xf32> -> tensor<2x3x300xf32>
  %8 = arith.subf %5, %7 : tensor<2x3x300xf32>
  %9 = math.exp %8 : tensor<2x3x300xf32>
  %10 = kernel.reduce add %9 dims [2] : tensor<2x3x300xf32> -> tensor<2x3xf32>
  %cst_1 = arith.constant dense<3.906250e-03> : tensor<2x3xf32>
  %11 = arith.mulf %10, %cst_1 : tensor<2x3xf32>
  %cst_2 = arith.constant dense<3.906250e-03> : tensor<2x3x300xf32>
  %12 = arith.mulf %9, %cst_2 : tensor<2x3x300xf32>
  %13 = kernel.view %arg2 map <[<[2, 300, 64] strides [19200, 64, 1]>]> : <f32, global> -> <2x300x64xf32, global>
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b0", "n", "n1"] in_bounds [true, true, true] : <2x300x64xf32, global> -> tensor<2x300x64xf32>
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<2x3x64xf32>
  %15 = kernel.dot %12, %14, %cst_3 : tensor<2x3x300xf32>, tensor<2x300x64xf32> -> tensor<2x3x64xf32>
  %16 = kernel.broadcast %11 dims [0, 1] : tensor<2x3xf32> -> tensor<2x3x64xf32>
  %17 = arith.divf %15, %16 : tensor<2x3x64xf32>
  %18 = kernel.view %arg3 map <[<[2, 3, 64] strides [192, 64, 1]>]> : <f32, global> -> <2x3x64xf32, global>
  kernel.store %17, %18[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x3x64xf32>, <2x3x64xf32, global>
  kernel.return
}
