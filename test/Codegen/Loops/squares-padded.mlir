// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-apply-schedule -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse | FileCheck %s

// Channels come last where images are read, and first in the copy with its padding: a thread reads vectors of channels where
// the image exists, and turns them. Nothing is read one by one.
// CHECK-LABEL: kernel.func @padded
// CHECK-NOT: -> bf16
// CHECK: scf.if %{{.*}} -> (vector<8xbf16>)
// CHECK: kernel.load {{.*}} -> vector<8xbf16>
// CHECK-NOT: -> bf16
// CHECK: kernel.store %{{.*}} : vector<8xbf16>
// CHECK-NOT: -> bf16
// CHECK: kernel.return
kernel.func @padded(%x: !kernel.buffer<bf16, global>, %y: !kernel.buffer<bf16, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 1>, #kernel.grid_step<"h", 1>, #kernel.grid_step<"w", 8>, #kernel.grid_step<"c", 8>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[2, 64, 18, 24] strides [16384, 1, 1024, 64] offset -1088 valid [0 : 2, 0 : 64, 1 : 17, 1 : 17]>]> : !kernel.buffer<bf16, global> -> !kernel.view<2x64x18x24xbf16, global>
  %ys = kernel.view %y map <[<[2, 64, 18, 24] strides [27648, 432, 24, 1]>]> : !kernel.buffer<bf16, global> -> !kernel.view<2x64x18x24xbf16, global>
  %a = kernel.load %xs[%c0, %c0, %c0, %c0] axes ["n", "c", "h", "w"] in_bounds [true, true, true, true] : !kernel.view<2x64x18x24xbf16, global> -> tensor<2x64x18x24xbf16>
  kernel.store %a, %ys[%c0, %c0, %c0, %c0] in_bounds [true, true, true, true] : tensor<2x64x18x24xbf16>, !kernel.view<2x64x18x24xbf16, global>
  kernel.return
}
