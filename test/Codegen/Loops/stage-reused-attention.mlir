// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-apply-schedule -zyx-kernel-stage-reused -zyx-kernel-settle-memory -zyx-kernel-lower-tiles \
// RUN:   | FileCheck %s --check-prefix=LOWERED

// The scores of an attention that threads share, of which a soft cap takes many instructions, stay what it is known by.
// CHECK-LABEL: kernel.func @soft_cap
// CHECK-NOT:   kernel.convert
// CHECK:       kernel.return
// LOWERED:     kernel.func @soft_cap{{.*}}#kernel.form<lowered>
kernel.func @soft_cap(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>, %arg2: !kernel.buffer<bf16, global>, %arg3: !kernel.buffer<bf16, global>) attributes {schedule = #kernel.schedule<[#kernel.online_step<"n", 16>]>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %0 = kernel.iota dim 0 axes ["n"] : tensor<5xi32>
  %1 = kernel.iota dim 0 axes ["m"] : tensor<5xi32>
  %2 = kernel.broadcast %0 dims [1] : tensor<5xi32> -> tensor<5x5xi32>
  %3 = kernel.broadcast %1 dims [0] : tensor<5xi32> -> tensor<5x5xi32>
  %4 = arith.cmpi sle, %2, %3 : tensor<5x5xi32>
  %5 = kernel.view %arg0 map <[<[6, 5, 8] strides [40, 8, 1]>]> : <bf16, global> -> <6x5x8xbf16, global>
  %6 = kernel.load %5[%c0, %c0, %c0] axes ["b0", "m", "k"] in_bounds [true, true, true] : <6x5x8xbf16, global> -> tensor<6x5x8xbf16>
  %7 = kernel.view %arg1 map <[<[6, 8, 5] strides [40, 1, 8]>]> : <bf16, global> -> <6x8x5xbf16, global>
  %8 = kernel.load %7[%c0, %c0, %c0] axes ["b0", "k", "n"] in_bounds [true, true, true] : <6x8x5xbf16, global> -> tensor<6x8x5xbf16>
  %cst = arith.constant dense<0.000000e+00> : tensor<6x5x5xf32>
  %9 = kernel.dot %6, %8, %cst : tensor<6x5x8xbf16>, tensor<6x8x5xbf16> -> tensor<6x5x5xf32>
  %10 = arith.truncf %9 : tensor<6x5x5xf32> to tensor<6x5x5xbf16>
  %cst_0 = arith.constant dense<3.535160e-01> : tensor<6x5x5xbf16>
  %11 = arith.mulf %10, %cst_0 : tensor<6x5x5xbf16>
  %cst_1 = arith.constant dense<3.000000e+01> : tensor<6x5x5xbf16>
  %12 = arith.divf %11, %cst_1 : tensor<6x5x5xbf16>
  %13 = math.tanh %12 : tensor<6x5x5xbf16>
  %cst_2 = arith.constant dense<3.000000e+01> : tensor<6x5x5xbf16>
  %14 = arith.mulf %cst_2, %13 : tensor<6x5x5xbf16>
  %15 = arith.extf %14 : tensor<6x5x5xbf16> to tensor<6x5x5xf32>
  %16 = kernel.broadcast %4 dims [1, 2] : tensor<5x5xi1> -> tensor<6x5x5xi1>
  %cst_3 = arith.constant dense<0xFF800000> : tensor<6x5x5xf32>
  %17 = arith.select %16, %15, %cst_3 : tensor<6x5x5xi1>, tensor<6x5x5xf32>
  %18 = kernel.reduce max %17 dims [2] : tensor<6x5x5xf32> -> tensor<6x5xf32>
  %19 = kernel.broadcast %18 dims [0, 1] : tensor<6x5xf32> -> tensor<6x5x5xf32>
  %20 = arith.subf %17, %19 : tensor<6x5x5xf32>
  %21 = math.exp %20 : tensor<6x5x5xf32>
  %22 = kernel.reduce add %21 dims [2] : tensor<6x5x5xf32> -> tensor<6x5xf32>
  %cst_4 = arith.constant dense<1.250000e-01> : tensor<6x5xf32>
  %23 = arith.mulf %22, %cst_4 : tensor<6x5xf32>
  %cst_5 = arith.constant dense<1.250000e-01> : tensor<6x5x5xf32>
  %24 = arith.mulf %21, %cst_5 : tensor<6x5x5xf32>
  %25 = arith.truncf %24 : tensor<6x5x5xf32> to tensor<6x5x5xbf16>
  %26 = kernel.view %arg2 map <[<[6, 5, 8] strides [40, 8, 1]>]> : <bf16, global> -> <6x5x8xbf16, global>
  %27 = kernel.load %26[%c0, %c0, %c0] axes ["b0", "n", "n1"] in_bounds [true, true, true] : <6x5x8xbf16, global> -> tensor<6x5x8xbf16>
  %cst_6 = arith.constant dense<0.000000e+00> : tensor<6x5x8xf32>
  %28 = kernel.dot %25, %27, %cst_6 : tensor<6x5x5xbf16>, tensor<6x5x8xbf16> -> tensor<6x5x8xf32>
  %29 = kernel.broadcast %23 dims [0, 1] : tensor<6x5xf32> -> tensor<6x5x8xf32>
  %30 = arith.divf %28, %29 : tensor<6x5x8xf32>
  %31 = arith.truncf %30 : tensor<6x5x8xf32> to tensor<6x5x8xbf16>
  %32 = kernel.view %arg3 map <[<[6, 5, 8] strides [40, 8, 1]>]> : <bf16, global> -> <6x5x8xbf16, global>
  kernel.store %31, %32[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<6x5x8xbf16>, <6x5x8xbf16, global>
  kernel.return
}
