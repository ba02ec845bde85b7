// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-schedule-pack-weights | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-schedule-pack-weights --remarks-filter=zyx-schedule -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v4 --zyx-schedule-pack-weights --zyx-kernel-apply-schedule --canonicalize --cse \
// RUN:   --zyx-kernel-attach-target='target=znver4 facts=arithmetic.hasMaximum=true' --zyx-kernel-settle-memory --zyx-kernel-lower-tiles --canonicalize --cse \
// RUN:   --zyx-kernel-verify-form=form=lowered | FileCheck %s --check-prefix=LOWERED

// Forty columns are a panel of 32 and one of 8, which is filled up; 64 rows are two pieces. Programs of 20 columns
// get 32, because a program begins with a panel. Two launches of one weight share what is packed.
// REMARK: Remark=rows, Remark=": its right factor is packed once for many runs"
// CHECK-LABEL: plan.func @main
// CHECK-NEXT: %[[KEPT:.*]] = plan.alloc kept : !plan.buffer<f32[2x2x32x32]>
// CHECK-NEXT: plan.init {
// CHECK-NEXT: plan.launch @rows_pack ins(%arg1 : {{.*}}) outs(%[[KEPT]] :
// CHECK-NEXT: plan.launch @rows_pack_last ins(%arg1 : {{.*}}) outs(%[[KEPT]] :
// CHECK-NEXT: }
// CHECK-NEXT: plan.launch @rows ins(%arg0, %[[KEPT]] :
// CHECK-NEXT: plan.launch @rows ins(%arg0, %[[KEPT]] :
plan.func @main(%x: !plan.buffer<f32[24x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x40]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[24x40]> {plan.output = "y"}, %z: !plan.buffer<f32[24x40]> {plan.output = "z"}) {
  %0 = plan.launch @rows ins(%x, %w : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x40]>) outs(%y : !plan.buffer<f32[24x40]>)
  %1 = plan.launch @rows ins(%x, %w : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x40]>) outs(%z : !plan.buffer<f32[24x40]>)
  plan.return
}

// CHECK-LABEL: kernel.func @rows(
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"n", 32>, #kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>
// CHECK: kernel.view %arg1 map <[<[64, 40] strides [64, 1]>, <[2, 32, 2, 32] strides [2048, 32, 1024, 1]>]>
// CHECK-LABEL: kernel.func @rows_pack_last
// CHECK-SAME: #kernel.grid_step<"piece", 1>
// CHECK: kernel.view %arg0 map <[<[2, 1, 32, 32] strides [1024, 32, 32, 1]>, <[64, 32] strides [40, 1] offset 32 valid [0 : 64, 0 : 8]>]>
// CHECK: kernel.view %arg1 map <[<[2, 1, 32, 32] strides [2048, 1024, 32, 1] offset 1024>]>
// CHECK-LABEL: kernel.func @rows_pack(
// CHECK: kernel.view %arg0 map <[<[2, 1, 32, 32] strides [1280, 32, 40, 1]>]>
// CHECK: kernel.view %arg1 map <[<[2, 1, 32, 32] strides [2048, 1024, 32, 1]>]>

// The factor is read where it lies, a piece after the other, and the next one is fetched meanwhile.
// LOWERED-LABEL: kernel.func @rows(
// LOWERED-NOT: kernel.alloc
// LOWERED-DAG: %[[B:.*]] = kernel.view %arg1 map <[<[2, 2, 32, 32] strides [2048, 1024, 32, 1]>]>
// LOWERED-DAG: %[[FLAT:.*]] = kernel.view %arg1 map <[<[4096] strides [1]>]>
// LOWERED: scf.for %[[K:.*]] = %c0 to %c64 step %c32 {
// LOWERED: %[[PANEL:.*]] = arith.divui %{{.*}}, %c32
// LOWERED: %[[PIECE:.*]] = arith.divui %[[K]], %c32
// LOWERED: scf.for %[[I:.*]] = %c0 to %c32 step %c2
// LOWERED: kernel.prefetch %[[FLAT]][%{{.*}}]
// LOWERED: kernel.load %[[B]][%[[PIECE]], %[[PANEL]], %[[I]], %c0] : {{.*}} -> vector<16xf32>
// LOWERED: kernel.load %[[B]][%[[PIECE]], %[[PANEL]], %[[I]], %c16] : {{.*}} -> vector<16xf32>
kernel.func @rows(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 20>, #kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x64xf32, global> -> tensor<24x64xf32>
  %2 = kernel.view %b map <[<[64, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x40xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x40xf32, global> -> tensor<64x40xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x64xf32>, tensor<64x40xf32> -> tensor<24x40xf32>
  %5 = kernel.view %y map <[<[24, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x40xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x40xf32>, !kernel.view<24x40xf32, global>
  kernel.return
}

// Factors of a matrix unit are packed in groups of 4 bytes.
// CHECK-LABEL: plan.func @narrow
// CHECK: plan.alloc kept : !plan.buffer<bf16[1x2x32x32x2]>
plan.func @narrow(%x: !plan.buffer<bf16[32x64]> {plan.input = "x"}, %w: !plan.buffer<bf16[64x64]> {plan.input = "w", plan.weight},
                  %y: !plan.buffer<f32[32x64]> {plan.output = "y"}) {
  %0 = plan.launch @unit ins(%x, %w : !plan.buffer<bf16[32x64]>, !plan.buffer<bf16[64x64]>) outs(%y : !plan.buffer<f32[32x64]>)
  plan.return
}
// CHECK-LABEL: kernel.func @unit(
// CHECK: kernel.view %arg1 map <[<[64, 64] strides [64, 1]>, <[1, 32, 2, 2, 32] strides [4096, 64, 1, 2048, 2]>]>
// CHECK-LABEL: kernel.func @unit_pack(
// CHECK: kernel.view %arg0 map <[<[1, 2, 32, 32, 2] strides [4096, 32, 128, 1, 64]>]>
// CHECK: kernel.view %arg1 map <[<[1, 2, 32, 32, 2] strides [4096, 2048, 64, 2, 1]>]>
// What is left to do is to look for the smallest factor.
// LOWERED-LABEL: kernel.func @unit(
// LOWERED: %[[P:.*]] = kernel.view %arg1 map <[<[2, 32, 64] strides [2048, 64, 1]>]>
// LOWERED: kernel.load %[[P]][%{{.*}}] : {{.*}} -> vector<32xbf16>
// LOWERED: kernel.matrix_multiply %{{.*}}, %{{.*}}, %[[P]][%{{.*}}, %c0, %c0]
kernel.func @unit(%a: !kernel.buffer<bf16, global>, %b: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<32 x 32, rows 32, depth 64, pack rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[32, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<32x64xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<32x64xbf16, global> -> tensor<32x64xbf16>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x64xbf16, global> -> tensor<64x64xbf16>
  %zero = arith.constant dense<0.000000e+00> : tensor<32x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<32x64xbf16>, tensor<64x64xbf16> -> tensor<32x64xf32>
  %5 = kernel.view %y map <[<[32, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<32x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<32x64xf32>, !kernel.view<32x64xf32, global>
  kernel.return
}

// The panels of a program share the rows of the next block that are fetched ahead, in each piece and program.
// LOWERED-LABEL: kernel.func @ahead(
// LOWERED: %[[SHARE:.*]] = arith.divui %{{arg[0-9]+}}, %c32
// LOWERED: %[[PLACE:.*]] = arith.muli %[[SHARE]], %c16
// LOWERED: %[[AHEAD:.*]] = arith.addi %[[PLACE]], %c32
// LOWERED: kernel.matrix_multiply {{.*}} ahead %[[AHEAD]] {ahead_rows = 16 : i64}
plan.func @next_block(%x: !plan.buffer<bf16[64x128]> {plan.input = "x"}, %w: !plan.buffer<bf16[128x128]> {plan.input = "w", plan.weight},
                      %y: !plan.buffer<f32[64x128]> {plan.output = "y"}) {
  %0 = plan.launch @ahead ins(%x, %w : !plan.buffer<bf16[64x128]>, !plan.buffer<bf16[128x128]>) outs(%y : !plan.buffer<f32[64x128]>)
  plan.return
}
kernel.func @ahead(%a: !kernel.buffer<bf16, global>, %b: !kernel.buffer<bf16, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 64>, #kernel.block_step<<32 x 32, rows 32, depth 64, pack rhs, narrow>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<64x128xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<64x128xbf16, global> -> tensor<64x128xbf16>
  %2 = kernel.view %b map <[<[128, 128] strides [128, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<128x128xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<128x128xbf16, global> -> tensor<128x128xbf16>
  %zero = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<64x128xbf16>, tensor<128x128xbf16> -> tensor<64x128xf32>
  %5 = kernel.view %y map <[<[64, 128] strides [128, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x128xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<64x128xf32>, !kernel.view<64x128xf32, global>
  kernel.return
}

// An input that one of the launches reads there is no weight.
// CHECK-LABEL: plan.func @inputs
// CHECK-NOT: plan.init
// CHECK-LABEL: kernel.func @both
// CHECK: kernel.view %arg1 map <[<[64, 40] strides [40, 1]>]>
plan.func @inputs(%x: !plan.buffer<f32[24x64]> {plan.input = "x"}, %v: !plan.buffer<f32[64x40]> {plan.input = "v"},
                  %w: !plan.buffer<f32[64x40]> {plan.input = "w", plan.weight},
                  %y: !plan.buffer<f32[24x40]> {plan.output = "y"}, %z: !plan.buffer<f32[24x40]> {plan.output = "z"}) {
  %0 = plan.launch @both ins(%x, %w : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x40]>) outs(%y : !plan.buffer<f32[24x40]>)
  %1 = plan.launch @both ins(%x, %v : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x40]>) outs(%z : !plan.buffer<f32[24x40]>)
  plan.return
}
kernel.func @both(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<12 x 32, rows 12, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x64xf32, global> -> tensor<24x64xf32>
  %2 = kernel.view %b map <[<[64, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x40xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x40xf32, global> -> tensor<64x40xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x64xf32>, tensor<64x40xf32> -> tensor<24x40xf32>
  %5 = kernel.view %y map <[<[24, 40] strides [40, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x40xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x40xf32>, !kernel.view<24x40xf32, global>
  kernel.return
}

// Of 64 columns in panels of 48, one of two programs would have three quarters: rows are cut instead,
// CHECK-LABEL: kernel.func @even(
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"m", 40>, #kernel.block_step<<8 x 48, rows 80, depth 64, pack rhs>>]>
plan.func @two_programs(%x: !plan.buffer<f32[80x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x64]> {plan.input = "w", plan.weight},
                        %y: !plan.buffer<f32[80x64]> {plan.output = "y"}) {
  %0 = plan.launch @even ins(%x, %w : !plan.buffer<f32[80x64]>, !plan.buffer<f32[64x64]>) outs(%y : !plan.buffer<f32[80x64]>)
  plan.return
}
kernel.func @even(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 32>, #kernel.block_step<<8 x 48, rows 80, depth 64, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[80, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<80x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<80x64xf32, global> -> tensor<80x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x64xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x64xf32, global> -> tensor<64x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<80x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<80x64xf32>, tensor<64x64xf32> -> tensor<80x64xf32>
  %5 = kernel.view %y map <[<[80, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<80x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<80x64xf32>, !kernel.view<80x64xf32, global>
  kernel.return
}

// but not into programs of few rows.
// CHECK-LABEL: kernel.func @uneven(
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"n", 48>, #kernel.block_step<<8 x 48, rows 48, depth 64, pack rhs>>]>
plan.func @few_rows(%x: !plan.buffer<f32[48x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x64]> {plan.input = "w", plan.weight},
                    %y: !plan.buffer<f32[48x64]> {plan.output = "y"}) {
  %0 = plan.launch @uneven ins(%x, %w : !plan.buffer<f32[48x64]>, !plan.buffer<f32[64x64]>) outs(%y : !plan.buffer<f32[48x64]>)
  plan.return
}
kernel.func @uneven(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 32>, #kernel.block_step<<8 x 48, rows 48, depth 64, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[48, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<48x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<48x64xf32, global> -> tensor<48x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x64xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x64xf32, global> -> tensor<64x64xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<48x64xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<48x64xf32>, tensor<64x64xf32> -> tensor<48x64xf32>
  %5 = kernel.view %y map <[<[48, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<48x64xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<48x64xf32>, !kernel.view<48x64xf32, global>
  kernel.return
}

// Of few rows a panel is read once for all: columns are the outer loop.
// LOWERED-LABEL: kernel.func @panels_outside(
// LOWERED: scf.for %{{.*}} = %c0 to %c64 step %c32 {
// LOWERED: scf.for %{{.*}} = %c0 to %c96 step %c32 {
// LOWERED: scf.for %{{.*}} = %c0 to %c24 step %c8 {
// LOWERED: scf.for %{{.*}} = %c0 to %c32 step %c2
plan.func @outside(%x: !plan.buffer<f32[24x64]> {plan.input = "x"}, %w: !plan.buffer<f32[64x96]> {plan.input = "w", plan.weight},
               %y: !plan.buffer<f32[24x96]> {plan.output = "y"}) {
  %0 = plan.launch @panels_outside ins(%x, %w : !plan.buffer<f32[24x64]>, !plan.buffer<f32[64x96]>) outs(%y : !plan.buffer<f32[24x96]>)
  plan.return
}
kernel.func @panels_outside(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.block_step<<8 x 32, rows 24, depth 32, pack rhs>>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[24, 64] strides [64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x64xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<24x64xf32, global> -> tensor<24x64xf32>
  %2 = kernel.view %b map <[<[64, 96] strides [96, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<64x96xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<64x96xf32, global> -> tensor<64x96xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<24x96xf32>
  %4 = kernel.dot %1, %3, %zero : tensor<24x64xf32>, tensor<64x96xf32> -> tensor<24x96xf32>
  %5 = kernel.view %y map <[<[24, 96] strides [96, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<24x96xf32, global>
  kernel.store %4, %5[%c0, %c0] in_bounds [true, true] : tensor<24x96xf32>, !kernel.view<24x96xf32, global>
  kernel.return
}
