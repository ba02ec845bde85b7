// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose=list=3 | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose=list=99 | FileCheck %s --check-prefix=MANY
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose="measured='* #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 6, group 8>]>'" \
// RUN:   --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: FileCheck %s --check-prefix=TAKEN --input-file=%t
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=znver4 -zyx-schedule-choose=list=4 | FileCheck %s --check-prefix=CPU

// What is taken without measuring is the first one. Costs rise; those that nothing estimates are 0.
// CHECK-LABEL: kernel.func @product
// CHECK-SAME: choices = ["#kernel.schedule<[#kernel.tensor_step<128, 256, 64, stages 4, group 8>]>", "#kernel.schedule<[#kernel.tensor_step<{{[^"]*}}>]>", "#kernel.schedule<[#kernel.tensor_step<{{[^"]*}}>]>"]
// CHECK-SAME: costs = [{{[1-9][^,]*}}, {{[1-9][^,]*}}, {{[1-9][^,]*}}]
// CHECK-SAME: key = "[[$KEY:[0-9a-f]*]]"
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 256, 64, stages 4, group 8>]>

// The same under another name has the same key, another type another one.
// CHECK-LABEL: kernel.func @same
// CHECK-SAME: key = "[[$KEY]]"
// CHECK-LABEL: kernel.func @other
// CHECK-NOT: key = "[[$KEY]]"

// CHECK-LABEL: kernel.func @rows
// CHECK-SAME: choices = ["#kernel.schedule<[#kernel.grid_step<\22r\22, 1>]> threads [[T:[0-9]+]]", "#kernel.schedule<[#kernel.grid_step<\22r\22, 1>]> threads
// CHECK-SAME: costs = [0.0{{[^,]*}}, 0.0{{[^,]*}}, 0.0
// CHECK-SAME: threads = [[T]]

// MANY-LABEL: kernel.func @product
// MANY-SAME: costs = [{{([^],]+, )+}}

// Of a kernel that has such a schedule, and of others.
// TAKEN-LABEL: kernel.func @product
// TAKEN-SAME: tensor_step<128, 128, 64, stages 6, group 8>
// TAKEN-LABEL: kernel.func @rows
// TAKEN-SAME: grid_step
// TOLD: product, Remark=": ", Remark="#kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 6, group 8>]>", Remark=", which was measured to be the best"
// TOLD: rows, Remark=": what was measured to be the best is none of its schedules, and is ignored: ", Remark="#kernel.schedule<

// CPU-LABEL: kernel.func @floats
// CPU-SAME: choices = [{{.*}}block_step<<8 x 48, rows 512, depth 512, pack rhs>>{{.*}}block_step<<8 x 48, rows 512, depth 128>>
// CPU-SAME: costs = [{{0x[^,]*}}, 0.0
!b = !kernel.buffer<bf16, global>
!large = !kernel.view<4096x4096xbf16, global>
kernel.func @product(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !large -> tensor<4096x4096xbf16>
  %2 = kernel.view %b map <[<[4096, 4096] strides [1, 4096]>]> : !b -> !large
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !large -> tensor<4096x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<4096x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xf32>
  %5 = arith.truncf %4 : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  %6 = kernel.view %c map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  kernel.store %5, %6[%c0, %c0] : tensor<4096x4096xbf16>, !large
  kernel.return
}

kernel.func @same(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !large -> tensor<4096x4096xbf16>
  %2 = kernel.view %b map <[<[4096, 4096] strides [1, 4096]>]> : !b -> !large
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !large -> tensor<4096x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<4096x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xf32>
  %5 = arith.truncf %4 : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  %6 = kernel.view %c map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  kernel.store %5, %6[%c0, %c0] : tensor<4096x4096xbf16>, !large
  kernel.return
}

!f = !kernel.buffer<f32, global>
!wide = !kernel.view<4096x4096xf32, global>
kernel.func @other(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4096, 4096] strides [4096, 1]>]> : !b -> !large
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !large -> tensor<4096x4096xbf16>
  %2 = kernel.view %b map <[<[4096, 4096] strides [1, 4096]>]> : !b -> !large
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !large -> tensor<4096x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<4096x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4096x4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096x4096xf32>
  %6 = kernel.view %c map <[<[4096, 4096] strides [4096, 1]>]> : !f -> !wide
  kernel.store %4, %6[%c0, %c0] : tensor<4096x4096xf32>, !wide
  kernel.return
}

kernel.func @rows(%x: !f, %y: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[512, 8192] strides [8192, 1]>]> : !f -> !kernel.view<512x8192xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["r", "c"] : !kernel.view<512x8192xf32, global> -> tensor<512x8192xf32>
  %2 = kernel.reduce add %1 dims [1] : tensor<512x8192xf32> -> tensor<512xf32>
  %3 = kernel.view %y map <[<[512] strides [1]>]> : !f -> !kernel.view<512xf32, global>
  kernel.store %2, %3[%c0] : tensor<512xf32>, !kernel.view<512xf32, global>
  kernel.return
}

kernel.func @floats(%a: !f, %b: !f, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[512, 512] strides [512, 1]>]> : !f -> !kernel.view<512x512xf32, global>
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !kernel.view<512x512xf32, global> -> tensor<512x512xf32>
  %2 = kernel.view %b map <[<[512, 512] strides [512, 1]>]> : !f -> !kernel.view<512x512xf32, global>
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !kernel.view<512x512xf32, global> -> tensor<512x512xf32>
  %z = arith.constant dense<0.0> : tensor<512x512xf32>
  %4 = kernel.dot %1, %3, %z : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %6 = kernel.view %c map <[<[512, 512] strides [512, 1]>]> : !f -> !kernel.view<512x512xf32, global>
  kernel.store %4, %6[%c0, %c0] : tensor<512x512xf32>, !kernel.view<512x512xf32, global>
  kernel.return
}
