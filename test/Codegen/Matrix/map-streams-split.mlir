// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// Few queries of many keys: a cluster of four workgroups has a tile, and each of them streams eight of 32 blocks.

// CHECK-LABEL: kernel.func @attention
// CHECK-SAME: attributes {cluster = 4 : i64, form = #kernel.form<machine>, programs = 32 : i64, threads = 256 : i64}
// CHECK: %[[OUT:.*]] = kernel.alloc : <1x4x64x16xf32, shared>
// CHECK: %[[SUM:.*]] = kernel.alloc : <1x4x64x8xf32, shared>
// CHECK: %[[MAX:.*]] = kernel.alloc : <1x4x64x8xf32, shared>
// CHECK: %[[RECEIVED:.*]] = kernel.barriers arrivals 1 : <1>
// CHECK: kernel.expect %[[RECEIVED]][%c0] bytes 32768
// CHECK: kernel.barrier workgroup
// CHECK: kernel.cluster_arrive
// CHECK: %[[RANK:.*]] = kernel.id cluster_rank
// CHECK: kernel.role "producer"
// CHECK: arith.muli %[[RANK]]
// CHECK: kernel.role "consumer" count 1
// CHECK: kernel.cluster_wait
// Maxima and sums go to all, and of results each gets its columns.
// CHECK-COUNT-4: kernel.cluster_send {{.*}} signal %[[RECEIVED]][%c0] : tensor<64x8xf32
// CHECK-COUNT-4: kernel.cluster_send {{.*}} signal %[[RECEIVED]][%c0] : tensor<64x8xf32
// CHECK-COUNT-4: kernel.cluster_send {{.*}} signal %[[RECEIVED]][%c0] : tensor<64x16xf32
// CHECK: kernel.wait %[[RECEIVED]][%c0] parity %false cluster
// What is relative to a smaller maximum shrinks.
// CHECK-COUNT-3: arith.maximumf
// CHECK-COUNT-4: math.exp2 {{.*}} : tensor<64xf32
// CHECK: arith.divf
// CHECK-NOT: kernel.async_store
// CHECK: kernel.store {{.*}} in_bounds [true, false, true] : tensor<64x16xbf16
!b = !kernel.buffer<bf16, global>
!few = !kernel.view<8x197x64xbf16, global>
!many = !kernel.view<8x4096x64xbf16, global>
!turned = !kernel.view<8x64x4096xbf16, global>
kernel.func @attention(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 128, 64, stages 4, group 25, split 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] : !few -> tensor<8x197x64xbf16>
  %2 = kernel.view %k map <[<[8, 64, 4096] strides [262144, 1, 64]>]> : !b -> !turned
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !turned -> tensor<8x64x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<8x197x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<8x197x64xbf16>, tensor<8x64x4096xbf16> -> tensor<8x197x4096xf32>
  %6 = kernel.reduce max %4 dims [2] : tensor<8x197x4096xf32> -> tensor<8x197xf32>
  %7 = kernel.broadcast %6 dims [0, 1] : tensor<8x197xf32> -> tensor<8x197x4096xf32>
  %8 = arith.subf %4, %7 : tensor<8x197x4096xf32>
  %9 = math.exp %8 : tensor<8x197x4096xf32>
  %10 = kernel.reduce add %9 dims [2] : tensor<8x197x4096xf32> -> tensor<8x197xf32>
  %13 = kernel.view %v map <[<[8, 4096, 64] strides [262144, 64, 1]>]> : !b -> !many
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b", "n", "d"] : !many -> tensor<8x4096x64xbf16>
  %y = arith.constant dense<0.0> : tensor<8x197x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<8x197x4096xf32>, tensor<8x4096x64xbf16> -> tensor<8x197x64xf32>
  %16 = kernel.broadcast %10 dims [0, 1] : tensor<8x197xf32> -> tensor<8x197x64xf32>
  %17 = arith.divf %15, %16 : tensor<8x197x64xf32>
  %18 = arith.truncf %17 : tensor<8x197x64xf32> to tensor<8x197x64xbf16>
  %19 = kernel.view %o map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  kernel.store %18, %19[%c0, %c0, %c0] : tensor<8x197x64xbf16>, !few
  kernel.return
}

// Sums of products are added up.

// CHECK-LABEL: kernel.func @chain
// CHECK-SAME: attributes {cluster = 4 : i64, form = #kernel.form<machine>, programs = 32 : i64, threads = 256 : i64}
// CHECK: kernel.alloc : <1x4x64x16xf32, shared>
// CHECK: kernel.cluster_arrive
// CHECK: kernel.cluster_wait
// CHECK-COUNT-4: kernel.cluster_send {{.*}} : tensor<64x16xf32
// CHECK: kernel.wait {{.*}} parity %false cluster
// CHECK-COUNT-3: arith.addf {{.*}} : tensor<64x16xf32
// CHECK: kernel.store {{.*}} in_bounds [true, false, true] : tensor<64x16xbf16
kernel.func @chain(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<64, 128, 64, stages 4, group 25, split 4>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  %1 = kernel.load %0[%c0, %c0, %c0] axes ["b", "m", "k"] : !few -> tensor<8x197x64xbf16>
  %2 = kernel.view %k map <[<[8, 64, 4096] strides [262144, 1, 64]>]> : !b -> !turned
  %3 = kernel.load %2[%c0, %c0, %c0] axes ["b", "k", "n"] : !turned -> tensor<8x64x4096xbf16>
  %z = arith.constant dense<0.0> : tensor<8x197x4096xf32>
  %4 = kernel.dot %1, %3, %z : tensor<8x197x64xbf16>, tensor<8x64x4096xbf16> -> tensor<8x197x4096xf32>
  %9 = arith.mulf %4, %4 : tensor<8x197x4096xf32>
  %13 = kernel.view %v map <[<[8, 4096, 64] strides [262144, 64, 1]>]> : !b -> !many
  %14 = kernel.load %13[%c0, %c0, %c0] axes ["b", "n", "d"] : !many -> tensor<8x4096x64xbf16>
  %y = arith.constant dense<0.0> : tensor<8x197x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<8x197x4096xf32>, tensor<8x4096x64xbf16> -> tensor<8x197x64xf32>
  %18 = arith.truncf %15 : tensor<8x197x64xf32> to tensor<8x197x64xbf16>
  %19 = kernel.view %o map <[<[8, 197, 64] strides [12608, 64, 1]>]> : !b -> !few
  kernel.store %18, %19[%c0, %c0, %c0] : tensor<8x197x64xbf16>, !few
  kernel.return
}
