// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s
// RUN: zyx-translate --kernel-to-launch-info %s | FileCheck %s --check-prefix=LAUNCH

// Kernels of other forms are left to others.
// CHECK: kernel.func @lowered
// CHECK: kernel.func @tiled
kernel.func @lowered() attributes {form = #kernel.form<lowered>, threads = 128 : i64} {
  kernel.return
}
kernel.func @tiled() attributes {threads = 128 : i64} {
  kernel.return
}

#acc = #kernel.frag<wgmma_acc>
#row = #kernel.slice<dim = 0, #acc>
#column = #kernel.slice<dim = 1, #acc>
!buffer = !kernel.buffer<f32, global>
!half = !kernel.buffer<bf16, global>

// Threads that read or write global memory take addresses. A thread has pairs of neighbours in two rows that are eight
// apart; four threads share a row.
// CHECK-LABEL: llvm.func @inside
// CHECK-SAME: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}
// LAUNCH: kernel inside
// LAUNCH-NEXT: threads 128 shared 0
// LAUNCH-NEXT: address of argument 0
// LAUNCH-NEXT: address of argument 1
// LAUNCH-NEXT: address of argument 2
// LAUNCH-NEXT: kernel
// CHECK-SAME: passthrough = ["zyx-keeps-vectors"]
// Of a row it has the columns, of a column the rows.
// CHECK-COUNT-4: llvm.load %{{.*}} invariant {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-COUNT-2: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
kernel.func @inside(%x: !buffer, %h: !half, %y: !buffer) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %xs = kernel.view %x map <[<[256] strides [1]>]> : !buffer -> !kernel.view<256xf32, global>
  %hs = kernel.view %h map <[<[3, 128] strides [128, 1]>]> : !half -> !kernel.view<3x128xbf16, global>
  %ys = kernel.view %y map <[<[3, 128, 256] strides [32768, 256, 1]>]> : !buffer -> !kernel.view<3x128x256xf32, global>
  %r = kernel.load %xs[%c64] in_bounds [true] : !kernel.view<256xf32, global> -> tensor<32xf32, #row>
  %rows = kernel.broadcast %r dims [1] : tensor<32xf32, #row> -> tensor<64x32xf32, #acc>
  %c = kernel.load %hs[%c0, %c64] in_bounds [true, true] : !kernel.view<3x128xbf16, global> -> tensor<64xbf16, #column>
  %w = arith.extf %c : tensor<64xbf16, #column> to tensor<64xf32, #column>
  %columns = kernel.broadcast %w dims [0] : tensor<64xf32, #column> -> tensor<64x32xf32, #acc>
  %s = arith.addf %rows, %columns : tensor<64x32xf32, #acc>
  kernel.store %s, %ys[%c0, %c0, %c64] in_bounds [true, true, true] : tensor<64x32xf32, #acc>, !kernel.view<3x128x256xf32, global>
  kernel.return
}

// Rows end inside of a pair: both are read where the first one exists, and the second one is zero where it does not.
// CHECK-LABEL: llvm.func @odd
// CHECK: %[[FROM:.*]] = llvm.select %[[FIRST:.*]], %{{.*}}, %arg0 : i1, !llvm.ptr<1>
// CHECK: %[[BOTH:.*]] = llvm.load %[[FROM]] invariant {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
// CHECK: %[[SEEN:.*]] = llvm.select %[[FIRST]], %[[BOTH]]
// CHECK: %[[SECOND:.*]] = llvm.extractelement %[[SEEN]]
// CHECK: llvm.icmp "ult"
// CHECK: %[[OWN:.*]] = llvm.select %{{.*}}, %[[SECOND]], %{{.*}} : i1, f32
// CHECK: llvm.insertelement %[[OWN]], %[[SEEN]]
// They are written one by one.
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
kernel.func @odd(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[64, 67] strides [68, 1]>]> : !buffer -> !kernel.view<64x67xf32, global>
  %ys = kernel.view %y map <[<[64, 67] strides [68, 1]>]> : !buffer -> !kernel.view<64x67xf32, global>
  %t = kernel.load %xs[%c0, %c0] in_bounds [true, false] : !kernel.view<64x67xf32, global> -> tensor<64x72xf32, #acc>
  kernel.store %t, %ys[%c0, %c0] in_bounds [true, false] : tensor<64x72xf32, #acc>, !kernel.view<64x67xf32, global>
  kernel.return
}

// What is outside is read from the beginning of the buffer, and is zero; it is not written. Of an odd number of
// columns each is moved by itself.
// CHECK-LABEL: llvm.func @edges
// CHECK: llvm.icmp "ult"
// CHECK: %[[FROM:.*]] = llvm.select %{{.*}}, %{{.*}}, %arg0 : i1, !llvm.ptr<1>
// CHECK: %[[X:.*]] = llvm.load %[[FROM]] invariant {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: llvm.select %{{.*}}, %[[X]], %{{.*}} : i1, f32
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
kernel.func @edges(%x: !buffer, %y: !buffer) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[50, 33] strides [33, 1]>]> : !buffer -> !kernel.view<50x33xf32, global>
  %ys = kernel.view %y map <[<[50, 33] strides [33, 1]>]> : !buffer -> !kernel.view<50x33xf32, global>
  %t = kernel.load %xs[%c0, %c0] : !kernel.view<50x33xf32, global> -> tensor<64x16xf32, #acc>
  kernel.store %t, %ys[%c0, %c0] : tensor<64x16xf32, #acc>, !kernel.view<50x33xf32, global>
  kernel.return
}

// Where all columns exist, a row that does not is read as the last one, and is zero: one address for each row, and
// constants beside it.
// CHECK-LABEL: llvm.func @last_rows
// CHECK: %[[THERE:.*]] = llvm.icmp "ult" %[[ROW:.*]], %
// CHECK: %[[READ:.*]] = llvm.select %[[THERE]], %[[ROW]], %
// CHECK: llvm.sub %[[READ]], %
// CHECK: %[[START:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK-NOT: i1, !llvm.ptr<1>
// CHECK: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK: llvm.select %[[THERE]], %{{.*}}, %{{.*}} : i1, bf16
// CHECK-COUNT-7: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK-NOT: i1, !llvm.ptr<1>
// CHECK: llvm.store
kernel.func @last_rows(%h: !half, %y: !buffer) attributes {form = #kernel.form<machine>, threads = 128 : i64} {
  %c0 = arith.constant 0 : index
  %hs = kernel.view %h map <[<[100, 33] strides [33, 1]>]> : !half -> !kernel.view<100x33xbf16, global>
  %ys = kernel.view %y map <[<[64, 16] strides [16, 1]>]> : !buffer -> !kernel.view<64x16xf32, global>
  %t = kernel.load %hs[%c0, %c0] in_bounds [false, true] : !kernel.view<100x33xbf16, global> -> tensor<64x16xbf16, #acc>
  %w = arith.extf %t : tensor<64x16xbf16, #acc> to tensor<64x16xf32, #acc>
  kernel.store %w, %ys[%c0, %c0] in_bounds [true, true] : tensor<64x16xf32, #acc>, !kernel.view<64x16xf32, global>
  kernel.return
}
