// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s

// Filters with their channels, which lie 8 KB apart, written last: a program has 32 channels and all that their lines have.
// CHECK-LABEL: kernel.func @filters
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i3", 32>]>
kernel.func @filters(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[256, 2, 2, 512] strides [16, -8, -2, 4096] offset 15>]> : !kernel.buffer<bf16, global> -> !kernel.view<256x2x2x512xbf16, global>
  %1 = kernel.load %0[%c0, %c0, %c0, %c0] axes ["i0", "i1", "i2", "i3"] in_bounds [true, true, true, true] : !kernel.view<256x2x2x512xbf16, global> -> tensor<256x2x2x512xbf16>
  %2 = kernel.view %y map <[<[256, 2, 2, 512] strides [2048, 1024, 512, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<256x2x2x512xbf16, global>
  kernel.store %1, %2[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<256x2x2x512xbf16>, !kernel.view<256x2x2x512xbf16, global>
  kernel.return
}

// Where each line has one element, there is nothing to share.
// CHECK-LABEL: kernel.func @apart
// CHECK-SAME: schedule = #kernel.schedule<[#kernel.grid_step<"i0", {{[0-9]+}}>]>
kernel.func @apart(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %x map <[<[256, 512] strides [128, 32768]>]> : !kernel.buffer<bf16, global> -> !kernel.view<256x512xbf16, global>
  %1 = kernel.load %0[%c0, %c0] axes ["i0", "i1"] in_bounds [true, true] : !kernel.view<256x512xbf16, global> -> tensor<256x512xbf16>
  %2 = kernel.view %y map <[<[256, 512] strides [512, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<256x512xbf16, global>
  kernel.store %1, %2[%c0, %c0] in_bounds [true, true] : tensor<256x512xbf16>, !kernel.view<256x512xbf16, global>
  kernel.return
}
