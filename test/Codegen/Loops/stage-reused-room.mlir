// What is staged has room beside all else that the threads share.
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-stage-reused | FileCheck %s --check-prefix=LITTLE
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=400000' -zyx-kernel-stage-reused | FileCheck %s --check-prefix=ENOUGH
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-stage-reused -zyx-kernel-settle-memory \
// RUN:   --remarks-filter=zyx-shared --remark-format=emitRemark -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK --allow-empty
// RUN: FileCheck %s --check-prefix=LITTLE --input-file=%t.mlir

// Rows of one column, which have padding in memory: 9600 bytes of them take 307200. They are read again instead, and the
// program stays that of 64 threads.
// LITTLE-LABEL: kernel.func @column
// LITTLE-SAME:    threads = 64
// LITTLE-NOT:     kernel.convert
// LITTLE:         kernel.return
// ENOUGH-LABEL: kernel.func @column
// ENOUGH:         kernel.convert %{{.*}} -> tensor<3x1600x1xbf16, #kernel.memory<shared>>
// REMARK-NOT: ProgramIsOneThread
!b = !kernel.buffer<bf16, global>
kernel.func @column(%x: !b, %y: !b, %s: !b) attributes {threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[3, 1600, 6] strides [9600, 6, 1]>]> : !b -> !kernel.view<3x1600x6xbf16, global>
  %ys = kernel.view %y map <[<[3, 1600, 6] strides [9600, 6, 1]>]> : !b -> !kernel.view<3x1600x6xbf16, global>
  %ss = kernel.view %s map <[<[6] strides [1]>]> : !b -> !kernel.view<6xbf16, global>
  kernel.grid (%i) in [6] step [1] {
    %t = kernel.load %xs[%c0, %c0, %i] axes ["i0", "i1", "i2"] in_bounds [true, true, true] : !kernel.view<3x1600x6xbf16, global> -> tensor<3x1600x1xbf16>
    %w = arith.extf %t : tensor<3x1600x1xbf16> to tensor<3x1600x1xf32>
    %r = kernel.reduce add %w dims [0, 1] : tensor<3x1600x1xf32> -> tensor<1xf32>
    %n = arith.truncf %r : tensor<1xf32> to tensor<1xbf16>
    kernel.store %t, %ys[%c0, %c0, %i] in_bounds [true, true, true] : tensor<3x1600x1xbf16>, !kernel.view<3x1600x6xbf16, global>
    kernel.store %n, %ss[%i] in_bounds [true] : tensor<1xbf16>, !kernel.view<6xbf16, global>
  }
  kernel.return
}

// Of columns whose elements lie side by side they do so in shared memory, too: there is no padding, and room for them.
// LITTLE-LABEL: kernel.func @side_by_side
// LITTLE:         %[[TURNED:.*]] = kernel.transpose %{{.*}} order [0, 2, 1] : tensor<3x1600x1xbf16> -> tensor<3x1x1600xbf16>
// LITTLE-NEXT:    %[[KEPT:.*]] = kernel.convert %[[TURNED]] : tensor<3x1x1600xbf16> -> tensor<3x1x1600xbf16, #kernel.memory<shared>>
// LITTLE-NEXT:    %[[READ:.*]] = kernel.convert %[[KEPT]]
// LITTLE-NEXT:    kernel.transpose %[[READ]] order [0, 2, 1] : tensor<3x1x1600xbf16> -> tensor<3x1600x1xbf16>
// LITTLE:         kernel.return
kernel.func @side_by_side(%x: !b, %y: !b, %s: !b) attributes {threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[3, 1600, 6] strides [9600, 1, 1600]>]> : !b -> !kernel.view<3x1600x6xbf16, global>
  %ys = kernel.view %y map <[<[3, 1600, 6] strides [9600, 6, 1]>]> : !b -> !kernel.view<3x1600x6xbf16, global>
  %ss = kernel.view %s map <[<[6] strides [1]>]> : !b -> !kernel.view<6xbf16, global>
  kernel.grid (%i) in [6] step [1] {
    %t = kernel.load %xs[%c0, %c0, %i] axes ["i0", "i1", "i2"] in_bounds [true, true, true] : !kernel.view<3x1600x6xbf16, global> -> tensor<3x1600x1xbf16>
    %w = arith.extf %t : tensor<3x1600x1xbf16> to tensor<3x1600x1xf32>
    %r = kernel.reduce add %w dims [0, 1] : tensor<3x1600x1xf32> -> tensor<1xf32>
    %n = arith.truncf %r : tensor<1xf32> to tensor<1xbf16>
    kernel.store %t, %ys[%c0, %c0, %i] in_bounds [true, true, true] : tensor<3x1600x1xbf16>, !kernel.view<3x1600x6xbf16, global>
    kernel.store %n, %ss[%i] in_bounds [true] : tensor<1xbf16>, !kernel.view<6xbf16, global>
  }
  kernel.return
}
