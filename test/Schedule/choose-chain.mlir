// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t

// Of two sums of 128 columns each and two products a thread holds 64 columns of a block.
// CHECK-LABEL: kernel.func @dkdv
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 4, group 25>]>
!b = !kernel.buffer<bf16, global>
!f = !kernel.buffer<f32, global>
kernel.func @dkdv(%q: !b, %k: !b, %l: !f, %g: !b, %v: !b, %delta: !f, %gv: !b, %gk: !b) {
  %c0 = arith.constant 0 : index
  %ktv = kernel.view %k map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %kt = kernel.load %ktv[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %qtv = kernel.view %q map <[<[128, 128, 2048] strides [262144, 1, 128]>]> : !b -> !kernel.view<128x128x2048xbf16, global>
  %qt = kernel.load %qtv[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<128x128x2048xbf16, global> -> tensor<128x128x2048xbf16>
  %stz = arith.constant dense<0.0> : tensor<128x2048x2048xf32>
  %st = kernel.dot %kt, %qt, %stz : tensor<128x2048x128xbf16>, tensor<128x128x2048xbf16> -> tensor<128x2048x2048xf32>
  %s = arith.constant dense<0.125> : tensor<128x2048x2048xf32>
  %5 = arith.mulf %st, %s : tensor<128x2048x2048xf32>
  %lsev = kernel.view %l map <[<[128, 2048] strides [2048, 1]>]> : !f -> !kernel.view<128x2048xf32, global>
  %lser = kernel.load %lsev[%c0, %c0] axes ["b0", "n"] : !kernel.view<128x2048xf32, global> -> tensor<128x2048xf32>
  %lse = kernel.broadcast %lser dims [0, 2] : tensor<128x2048xf32> -> tensor<128x2048x2048xf32>
  %15 = arith.subf %5, %lse : tensor<128x2048x2048xf32>
  %p = math.exp %15 : tensor<128x2048x2048xf32>
  %vtv = kernel.view %v map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %vt = kernel.load %vtv[%c0, %c0, %c0] axes ["b0", "m", "k0"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %gtv = kernel.view %g map <[<[128, 128, 2048] strides [262144, 1, 128]>]> : !b -> !kernel.view<128x128x2048xbf16, global>
  %gt = kernel.load %gtv[%c0, %c0, %c0] axes ["b0", "k0", "n"] : !kernel.view<128x128x2048xbf16, global> -> tensor<128x128x2048xbf16>
  %dpz = arith.constant dense<0.0> : tensor<128x2048x2048xf32>
  %dp = kernel.dot %vt, %gt, %dpz : tensor<128x2048x128xbf16>, tensor<128x128x2048xbf16> -> tensor<128x2048x2048xf32>
  %dlv = kernel.view %delta map <[<[128, 2048] strides [2048, 1]>]> : !f -> !kernel.view<128x2048xf32, global>
  %dlr = kernel.load %dlv[%c0, %c0] axes ["b0", "n"] : !kernel.view<128x2048xf32, global> -> tensor<128x2048xf32>
  %dl = kernel.broadcast %dlr dims [0, 2] : tensor<128x2048xf32> -> tensor<128x2048x2048xf32>
  %20 = arith.subf %dp, %dl : tensor<128x2048x2048xf32>
  %ds0 = arith.mulf %p, %20 : tensor<128x2048x2048xf32>
  %g2v = kernel.view %g map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %g2 = kernel.load %g2v[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %dvz = arith.constant dense<0.0> : tensor<128x2048x128xf32>
  %dv = kernel.dot %p, %g2, %dvz : tensor<128x2048x2048xf32>, tensor<128x2048x128xbf16> -> tensor<128x2048x128xf32>
  %q2v = kernel.view %q map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %q2 = kernel.load %q2v[%c0, %c0, %c0] axes ["b0", "n", "n1"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %dkz = arith.constant dense<0.0> : tensor<128x2048x128xf32>
  %dk = kernel.dot %ds0, %q2, %dkz : tensor<128x2048x2048xf32>, tensor<128x2048x128xbf16> -> tensor<128x2048x128xf32>
  %dvt = arith.truncf %dv : tensor<128x2048x128xf32> to tensor<128x2048x128xbf16>
  %dvw = kernel.view %gv map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  kernel.store %dvt, %dvw[%c0, %c0, %c0] : tensor<128x2048x128xbf16>, !kernel.view<128x2048x128xbf16, global>
  %dkc = arith.constant dense<0.125> : tensor<128x2048x128xf32>
  %dkm = arith.mulf %dk, %dkc : tensor<128x2048x128xf32>
  %dkt = arith.truncf %dkm : tensor<128x2048x128xf32> to tensor<128x2048x128xbf16>
  %dkw = kernel.view %gk map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  kernel.store %dkt, %dkw[%c0, %c0, %c0] : tensor<128x2048x128xbf16>, !kernel.view<128x2048x128xbf16, global>
  kernel.return
}

// There would be room for 128 columns of sums, but not for three blocks of them.
// CHECK-LABEL: kernel.func @dq
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 4, group 25>]>
kernel.func @dq(%q: !b, %k: !b, %l: !f, %g: !b, %v: !b, %delta: !f, %gq: !b) {
  %c0 = arith.constant 0 : index
  %qtv = kernel.view %q map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %qt = kernel.load %qtv[%c0, %c0, %c0] axes ["b0", "m", "k"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %ktv = kernel.view %k map <[<[128, 128, 2048] strides [262144, 1, 128]>]> : !b -> !kernel.view<128x128x2048xbf16, global>
  %kt = kernel.load %ktv[%c0, %c0, %c0] axes ["b0", "k", "n"] : !kernel.view<128x128x2048xbf16, global> -> tensor<128x128x2048xbf16>
  %stz = arith.constant dense<0.0> : tensor<128x2048x2048xf32>
  %st = kernel.dot %qt, %kt, %stz : tensor<128x2048x128xbf16>, tensor<128x128x2048xbf16> -> tensor<128x2048x2048xf32>
  %s = arith.constant dense<0.125> : tensor<128x2048x2048xf32>
  %5 = arith.mulf %st, %s : tensor<128x2048x2048xf32>
  %lsev = kernel.view %l map <[<[128, 2048] strides [2048, 1]>]> : !f -> !kernel.view<128x2048xf32, global>
  %lser = kernel.load %lsev[%c0, %c0] axes ["b0", "m"] : !kernel.view<128x2048xf32, global> -> tensor<128x2048xf32>
  %lse = kernel.broadcast %lser dims [0, 1] : tensor<128x2048xf32> -> tensor<128x2048x2048xf32>
  %15 = arith.subf %5, %lse : tensor<128x2048x2048xf32>
  %p = math.exp %15 : tensor<128x2048x2048xf32>
  %gtv = kernel.view %g map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %gt = kernel.load %gtv[%c0, %c0, %c0] axes ["b0", "m", "k0"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %vtv = kernel.view %v map <[<[128, 128, 2048] strides [262144, 1, 128]>]> : !b -> !kernel.view<128x128x2048xbf16, global>
  %vt = kernel.load %vtv[%c0, %c0, %c0] axes ["b0", "k0", "n"] : !kernel.view<128x128x2048xbf16, global> -> tensor<128x128x2048xbf16>
  %dpz = arith.constant dense<0.0> : tensor<128x2048x2048xf32>
  %dp = kernel.dot %gt, %vt, %dpz : tensor<128x2048x128xbf16>, tensor<128x128x2048xbf16> -> tensor<128x2048x2048xf32>
  %dlv = kernel.view %delta map <[<[128, 2048] strides [2048, 1]>]> : !f -> !kernel.view<128x2048xf32, global>
  %dlr = kernel.load %dlv[%c0, %c0] axes ["b0", "m"] : !kernel.view<128x2048xf32, global> -> tensor<128x2048xf32>
  %dl = kernel.broadcast %dlr dims [0, 1] : tensor<128x2048xf32> -> tensor<128x2048x2048xf32>
  %20 = arith.subf %dp, %dl : tensor<128x2048x2048xf32>
  %ds0 = arith.mulf %p, %20 : tensor<128x2048x2048xf32>
  %k2v = kernel.view %k map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  %k2 = kernel.load %k2v[%c0, %c0, %c0] axes ["b0", "n", "n0"] : !kernel.view<128x2048x128xbf16, global> -> tensor<128x2048x128xbf16>
  %dqz = arith.constant dense<0.0> : tensor<128x2048x128xf32>
  %dq = kernel.dot %ds0, %k2, %dqz : tensor<128x2048x2048xf32>, tensor<128x2048x128xbf16> -> tensor<128x2048x128xf32>
  %dqc = arith.constant dense<0.125> : tensor<128x2048x128xf32>
  %dqm = arith.mulf %dq, %dqc : tensor<128x2048x128xf32>
  %dqt = arith.truncf %dqm : tensor<128x2048x128xf32> to tensor<128x2048x128xbf16>
  %dqw = kernel.view %gq map <[<[128, 2048, 128] strides [262144, 128, 1]>]> : !b -> !kernel.view<128x2048x128xbf16, global>
  kernel.store %dqt, %dqw[%c0, %c0, %c0] : tensor<128x2048x128xbf16>, !kernel.view<128x2048x128xbf16, global>
  kernel.return
}

// What three products of 256 features have along the rows alone leaves no room for blocks.
// WHY: Remark=deep, Remark=" is not multiplied by tensor cores: ", Remark="its rows and blocks need more registers or shared memory than there are
// CHECK-LABEL: kernel.func @deep
// CHECK-NOT: tensor_step
kernel.func @deep(%q: !b, %k: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : tensor<128x128xf32>
  %a0 = kernel.view %q map <[<[128, 256] strides [256, 1]>]> : !b -> !kernel.view<128x256xbf16, global>
  %b0 = kernel.load %a0[%c0, %c0] axes ["m", "k0"] : !kernel.view<128x256xbf16, global> -> tensor<128x256xbf16>
  %g0 = kernel.view %k map <[<[256, 128] strides [1, 256]>]> : !b -> !kernel.view<256x128xbf16, global>
  %d0 = kernel.load %g0[%c0, %c0] axes ["k0", "n"] : !kernel.view<256x128xbf16, global> -> tensor<256x128xbf16>
  %e0 = kernel.dot %b0, %d0, %z : tensor<128x256xbf16>, tensor<256x128xbf16> -> tensor<128x128xf32>
  %a1 = kernel.view %q map <[<[128, 256] strides [256, 1] offset 32768>]> : !b -> !kernel.view<128x256xbf16, global>
  %b1 = kernel.load %a1[%c0, %c0] axes ["m", "k1"] : !kernel.view<128x256xbf16, global> -> tensor<128x256xbf16>
  %g1 = kernel.view %k map <[<[256, 128] strides [1, 256] offset 32768>]> : !b -> !kernel.view<256x128xbf16, global>
  %d1 = kernel.load %g1[%c0, %c0] axes ["k1", "n"] : !kernel.view<256x128xbf16, global> -> tensor<256x128xbf16>
  %e1 = kernel.dot %b1, %d1, %z : tensor<128x256xbf16>, tensor<256x128xbf16> -> tensor<128x128xf32>
  %a2 = kernel.view %q map <[<[128, 256] strides [256, 1] offset 65536>]> : !b -> !kernel.view<128x256xbf16, global>
  %b2 = kernel.load %a2[%c0, %c0] axes ["m", "k2"] : !kernel.view<128x256xbf16, global> -> tensor<128x256xbf16>
  %g2 = kernel.view %k map <[<[256, 128] strides [1, 256] offset 65536>]> : !b -> !kernel.view<256x128xbf16, global>
  %d2 = kernel.load %g2[%c0, %c0] axes ["k2", "n"] : !kernel.view<256x128xbf16, global> -> tensor<256x128xbf16>
  %e2 = kernel.dot %b2, %d2, %z : tensor<128x256xbf16>, tensor<256x128xbf16> -> tensor<128x128xf32>
  %1 = arith.addf %e0, %e1 : tensor<128x128xf32>
  %s = arith.addf %1, %e2 : tensor<128x128xf32>
  %2 = arith.truncf %s : tensor<128x128xf32> to tensor<128x128xbf16>
  %3 = kernel.view %k map <[<[128, 64] strides [64, 1]>]> : !b -> !kernel.view<128x64xbf16, global>
  %4 = kernel.load %3[%c0, %c0] axes ["n", "d"] : !kernel.view<128x64xbf16, global> -> tensor<128x64xbf16>
  %y = arith.constant dense<0.0> : tensor<128x64xf32>
  %5 = kernel.dot %2, %4, %y : tensor<128x128xbf16>, tensor<128x64xbf16> -> tensor<128x64xf32>
  %6 = arith.truncf %5 : tensor<128x64xf32> to tensor<128x64xbf16>
  %7 = kernel.view %o map <[<[128, 64] strides [64, 1]>]> : !b -> !kernel.view<128x64xbf16, global>
  kernel.store %6, %7[%c0, %c0] : tensor<128x64xbf16>, !kernel.view<128x64xbf16, global>
  kernel.return
}

// Few rows that stream many blocks leave multiprocessors idle: tiles are small, and clusters share them.
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
  %9 = arith.mulf %4, %4 : tensor<8x197x4096xf32>
  %13 = kernel.view %v map <[<[8, 4096, 64] strides [262144, 64, 1]>]> : !b -> !many
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b", "n", "d"] : !many -> tensor<8x4096x64xbf16>
  %y = arith.constant dense<0.0> : tensor<8x197x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<8x197x4096xf32>, tensor<8x4096x64xbf16> -> tensor<8x197x64xf32>
  %18 = arith.truncf %15 : tensor<8x197x64xf32> to tensor<8x197x64xbf16>
  %19 = kernel.view %o map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  kernel.store %18, %19[%c0, %c0, %c0] : tensor<8x197x64xbf16>, !few
  kernel.return
}
