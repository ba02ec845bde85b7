// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-join-parts | FileCheck %s

// 40 programs of one thread in a workgroup of 128, one program of 64 threads that meet at barriers of their own, and 6
// of 128. What parts share is one memory, which a barrier guards from one program to the next.
// CHECK-NOT: kernel.func @points
// CHECK-LABEL: kernel.func @launched
// CHECK-LABEL: kernel.func @all
// CHECK-SAME: threads = 128
// CHECK-NOT: parts
// CHECK: kernel.view %arg1
// CHECK: kernel.view %arg0
// CHECK: kernel.grid (%[[GROUP:.*]]) in [8] step [1] {
// CHECK-NEXT: kernel.barrier workgroup
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[IS_POINT:.*]] = arith.cmpi ult, %[[GROUP]], %[[ONE]]
// CHECK: scf.if %[[IS_POINT]] {
// CHECK: %[[THREAD:.*]] = kernel.id thread
// CHECK: %[[PROGRAM:.*]] = arith.addi %{{.*}}, %[[THREAD]]
// CHECK: arith.cmpi ult, %[[PROGRAM]], %c40
// CHECK: scf.if
// CHECK: %[[NARROW:.*]] = arith.index_castui %[[PROGRAM]] : index to i32
// CHECK: arith.remui %[[NARROW]], %c10_i32
// CHECK: arith.divui %[[NARROW]], %c10_i32
// CHECK: kernel.store
// CHECK: } else {
// CHECK: %[[REST:.*]] = arith.subi %[[GROUP]], %[[ONE]]
// CHECK: scf.if
// CHECK: kernel.id thread
// CHECK: arith.cmpi ult, %{{.*}}, %c64
// CHECK: scf.if
// CHECK: kernel.alloc : <64xf32, shared>
// CHECK: kernel.barrier workgroup threads 64
// CHECK: } else {
// CHECK: kernel.alloc : <128xf32, shared>
// CHECK: kernel.barrier workgroup{{$}}
// CHECK: } {kernel.alternatives}
// CHECK: } {kernel.alternatives}
plan.func @main(%x: !plan.buffer<f32[40]> {plan.input = "x"}, %y: !plan.buffer<f32[40]> {plan.output = "y"},
                %z: !plan.buffer<f32[40]> {plan.output = "z"}) {
  %0 = plan.launch @launched ins(%x : !plan.buffer<f32[40]>) outs(%z : !plan.buffer<f32[40]>)
  %1 = plan.launch @all ins(%x : !plan.buffer<f32[40]>) outs(%y : !plan.buffer<f32[40]>)
  plan.return
}
kernel.func @points(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %v = kernel.view %x map <[<[4, 10] strides [10, 1]>]> : <f32, global> -> <4x10xf32, global>
  %w = kernel.view %y map <[<[4, 10] strides [10, 1]>]> : <f32, global> -> <4x10xf32, global>
  kernel.grid (%i, %j) in [4, 10] step [1, 1] {
    %0 = kernel.load %v[%i, %j] : <4x10xf32, global> -> f32
    kernel.store %0, %w[%i, %j] : f32, <4x10xf32, global>
  }
  kernel.return
}
kernel.func @launched(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[64] strides [1]>]> : <f32, global> -> <64xf32, global>
  %s = kernel.alloc : <64xf32, shared>
  %t = kernel.id thread
  %0 = kernel.load %v[%t] : <64xf32, global> -> f32
  kernel.store %0, %s[%t] : f32, <64xf32, shared>
  kernel.barrier workgroup
  %1 = kernel.load %s[%c0] : <64xf32, shared> -> f32
  kernel.return
}
kernel.func @rows(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  %w = kernel.view %y map <[<[24] strides [1]>]> : <f32, global> -> <24xf32, global>
  kernel.grid (%i) in [24] step [4] {
    %c0 = arith.constant 0 : index
    %s = kernel.alloc : <128xf32, shared>
    kernel.barrier workgroup
    %1 = kernel.load %s[%c0] : <128xf32, shared> -> f32
    kernel.store %1, %w[%i] : f32, <24xf32, global>
  }
  kernel.return
}
kernel.func @all(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    form = #kernel.form<lowered>, parts = [@points, @launched, @rows],
    part_arguments = [array<i64: 1, 0>, array<i64: 0, 1>, array<i64: 0, 1>]} {
  kernel.return
}

// Programs of the part are along the second dimension alone: the first one stands at its begin.
// CHECK-LABEL: kernel.func @twice
// CHECK: kernel.grid
// CHECK: %[[J:.*]] = arith.muli %{{.*}}, %c4
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: kernel.load %{{.*}}[%[[ZERO]], %[[J]]]
kernel.func @wide(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
  %v = kernel.view %x map <[<[3, 64] strides [64, 1]>]> : <f32, global> -> <3x64xf32, global>
  %w = kernel.view %y map <[<[3, 64] strides [64, 1]>]> : <f32, global> -> <3x64xf32, global>
  kernel.grid (%i, %j) in [3, 64] step [4, 4] {
    %0 = kernel.load %v[%i, %j] : <3x64xf32, global> -> f32
    kernel.store %0, %w[%i, %j] : f32, <3x64xf32, global>
  }
  kernel.return
}
kernel.func @twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) attributes {
    form = #kernel.form<lowered>, parts = [@wide, @wide], part_arguments = [array<i64: 0, 1>, array<i64: 0, 2>]} {
  kernel.return
}

// 160,000 and 140,000 programs of one thread would be 2,344 workgroups of 128, which begin one after the other: half as many
// have twice the threads.
// CHECK-LABEL: kernel.func @copies
// CHECK-SAME: threads = 256
// CHECK: kernel.grid (%{{.*}}) in [1172] step [1] {
kernel.func @copy(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %v = kernel.view %x map <[<[160000] strides [1]>]> : <f32, global> -> <160000xf32, global>
  %w = kernel.view %y map <[<[160000] strides [1]>]> : <f32, global> -> <160000xf32, global>
  kernel.grid (%i) in [160000] step [1] {
    %0 = kernel.load %v[%i] : <160000xf32, global> -> f32
    kernel.store %0, %w[%i] : f32, <160000xf32, global>
  }
  kernel.return
}
kernel.func @part_of_copy(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>} {
  %v = kernel.view %x map <[<[140000] strides [1]>]> : <f32, global> -> <140000xf32, global>
  %w = kernel.view %y map <[<[140000] strides [1]>]> : <f32, global> -> <140000xf32, global>
  kernel.grid (%i) in [140000] step [1] {
    %0 = kernel.load %v[%i] : <140000xf32, global> -> f32
    kernel.store %0, %w[%i] : f32, <140000xf32, global>
  }
  kernel.return
}
kernel.func @copies(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %z: !kernel.buffer<f32, global>) attributes {
    form = #kernel.form<lowered>, parts = [@copy, @part_of_copy], part_arguments = [array<i64: 0, 1>, array<i64: 0, 2>]} {
  kernel.return
}
