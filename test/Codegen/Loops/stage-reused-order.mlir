// Rows that several threads walk more than once are kept in the order in which their elements lie in memory.
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-stage-reused -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   | FileCheck %s --check-prefix=LOWERED

!h = !kernel.buffer<f16, global>
!image = !kernel.view<32x3136x96xf16, global>

// A norm across channels of images that have channels first: positions are side by side, though channels are the last
// dimension of the tile. Threads write and read vectors of them.
// CHECK-LABEL: kernel.func @across
// CHECK:         %[[TURNED:.*]] = kernel.transpose %{{.*}} order [0, 2, 1] : tensor<1x224x96xf16> -> tensor<1x96x224xf16>
// CHECK-NEXT:    %[[KEPT:.*]] = kernel.convert %[[TURNED]] : tensor<1x96x224xf16> -> tensor<1x96x224xf16, #kernel.memory<shared>>
// CHECK-NEXT:    %[[READ:.*]] = kernel.convert %[[KEPT]] : tensor<1x96x224xf16, #kernel.memory<shared>> -> tensor<1x96x224xf16>
// CHECK-NEXT:    kernel.transpose %[[READ]] order [0, 2, 1] : tensor<1x96x224xf16> -> tensor<1x224x96xf16>
// CHECK:         kernel.return

// No element is written or read alone, and no loop goes from position to position.
// LOWERED-LABEL: kernel.func @across
// LOWERED:         %[[ROWS:.*]] = kernel.alloc : <1x96x224xf16, shared>
// LOWERED-NOT:     step %c1 {
// LOWERED:         kernel.store %{{.*}}, %[[ROWS]][{{.*}}] : vector<8xf16>, <1x96x224xf16, shared>
// LOWERED-NOT:     step %c1 {
// LOWERED:         kernel.load %[[ROWS]][{{.*}}] : <1x96x224xf16, shared> -> vector<8xf16>
// LOWERED-NOT:     step %c1 {
// LOWERED:         kernel.store %{{.*}} : vector<8xf16>, <32x96x3136xf16, global>
// LOWERED:         kernel.return
kernel.func @across(%x: !h, %y: !h) attributes {row_groups, threads = 224 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[32, 3136, 96] strides [301056, 1, 3136]>]> : !h -> !image
  %ys = kernel.view %y map <[<[32, 3136, 96] strides [301056, 1, 3136]>]> : !h -> !image
  kernel.grid (%n, %p) in [32, 3136] step [1, 224] {
    %0 = kernel.load %xs[%n, %p, %c0] axes ["n", "p", "c"] in_bounds [true, true, true] : !image -> tensor<1x224x96xf16>
    %1 = arith.extf %0 : tensor<1x224x96xf16> to tensor<1x224x96xf32>
    %2 = kernel.reduce add %1 dims [2] : tensor<1x224x96xf32> -> tensor<1x224xf32>
    %3 = kernel.broadcast %2 dims [0, 1] : tensor<1x224xf32> -> tensor<1x224x96xf32>
    %4 = arith.subf %1, %3 : tensor<1x224x96xf32>
    %5 = arith.mulf %4, %4 : tensor<1x224x96xf32>
    %6 = kernel.reduce add %5 dims [2] : tensor<1x224x96xf32> -> tensor<1x224xf32>
    %7 = kernel.broadcast %6 dims [0, 1] : tensor<1x224xf32> -> tensor<1x224x96xf32>
    %8 = arith.mulf %4, %7 : tensor<1x224x96xf32>
    %9 = arith.truncf %8 : tensor<1x224x96xf32> to tensor<1x224x96xf16>
    kernel.store %9, %ys[%n, %p, %c0] in_bounds [true, true, true] : tensor<1x224x96xf16>, !image
  }
  kernel.return
}

// Channels that come last stay as they are.
// CHECK-LABEL: kernel.func @along
// CHECK-NOT:     kernel.transpose
// CHECK:         kernel.convert %{{.*}} : tensor<1x8x4096xf16> -> tensor<1x8x4096xf16, #kernel.memory<shared>>
// CHECK-NOT:     kernel.transpose
// CHECK:         kernel.return
kernel.func @along(%x: !h, %y: !h) attributes {row_groups, threads = 256 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[32, 8, 4096] strides [32768, 4096, 1]>]> : !h -> !kernel.view<32x8x4096xf16, global>
  %ys = kernel.view %y map <[<[32] strides [1]>]> : !h -> !kernel.view<32xf16, global>
  kernel.grid (%n) in [32] step [1] {
    %0 = kernel.load %xs[%n, %c0, %c0] axes ["n", "p", "c"] in_bounds [true, true, true] : !kernel.view<32x8x4096xf16, global> -> tensor<1x8x4096xf16>
    %1 = arith.extf %0 : tensor<1x8x4096xf16> to tensor<1x8x4096xf32>
    %2 = kernel.reduce add %1 dims [1, 2] : tensor<1x8x4096xf32> -> tensor<1xf32>
    %3 = kernel.broadcast %2 dims [0] : tensor<1xf32> -> tensor<1x8x4096xf32>
    %4 = arith.subf %1, %3 : tensor<1x8x4096xf32>
    %5 = arith.mulf %4, %4 : tensor<1x8x4096xf32>
    %6 = kernel.reduce add %5 dims [1, 2] : tensor<1x8x4096xf32> -> tensor<1xf32>
    %7 = arith.truncf %6 : tensor<1xf32> to tensor<1xf16>
    kernel.store %7, %ys[%n] in_bounds [true] : tensor<1xf16>, !kernel.view<32xf16, global>
  }
  kernel.return
}
