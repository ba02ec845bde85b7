// RUN: split-file %s %t
// RUN: zyx-opt %t/tiled.mlir --verify-roundtrip -zyx-kernel-verify-form=form=tiled | FileCheck %t/tiled.mlir
// RUN: zyx-opt %t/lowered.mlir --verify-roundtrip -zyx-kernel-verify-form=form=lowered | FileCheck %t/lowered.mlir

// C[256, 128] = A[256, 512] x B[512, 128] in f32 for AVX-512. A program has 32 columns: it packs its panel
// of B once, then walks the rows in eights with sixteen accumulators of sixteen lanes.

//--- tiled.mlir
#a = #kernel.map<[#kernel.block<[256, 512] strides [512, 1]>]>
#b = #kernel.map<[#kernel.block<[512, 128] strides [128, 1]>]>
#c = #kernel.map<[#kernel.block<[256, 128] strides [128, 1]>]>
!buffer = !kernel.buffer<f32, global>
!a = !kernel.view<256x512xf32, global>
!b = !kernel.view<512x128xf32, global>
!c = !kernel.view<256x128xf32, global>
!packed = tensor<512x32xf32, #kernel.memory<private>>

// CHECK-LABEL: kernel.func @gemm
// CHECK: kernel.grid (%{{.*}}) in [128] step [32]
// CHECK: kernel.convert
// CHECK: scf.for
// CHECK: kernel.dot
kernel.func @gemm(%a: !buffer, %b: !buffer, %c: !buffer) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %rows = arith.constant 256 : index
  %a_all = kernel.view %a map #a : !buffer -> !a
  %b_all = kernel.view %b map #b : !buffer -> !b
  %c_all = kernel.view %c map #c : !buffer -> !c
  kernel.grid (%n) in [128] step [32] {
    %panel = kernel.load %b_all[%c0, %n] axes ["k", "n"] : !b -> tensor<512x32xf32>
    %packed = kernel.convert %panel : tensor<512x32xf32> -> !packed
    scf.for %m = %c0 to %rows step %c8 {
      %lhs = kernel.load %a_all[%m, %c0] axes ["m", "k"] : !a -> tensor<8x512xf32>
      %zero = arith.constant dense<0.0> : tensor<8x32xf32>
      %sums = kernel.dot %lhs, %packed, %zero : tensor<8x512xf32>, !packed -> tensor<8x32xf32>
      kernel.store %sums, %c_all[%m, %n] : tensor<8x32xf32>, !c
    }
  }
  kernel.return
}

//--- lowered.mlir
#a = #kernel.map<[#kernel.block<[256, 512] strides [512, 1]>]>
#b = #kernel.map<[#kernel.block<[512, 128] strides [128, 1]>]>
#c = #kernel.map<[#kernel.block<[256, 128] strides [128, 1]>]>
!buffer = !kernel.buffer<f32, global>
!a = !kernel.view<256x512xf32, global>
!b = !kernel.view<512x128xf32, global>
!c = !kernel.view<256x128xf32, global>
!packed = !kernel.view<512x32xf32, private>
!v = vector<16xf32>

// CHECK-LABEL: kernel.func @gemm
// CHECK: kernel.alloc
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
kernel.func @gemm(%a: !buffer, %b: !buffer, %c: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %depth = arith.constant 512 : index
  %rows = arith.constant 256 : index
  %a_all = kernel.view %a map #a : !buffer -> !a
  %b_all = kernel.view %b map #b : !buffer -> !b
  %c_all = kernel.view %c map #c : !buffer -> !c
  kernel.grid (%n) in [128] step [32] {
    %packed = kernel.alloc : !packed
    %n16 = arith.addi %n, %c16 : index
    scf.for %k = %c0 to %depth step %c1 {
      %left = kernel.load %b_all[%k, %n] : !b -> !v
      %right = kernel.load %b_all[%k, %n16] : !b -> !v
      kernel.store %left, %packed[%k, %c0] : !v, !packed
      kernel.store %right, %packed[%k, %c16] : !v, !packed
    }
    %zero = arith.constant dense<0.0> : !v
    scf.for %m = %c0 to %rows step %c8 {
      %m1 = arith.addi %m, %c1 : index
      %m2 = arith.addi %m, %c2 : index
      %m3 = arith.addi %m, %c3 : index
      %m4 = arith.addi %m, %c4 : index
      %m5 = arith.addi %m, %c5 : index
      %m6 = arith.addi %m, %c6 : index
      %m7 = arith.addi %m, %c7 : index
      %sums:16 = scf.for %k = %c0 to %depth step %c1 iter_args(
          %s00 = %zero, %s10 = %zero, %s01 = %zero, %s11 = %zero,
          %s20 = %zero, %s30 = %zero, %s21 = %zero, %s31 = %zero,
          %s40 = %zero, %s50 = %zero, %s41 = %zero, %s51 = %zero,
          %s60 = %zero, %s70 = %zero, %s61 = %zero, %s71 = %zero)
          -> (!v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v) {
        %left = kernel.load %packed[%k, %c0] : !packed -> !v
        %right = kernel.load %packed[%k, %c16] : !packed -> !v
        %a0 = kernel.load %a_all[%m, %k] : !a -> f32
        %x0 = vector.broadcast %a0 : f32 to !v
        %t00 = math.fma %x0, %left, %s00 : !v
        %t01 = math.fma %x0, %right, %s01 : !v
        %a1 = kernel.load %a_all[%m1, %k] : !a -> f32
        %x1 = vector.broadcast %a1 : f32 to !v
        %t10 = math.fma %x1, %left, %s10 : !v
        %t11 = math.fma %x1, %right, %s11 : !v
        %a2 = kernel.load %a_all[%m2, %k] : !a -> f32
        %x2 = vector.broadcast %a2 : f32 to !v
        %t20 = math.fma %x2, %left, %s20 : !v
        %t21 = math.fma %x2, %right, %s21 : !v
        %a3 = kernel.load %a_all[%m3, %k] : !a -> f32
        %x3 = vector.broadcast %a3 : f32 to !v
        %t30 = math.fma %x3, %left, %s30 : !v
        %t31 = math.fma %x3, %right, %s31 : !v
        %a4 = kernel.load %a_all[%m4, %k] : !a -> f32
        %x4 = vector.broadcast %a4 : f32 to !v
        %t40 = math.fma %x4, %left, %s40 : !v
        %t41 = math.fma %x4, %right, %s41 : !v
        %a5 = kernel.load %a_all[%m5, %k] : !a -> f32
        %x5 = vector.broadcast %a5 : f32 to !v
        %t50 = math.fma %x5, %left, %s50 : !v
        %t51 = math.fma %x5, %right, %s51 : !v
        %a6 = kernel.load %a_all[%m6, %k] : !a -> f32
        %x6 = vector.broadcast %a6 : f32 to !v
        %t60 = math.fma %x6, %left, %s60 : !v
        %t61 = math.fma %x6, %right, %s61 : !v
        %a7 = kernel.load %a_all[%m7, %k] : !a -> f32
        %x7 = vector.broadcast %a7 : f32 to !v
        %t70 = math.fma %x7, %left, %s70 : !v
        %t71 = math.fma %x7, %right, %s71 : !v
        scf.yield %t00, %t10, %t01, %t11, %t20, %t30, %t21, %t31, %t40, %t50, %t41, %t51, %t60, %t70, %t61, %t71
            : !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v, !v
      }
      kernel.store %sums#0, %c_all[%m, %n] : !v, !c
      kernel.store %sums#1, %c_all[%m1, %n] : !v, !c
      kernel.store %sums#2, %c_all[%m, %n16] : !v, !c
      kernel.store %sums#3, %c_all[%m1, %n16] : !v, !c
      kernel.store %sums#4, %c_all[%m2, %n] : !v, !c
      kernel.store %sums#5, %c_all[%m3, %n] : !v, !c
      kernel.store %sums#6, %c_all[%m2, %n16] : !v, !c
      kernel.store %sums#7, %c_all[%m3, %n16] : !v, !c
      kernel.store %sums#8, %c_all[%m4, %n] : !v, !c
      kernel.store %sums#9, %c_all[%m5, %n] : !v, !c
      kernel.store %sums#10, %c_all[%m4, %n16] : !v, !c
      kernel.store %sums#11, %c_all[%m5, %n16] : !v, !c
      kernel.store %sums#12, %c_all[%m6, %n] : !v, !c
      kernel.store %sums#13, %c_all[%m7, %n] : !v, !c
      kernel.store %sums#14, %c_all[%m6, %n16] : !v, !c
      kernel.store %sums#15, %c_all[%m7, %n16] : !v, !c
    }
  }
  kernel.return
}
