// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-spread-programs | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=gfx1100 -zyx-kernel-spread-programs | FileCheck %s --check-prefix=ALONE

// The threads of a program are its last dimension, and it is one thread.
// CHECK-LABEL: kernel.func @rows
// CHECK-NOT:   threads
// CHECK:       kernel.grid (%[[I:.*]], %[[T:.*]]) in [1000, 8] step [1, 1] {
// CHECK-NEXT:    kernel.load %{{.*}}[%[[I]], %[[T]]]
// ALONE-LABEL: kernel.func @rows
// ALONE-SAME:  threads = 8
// ALONE:       kernel.grid (%{{.*}}) in [1000] step [1] {
kernel.func @rows(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 8 : i64} {
  %0 = kernel.view %x map <[<[1000, 8] strides [8, 1]>]> : <f32, global> -> <1000x8xf32, global>
  %1 = kernel.view %y map <[<[1000, 8] strides [8, 1]>]> : <f32, global> -> <1000x8xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %t = kernel.id thread
    %2 = kernel.load %0[%i, %t] : <1000x8xf32, global> -> f32
    %3 = kernel.shuffle %2 xor 4 : f32
    %4 = arith.addf %2, %3 : f32
    kernel.store %4, %1[%i, %t] : f32, <1000x8xf32, global>
  }
  kernel.return
}

// Threads that share memory, or wait for each other, or read what they write, have a workgroup.
// CHECK-LABEL: kernel.func @shared
// CHECK-SAME:  threads = 32
kernel.func @shared(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
  %0 = kernel.view %x map <[<[1000, 32] strides [32, 1]>]> : <f32, global> -> <1000x32xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %s = kernel.alloc : <32xf32, shared>
    %t = kernel.id thread
    %2 = kernel.load %0[%i, %t] : <1000x32xf32, global> -> f32
    kernel.store %2, %s[%t] : f32, <32xf32, shared>
  }
  kernel.return
}
// CHECK-LABEL: kernel.func @waits
// CHECK-SAME:  threads = 32
kernel.func @waits(%y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
  %0 = kernel.view %y map <[<[1000, 32] strides [32, 1]>]> : <f32, global> -> <1000x32xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %t = kernel.id thread
    %one = arith.constant 1.0 : f32
    kernel.store %one, %0[%i, %t] : f32, <1000x32xf32, global>
    kernel.barrier workgroup
  }
  kernel.return
}
// CHECK-LABEL: kernel.func @in_place
// CHECK-SAME:  threads = 32
kernel.func @in_place(%x: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 32 : i64} {
  %0 = kernel.view %x map <[<[1000, 32] strides [32, 1]>]> : <f32, global> -> <1000x32xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %t = kernel.id thread
    %2 = kernel.load %0[%i, %t] : <1000x32xf32, global> -> f32
    %3 = kernel.shuffle %2 xor 4 : f32
    kernel.store %3, %0[%i, %t] : f32, <1000x32xf32, global>
  }
  kernel.return
}
// CHECK-LABEL: kernel.func @large
// CHECK-SAME:  threads = 64
kernel.func @large(%y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<lowered>, threads = 64 : i64} {
  %0 = kernel.view %y map <[<[1000, 64] strides [64, 1]>]> : <f32, global> -> <1000x64xf32, global>
  kernel.grid (%i) in [1000] step [1] {
    %t = kernel.id thread
    %one = arith.constant 1.0 : f32
    kernel.store %one, %0[%i, %t] : f32, <1000x64xf32, global>
  }
  kernel.return
}
