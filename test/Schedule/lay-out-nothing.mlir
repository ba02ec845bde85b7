// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-lay-out-factors | FileCheck %s

// A kernel that reads nothing across its threads' order stays as it is: its users share the constant.
// CHECK-LABEL: kernel.func @sums
// CHECK: %[[TWO:.*]] = arith.constant dense<2.0
// CHECK-NOT: arith.constant dense
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
// CHECK: arith.addf %{{.*}}, %[[TWO]]
!f = !kernel.buffer<f32, global>
plan.func @main(%x: !plan.buffer<f32[512x512]> {plan.input = "x"}, %y: !plan.buffer<f32[512]> {plan.output = "y"}) {
  %0 = plan.launch @sums ins(%x : !plan.buffer<f32[512x512]>) outs(%y : !plan.buffer<f32[512]>)
  plan.return
}
kernel.func @sums(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[512, 512] strides [512, 1]>]> : !f -> !kernel.view<512x512xf32, global>
  %ys = kernel.view %y map <[<[512] strides [1]>]> : !f -> !kernel.view<512xf32, global>
  %t = kernel.load %xs[%c0, %c0] axes ["r", "c"] in_bounds [true, true] : !kernel.view<512x512xf32, global> -> tensor<512x512xf32>
  %two = arith.constant dense<2.0> : tensor<512x512xf32>
  %a = arith.mulf %t, %two : tensor<512x512xf32>
  %b = arith.addf %a, %two : tensor<512x512xf32>
  %s = kernel.reduce add %b dims [1] : tensor<512x512xf32> -> tensor<512xf32>
  kernel.store %s, %ys[%c0] in_bounds [true] : tensor<512xf32>, !kernel.view<512xf32, global>
  kernel.return
}
