// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// Results of a transposed convolution with stride 2: each of four phases has its own operand. A thread has all phases of two
// elements, as rows of 14 are no multiple of four.
// CHECK-LABEL: kernel.func @rows_of_14
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i2", 2>]>
kernel.func @rows_of_14(%a: !kernel.buffer<bf16, global>, %b: !kernel.buffer<bf16, global>, %c: !kernel.buffer<bf16, global>, %d: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %av = kernel.view %a map <[<[1792, 2, 14, 2] strides [14, 0, 1, 0] valid [0 : 1792, 0 : 1, 0 : 14, 0 : 1]>]> : <bf16, global> -> <1792x2x14x2xbf16, global>
  %bv = kernel.view %b map <[<[1792, 2, 14, 2] strides [14, 0, 1, 0] valid [0 : 1792, 0 : 1, 0 : 14, 1 : 2]>]> : <bf16, global> -> <1792x2x14x2xbf16, global>
  %cv = kernel.view %c map <[<[1792, 2, 14, 2] strides [14, 0, 1, 0] valid [0 : 1792, 1 : 2, 0 : 14, 0 : 1]>]> : <bf16, global> -> <1792x2x14x2xbf16, global>
  %dv = kernel.view %d map <[<[1792, 2, 14, 2] strides [14, 0, 1, 0] valid [0 : 1792, 1 : 2, 0 : 14, 1 : 2]>]> : <bf16, global> -> <1792x2x14x2xbf16, global>
  %at = kernel.load %av[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : <1792x2x14x2xbf16, global> -> tensor<1792x2x14x2xbf16>
  %bt = kernel.load %bv[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : <1792x2x14x2xbf16, global> -> tensor<1792x2x14x2xbf16>
  %ct = kernel.load %cv[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : <1792x2x14x2xbf16, global> -> tensor<1792x2x14x2xbf16>
  %dt = kernel.load %dv[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : <1792x2x14x2xbf16, global> -> tensor<1792x2x14x2xbf16>
  %0 = arith.addf %at, %bt : tensor<1792x2x14x2xbf16>
  %1 = arith.addf %ct, %dt : tensor<1792x2x14x2xbf16>
  %2 = arith.addf %0, %1 : tensor<1792x2x14x2xbf16>
  %yv = kernel.view %y map <[<[1792, 2, 14, 2] strides [56, 28, 2, 1]>]> : <bf16, global> -> <1792x2x14x2xbf16, global>
  kernel.store %2, %yv[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<1792x2x14x2xbf16>, <1792x2x14x2xbf16, global>
  kernel.return
}

// Channels that come last are read and written side by side: they have vectors, and phases are places of the grid.
// CHECK-LABEL: kernel.func @channels_last
// CHECK-SAME:  #kernel.grid_step<"i4", 8>]>
kernel.func @channels_last(%a: !kernel.buffer<bf16, global>, %b: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %av = kernel.view %a map <[<[128, 2, 14, 2, 64] strides [896, 0, 64, 0, 1] valid [0 : 128, 0 : 1, 0 : 14, 0 : 1, 0 : 64]>]> : <bf16, global> -> <128x2x14x2x64xbf16, global>
  %bv = kernel.view %b map <[<[128, 2, 14, 2, 64] strides [896, 0, 64, 0, 1] valid [0 : 128, 1 : 2, 0 : 14, 1 : 2, 0 : 64]>]> : <bf16, global> -> <128x2x14x2x64xbf16, global>
  %at = kernel.load %av[%c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "i4"] in_bounds [true, true, true, true, true] : <128x2x14x2x64xbf16, global> -> tensor<128x2x14x2x64xbf16>
  %bt = kernel.load %bv[%c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "i4"] in_bounds [true, true, true, true, true] : <128x2x14x2x64xbf16, global> -> tensor<128x2x14x2x64xbf16>
  %0 = arith.addf %at, %bt : tensor<128x2x14x2x64xbf16>
  %yv = kernel.view %y map <[<[128, 2, 14, 2, 64] strides [3584, 1792, 128, 64, 1]>]> : <bf16, global> -> <128x2x14x2x64xbf16, global>
  kernel.store %0, %yv[%c0, %c0, %c0, %c0, %c0] in_bounds [true, true, true, true, true] : tensor<128x2x14x2x64xbf16>, <128x2x14x2x64xbf16, global>
  kernel.return
}
