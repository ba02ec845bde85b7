// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-choose | FileCheck %s --check-prefix=AMPERE

// Only Hopper has it.
// AMPERE-NOT: tensor_step

// CHECK-LABEL: kernel.func @plain
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 4, group 800>]>
!b = !kernel.buffer<bf16, global>
!m = !kernel.view<128x64xbf16, global>
!t = !kernel.view<64x128xbf16, global>
kernel.func @plain(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// Everything else goes the generic way.
// WHY: sines{{.*}}is not multiplied by tensor cores: {{.*}}scores are not computed element by element, of what lies along queries and keys
// CHECK-LABEL: kernel.func @sines
// CHECK-SAME: online_step
kernel.func @sines(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<128x64xbf16>
  %2 = kernel.view %k map <[<[64, 128] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x64xbf16>, tensor<64x128xbf16> -> tensor<128x128xf32>
  %5 = math.sin %4 : tensor<128x128xf32>
  %6 = kernel.reduce max %5 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %5, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x64xf32>
  %17 = arith.divf %15, %16 : tensor<128x64xf32>
  %18 = arith.truncf %17 : tensor<128x64xf32> to tensor<128x64xbf16>
  %19 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<128x64xbf16>, !m
  kernel.return
}

// Results of 256 features take more registers, and leave from where queries came in.
// CHECK-LABEL: kernel.func @wide
// CHECK-SAME: tensor_step<128, 32, 64, stages 4, group 200>
!w = !kernel.view<128x256xbf16, global>
!u = !kernel.view<256x128xbf16, global>
kernel.func @wide(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 256] strides [256, 1]>]> : !b -> !w
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !w -> tensor<128x256xbf16>
  %2 = kernel.view %k map <[<[256, 128] strides [1, 256]>]> : !b -> !u
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !u -> tensor<256x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x256xbf16>, tensor<256x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 256] strides [256, 1]>]> : !b -> !w
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !w -> tensor<128x256xbf16>
  %y = arith.constant dense<0.0> : tensor<128x256xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x256xbf16> -> tensor<128x256xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x256xf32>
  %17 = arith.divf %15, %16 : tensor<128x256xf32>
  %18 = arith.truncf %17 : tensor<128x256xf32> to tensor<128x256xbf16>
  %19 = kernel.view %o map <[<[128, 256] strides [256, 1]>]> : !b -> !w
  kernel.store %18, %19[%c0, %c0] : tensor<128x256xbf16>, !w
  kernel.return
}

// WHY: wider{{.*}}there are more than 256 features
!w3 = !kernel.view<128x320xbf16, global>
!u3 = !kernel.view<320x128xbf16, global>
kernel.func @wider(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[128, 320] strides [320, 1]>]> : !b -> !w3
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !w3 -> tensor<128x320xbf16>
  %2 = kernel.view %k map <[<[320, 128] strides [1, 320]>]> : !b -> !u3
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !u3 -> tensor<320x128xbf16>
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %4 = kernel.dot %1, %3, %z : tensor<128x320xbf16>, tensor<320x128xbf16> -> tensor<128x128xf32>
  %6 = kernel.reduce max %4 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %8 = arith.subf %4, %7 : tensor<128x128xf32>
  %9 = math.exp %8 : tensor<128x128xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<128x128xf32> -> tensor<128xf32>
  %13 = kernel.view %v map <[<[128, 320] strides [320, 1]>]> : !b -> !w3
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !w3 -> tensor<128x320xbf16>
  %y = arith.constant dense<0.0> : tensor<128x320xf32>
  %15 = kernel.dot %9, %14, %y : tensor<128x128xf32>, tensor<128x320xbf16> -> tensor<128x320xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<128xf32> -> tensor<128x320xf32>
  %17 = arith.divf %15, %16 : tensor<128x320xf32>
  %18 = arith.truncf %17 : tensor<128x320xf32> to tensor<128x320xbf16>
  %19 = kernel.view %o map <[<[128, 320] strides [320, 1]>]> : !b -> !w3
  kernel.store %18, %19[%c0, %c0] : tensor<128x320xbf16>, !w3
  kernel.return
}

// Few queries of many keys leave multiprocessors idle: tiles are small, and clusters share them.
// CHECK-LABEL: kernel.func @few
// CHECK-SAME: tensor_step<64, 128, 64, stages 4, group 25, split 4>
!few = !kernel.view<8x197x64xbf16, global>
!many = !kernel.view<8x4096x64xbf16, global>
!turned = !kernel.view<8x64x4096xbf16, global>
kernel.func @few(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] : !few -> tensor<8x197x64xbf16>
  %2 = kernel.view %k map <[<[8, 64, 4096] strides [262144, 1, 64]>]> : !b -> !turned
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !turned -> tensor<8x64x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<8x197x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<8x197x64xbf16>, tensor<8x64x4096xbf16> -> tensor<8x197x4096xf32>
  %6 = kernel.reduce max %4 dims [2] : tensor<8x197x4096xf32> -> tensor<8x197xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<8x197xf32> -> tensor<8x197x4096xf32>
  %8 = arith.subf %4, %7 : tensor<8x197x4096xf32>
  %9 = math.exp %8 : tensor<8x197x4096xf32>
  %10 = kernel.reduce add %9 dims [2] : tensor<8x197x4096xf32> -> tensor<8x197xf32>
  %13 = kernel.view %v map <[<[8, 4096, 64] strides [262144, 64, 1]>]> : !b -> !many
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b", "n", "d"] : !many -> tensor<8x4096x64xbf16>
  %y = arith.constant dense<0.0> : tensor<8x197x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<8x197x4096xf32>, tensor<8x4096x64xbf16> -> tensor<8x197x64xf32>
  %16 = kernel.broadcast %10 dims [0, 1] : tensor<8x197xf32> -> tensor<8x197x64xf32>
  %17 = arith.divf %15, %16 : tensor<8x197x64xf32>
  %18 = arith.truncf %17 : tensor<8x197x64xf32> to tensor<8x197x64xbf16>
  %19 = kernel.view %o map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  kernel.store %18, %19[%c0, %c0, %c0] : tensor<8x197x64xbf16>, !few
  kernel.return
}
