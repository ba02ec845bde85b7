// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-schedule-choose | FileCheck %s

// Where a value is computed of two images whose channels come last, in groups of two, neighbouring threads read neighbours.
// CHECK-LABEL: kernel.func @grouped_channels
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i3", 8>, #kernel.grid_step<"i1", 1>, #kernel.grid_step<"i2", 1>]>
kernel.func @grouped_channels(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>, %arg2: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[8, 32, 2, 3136] strides [200704, 2, 1, 64]>]> : <bf16, global> -> <8x32x2x3136xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : <8x32x2x3136xbf16, global> -> tensor<8x32x2x3136xbf16>
  %2 = kernel.view %arg1 map <[<[8, 32, 2, 3136] strides [200704, 2, 1, 64]>]> : <bf16, global> -> <8x32x2x3136xbf16, global>
  %3 = kernel.load %2[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : <8x32x2x3136xbf16, global> -> tensor<8x32x2x3136xbf16>
  %4 = arith.addf %1, %3 : tensor<8x32x2x3136xbf16>
  %5 = kernel.view %arg2 map <[<[8, 32, 2, 3136] strides [200704, 6272, 3136, 1]>]> : <bf16, global> -> <8x32x2x3136xbf16, global>
  kernel.store %4, %5[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<8x32x2x3136xbf16>, <8x32x2x3136xbf16, global>
  kernel.return
}

// Windows of images whose channels come last, written with the elements of a window as neighbours: a workgroup has some
// channels, which it reads as neighbours, and some positions; a thread has a row of a window.
// CHECK-LABEL: kernel.func @windows
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i2", 1>, #kernel.grid_step<"i1", 8>, #kernel.grid_step<"i3", 4>, #kernel.grid_step<"i1", 1>, #kernel.grid_step<"i3", 1>, #kernel.grid_step<"i4", 1>]>
kernel.func @windows(%arg0: !kernel.buffer<f16, global>, %arg1: !kernel.buffer<f16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[16, 128, 28, 28, 3, 3] strides [430592, 3364, 116, 2, 58, 1]>, <[16, 128, 58, 58] strides [401408, 1, 7168, 128] offset -7296 valid [0 : 16, 0 : 128, 1 : 57, 1 : 57]>]> : <f16, global> -> <16x128x28x28x3x3xf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "i4", "i5"] in_bounds [true, true, true, true, true, true] : <16x128x28x28x3x3xf16, global> -> tensor<16x128x28x28x3x3xf16>
  %2 = kernel.view %arg1 map <[<[16, 128, 28, 28, 3, 3] strides [903168, 7056, 252, 9, 3, 1]>]> : <f16, global> -> <16x128x28x28x3x3xf16, global>
  kernel.store %1, %2[%c0, %c0, %c0, %c0, %c0, %c0] in_bounds [true, true, true, true, true, true] : tensor<16x128x28x28x3x3xf16>, <16x128x28x28x3x3xf16, global>
  kernel.return
}

// Windows that are written along positions, as factors of products are: threads of eight elements of windows read what
// a workgroup's first cache holds.
// CHECK-LABEL: kernel.func @factor
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"d0", 1>, #kernel.grid_step<"d2", 8>, #kernel.grid_step<"d1", 256>, #kernel.grid_step<"d2", 1>, #kernel.grid_step<"d1", 8>]>
kernel.func @factor(%arg0: !kernel.buffer<bf16, global>, %arg1: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[16, 6272, 576] strides [3612672, 576, 1]>, <[16, 2, 56, 56, 64, 3, 3] strides [430592, 215296, 58, 1, 3364, 58, 1]>, <[32, 64, 58, 58] strides [200704, 1, 3584, 64] offset -3648 valid [0 : 32, 0 : 64, 1 : 57, 1 : 57]>]> : <bf16, global> -> <16x6272x576xbf16, global>
  %1 = kernel.view %arg1 map <[<[16, 6272, 576] strides [3612672, 1, 6272]>]> : <bf16, global> -> <16x6272x576xbf16, global>
  %2 = kernel.load %0[%c0, %c0, %c0] axes ["d0", "d1", "d2"] in_bounds [true, true, true] : <16x6272x576xbf16, global> -> tensor<16x6272x576xbf16>
  kernel.store %2, %1[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<16x6272x576xbf16>, <16x6272x576xbf16, global>
  kernel.return
}

// Of a short row of a window no thread has a part: of the last one it would have to ask which elements are there.
// CHECK-LABEL: kernel.func @rows_of_windows
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", 1>, #kernel.grid_step<"i1", 1>, #kernel.grid_step<"i2", 1>, #kernel.grid_step<"i3", 1>, #kernel.grid_step<"i4", 1>]>
kernel.func @rows_of_windows(%arg0: !kernel.buffer<f16, global>, %arg1: !kernel.buffer<f16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %arg0 map <[<[16, 128, 28, 28, 3, 3] strides [430592, 3364, 58, 1, 58, 1]>, <[16, 128, 58, 58] strides [401408, 3136, 56, 1] offset -57 valid [0 : 16, 0 : 128, 1 : 57, 1 : 57]>]> : <f16, global> -> <16x128x28x28x3x3xf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3", "i4", "i5"] in_bounds [true, true, true, true, true, true] : <16x128x28x28x3x3xf16, global> -> tensor<16x128x28x28x3x3xf16>
  %2 = kernel.view %arg1 map <[<[16, 128, 28, 28, 3, 3] strides [903168, 7056, 252, 9, 3, 1]>]> : <f16, global> -> <16x128x28x28x3x3xf16, global>
  kernel.store %1, %2[%c0, %c0, %c0, %c0, %c0, %c0] in_bounds [true, true, true, true, true, true] : tensor<16x128x28x28x3x3xf16>, <16x128x28x28x3x3xf16, global>
  kernel.return
}

// An upsampled image whose channels come last, copied to rows of pixels: of each row two pixels are one, and squares are transposed.
// CHECK-LABEL: kernel.func @repeated
// CHECK-SAME:  #kernel.grid_step<"i2", 8>, #kernel.grid_step<"i1", 8>]>
kernel.func @repeated(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[8, 128, 50176] strides [6422528, 50176, 1]>, <[8, 128, 112, 2, 112, 2] strides [1605632, 1, 14336, 0, 128, 0]>]> : <bf16, global> -> <8x128x50176xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["i0", "i1", "i2"] in_bounds [true, true, true] : <8x128x50176xbf16, global> -> tensor<8x128x50176xbf16>
  %2 = kernel.view %y map <[<[8, 128, 50176] strides [6422528, 50176, 1]>]> : <bf16, global> -> <8x128x50176xbf16, global>
  kernel.store %1, %2[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<8x128x50176xbf16>, <8x128x50176xbf16, global>
  kernel.return
}
