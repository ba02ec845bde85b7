// Without rules a program keeps all sums. Where the stack has no room for them, programs have one place of outer axes
// each; cards keep them in memory.
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-fit-stack | FileCheck %s
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target='target=x86-64-v4 facts=memory.stackBytes=4096' \
// RUN:   -zyx-schedule-fit-stack | FileCheck %s --check-prefix=LITTLE
// RUN: zyx-opt %s -split-input-file -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-fit-stack | FileCheck %s --check-prefix=CARD

// CARD-NOT: grid_step

// A batch of products, each of which fits.
// CHECK: kernel.func @batch
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"b", 1>]>
// LITTLE: kernel.func @batch
// LITTLE-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"m", 1>, #kernel.grid_step<"b", 1>]>
kernel.func @batch(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %out: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[10, 390, 16] strides [6240, 16, 1]>]> : <f32, global> -> <10x390x16xf32, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] in_bounds [true, true, true] : <10x390x16xf32, global> -> tensor<10x390x16xf32>
  %2 = kernel.view %y map <[<[10, 16, 390] strides [6240, 1, 16]>]> : <f32, global> -> <10x16x390xf32, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] in_bounds [true, true, true] : <10x16x390xf32, global> -> tensor<10x16x390xf32>
  %cst = arith.constant dense<0.0> : tensor<10x390x390xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<10x390x16xf32>, tensor<10x16x390xf32> -> tensor<10x390x390xf32>
  %5 = kernel.view %out map <[<[10, 390, 390] strides [152100, 390, 1]>]> : <f32, global> -> <10x390x390xf32, global>
  kernel.store %4, %5[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<10x390x390xf32>, <10x390x390xf32, global>
  kernel.return
}

// -----

// Sums of rows that fit stay as they are.
// CHECK: kernel.func @rows
// CHECK-NOT: schedule
// LITTLE: kernel.func @rows
// LITTLE-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i", 1>]>
kernel.func @rows(%x: !kernel.buffer<f32, global>, %out: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[1000, 64] strides [64, 1]>]> : <f32, global> -> <1000x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : <1000x64xf32, global> -> tensor<1000x64xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<1000x64xf32> -> tensor<1000xf32>
  %3 = kernel.view %out map <[<[1000] strides [1]>]> : <f32, global> -> <1000xf32, global>
  kernel.store %2, %3[%c0] in_bounds [true] : tensor<1000xf32>, <1000xf32, global>
  kernel.return
}

// -----

// Sums of a loop lie there twice: what it carries, and what a pass makes.
// CHECK: kernel.func @steps
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.loop_step<"k", 8>]>
// LITTLE: kernel.func @steps
// LITTLE-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"m", 1>, #kernel.loop_step<"k", 8>]>
kernel.func @steps(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %out: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.loop_step<"k", 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[16, 64] strides [64, 1]>]> : <f32, global> -> <16x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : <16x64xf32, global> -> tensor<16x64xf32>
  %2 = kernel.view %y map <[<[64, 20] strides [20, 1]>]> : <f32, global> -> <64x20xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : <64x20xf32, global> -> tensor<64x20xf32>
  %cst = arith.constant dense<0.0> : tensor<16x20xf32>
  %4 = kernel.dot %1, %3, %cst : tensor<16x64xf32>, tensor<64x20xf32> -> tensor<16x20xf32>
  %5 = kernel.view %out map <[<[16, 20] strides [20, 1]>]> : <f32, global> -> <16x20xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<16x20xf32>, <16x20xf32, global>
  kernel.return
}
