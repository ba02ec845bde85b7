// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s

// Places of a thread's columns: one number is converted to f32, and the others are sums with it.

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 0, #acc>
!buffer = !kernel.buffer<f32, global>

// CHECK-LABEL: llvm.func @columns
// CHECK: %[[BASE:.*]] = llvm.add
// CHECK: %[[FIRST:.*]] = llvm.sitofp %{{.*}} : i32 to f32
// CHECK-NOT: llvm.sitofp
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK-NEXT: llvm.fadd %[[FIRST]], %[[ONE]] : f32
// CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(8.000000e+00 : f32) : f32
// CHECK-NEXT: llvm.fadd %[[FIRST]], %[[EIGHT]] : f32
// CHECK-NOT: llvm.sitofp
// CHECK: llvm.return
kernel.func @columns(%y: !buffer) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %ys = kernel.view %y map <[<[128, 256] strides [256, 1]>]> : !buffer -> !kernel.view<128x256xf32, global>
  %places = kernel.iota dim 0 base %c64 : tensor<16xf32, #row>
  %all = kernel.broadcast %places dims [1] : tensor<16xf32, #row> -> tensor<64x16xf32, #acc>
  kernel.store %all, %ys[%c0, %c64] in_bounds [true, true] : tensor<64x16xf32, #acc>, !kernel.view<128x256xf32, global>
  kernel.return
}
