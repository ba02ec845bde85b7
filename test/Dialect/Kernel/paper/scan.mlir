// RUN: split-file %s %t
// RUN: zyx-opt %t/tiled.mlir --verify-roundtrip -zyx-kernel-verify-form=form=tiled | FileCheck %t/tiled.mlir
// RUN: zyx-opt %t/lowered.mlir --verify-roundtrip -zyx-kernel-verify-form=form=lowered | FileCheck %t/lowered.mlir

// Running sums along the rows of 64 x 256; a program has sixteen rows.

//--- tiled.mlir
#x = #kernel.map<[#kernel.block<[64, 256] strides [256, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<64x256xf32, global>
!rows = tensor<16x256xf32>

// CHECK-LABEL: kernel.func @running_sums
// CHECK: kernel.scan add %{{.*}} dim 1 : tensor<16x256xf32>
// CHECK: kernel.scan max %{{.*}} dim 1 exclusive : tensor<16x256xf32>
kernel.func @running_sums(%x: !buffer, %sums: !buffer, %before: !buffer) {
  %c0 = arith.constant 0 : index
  %x_all = kernel.view %x map #x : !buffer -> !x
  %sums_all = kernel.view %sums map #x : !buffer -> !x
  %before_all = kernel.view %before map #x : !buffer -> !x
  kernel.grid (%r) in [64] step [16] {
    %rows = kernel.load %x_all[%r, %c0] axes ["r", "c"] : !x -> !rows
    %s = kernel.scan add %rows dim 1 : !rows
    %b = kernel.scan max %rows dim 1 exclusive : !rows
    kernel.store %s, %sums_all[%r, %c0] : !rows, !x
    kernel.store %b, %before_all[%r, %c0] : !rows, !x
  }
  kernel.return
}

//--- lowered.mlir
#x = #kernel.map<[#kernel.block<[64, 256] strides [256, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<64x256xf32, global>

// CHECK-LABEL: kernel.func @running_sums
// CHECK: iter_args
kernel.func @running_sums(%x: !buffer, %sums: !buffer, %before: !buffer) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %columns = arith.constant 256 : index
  %zero = arith.constant -0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %x_all = kernel.view %x map #x : !buffer -> !x
  %sums_all = kernel.view %sums map #x : !buffer -> !x
  %before_all = kernel.view %before map #x : !buffer -> !x
  kernel.grid (%r) in [64] step [16] {
    %end = arith.addi %r, %c16 : index
    scf.for %i = %r to %end step %c1 {
      %last:2 = scf.for %j = %c0 to %columns step %c1 iter_args(%s = %zero, %m = %lowest) -> (f32, f32) {
        %v = kernel.load %x_all[%i, %j] : !x -> f32
        kernel.store %m, %before_all[%i, %j] : f32, !x
        %s1 = arith.addf %s, %v : f32
        kernel.store %s1, %sums_all[%i, %j] : f32, !x
        %m1 = arith.maximumf %m, %v : f32
        scf.yield %s1, %m1 : f32, f32
      }
    }
  }
  kernel.return
}
