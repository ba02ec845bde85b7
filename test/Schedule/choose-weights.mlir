// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose -zyx-schedule-pack-weights | FileCheck %s --check-prefix=PACK

// Panels of weights are made once for many runs: few rows read them, too, and what follows the sums is computed by vectors.
// CHECK-LABEL: kernel.func @weights
// CHECK-SAME: #kernel.block_step<<6 x 64, rows 36, depth 128, pack rhs>>
// The same factor as an input lies along the contraction, and is read so.
// CHECK-LABEL: kernel.func @inputs
// CHECK-SAME: #kernel.block_step<<4 x 6 along depth, rows 32, depth 128>>
// So is that of one tile of rows,
// CHECK-LABEL: kernel.func @one_tile
// CHECK-SAME: along depth
// and one whose contraction has no pieces of one size, so that panels would be made in each run.
// CHECK-LABEL: kernel.func @odd
// CHECK-SAME: along depth

// PACK: plan.init
// PACK-NEXT: plan.launch @weights_pack
// PACK-NOT: _pack
// PACK: plan.return
plan.func @main(%x: !plan.buffer<f32[32x128]> {plan.input = "x"}, %w: !plan.buffer<f32[256x128]> {plan.input = "w", plan.weight},
                %v: !plan.buffer<f32[256x128]> {plan.input = "v"}, %few: !plan.buffer<f32[4x128]> {plan.input = "few"},
                %long: !plan.buffer<f32[32x1021]> {plan.input = "long"}, %odd: !plan.buffer<f32[256x1021]> {plan.input = "odd", plan.weight},
                %a: !plan.buffer<f32[32x256]> {plan.output = "a"}, %b: !plan.buffer<f32[32x256]> {plan.output = "b"},
                %c: !plan.buffer<f32[4x256]> {plan.output = "c"}, %d: !plan.buffer<f32[32x256]> {plan.output = "d"}) {
  %0 = plan.launch @weights ins(%x, %w : !plan.buffer<f32[32x128]>, !plan.buffer<f32[256x128]>) outs(%a : !plan.buffer<f32[32x256]>)
  %1 = plan.launch @inputs ins(%x, %v : !plan.buffer<f32[32x128]>, !plan.buffer<f32[256x128]>) outs(%b : !plan.buffer<f32[32x256]>)
  %2 = plan.launch @one_tile ins(%few, %w : !plan.buffer<f32[4x128]>, !plan.buffer<f32[256x128]>) outs(%c : !plan.buffer<f32[4x256]>)
  %3 = plan.launch @odd ins(%long, %odd : !plan.buffer<f32[32x1021]>, !plan.buffer<f32[256x1021]>) outs(%d : !plan.buffer<f32[32x256]>)
  plan.return
}

kernel.func @weights(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[32, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x128xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<32x128xf32, global> -> tensor<32x128xf32>
  %2 = kernel.view %b map <[<[128, 256] strides [1, 128]>]> : !kernel.buffer<f32, global> -> !kernel.view<128x256xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<128x256xf32, global> -> tensor<128x256xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x256xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<32x128xf32>, tensor<128x256xf32> -> tensor<32x256xf32>
  %5 = math.tanh %4 : tensor<32x256xf32>
  %6 = kernel.view %y map <[<[32, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x256xf32, global>
  kernel.store %5, %6[%c0, %c0] in_bounds [true, true] : tensor<32x256xf32>, !kernel.view<32x256xf32, global>
  kernel.return
}

kernel.func @inputs(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[32, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x128xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<32x128xf32, global> -> tensor<32x128xf32>
  %2 = kernel.view %b map <[<[128, 256] strides [1, 128]>]> : !kernel.buffer<f32, global> -> !kernel.view<128x256xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<128x256xf32, global> -> tensor<128x256xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x256xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<32x128xf32>, tensor<128x256xf32> -> tensor<32x256xf32>
  %5 = math.tanh %4 : tensor<32x256xf32>
  %6 = kernel.view %y map <[<[32, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x256xf32, global>
  kernel.store %5, %6[%c0, %c0] in_bounds [true, true] : tensor<32x256xf32>, !kernel.view<32x256xf32, global>
  kernel.return
}

kernel.func @one_tile(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x128xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<4x128xf32, global> -> tensor<4x128xf32>
  %2 = kernel.view %b map <[<[128, 256] strides [1, 128]>]> : !kernel.buffer<f32, global> -> !kernel.view<128x256xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<128x256xf32, global> -> tensor<128x256xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<4x256xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<4x128xf32>, tensor<128x256xf32> -> tensor<4x256xf32>
  %5 = math.tanh %4 : tensor<4x256xf32>
  %6 = kernel.view %y map <[<[4, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4x256xf32, global>
  kernel.store %5, %6[%c0, %c0] in_bounds [true, true] : tensor<4x256xf32>, !kernel.view<4x256xf32, global>
  kernel.return
}

kernel.func @odd(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[32, 1021] strides [1021, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x1021xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<32x1021xf32, global> -> tensor<32x1021xf32>
  %2 = kernel.view %b map <[<[1021, 256] strides [1, 1021]>]> : !kernel.buffer<f32, global> -> !kernel.view<1021x256xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<1021x256xf32, global> -> tensor<1021x256xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x256xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<32x1021xf32>, tensor<1021x256xf32> -> tensor<32x256xf32>
  %5 = math.tanh %4 : tensor<32x256xf32>
  %6 = kernel.view %y map <[<[32, 256] strides [256, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x256xf32, global>
  kernel.store %5, %6[%c0, %c0] in_bounds [true, true] : tensor<32x256xf32>, !kernel.view<32x256xf32, global>
  kernel.return
}
