// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// A thread each for 3072 short rows would leave most of the machine idle: a warp has each. Many rows are a thread's.
// CHECK-LABEL: kernel.func @few_rows
// CHECK-SAME: threads = 32 : i64
// CHECK-LABEL: kernel.func @many_rows
// CHECK-NOT: threads = 32
// CHECK: kernel.return
!b = !kernel.buffer<f32, global>
kernel.func @few_rows(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[3072, 196] strides [196, 1]>]> : !b -> !kernel.view<3072x196xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] : !kernel.view<3072x196xf32, global> -> tensor<3072x196xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<3072x196xf32> -> tensor<3072xf32>
  %3 = kernel.view %y map <[<[3072] strides [1]>]> : !b -> !kernel.view<3072xf32, global>
  kernel.store %2, %3[%c0] : tensor<3072xf32>, !kernel.view<3072xf32, global>
  kernel.return
}
kernel.func @many_rows(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[30720, 196] strides [196, 1]>]> : !b -> !kernel.view<30720x196xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i", "k"] : !kernel.view<30720x196xf32, global> -> tensor<30720x196xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<30720x196xf32> -> tensor<30720xf32>
  %3 = kernel.view %y map <[<[30720] strides [1]>]> : !b -> !kernel.view<30720xf32, global>
  kernel.store %2, %3[%c0] : tensor<30720xf32>, !kernel.view<30720xf32, global>
  kernel.return
}

// A small product that no workgroup multiplies out of shared memory: a thread has one of its results.
// CHECK-LABEL: kernel.func @product
// CHECK-SAME: [#kernel.grid_step<"m", 1>, #kernel.grid_step<"n", 1>]
kernel.func @product(%x: !b, %y: !b, %z: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[24, 32] strides [1, 24]>]> : !b -> !kernel.view<24x32xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<24x32xf32, global> -> tensor<24x32xf32>
  %2 = kernel.view %y map <[<[32, 96] strides [96, 1]>]> : !b -> !kernel.view<32x96xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<32x96xf32, global> -> tensor<32x96xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x96xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x32xf32>, tensor<32x96xf32> -> tensor<24x96xf32>
  %5 = kernel.view %z map <[<[24, 96] strides [96, 1]>]> : !b -> !kernel.view<24x96xf32, global>
  kernel.store %4, %5[%c0, %c0] : tensor<24x96xf32>, !kernel.view<24x96xf32, global>
  kernel.return
}
