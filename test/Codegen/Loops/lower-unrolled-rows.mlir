// RUN: zyx-opt %s -zyx-kernel-apply-schedule -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s

// Each thread has a row of results in registers, which lies next to others' rows in memory: it writes each result, and not the
// first one for all of them.
// CHECK-LABEL: kernel.func @attention(
// CHECK: %[[SUMS:[0-9]+]]:8 = scf.for
// CHECK: arith.divf %[[SUMS]]#0
// CHECK: arith.divf %[[SUMS]]#1
// CHECK: arith.divf %[[SUMS]]#2
// CHECK: arith.divf %[[SUMS]]#3
// CHECK: arith.divf %[[SUMS]]#4
// CHECK: arith.divf %[[SUMS]]#5
// CHECK: arith.divf %[[SUMS]]#6
// CHECK: arith.divf %[[SUMS]]#7
module attributes {kernel.target = #kernel.target<"webgpu">} {
  kernel.func @attention(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>, %arg2: !kernel.buffer<bf16, global>, %arg3: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.swap_step, #kernel.grid_step<"b0", 1>, #kernel.grid_step<"m", 1>]>} {
    %c0 = arith.constant 0 : index
    %0 = kernel.view %arg0 map <[<[3, 4, 17] strides [68, 17, 1]>]> : <bf16, global> -> <3x4x17xbf16, global>
    %1 = kernel.load %0[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <3x4x17xbf16, global> -> tensor<3x4x17xbf16>
    %2 = kernel.view %arg1 map <[<[3, 17, 7] strides [119, 7, 1]>]> : <bf16, global> -> <3x17x7xbf16, global>
    %3 = kernel.load %2[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <3x17x7xbf16, global> -> tensor<3x17x7xbf16>
    %cst = arith.constant dense<0.000000e+00> : tensor<3x4x7xf32>
    %4 = kernel.dot %1, %3, %cst : tensor<3x4x17xbf16>, tensor<3x17x7xbf16> -> tensor<3x4x7xf32>
    %5 = kernel.reduce max %4 dims [2] : tensor<3x4x7xf32> -> tensor<3x4xf32>
    %6 = kernel.broadcast %5 dims [0, 1] : tensor<3x4xf32> -> tensor<3x4x7xf32>
    %7 = arith.subf %4, %6 : tensor<3x4x7xf32>
    %8 = math.exp %7 : tensor<3x4x7xf32>
    %9 = kernel.reduce add %8 dims [2] : tensor<3x4x7xf32> -> tensor<3x4xf32>
    %cst_0 = arith.constant dense<1.250000e-01> : tensor<3x4xf32>
    %10 = arith.mulf %9, %cst_0 : tensor<3x4xf32>
    %cst_1 = arith.constant dense<1.250000e-01> : tensor<3x4x7xf32>
    %11 = arith.mulf %8, %cst_1 : tensor<3x4x7xf32>
    %12 = kernel.view %arg2 map <[<[7, 8] strides [8, 1]>]> : <bf16, global> -> <7x8xbf16, global>
    %13 = kernel.load %12[%c0, %c0] axes ["n", "n1"] in_bounds [true, true] : <7x8xbf16, global> -> tensor<7x8xbf16>
    %14 = kernel.broadcast %13 dims [1, 2] : tensor<7x8xbf16> -> tensor<3x7x8xbf16>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<3x4x8xf32>
    %15 = kernel.dot %11, %14, %cst_2 : tensor<3x4x7xf32>, tensor<3x7x8xbf16> -> tensor<3x4x8xf32>
    %16 = kernel.broadcast %10 dims [0, 1] : tensor<3x4xf32> -> tensor<3x4x8xf32>
    %17 = arith.divf %15, %16 : tensor<3x4x8xf32>
    %18 = kernel.view %arg3 map <[<[3, 4, 8] strides [32, 8, 1]>]> : <f32, global> -> <3x4x8xf32, global>
    kernel.store %17, %18[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<3x4x8xf32>, <3x4x8xf32, global>
    kernel.return
  }
}
