// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-choose | FileCheck %s --check-prefix=AMPERE
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a-fast -zyx-schedule-choose | FileCheck %s --check-prefix=FAST

// Before Hopper warps multiply by themselves.
// AMPERE: tensor_step<{{[^>]*}} warps {{[48]}}>

// Tiles by the sizes: large ones where there are many, small ones where all processors would not have one.
// CHECK-LABEL: kernel.func @large
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 256, 64, stages 4, group 8>]>
!b = !kernel.buffer<bf16, global>
!large = !kernel.view<4096x4096xbf16, global>
kernel.func @large(%a: !b, %b: !b, %c: !b) {
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

// CHECK-LABEL: kernel.func @small
// CHECK-SAME: tensor_step<64, 64, 64, stages 13, group 8>
!small = !kernel.view<64x512xbf16, global>
!right = !kernel.view<512x64xbf16, global>
!out = !kernel.view<64x64xf32, global>
!f = !kernel.buffer<f32, global>
kernel.func @small(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 512] strides [512, 1]>]> : !b -> !small
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !small -> tensor<64x512xbf16>
  %2 = kernel.view %b map <[<[512, 64] strides [64, 1]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x512xbf16>, tensor<512x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// Rows of 2 * 36 bytes begin where the copy engine does not.
// CHECK-LABEL: kernel.func @unaligned
// CHECK-SAME: grid_step
// WHY: unaligned, Remark=" is not multiplied by tensor cores: ", Remark="a factor does not lie on multiples of 16 bytes"
!left36 = !kernel.view<64x36xbf16, global>
!right36 = !kernel.view<36x64xbf16, global>
kernel.func @unaligned(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 36] strides [36, 1]>]> : !b -> !left36
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !left36 -> tensor<64x36xbf16>
  %2 = kernel.view %b map <[<[36, 64] strides [64, 1]>]> : !b -> !right36
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right36 -> tensor<36x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x36xbf16>, tensor<36x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// WHY: computed{{.*}}a factor is computed
// CHECK-LABEL: kernel.func @computed
// CHECK-SAME: grid_step
kernel.func @computed(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 512] strides [512, 1]>]> : !b -> !small
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !small -> tensor<64x512xbf16>
  %n = arith.negf %1 : tensor<64x512xbf16>
  %2 = kernel.view %b map <[<[512, 64] strides [64, 1]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %n, %3, %z : tensor<64x512xbf16>, tensor<512x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// WHY: padded{{.*}}a factor is read through more than strides
kernel.func @padded(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 512] strides [504, 1] valid [0 : 64, 0 : 504]>]> : !b -> !small
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !small -> tensor<64x512xbf16>
  %2 = kernel.view %b map <[<[512, 64] strides [64, 1]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x512xbf16>, tensor<512x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// WHY: windows{{.*}}a factor has rows that overlap
kernel.func @windows(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 512] strides [8, 1]>]> : !b -> !small
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !small -> tensor<64x512xbf16>
  %2 = kernel.view %b map <[<[512, 64] strides [64, 1]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x512xbf16>, tensor<512x64xbf16> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// An op that the registers of the sums have no instructions for.
// WHY: sine{{.*}}what is computed behind the dot is no elementwise op
kernel.func @sine(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 512] strides [512, 1]>]> : !b -> !small
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !small -> tensor<64x512xbf16>
  %2 = kernel.view %b map <[<[512, 64] strides [64, 1]>]> : !b -> !right
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !right -> tensor<512x64xbf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x512xbf16>, tensor<512x64xbf16> -> tensor<64x64xf32>
  %5 = math.sin %4 : tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !out
  kernel.store %5, %6[%c0, %c0] : tensor<64x64xf32>, !out
  kernel.return
}

// One tile takes one multiprocessor longer than so few products take threads on all of them.
// WHY: singles{{.*}}threads that read its right factor along rows take less
// CHECK-LABEL: kernel.func @singles
// CHECK-SAME: grid_step
!fout = !kernel.view<64x64xf32, global>
kernel.func @singles(%a: !f, %b: !f, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !f -> !fout
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !fout -> tensor<64x64xf32>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !f -> !fout
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !fout -> tensor<64x64xf32>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !f -> !fout
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf32>, !fout
  kernel.return
}

// Factors of f32 in any order, one of which is turned: of its slices there are two. Without all digits, too, since tensor
// cores take none that runs across rows.
// CHECK-LABEL: kernel.func @across
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 4, group 8>]>
// FAST-LABEL: kernel.func @across
// FAST-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 32, stages 4, group 8>]>
!wide = !kernel.view<2048x2048xf32, global>
kernel.func @across(%a: !f, %b: !f, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[2048, 2048] strides [2048, 1]>]> : !f -> !wide
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !wide -> tensor<2048x2048xf32>
  %2 = kernel.view %b map <[<[2048, 2048] strides [2048, 1]>]> : !f -> !wide
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !wide -> tensor<2048x2048xf32>
  %z = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %4 = kernel.dot %1, %3, %z : tensor<2048x2048xf32>, tensor<2048x2048xf32> -> tensor<2048x2048xf32>
  %6 = kernel.view %c map <[<[2048, 2048] strides [2048, 1]>]> : !f -> !wide
  kernel.store %4, %6[%c0, %c0] : tensor<2048x2048xf32>, !wide
  kernel.return
}

// Windows that begin nine positions apart.
// WHY: far{{.*}}windows of a factor reach further than the copy engine does
!columns = !kernel.view<16x128xbf16, global>
!rows = !kernel.view<128x16xbf16, global>
!square = !kernel.view<16x16xf32, global>
kernel.func @far(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[16, 128] strides [128, 1]>, <[2, 8, 2, 64] strides [8192, 576, 64, 1]>]> : !b -> !columns
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !columns -> tensor<16x128xbf16>
  %2 = kernel.view %b map <[<[128, 16] strides [16, 1]>]> : !b -> !rows
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !rows -> tensor<128x16xbf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %4 = kernel.dot %1, %3, %z : tensor<16x128xbf16>, tensor<128x16xbf16> -> tensor<16x16xf32>
  %6 = kernel.view %c map <[<[16, 16] strides [16, 1]>]> : !f -> !square
  kernel.store %4, %6[%c0, %c0] : tensor<16x16xf32>, !square
  kernel.return
}

// WHY: both{{.*}}both factors have windows
kernel.func @both(%a: !b, %b: !b, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[16, 128] strides [128, 1]>, <[2, 8, 2, 64] strides [576, 64, 64, 1]>]> : !b -> !columns
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !columns -> tensor<16x128xbf16>
  %2 = kernel.view %b map <[<[128, 16] strides [1, 128]>, <[2, 8, 2, 64] strides [576, 64, 64, 1]>]> : !b -> !rows
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !rows -> tensor<128x16xbf16>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %4 = kernel.dot %1, %3, %z : tensor<16x128xbf16>, tensor<128x16xbf16> -> tensor<16x16xf32>
  %6 = kernel.view %c map <[<[16, 16] strides [16, 1]>]> : !f -> !square
  kernel.store %4, %6[%c0, %c0] : tensor<16x16xf32>, !square  kernel.return
}

// WHY: doubles{{.*}}factors are not of f32, of one 16-bit type or of f8 with sums in f32, or of i8 with sums in i32
!d = !kernel.buffer<f64, global>
!dout = !kernel.view<64x64xf64, global>
kernel.func @doubles(%a: !d, %b: !d, %c: !d) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 64] strides [64, 1]>]> : !d -> !dout
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !dout -> tensor<64x64xf64>
  %2 = kernel.view %b map <[<[64, 64] strides [64, 1]>]> : !d -> !dout
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !dout -> tensor<64x64xf64>
  %z = arith.constant dense<0.0> : tensor<64x64xf64>
  %4 = kernel.dot %1, %3, %z : tensor<64x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
  %6 = kernel.view %c map <[<[64, 64] strides [64, 1]>]> : !d -> !dout
  kernel.store %4, %6[%c0, %c0] : tensor<64x64xf64>, !dout
  kernel.return
}

// Threads multiply f32, with all digits; where a user says so, tensor cores do.
// CHECK-LABEL: kernel.func @exact
// CHECK-SAME: tensor_step<128, 128, 32, stages 3, group 8>
// FAST-LABEL: kernel.func @exact
// FAST-SAME: tensor_step<128, 256, 32, stages 4, group 8 tf32 true>
!flarge = !kernel.view<4096x4096xf32, global>
kernel.func @exact(%a: !f, %b: !f, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4096, 4096] strides [4096, 1]>]> : !f -> !flarge
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !flarge -> tensor<4096x4096xf32>
  %2 = kernel.view %b map <[<[4096, 4096] strides [1, 4096]>]> : !f -> !flarge
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !flarge -> tensor<4096x4096xf32>
  %z = arith.constant dense<0.0> : tensor<4096x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4096x4096xf32>, tensor<4096x4096xf32> -> tensor<4096x4096xf32>
  %6 = kernel.view %c map <[<[4096, 4096] strides [4096, 1]>]> : !f -> !flarge
  kernel.store %4, %6[%c0, %c0] : tensor<4096x4096xf32>, !flarge
  kernel.return
}

// Few tiles are shared by clusters.
// CHECK-LABEL: kernel.func @skinny
// CHECK-SAME: tensor_step<64, {{[0-9]+}}, 64, stages {{[0-9]+}}, group 8, split {{[248]}}>
!x = !kernel.view<64x12288xbf16, global>
!w = !kernel.view<12288x32xbf16, global>
!y = !kernel.view<64x32xbf16, global>
kernel.func @skinny(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[64, 12288] strides [12288, 1]>]> : !b -> !x
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !x -> tensor<64x12288xbf16>
  %2 = kernel.view %b map <[<[12288, 32] strides [1, 12288]>]> : !b -> !w
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !w -> tensor<12288x32xbf16>
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  %4 = kernel.dot %1, %3, %z : tensor<64x12288xbf16>, tensor<12288x32xbf16> -> tensor<64x32xf32>
  %5 = arith.truncf %4 : tensor<64x32xf32> to tensor<64x32xbf16>
  %6 = kernel.view %c map <[<[64, 32] strides [32, 1]>]> : !b -> !y
  kernel.store %5, %6[%c0, %c0] : tensor<64x32xbf16>, !y
  kernel.return
}

// WHY: eighths{{.*}}tensor cores sum up f8 with few digits
// FAST-LABEL: kernel.func @eighths
// FAST-SAME: tensor_step<128, 128, 128, stages 6, group 8>
!e = !kernel.buffer<f8E4M3FN, global>
!elarge = !kernel.view<4096x4096xf8E4M3FN, global>
kernel.func @eighths(%a: !e, %b: !e, %c: !f) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[4096, 4096] strides [4096, 1]>]> : !e -> !elarge
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !elarge -> tensor<4096x4096xf8E4M3FN>
  %2 = kernel.view %b map <[<[4096, 4096] strides [1, 4096]>]> : !e -> !elarge
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !elarge -> tensor<4096x4096xf8E4M3FN>
  %z = arith.constant dense<0.0> : tensor<4096x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN> -> tensor<4096x4096xf32>
  %6 = kernel.view %c map <[<[4096, 4096] strides [4096, 1]>]> : !f -> !flarge
  kernel.store %4, %6[%c0, %c0] : tensor<4096x4096xf32>, !flarge
  kernel.return
}

// 153 tiles of 128 x 256 are two rounds of 132 workgroups, 121 of 192 x 192 are one.
// CHECK-LABEL: kernel.func @three_groups
// CHECK-SAME: tensor_step<192, 192, 64, stages 3, group 8>
!three_groups_l = !kernel.view<2049x2049xbf16, global>
!three_groups_r = !kernel.view<2049x2049xbf16, global>
!three_groups_y = !kernel.view<2049x2049xbf16, global>
kernel.func @three_groups(%a: !b, %b: !b, %c: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[2049, 2049] strides [2112, 1]>]> : !b -> !three_groups_l
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !three_groups_l -> tensor<2049x2049xbf16>
  %2 = kernel.view %b map <[<[2049, 2049] strides [1, 2112]>]> : !b -> !three_groups_r
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !three_groups_r -> tensor<2049x2049xbf16>
  %z = arith.constant dense<0.0> : tensor<2049x2049xf32>
  %4 = kernel.dot %1, %3, %z : tensor<2049x2049xbf16>, tensor<2049x2049xbf16> -> tensor<2049x2049xf32>
  %5 = arith.truncf %4 : tensor<2049x2049xf32> to tensor<2049x2049xbf16>
  %6 = kernel.view %c map <[<[2049, 2049] strides [2049, 1]>]> : !b -> !three_groups_y
  kernel.store %5, %6[%c0, %c0] : tensor<2049x2049xbf16>, !three_groups_y
  kernel.return
}
