// RUN: zyx-opt %s --split-input-file --pass-pipeline='builtin.module(kernel.func(zyx-kernel-pack-programs))' | FileCheck %s

!rows = !kernel.buffer<f32, global>
!table = !kernel.view<4096x32xf32, global>

// Eight subgroups are a workgroup. Each has a row, and memory of its own.
// CHECK-LABEL: kernel.func @rows
// CHECK-SAME:    threads = 256
// CHECK:         kernel.grid (%[[GROUP:.*]]) in [4096] step [8] {
// CHECK-DAG:       %[[THREAD:.*]] = kernel.id thread
// CHECK-DAG:       %[[PLACE:.*]] = arith.divui %[[THREAD]], %{{.*}} : index
// CHECK-DAG:       %[[OWN:.*]] = arith.remui %[[THREAD]], %{{.*}} : index
// CHECK:           %[[STEP:.*]] = arith.muli %[[PLACE]]
// CHECK:           %[[ROW:.*]] = arith.addi %[[GROUP]], %[[STEP]]
// CHECK:           %[[PARTS:.*]] = kernel.alloc : <8x32xf32, shared>
// CHECK:           kernel.load %{{.*}}[%[[ROW]], %[[OWN]]]
// CHECK:           kernel.store %{{.*}}, %[[PARTS]][%[[PLACE]], %[[OWN]]]
// CHECK:           kernel.barrier workgroup
// CHECK:           kernel.load %[[PARTS]][%[[PLACE]], %{{.*}}]
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  kernel.func @rows(%x: !rows, %y: !rows) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
    %c0 = arith.constant 0 : index
    %from = kernel.view %x map <[<[4096, 32] strides [32, 1]>]> : !rows -> !table
    %to = kernel.view %y map <[<[4096, 32] strides [32, 1]>]> : !rows -> !table
    kernel.grid (%i) in [4096] step [1] {
      %parts = kernel.alloc : !kernel.view<32xf32, shared>
      %t = kernel.id thread
      %0 = kernel.load %from[%i, %t] : !table -> f32
      kernel.store %0, %parts[%t] : f32, !kernel.view<32xf32, shared>
      kernel.barrier workgroup
      %1 = kernel.load %parts[%c0] : !kernel.view<32xf32, shared> -> f32
      kernel.store %1, %to[%i, %t] : f32, !table
    }
    kernel.return
  }

  // Threads of a program would wait for those of another one that takes the other branch.
  // CHECK-LABEL: kernel.func @branch
  // CHECK-SAME:    threads = 32
  // CHECK:         kernel.grid (%{{.*}}) in [4096] step [1]
  kernel.func @branch(%x: !rows) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %to = kernel.view %x map <[<[4096, 32] strides [32, 1]>]> : !rows -> !table
    kernel.grid (%i) in [4096] step [1] {
      %t = kernel.id thread
      %few = arith.cmpi ult, %i, %c8 : index
      scf.if %few {
        kernel.barrier workgroup
        kernel.store %zero, %to[%i, %t] : f32, !table
      }
    }
    kernel.return
  }

  // As many cores would have nothing.
  // CHECK-LABEL: kernel.func @few
  // CHECK-SAME:    threads = 32
  kernel.func @few(%x: !rows) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
    %zero = arith.constant 0.0 : f32
    %to = kernel.view %x map <[<[4096, 32] strides [32, 1]>]> : !rows -> !table
    kernel.grid (%i) in [128] step [1] {
      %t = kernel.id thread
      kernel.store %zero, %to[%i, %t] : f32, !table
    }
    kernel.return
  }

  // Of 4095 rows seven are a workgroup.
  // CHECK-LABEL: kernel.func @odd
  // CHECK-SAME:    threads = 224
  // CHECK:         kernel.grid (%{{.*}}) in [4095] step [7]
  kernel.func @odd(%x: !rows) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
    %zero = arith.constant 0.0 : f32
    %to = kernel.view %x map <[<[4096, 32] strides [32, 1]>]> : !rows -> !table
    kernel.grid (%i) in [4095] step [1] {
      %t = kernel.id thread
      kernel.store %zero, %to[%i, %t] : f32, !table
    }
    kernel.return
  }
}
