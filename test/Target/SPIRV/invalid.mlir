// RUN: split-file %s %t
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/vector.mlir 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/insert.mlir 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/branch.mlir 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/loop.mlir 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not zyx-translate --kernel-to-target --target=vulkan-subgroups %t/subgroup.mlir 2>&1 | FileCheck %s --check-prefix=SUBGROUP
// RUN: sed s/'subgroup_reduce add'/subgroup_scan/ %t/subgroup.mlir > %t/scan.mlir
// RUN: not zyx-translate --kernel-to-target --target=vulkan-subgroups %t/scan.mlir 2>&1 | FileCheck %s --check-prefix=SUBGROUP-SCAN
// RUN: zyx-translate --kernel-to-target --target=vulkan %t/uniform.mlir | FileCheck %s --check-prefix=UNIFORM
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/shared.mlir 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/threads.mlir 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/power.mlir 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/function.mlir 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: zyx-translate --kernel-to-target --target=vulkan %t/bools.mlir | FileCheck %s --check-prefix=BOOLS
// RUN: zyx-translate --kernel-to-target --target=vulkan %t/extended.mlir | FileCheck %s --check-prefix=EXTENDED
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/constant.mlir 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/narrow.mlir 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/branch-type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not zyx-translate --kernel-to-target --target=vulkan %t/fused.mlir 2>&1 | FileCheck %s --check-prefix=FUSED

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
// UNIFORM: spirv.mlir.loop
// UNIFORM: spirv.ControlBarrier
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
// SHARED: error: {{.*}}kernel 'k' needs 40000 bytes of shared memory; target 'vulkan' has 32768
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %s = kernel.alloc : !kernel.view<10000xf32, shared>
  kernel.return
}
//--- threads.mlir
// THREADS: error: {{.*}}kernel 'k' needs 512 threads of a workgroup; target 'vulkan' has 256
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 512 : i64} {
  kernel.return
}
//--- power.mlir
// POWER: error: 'math.exp2' of f64 has no form in SPIR-V at {{.*}}power.mlir":8:
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f64, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xf64, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf64, global> -> f64
  %e = math.exp2 %v fastmath<afn> : f64
  kernel.store %e, %xs[%c0] : f64, !kernel.view<8xf64, global>
  kernel.return
}
//--- function.mlir
// MLIR has a form of it; drivers compute it less exactly than we need.
// FUNCTION: error: 'math.sin' of f32 has no form in SPIR-V at {{.*}}function.mlir":9:
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<f32, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xf32, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xf32, global> -> f32
  %e = math.sin %v : f32
  kernel.store %e, %xs[%c0] : f32, !kernel.view<8xf32, global>
  kernel.return
}
//--- bools.mlir
// A bool that is true is -1.
// BOOLS: [[X:%.*]] = spirv.Select {{.*}} : i1, i32
// BOOLS: [[Y:%.*]] = spirv.Select {{.*}} : i1, i32
// BOOLS: spirv.SLessThan [[X]], [[Y]] : i32
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<i64, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xi64, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xi64, global> -> i64
  %w = kernel.load %xs[%c1] : !kernel.view<8xi64, global> -> i64
  %b = arith.cmpi eq, %v, %w : i64
  %d = arith.cmpi slt, %v, %w : i64
  %c = arith.cmpi slt, %b, %d : i1
  %r = arith.select %c, %v, %w : i64
  kernel.store %r, %xs[%c0] : i64, !kernel.view<8xi64, global>
  kernel.return
}
//--- extended.mlir
// EXTENDED: spirv.SMulExtended
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<i64, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xi64, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xi64, global> -> i64
  %l, %h = arith.mulsi_extended %v, %v : i64
  kernel.store %h, %xs[%c0] : i64, !kernel.view<8xi64, global>
  kernel.return
}
//--- constant.mlir
// CONSTANT: error: 'arith.constant' has the type i24, which is no scalar of SPIR-V
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<i64, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xi64, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xi64, global> -> i64
  %five = arith.constant 5 : i24
  %six = arith.constant 6 : i24
  %b = arith.cmpi eq, %v, %one : i64
  %c = arith.select %b, %five, %six : i24
  %w = arith.extui %c : i24 to i64
  kernel.store %w, %xs[%c0] : i64, !kernel.view<8xi64, global>
  kernel.return
}
//--- narrow.mlir
// NARROW: error: 'arith.trunci' has the type i24, which is no scalar of SPIR-V
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<i64, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xi64, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xi64, global> -> i64
  %n = arith.trunci %v : i64 to i24
  %w = arith.extui %n : i24 to i64
  kernel.store %w, %xs[%c0] : i64, !kernel.view<8xi64, global>
  kernel.return
}
//--- branch-type.mlir
// TYPE: error: 'arith.trunci' has the type i24, which is no scalar of SPIR-V
#x = #kernel.map<[#kernel.block<[8] strides [1]>]>
!buffer = !kernel.buffer<i64, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map #x : !buffer -> !kernel.view<8xi64, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xi64, global> -> i64
  %b = arith.cmpi eq, %v, %v : i64
  %n = scf.if %b -> i24 {
    %one = arith.trunci %v : i64 to i24
    scf.yield %one : i24
  } else {
    %two = arith.trunci %v : i64 to i24
    scf.yield %two : i24
  }
  %w = arith.extui %n : i24 to i64
  kernel.store %w, %xs[%c0] : i64, !kernel.view<8xi64, global>
  kernel.return
}
//--- fused.mlir
// FUSED: error: 'math.fma' op of 'bf16' would be rounded twice
// FUSED: error: 'kernel.func' has an op of small floats that is rounded twice
!buffer = !kernel.buffer<bf16, global>
kernel.func @k(%x: !buffer) attributes {form = #kernel.form<lowered>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8] strides [1]>]> : !buffer -> !kernel.view<8xbf16, global>
  %v = kernel.load %xs[%c0] : !kernel.view<8xbf16, global> -> bf16
  %e = math.fma %v, %v, %v : bf16
  kernel.store %e, %xs[%c0] : bf16, !kernel.view<8xbf16, global>
  kernel.return
}
//--- subgroup.mlir
// An op of subgroups that only some threads come to.
// SUBGROUP: error: 'kernel.subgroup_reduce' is not reached by all threads of the workgroup, or it is not known
// SUBGROUP-SCAN: error: 'kernel.subgroup_scan' is not reached by all threads of the workgroup, or it is not known
kernel.func @k() attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c7 = arith.constant 7 : i32
  %m = kernel.alloc : !kernel.view<64xi32, shared>
  %t = kernel.id subgroup
  %i = arith.index_cast %t : index to i32
  %few = arith.cmpi ult, %i, %c7 : i32
  scf.if %few {
    %s = kernel.subgroup_reduce add %i : i32
    kernel.store %s, %m[%t] : i32, !kernel.view<64xi32, shared>
  }
  kernel.return
}
