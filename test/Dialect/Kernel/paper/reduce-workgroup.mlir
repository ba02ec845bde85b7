// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-verify-form=form=lowered | FileCheck %s

// Sums of the rows of a matrix, one workgroup of 64 threads for each, as WGSL can say it: no
// subgroups, no pointers that are passed on, barriers where control is uniform. Every thread adds
// every 64th element, then half of the threads adds what the other half has, and so on.

#x = #kernel.map<[#kernel.block<[s0, s1] strides [s1, 1]>]>
#y = #kernel.map<[#kernel.block<[s0] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
!x = !kernel.view<?x?xf32, global>
!y = !kernel.view<?xf32, global>
!partial = !kernel.view<64xf32, shared>

// CHECK-LABEL: kernel.func @row_sums
// CHECK-SAME: threads = 64
// CHECK: kernel.id thread
// CHECK-COUNT-7: kernel.barrier workgroup
kernel.func @row_sums(%x: !buffer, %y: !buffer, %rows: index, %columns: index)
    attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant -0.0 : f32
  %x_all = kernel.view %x[%rows, %columns] map #x : !buffer -> !x
  %y_all = kernel.view %y[%rows] map #y : !buffer -> !y
  kernel.grid (%r) in [%rows] step [1] {
    %partial = kernel.alloc : !partial
    %t = kernel.id thread
    %own = scf.for %c = %t to %columns step %c64 iter_args(%sum = %zero) -> (f32) {
      %v = kernel.load %x_all[%r, %c] : !x -> f32
      %next = arith.addf %sum, %v : f32
      scf.yield %next : f32
    }
    kernel.store %own, %partial[%t] : f32, !partial
    kernel.barrier workgroup
    %adds_32 = arith.cmpi ult, %t, %c32 : index
    scf.if %adds_32 {
      %other = arith.addi %t, %c32 : index
      %mine = kernel.load %partial[%t] : !partial -> f32
      %theirs = kernel.load %partial[%other] : !partial -> f32
      %both = arith.addf %mine, %theirs : f32
      kernel.store %both, %partial[%t] : f32, !partial
    }
    kernel.barrier workgroup
    %adds_16 = arith.cmpi ult, %t, %c16 : index
    scf.if %adds_16 {
      %other = arith.addi %t, %c16 : index
      %mine = kernel.load %partial[%t] : !partial -> f32
      %theirs = kernel.load %partial[%other] : !partial -> f32
      %both = arith.addf %mine, %theirs : f32
      kernel.store %both, %partial[%t] : f32, !partial
    }
    kernel.barrier workgroup
    %adds_8 = arith.cmpi ult, %t, %c8 : index
    scf.if %adds_8 {
      %other = arith.addi %t, %c8 : index
      %mine = kernel.load %partial[%t] : !partial -> f32
      %theirs = kernel.load %partial[%other] : !partial -> f32
      %both = arith.addf %mine, %theirs : f32
      kernel.store %both, %partial[%t] : f32, !partial
    }
    kernel.barrier workgroup
    %adds_4 = arith.cmpi ult, %t, %c4 : index
    scf.if %adds_4 {
      %other = arith.addi %t, %c4 : index
      %mine = kernel.load %partial[%t] : !partial -> f32
      %theirs = kernel.load %partial[%other] : !partial -> f32
      %both = arith.addf %mine, %theirs : f32
      kernel.store %both, %partial[%t] : f32, !partial
    }
    kernel.barrier workgroup
    %adds_2 = arith.cmpi ult, %t, %c2 : index
    scf.if %adds_2 {
      %other = arith.addi %t, %c2 : index
      %mine = kernel.load %partial[%t] : !partial -> f32
      %theirs = kernel.load %partial[%other] : !partial -> f32
      %both = arith.addf %mine, %theirs : f32
      kernel.store %both, %partial[%t] : f32, !partial
    }
    kernel.barrier workgroup
    %adds_1 = arith.cmpi ult, %t, %c1 : index
    scf.if %adds_1 {
      %other = arith.addi %t, %c1 : index
      %mine = kernel.load %partial[%t] : !partial -> f32
      %theirs = kernel.load %partial[%other] : !partial -> f32
      %both = arith.addf %mine, %theirs : f32
      kernel.store %both, %partial[%t] : f32, !partial
    }
    kernel.barrier workgroup
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      %sum = kernel.load %partial[%c0] : !partial -> f32
      kernel.store %sum, %y_all[%r] : f32, !y
    }
  }
  kernel.return
}
