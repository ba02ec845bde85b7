// RUN: split-file %s %t
// RUN: not zyx-translate --kernel-to-target --target=opencl %t/vector.mlir 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not zyx-translate --kernel-to-target --target=opencl %t/insert.mlir 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: not zyx-translate --kernel-to-target --target=opencl %t/branch.mlir 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not zyx-translate --kernel-to-target --target=opencl %t/loop.mlir 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: zyx-translate --kernel-to-target --target=opencl %t/uniform.mlir | FileCheck %s --check-prefix=UNIFORM
// RUN: not zyx-translate --kernel-to-target --target=opencl %t/shared.mlir 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not zyx-translate --kernel-to-target --target=opencl %t/threads.mlir 2>&1 | FileCheck %s --check-prefix=THREADS

//--- vector.mlir
// VECTOR: error: 'vector.extract' op reads a lane that is not known
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer, %i: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> vector<4xf32>
  %e = vector.extract %v[%i] : f32 from vector<4xf32>
  kernel.store %e, %xs[%c0] : f32, !kernel.view<8xf32, global>
  kernel.return
}
//--- insert.mlir
// INSERT: error: 'vector.insert' op writes a lane that is not known
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer, %i: index) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> vector<4xf32>
  %w = vector.insert %one, %v[%i] : f32 into vector<4xf32>
  kernel.store %w, %xs[%c0] : vector<4xf32>, !kernel.view<8xf32, global>
  kernel.return
}
//--- branch.mlir
// A barrier that only some threads come to.
// BRANCH: error: 'kernel.barrier' is not reached by all threads of the workgroup, or it is not known at {{.*}}branch.mlir":8:
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c7 = arith.constant 7 : index
  %t = kernel.id thread
  %few = arith.cmpi ult, %t, %c7 : index
  scf.if %few {
    kernel.barrier workgroup
  }
  kernel.return
}
//--- loop.mlir
// One that threads come to as often as a number says that each has counted for itself.
// LOOP: error: 'kernel.barrier' is not reached by all threads of the workgroup, or it is not known
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = kernel.id thread
  %end = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %c0) -> index {
    %next = arith.addi %sum, %t : index
    scf.yield %next : index
  }
  scf.for %i = %c0 to %end step %c1 {
    kernel.barrier workgroup
  }
  kernel.return
}
//--- uniform.mlir
// What is summed up of the same numbers is the same for all.
// UNIFORM: for (
// UNIFORM: barrier(CLK_LOCAL_MEM_FENCE);
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %end = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %c0) -> index {
    %next = arith.addi %sum, %i : index
    scf.yield %next : index
  }
  scf.for %i = %c0 to %end step %c1 {
    kernel.barrier workgroup
  }
  kernel.return
}
//--- shared.mlir
// SHARED: error: {{.*}}kernel 'k' needs 40000 bytes of shared memory; target 'opencl' has 32768
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %s = kernel.alloc : !kernel.view<10000xf32, shared>
  kernel.return
}
//--- threads.mlir
// THREADS: error: {{.*}}kernel 'k' needs 512 threads of a workgroup; target 'opencl' has 256
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 512 : i64} {
  kernel.return
}
