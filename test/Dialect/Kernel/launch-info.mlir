// How kernels are launched follows from their attributes, grid, allocations and copies.
// RUN: zyx-translate --kernel-to-launch-info %s | FileCheck %s

// Allocations take whole lines of 64 bytes in the lowered form.
// CHECK-LABEL: kernel lowered
// CHECK-NEXT: threads 64 shared 128
// CHECK-NEXT: cluster 2
// CHECK-NEXT: private 64
// CHECK-NEXT: grid 8 step 2
// CHECK-NEXT: grid argument 1 step 16
// CHECK-NEXT: address of argument 0
// CHECK-NEXT: scalar of argument 1
kernel.func @lowered(%x: !kernel.buffer<f32, global>, %n: index) attributes {form = #kernel.form<lowered>, threads = 64 : i64, cluster = 2 : i64} {
  %s = kernel.alloc : !kernel.view<17xf32, shared>
  %p = kernel.alloc : !kernel.view<3xf64, private>
  kernel.grid (%i, %j) in [8, %n] step [2, 16] {
  }
  kernel.return
}

// A kernel that walks its tiles itself has programs and no grid.
// CHECK-LABEL: kernel walks
// CHECK-NEXT: threads 1 shared 0
// CHECK-NEXT: programs 132
// CHECK-NEXT: address of argument 0
kernel.func @walks(%x: !kernel.buffer<f32, global>) attributes {programs = 132 : i64} {
  kernel.return
}

// An extent may be computed.
// CHECK-LABEL: kernel computed
// CHECK-NEXT: threads 1 shared 0
// CHECK-NEXT: grid computed step 1
// CHECK-NEXT: scalar of argument 0
kernel.func @computed(%n: index) {
  %twice = arith.addi %n, %n : index
  kernel.grid (%i) in [%twice] step [1] {
  }
  kernel.return
}

// In the machine form, barriers are in shared memory behind allocations, and buffers that no thread reads or writes itself
// have no address.
// CHECK-LABEL: kernel machine
// CHECK-NEXT: threads 32 shared 72
// CHECK-NEXT: scalar of argument 1
kernel.func @machine(%x: !kernel.buffer<f32, global>, %n: index) attributes {form = #kernel.form<machine>, threads = 32 : i64} {
  %s = kernel.alloc : !kernel.view<16xf32, shared>
  %b = kernel.barriers arrivals 1 : !kernel.barriers<1>
  kernel.roles {
    kernel.role "r" count 1 threads 32 {
    ^bb0(%i: index):
    }
  }
  kernel.return
}
