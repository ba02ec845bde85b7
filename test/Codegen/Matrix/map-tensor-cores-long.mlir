// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// Behind this product stand five quotients. Code for each of the 128 sums of a thread would not stay in the instruction
// cache: a loop has that of one panel, and carries the sums of the others.

!b = !kernel.buffer<bf16, global>
!m = !kernel.view<512x512xbf16, global>
!t = tensor<512x512xbf16>
!f = tensor<512x512xf32>

// CHECK-LABEL: kernel.func @two
// CHECK: kernel.role "consumer"
// CHECK: %[[SUMS:.*]] = kernel.mma_wait pending 0
// CHECK: kernel.arrive
// CHECK-DAG: %[[P0:.*]] = kernel.extract %[[SUMS]][0, 0] {{.*}} -> tensor<64x64xf32
// CHECK-DAG: %[[P1:.*]] = kernel.extract %[[SUMS]][0, 64] {{.*}} -> tensor<64x64xf32
// CHECK-DAG: %[[P2:.*]] = kernel.extract %[[SUMS]][0, 128] {{.*}} -> tensor<64x64xf32
// CHECK-DAG: %[[P3:.*]] = kernel.extract %[[SUMS]][0, 192] {{.*}} -> tensor<64x64xf32
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[P0]], %[[B:.*]] = %[[P1]], %[[C:.*]] = %[[P2]])
// CHECK: kernel.async_wait pending 0 read
// CHECK-COUNT-4: kernel.extract %[[A]]
// CHECK-NOT: kernel.extract
// CHECK: kernel.async_store
// CHECK: kernel.async_store
// CHECK: scf.yield %[[B]], %[[C]], %[[P3]]
kernel.func @two(%a: !b, %w: !b, %g: !b, %first: !b, %second: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 256, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> !t
  %2 = kernel.view %w map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> !t
  %z = arith.constant dense<0.0> : !f
  %4 = kernel.dot %1, %3, %z : !t, !t -> !f
  %5 = kernel.view %g map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %6 = kernel.load %5[%c0, %c0] axes ["m", "n"] : !m -> !t
  %7 = arith.extf %6 : !t to !f
  %q0 = arith.divf %4, %7 : !f
  %q1 = arith.divf %q0, %7 : !f
  %q2 = arith.divf %q1, %7 : !f
  %q3 = arith.divf %q2, %7 : !f
  %q4 = arith.divf %q3, %7 : !f
  %10 = arith.truncf %q4 : !f to !t
  %11 = kernel.view %first map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  kernel.store %10, %11[%c0, %c0] : !t, !m
  %12 = arith.addf %7, %q4 : !f
  %13 = arith.truncf %12 : !f to !t
  %14 = kernel.view %second map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  kernel.store %13, %14[%c0, %c0] : !t, !m
  kernel.return
}

// One result has the two slots in turns, from panel to panel.
// CHECK-LABEL: kernel.func @one
// CHECK: kernel.role "consumer"
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(
// CHECK: kernel.async_wait pending 1 read
// CHECK: kernel.async_store
// CHECK-NOT: kernel.async_store
// CHECK: scf.yield
kernel.func @one(%a: !b, %w: !b, %g: !b, %first: !b, %second: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 256, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> !t
  %2 = kernel.view %w map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> !t
  %z = arith.constant dense<0.0> : !f
  %4 = kernel.dot %1, %3, %z : !t, !t -> !f
  %5 = kernel.view %g map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %6 = kernel.load %5[%c0, %c0] axes ["m", "n"] : !m -> !t
  %7 = arith.extf %6 : !t to !f
  %q0 = arith.divf %4, %7 : !f
  %q1 = arith.divf %q0, %7 : !f
  %q2 = arith.divf %q1, %7 : !f
  %q3 = arith.divf %q2, %7 : !f
  %q4 = arith.divf %q3, %7 : !f
  %10 = arith.truncf %q4 : !f to !t
  %11 = kernel.view %first map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  kernel.store %10, %11[%c0, %c0] : !t, !m
  kernel.return
}

// Of a narrower tile all of it stays.
// CHECK-LABEL: kernel.func @narrow
// CHECK: kernel.mma_wait pending 0
// CHECK-NOT: scf.for
// CHECK-COUNT-2: kernel.async_store
kernel.func @narrow(%a: !b, %w: !b, %g: !b, %first: !b, %second: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 128, 64, stages 3, group 8>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %a map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> !t
  %2 = kernel.view %w map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !m -> !t
  %z = arith.constant dense<0.0> : !f
  %4 = kernel.dot %1, %3, %z : !t, !t -> !f
  %5 = kernel.view %g map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  %6 = kernel.load %5[%c0, %c0] axes ["m", "n"] : !m -> !t
  %7 = arith.extf %6 : !t to !f
  %q0 = arith.divf %4, %7 : !f
  %q1 = arith.divf %q0, %7 : !f
  %q2 = arith.divf %q1, %7 : !f
  %q3 = arith.divf %q2, %7 : !f
  %q4 = arith.divf %q3, %7 : !f
  %10 = arith.truncf %q4 : !f to !t
  %11 = kernel.view %first map <[<[512, 512] strides [512, 1]>]> : !b -> !m
  kernel.store %10, %11[%c0, %c0] : !t, !m
  kernel.return
}
