// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-verify-form="form=lowered expanded" | FileCheck %s

// Running sums along the rows of 64 x 256; a program has sixteen rows. Scans are written in the lowered form from the start.

#x = #kernel.map<[#kernel.block<[64, 256] strides [256, 1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<64x256xf32, global>

// CHECK-LABEL: kernel.func @running_sums
// CHECK: iter_args
kernel.func @running_sums(%x: !buffer, %sums: !buffer, %before: !buffer) attributes {form = #kernel.form<lowered>} {
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
