// RUN: zyx-opt %s -cse | FileCheck %s

// A thread's number inside a role is not its number in the workgroup.
// CHECK-LABEL: kernel.func @ids
// CHECK:       kernel.id thread
// CHECK:       kernel.role
// CHECK:         kernel.id thread
kernel.func @ids(%y: !kernel.buffer<f32, global>) attributes {form = #kernel.form<machine>, threads = 128} {
  %w = kernel.view %y map <[<[256] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<256xf32, global>
  %f = arith.constant 1.0 : f32
  %t = kernel.id thread
  kernel.store %f, %w[%t] : f32, !kernel.view<256xf32, global>
  kernel.roles {
    kernel.role "a" count 2 threads 64 {
    ^bb0(%n: index):
      %u = kernel.id thread
      kernel.store %f, %w[%u] : f32, !kernel.view<256xf32, global>
    }
  }
  kernel.return
}
