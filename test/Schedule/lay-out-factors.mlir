// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-lay-out-factors --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %t -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s --check-prefix=STEP
// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=c -zyx-schedule-lay-out-factors 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=abacus -zyx-schedule-lay-out-factors 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// NONE: error: target 'c' has no tensor cores to lay factors out for
// UNKNOWN: error: no target is named 'abacus'

!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>

// A copy before each run of what comes in, and one in the init of weights.
// CHECK-LABEL: plan.func @main
// CHECK: %[[RIGHT:.*]] = plan.alloc kept : !plan.buffer<bf16[36864]>
// CHECK: %[[LEFT:.*]] = plan.alloc kept : !plan.buffer<bf16[36864]>
// CHECK: plan.init
// CHECK-NEXT: plan.launch @filters_rhs ins(%arg1 {{.*}} outs(%[[RIGHT]]
// CHECK-NEXT: plan.launch @first_lhs ins(%arg1 {{.*}} outs(%[[LEFT]]
// CHECK: plan.launch @filters ins(%arg0, %[[RIGHT]] : {{.*}}) outs(%arg9
// CHECK: %[[ROWS:.*]] = plan.alloc : !plan.buffer<bf16[1280000]>
// CHECK: plan.launch @rows_lhs ins(%arg2 {{.*}} outs(%[[ROWS]]
// CHECK: plan.launch @rows ins(%arg3, %[[ROWS]] : {{.*}}) outs(%arg10
// CHECK: %[[IMAGES:.*]] = plan.alloc : !plan.buffer<bf16[802816]>
// CHECK: plan.launch @first_rhs ins(%arg4 {{.*}} outs(%[[IMAGES]]
// CHECK: plan.launch @first ins(%[[LEFT]], %[[IMAGES]] : {{.*}}) outs(%arg11
// What is read in one order is copied once.
// CHECK-NOT: plan.launch @rows_lhs
// CHECK: plan.launch @rows ins(%arg3, %[[ROWS]] : {{.*}}) outs(%arg16
plan.func @main(%x: !plan.buffer<bf16[16x28x28x64]> {plan.input = "x"}, %w: !plan.buffer<bf16[64x64x3x3]> {plan.input = "w", plan.weight},
                %odd: !plan.buffer<bf16[8000x153]> {plan.input = "odd"}, %even: !plan.buffer<bf16[153x64]> {plan.input = "even"},
                %y: !plan.buffer<bf16[16x64x28x28]> {plan.input = "y"},
                %g: !plan.buffer<bf16[4000x4024]> {plan.input = "g"}, %h: !plan.buffer<bf16[4040x4024]> {plan.input = "h"},
                %j: !plan.buffer<bf16[512x1032]> {plan.input = "j"}, %k: !plan.buffer<bf16[512x1032]> {plan.input = "k", plan.weight},
                %o: !plan.buffer<f32[12544x64]> {plan.output = "o"}, %p: !plan.buffer<f32[8000x64]> {plan.output = "p"},
                %q: !plan.buffer<f32[16x64x784]> {plan.output = "q"}, %r: !plan.buffer<f32[12544x64]> {plan.output = "r"},
                %t: !plan.buffer<f32[64x576]> {plan.output = "t"}, %i: !plan.buffer<bf16[4000x4040]> {plan.output = "i"},
                %l: !plan.buffer<bf16[512x512]> {plan.output = "l"}, %u: !plan.buffer<f32[8000x64]> {plan.output = "u"}) {
  %0 = plan.launch @filters ins(%x, %w : !plan.buffer<bf16[16x28x28x64]>, !plan.buffer<bf16[64x64x3x3]>) outs(%o : !plan.buffer<f32[12544x64]>)
  %1 = plan.launch @rows ins(%odd, %even : !plan.buffer<bf16[8000x153]>, !plan.buffer<bf16[153x64]>) outs(%p : !plan.buffer<f32[8000x64]>)
  %2 = plan.launch @first ins(%w, %y : !plan.buffer<bf16[64x64x3x3]>, !plan.buffer<bf16[16x64x28x28]>) outs(%q : !plan.buffer<f32[16x64x784]>)
  %3 = plan.launch @ordered ins(%x, %w : !plan.buffer<bf16[16x28x28x64]>, !plan.buffer<bf16[64x64x3x3]>) outs(%r : !plan.buffer<f32[12544x64]>)
  %4 = plan.launch @gradient ins(%x, %y : !plan.buffer<bf16[16x28x28x64]>, !plan.buffer<bf16[16x64x28x28]>) outs(%t : !plan.buffer<f32[64x576]>)
  %5 = plan.launch @lines ins(%g, %h : !plan.buffer<bf16[4000x4024]>, !plan.buffer<bf16[4040x4024]>) outs(%i : !plan.buffer<bf16[4000x4040]>)
  %7 = plan.launch @rows ins(%odd, %even : !plan.buffer<bf16[8000x153]>, !plan.buffer<bf16[153x64]>) outs(%u : !plan.buffer<f32[8000x64]>)
  %6 = plan.launch @weight ins(%j, %k : !plan.buffer<bf16[512x1032]>, !plan.buffer<bf16[512x1032]>) outs(%l : !plan.buffer<bf16[512x512]>)
  plan.return
}

// Filters whose channels are apart: [o, c, 3, 3].
// WHY: filters{{.*}}copied into another order for tensor cores: {{.*}}the right factor
// CHECK-LABEL: kernel.func @filters(
// CHECK: kernel.view %arg1 map <[<[576, 64] strides [1, 576]>]>
// STEP-LABEL: kernel.func @filters(
// STEP-SAME: tensor_step
kernel.func @filters(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[12544, 576] strides [576, 1]>, <[16, 28, 28, 3, 3, 64] strides [57600, 1920, 64, 1920, 64, 1]>, <[16, 30, 30, 64] strides [50176, 1792, 64, 1] offset -1856 valid [0 : 16, 1 : 29, 1 : 29, 0 : 64]>]> : !b -> !kernel.view<12544x576xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<12544x576xbf16, global> -> tensor<12544x576xbf16>
  %2 = kernel.view %b map <[<[576, 64] strides [64, 1]>, <[3, 3, 64, 64] strides [3, 1, 9, 576]>]> : !b -> !kernel.view<576x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<576x64xbf16, global> -> tensor<576x64xbf16>
  %z = arith.constant dense<0.0> : tensor<12544x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<12544x576xbf16>, tensor<576x64xbf16> -> tensor<12544x64xf32>
  %6 = kernel.view %c map <[<[12544, 64] strides [64, 1]>]> : !f -> !kernel.view<12544x64xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<12544x64xf32>, !kernel.view<12544x64xf32, global>
  kernel.return
}
// CHECK-LABEL: kernel.func @filters_rhs(
// CHECK: kernel.view %arg0 map <[<[576, 64] strides [64, 1]>, <[3, 3, 64, 64] strides [3, 1, 9, 576]>]>
// CHECK: kernel.view %arg1 map <[<[576, 64] strides [1, 576]>]>
// CHECK: kernel.store

// Rows of 153 elements begin where the copy engine does not.
// WHY: rows{{.*}}the left factor
// CHECK-LABEL: kernel.func @rows(
// CHECK: kernel.view %arg1 map <[<[8000, 153] strides [160, 1]>]>
// STEP-LABEL: kernel.func @rows(
// STEP-SAME: tensor_step
kernel.func @rows(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[8000, 153] strides [153, 1]>]> : !b -> !kernel.view<8000x153xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<8000x153xbf16, global> -> tensor<8000x153xbf16>
  %2 = kernel.view %b map <[<[153, 64] strides [64, 1]>]> : !b -> !kernel.view<153x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<153x64xbf16, global> -> tensor<153x64xbf16>
  %z = arith.constant dense<0.0> : tensor<8000x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<8000x153xbf16>, tensor<153x64xbf16> -> tensor<8000x64xf32>
  %6 = kernel.view %c map <[<[8000, 64] strides [64, 1]>]> : !f -> !kernel.view<8000x64xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<8000x64xf32>, !kernel.view<8000x64xf32, global>
  kernel.return
}

// Channels first, in the images and in what comes out: windows of a copy with channels last, the columns of each image.
// WHY: first{{.*}}both factors
// CHECK-LABEL: kernel.func @first(
// CHECK: kernel.view %arg0 map <[<[64, 576] strides [576, 1]>]>
// CHECK: kernel.view %arg1 map <[{{.*}} <[16, 64, 30, 30] strides [50176, 1, 1792, 64] offset -1856 valid
// STEP-LABEL: kernel.func @first(
// STEP-SAME: tensor_step
kernel.func @first(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 576] strides [576, 1]>]> : !b -> !kernel.view<64x576xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<64x576xbf16, global> -> tensor<64x576xbf16>
  %s = kernel.broadcast %1 dims [1, 2] : tensor<64x576xbf16> -> tensor<16x64x576xbf16>
  %2 = kernel.view %b map <[<[16, 576, 784] strides [451584, 784, 1]>, <[16, 64, 3, 3, 28, 28] strides [57600, 900, 30, 1, 30, 1]>, <[16, 64, 30, 30] strides [50176, 784, 28, 1] offset -29 valid [0 : 16, 0 : 64, 1 : 29, 1 : 29]>]> : !b -> !kernel.view<16x576x784xbf16, global>
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !kernel.view<16x576x784xbf16, global> -> tensor<16x576x784xbf16>
  %z = arith.constant dense<0.0> : tensor<16x64x784xf32>
  %4 = kernel.dot %s, %3, %z : tensor<16x64x576xbf16>, tensor<16x576x784xbf16> -> tensor<16x64x784xf32>
  %6 = kernel.view %c map <[<[16, 64, 784] strides [50176, 784, 1]>]> : !f -> !kernel.view<16x64x784xf32, global>
  kernel.store %4, %6[%c0, %c0, %c0] : tensor<16x64x784xf32>, !kernel.view<16x64x784xf32, global>
  kernel.return
}

// So few products do not pay for a copy.
// WHY-NOT: few
kernel.func @few(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 36] strides [36, 1]>]> : !b -> !kernel.view<64x36xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<64x36xbf16, global> -> tensor<64x36xbf16>
  %2 = kernel.view %b map <[<[36, 64] strides [64, 1]>]> : !b -> !kernel.view<36x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<36x64xbf16, global> -> tensor<36x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x36xbf16>, tensor<36x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !kernel.view<64x64xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !kernel.view<64x64xf32, global>
  kernel.return
}

// Channels are last in the images and in the filters, but the graph has them first: only the order in which they are contracted
// is in the way, and nothing is copied.
// WHY: ordered{{.*}}contracted in another order for tensor cores
// CHECK-LABEL: kernel.func @ordered(
// CHECK: kernel.view %arg0 map <[{{.*}} <[16, 64, 30, 30] strides [50176, 1, 1792, 64] offset -1856 valid
// CHECK: kernel.view %arg1 map <[<[576, 64] strides [1, 576]>]>
// CHECK-NOT: kernel.func @ordered_
// STEP-LABEL: kernel.func @ordered(
// STEP-SAME: tensor_step
kernel.func @ordered(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[12544, 576] strides [576, 1]>, <[16, 28, 28, 64, 3, 3] strides [57600, 30, 1, 900, 30, 1]>, <[16, 64, 30, 30] strides [50176, 1, 1792, 64] offset -1856 valid [0 : 16, 0 : 64, 1 : 29, 1 : 29]>]> : !b -> !kernel.view<12544x576xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<12544x576xbf16, global> -> tensor<12544x576xbf16>
  %2 = kernel.view %b map <[<[576, 64] strides [64, 1]>, <[64, 3, 3, 64] strides [1, 192, 64, 576]>]> : !b -> !kernel.view<576x64xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<576x64xbf16, global> -> tensor<576x64xbf16>
  %z = arith.constant dense<0.0> : tensor<12544x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<12544x576xbf16>, tensor<576x64xbf16> -> tensor<12544x64xf32>
  %6 = kernel.view %c map <[<[12544, 64] strides [64, 1]>]> : !f -> !kernel.view<12544x64xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<12544x64xf32>, !kernel.view<12544x64xf32, global>
  kernel.return
}

// Windows that are summed up along positions are copied with their channels side by side, as they are read.
// WHY: gradient{{.*}}the right factor
// CHECK-LABEL: kernel.func @gradient(
// CHECK: kernel.view %arg1 map <[<[12544, 576] strides [576, 1]>]>
// STEP-LABEL: kernel.func @gradient(
// STEP-SAME: tensor_step
kernel.func @gradient(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 12544] strides [1, 64]>]> : !b -> !kernel.view<64x12544xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<64x12544xbf16, global> -> tensor<64x12544xbf16>
  %2 = kernel.view %b map <[<[12544, 576] strides [576, 1]>, <[16, 28, 28, 3, 3, 64] strides [57600, 1920, 64, 1920, 64, 1]>, <[16, 30, 30, 64] strides [50176, 1792, 64, 1] offset -1856 valid [0 : 16, 1 : 29, 1 : 29, 0 : 64]>]> : !b -> !kernel.view<12544x576xbf16, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<12544x576xbf16, global> -> tensor<12544x576xbf16>
  %z = arith.constant dense<0.0> : tensor<64x576xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x12544xbf16>, tensor<12544x576xbf16> -> tensor<64x576xf32>
  %6 = kernel.view %c map <[<[64, 576] strides [576, 1]>]> : !f -> !kernel.view<64x576xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<64x576xf32>, !kernel.view<64x576xf32, global>
  kernel.return
}

// Rows of 8048 bytes begin in the middle of lines: a slice of one is read as two of them. With one factor copied, tensor
// cores take as long as memory.
// WHY: lines{{.*}}copied for tensor cores, so that rows begin on lines of memory
// CHECK-LABEL: kernel.func @lines(
// CHECK: kernel.view %arg0 map <[<[4000, 4024] strides [4024, 1]>]>
// CHECK: kernel.view %arg1 map <[<[4024, 4040] strides [1, 4032]>]>
// STEP-LABEL: kernel.func @lines(
// STEP-SAME: tensor_step<128, 256
!lines_l = !kernel.view<4000x4024xbf16, global>
!lines_r = !kernel.view<4024x4040xbf16, global>
!lines_y = !kernel.view<4000x4040xbf16, global>
kernel.func @lines(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4000, 4024] strides [4024, 1]>]> : !b -> !lines_l
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !lines_l -> tensor<4000x4024xbf16>
  %2 = kernel.view %b map <[<[4024, 4040] strides [1, 4024]>]> : !b -> !lines_r
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !lines_r -> tensor<4024x4040xbf16>
  %z = arith.constant dense<0.0> : tensor<4000x4040xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4000x4024xbf16>, tensor<4024x4040xbf16> -> tensor<4000x4040xf32>
  %5 = arith.truncf %4 : tensor<4000x4040xf32> to tensor<4000x4040xbf16>
  %6 = kernel.view %c map <[<[4000, 4040] strides [4040, 1]>]> : !b -> !lines_y
  kernel.store %5, %6[%c0, %c0] : tensor<4000x4040xbf16>, !lines_y
  kernel.return
}

// Of a small product a weight alone is: once.
// CHECK-LABEL: kernel.func @weight(
// CHECK: kernel.view %arg0 map <[<[512, 1032] strides [1032, 1]>]>
// CHECK: kernel.view %arg1 map <[<[1032, 512] strides [1, 1088]>]>
!weight_l = !kernel.view<512x1032xbf16, global>
!weight_r = !kernel.view<1032x512xbf16, global>
!weight_y = !kernel.view<512x512xbf16, global>
kernel.func @weight(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[512, 1032] strides [1032, 1]>]> : !b -> !weight_l
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !weight_l -> tensor<512x1032xbf16>
  %2 = kernel.view %b map <[<[1032, 512] strides [1, 1032]>]> : !b -> !weight_r
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !weight_r -> tensor<1032x512xbf16>
  %z = arith.constant dense<0.0> : tensor<512x512xf32>
  %4 = kernel.dot %1, %3, %z : tensor<512x1032xbf16>, tensor<1032x512xbf16> -> tensor<512x512xf32>
  %5 = arith.truncf %4 : tensor<512x512xf32> to tensor<512x512xbf16>
  %6 = kernel.view %c map <[<[512, 512] strides [512, 1]>]> : !b -> !weight_y
  kernel.store %5, %6[%c0, %c0] : tensor<512x512xbf16>, !weight_y
  kernel.return
}
