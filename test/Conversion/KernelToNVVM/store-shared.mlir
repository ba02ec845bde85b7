// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s
// RUN: zyx-translate --kernel-to-launch-info %s | FileCheck %s --check-prefix=LAUNCH

!half = !kernel.buffer<bf16, global>
!slot = !kernel.view<64x64xbf16, shared, #kernel.shared<swizzle = 128>>

// Rows of an odd number of elements begin anywhere: a lane writes one element, the next lane the next one. Each of four
// warps has sixteen rows of two runs.
// LAUNCH: kernel odd
// LAUNCH-NEXT: threads 128 shared 8192
// LAUNCH-NEXT: address of argument 0
// CHECK-LABEL: llvm.func @odd
// CHECK:         %[[LANE:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
// CHECK-COUNT-32: llvm.store %{{.*}} {alignment = 2 : i64} : bf16, !llvm.ptr<1>
// CHECK-NOT:     llvm.store
// CHECK:         llvm.return
kernel.func @odd(%y: !half) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %ys = kernel.view %y map <[<[3, 200, 261] strides [52200, 261, 1]>]> : !half -> !kernel.view<3x200x261xbf16, global>
  %s = kernel.alloc : !slot
  kernel.store_shared %s to %ys[%c0, %c64, %c64] in_bounds [true, false, false] : !slot, !kernel.view<3x200x261xbf16, global>
  kernel.return
}

// Pairs where all rows begin at an even element, and all end behind one: nothing asks whether an element exists.
// CHECK-LABEL: llvm.func @even
// CHECK-NOT:     llvm.cond_br
// CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<1>
// CHECK-NOT:     llvm.store
// CHECK:         llvm.return
kernel.func @even(%y: !half) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %ys = kernel.view %y map <[<[3, 128, 192] strides [25088, 196, 1]>]> : !half -> !kernel.view<3x128x192xbf16, global>
  %s = kernel.alloc : !slot
  kernel.store_shared %s to %ys[%c0, %c64, %c64] in_bounds [true, true, true] : !slot, !kernel.view<3x128x192xbf16, global>
  kernel.return
}
