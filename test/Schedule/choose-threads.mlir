// RUN: zyx-opt %s -zyx-schedule-choose=target=sm_90a | FileCheck %s

// A thread transposes a square of vectors in registers. A warp has 8 of them in a row where it writes by 4 where it
// reads.
// CHECK-LABEL: kernel.func @transpose
// CHECK-SAME: [#kernel.grid_step<"j", 64>, #kernel.grid_step<"i", 32>, #kernel.grid_step<"j", 8>, #kernel.grid_step<"i", 8>]
!b = !kernel.buffer<bf16, global>
!x = !kernel.view<512x256xbf16, global>
kernel.func @transpose(%x: !b, %y: !b) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[512, 256] strides [1, 512]>]> : !b -> !x
  %1 = kernel.load %0[%c0, %c0] axes ["i", "j"] : !x -> tensor<512x256xbf16>
  %2 = arith.negf %1 : tensor<512x256xbf16>
  %3 = kernel.view %y map <[<[512, 256] strides [256, 1]>]> : !b -> !x
  kernel.store %2, %3[%c0, %c0] : tensor<512x256xbf16>, !x
  kernel.return
}
