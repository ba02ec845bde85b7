// Weights that are packed in pieces of another length, and those that are not packed once: why is a remark.
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-schedule-pack-weights | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-schedule-pack-weights --remarks-filter=zyx-schedule -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Sixty rows are no pieces of 32, but two of 30.
// REMARK-DAG: Remark=even, Remark=": its right factor is packed once for many runs"
// CHECK-LABEL: plan.func @pieces
// CHECK: plan.alloc kept : !plan.buffer<f32[2x2x30x32]>
// CHECK-LABEL: kernel.func @even(
// CHECK-SAME: <12 x 32, rows 12, depth 30, pack rhs>
plan.func @pieces(%x: !plan.buffer<f32[24x60]> {plan.input = "x"}, %w: !plan.buffer<f32[60x64]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[24x64]> {plan.output = "y"}) {
  %0 = plan.launch @even ins(%x, %w : !plan.buffer<f32[24x60]>, !plan.buffer<f32[60x64]>) outs(%y : !plan.buffer<f32[24x64]>)
  plan.return
}
kernel.func @even(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 60] strides [60, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x60xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x60xf32, global> -> tensor<24x60xf32>
  %2 = kernel.view %b map <[<[60, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<60x64xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<60x64xf32, global> -> tensor<60x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x60xf32>, tensor<60x64xf32> -> tensor<24x64xf32>
  %5 = kernel.view %y map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x64xf32>, !kernel.view<24x64xf32, global>
  kernel.return
}

// REMARK-DAG: Remark=prime, Remark=": its right factor is packed in each run: ", Remark="its 61 rows are not in pieces of one size, of 32 or some less"
// CHECK-LABEL: plan.func @one_size
// CHECK-NOT: plan.init
plan.func @one_size(%x: !plan.buffer<f32[24x61]> {plan.input = "x"}, %w: !plan.buffer<f32[61x64]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[24x64]> {plan.output = "y"}) {
  %0 = plan.launch @prime ins(%x, %w : !plan.buffer<f32[24x61]>, !plan.buffer<f32[61x64]>) outs(%y : !plan.buffer<f32[24x64]>)
  plan.return
}
kernel.func @prime(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 61] strides [61, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x61xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x61xf32, global> -> tensor<24x61xf32>
  %2 = kernel.view %b map <[<[61, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<61x64xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<61x64xf32, global> -> tensor<61x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x61xf32>, tensor<61x64xf32> -> tensor<24x64xf32>
  %5 = kernel.view %y map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x64xf32>, !kernel.view<24x64xf32, global>
  kernel.return
}

// REMARK-DAG: Remark=narrow, Remark=": its right factor is packed in each run: ", Remark="panels of so few columns are mostly empty"
// CHECK-LABEL: plan.func @few
// CHECK-NOT: plan.init
plan.func @few(%x: !plan.buffer<f32[24x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x8]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[24x8]> {plan.output = "y"}) {
  %0 = plan.launch @narrow ins(%x, %w : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x8]>) outs(%y : !plan.buffer<f32[24x8]>)
  plan.return
}
kernel.func @narrow(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x64xf32, global> -> tensor<24x64xf32>
  %2 = kernel.view %b map <[<[64, 8] strides [8, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x8xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x8xf32, global> -> tensor<64x8xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x8xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x64xf32>, tensor<64x8xf32> -> tensor<24x8xf32>
  %5 = kernel.view %y map <[<[24, 8] strides [8, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x8xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x8xf32>, !kernel.view<24x8xf32, global>
  kernel.return
}

// REMARK-DAG: Remark=cut, Remark=": its right factor is packed in each run: ", Remark="its programs do not begin with panels"
// CHECK-LABEL: plan.func @along
// CHECK-NOT: plan.init
plan.func @along(%x: !plan.buffer<f32[24x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x64]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[24x64]> {plan.output = "y"}) {
  %0 = plan.launch @cut ins(%x, %w : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x64]>) outs(%y : !plan.buffer<f32[24x64]>)
  plan.return
}
kernel.func @cut(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.loop_step<"k", 32>, #kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x64xf32, global> -> tensor<24x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x64xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x64xf32, global> -> tensor<64x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x64xf32>, tensor<64x64xf32> -> tensor<24x64xf32>
  %5 = kernel.view %y map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x64xf32>, !kernel.view<24x64xf32, global>
  kernel.return
}

// What the init makes of a weight is packed too, and then read by nobody else: it is not kept.
// CHECK-LABEL: plan.func @made
// CHECK-NEXT: %[[KEPT:.*]] = plan.alloc kept : !plan.buffer<f32[2x2x32x32]>
// CHECK-NEXT: plan.init {
// CHECK-NEXT: %[[MADE:.*]] = plan.alloc : !plan.buffer<f32[64x64]>
// CHECK-NEXT: plan.copy %arg1 to %[[MADE]]
// CHECK-NEXT: plan.launch @even2_pack ins(%[[MADE]] : {{.*}}) outs(%[[KEPT]] :
// CHECK-NEXT: }
// CHECK-NEXT: plan.launch @even2 ins(%arg0, %[[KEPT]] :
plan.func @made(%x: !plan.buffer<f32[24x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x64]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[24x64]> {plan.output = "y"}) {
  %made = plan.alloc kept : !plan.buffer<f32[64x64]>
  plan.init {
    %0 = plan.copy %w to %made : !plan.buffer<f32[64x64]> to !plan.buffer<f32[64x64]>
  }
  %1 = plan.launch @even2 ins(%x, %made : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x64]>) outs(%y : !plan.buffer<f32[24x64]>)
  plan.return
}
kernel.func @even2(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x64xf32, global> -> tensor<24x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x64xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x64xf32, global> -> tensor<64x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x64xf32>, tensor<64x64xf32> -> tensor<24x64xf32>
  %5 = kernel.view %y map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x64xf32>, !kernel.view<24x64xf32, global>
  kernel.return
}
