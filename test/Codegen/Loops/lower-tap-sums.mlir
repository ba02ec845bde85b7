// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-apply-schedule -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s

// The gradient of a depthwise filter of 3 x 3: a thread has all nine sums, reads eight places of a row and three rows of
// the image in vectors for all of them, and the sums of threads are combined in two rounds.
// CHECK-LABEL: kernel.func @gradient
// CHECK-DAG: kernel.alloc : <9x16xf32, shared>
// CHECK-DAG: kernel.alloc : <9x16x17xf32, shared>
// CHECK: %[[SUMS:.*]]:9 = scf.for
// CHECK: kernel.load {{.*}} -> vector<8xbf16>
// CHECK-COUNT-6: kernel.load {{.*}} -> vector<8xbf16>
// CHECK-NOT: kernel.load
// CHECK: scf.yield
// CHECK-COUNT-9: kernel.store %[[SUMS]]#
// CHECK: kernel.barrier
// CHECK: scf.for
// CHECK-COUNT-16: kernel.load {{.*}} : <9x16x17xf32, shared> -> f32
// CHECK: kernel.barrier
kernel.func @gradient(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>, %arg2: !kernel.buffer<f32, global>) attributes {row_groups, threads = 256 : i64, schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg1 map <[<[4, 96, 32, 32, 3, 3] strides [130560, 1360, 40, 1, 40, 1]>]> : <bf16, global> -> <4x96x32x32x3x3xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2", "i1", "i2"] in_bounds [true, true, true, true, true, true] : <4x96x32x32x3x3xbf16, global> -> tensor<4x96x32x32x3x3xbf16>
  %2 = arith.extf %1 : tensor<4x96x32x32x3x3xbf16> to tensor<4x96x32x32x3x3xf32>
  %3 = kernel.view %arg0 map <[<[4, 96, 32, 32] strides [98304, 1024, 32, 1]>]> : <bf16, global> -> <4x96x32x32xbf16, global>
  %4 = kernel.load %3[%c0, %c0, %c0, %c0] axes ["k0", "i0", "k1", "k2"] in_bounds [true, true, true, true] : <4x96x32x32xbf16, global> -> tensor<4x96x32x32xbf16>
  %5 = arith.extf %4 : tensor<4x96x32x32xbf16> to tensor<4x96x32x32xf32>
  %6 = kernel.broadcast %5 dims [0, 1, 2, 3] : tensor<4x96x32x32xf32> -> tensor<4x96x32x32x3x3xf32>
  %7 = arith.mulf %6, %2 : tensor<4x96x32x32x3x3xf32>
  %8 = kernel.reduce add %7 dims [0, 2, 3] : tensor<4x96x32x32x3x3xf32> -> tensor<96x3x3xf32>
  %9 = kernel.view %arg2 map <[<[96, 3, 3] strides [9, 3, 1]>]> : <f32, global> -> <96x3x3xf32, global>
  kernel.store %8, %9[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<96x3x3xf32>, <96x3x3xf32, global>
  kernel.return
}
