// The paper kernel: one instruction for one op. How it is launched is what the function's parameters follow.
// RUN: zyx-opt %source_dir/test/Dialect/Kernel/paper/gemm-hopper.mlir -zyx-kernel-attach-target=target=sm_90a -zyx-convert-kernel-to-nvvm | FileCheck %s
// RUN: zyx-translate --kernel-to-launch-info %source_dir/test/Dialect/Kernel/paper/gemm-hopper.mlir | FileCheck %s --check-prefix=LAUNCH

// LAUNCH: kernel gemm
// LAUNCH-NEXT: threads 384 shared 229440
// LAUNCH-NEXT: tensor map of argument 0 element bf16 box [128, 64] swizzle 128 symbols [3, 5] map
// LAUNCH-NEXT: tensor map of argument 1 {{.*}} box [256, 64]
// LAUNCH-NEXT: tensor map of argument 2 {{.*}} box [64, 64]
// LAUNCH-NEXT: scalar of argument 3
// LAUNCH-NEXT: scalar of argument 4
// LAUNCH-NEXT: scalar of argument 5
// LAUNCH-NOT: {{.}}

// CHECK: llvm.mlir.global external @zyx_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @gemm(
// CHECK-SAME: %[[A:[a-z0-9]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME: %[[B:[a-z0-9]*]]: !llvm.ptr
// CHECK-SAME: %[[C:[a-z0-9]*]]: !llvm.ptr
// CHECK-SAME: %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32, %{{[a-z0-9]*}}: i32)
// CHECK-SAME: attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384, 1, 1>

// Barriers, made by one thread.
// CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
// CHECK: llvm.cond_br %[[FIRST]]
// CHECK: nvvm.prefetch tensormap, %[[A]]
// CHECK: nvvm.prefetch tensormap, %[[B]]
// CHECK: nvvm.prefetch tensormap, %[[C]]
// CHECK: llvm.cond_br %[[FIRST]]
// CHECK-COUNT-4: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK-COUNT-4: nvvm.mbarrier.init
// CHECK: nvvm.barrier0
// CHECK: nvvm.setmaxregister{{ +}}decrease 40

// The producer waits in a loop of ours, announces 48 KiB, and starts two copies.
// CHECK: %[[DONE:.*]] = nvvm.mbarrier.try_wait %{{.*}}, %{{.*}} : !llvm.ptr<3>, i32 -> i1
// CHECK-NEXT: llvm.cond_br %[[DONE]],
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(49152 : i32)
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]], %{{.*}} {isCTAOnly = true}
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]], %{{.*}} {isCTAOnly = true}

// The consumer: four contractions of 16, then a wait that the accumulators pass through.
// CHECK: nvvm.setmaxregister{{ +}}increase 232
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.mlir.constant(4611686293305360384 : i64)
// An address in shared memory has 18 bits. In a cluster the workgroup's number stands above, where a descriptor has distances.
// CHECK: %[[BITS:.*]] = llvm.mlir.constant(262143 : i32) : i32
// CHECK: llvm.and %{{.*}}, %[[BITS]] : i32
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 1;", "=f
// CHECK: nvvm.mbarrier.arrive
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;", "=f

// The way out.
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK: llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[C]],
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK-NOT: kernel.
