// RUN: zyx-opt %s --zyx-kernel-attach-target=target=vulkan-subgroups --zyx-convert-graph-to-kernel > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: zyx-opt %t.mlir --zyx-kernel-verify-form=form=lowered -o /dev/null
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=vulkan --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=WITHOUT
// WITHOUT-NOT: kernel.subgroup

// Threads are numbered by their subgroups: by how many threads each has, and how many of its own come before.
// CHECK-LABEL: kernel.func @scan_0
// CHECK: kernel.grid
// CHECK: %[[SIZES:.*]] = kernel.alloc : <[[THREADS:[0-9]+]]xi32, shared>
// CHECK: %[[RANK:.*]] = kernel.subgroup_scan %{{.*}} : i32
// CHECK: %[[SIZE:.*]] = kernel.subgroup_reduce add %{{.*}} : i32
// CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[RANK]], %[[SIZE]]
// CHECK: scf.if %[[LAST]]
// CHECK: kernel.store %[[SIZE]], %[[SIZES]]
// CHECK: kernel.barrier workgroup
// CHECK: scf.for {{.*}} -> (i32)
// CHECK: %[[NUMBER:.*]] = arith.remui %{{.*}} : i32
// CHECK: arith.index_cast %[[NUMBER]] : i32 to index
// CHECK-NOT: kernel.id thread
// Each subgroup adds up what its threads have, and its last one says how much that is: three barriers, where there were eight.
// CHECK: %[[OWN:.*]] = kernel.subgroup_scan %{{.*}} : f32
// CHECK: %[[SUBGROUP:.*]] = kernel.id subgroup
// CHECK: kernel.barrier workgroup
// CHECK: scf.if %[[LAST]]
// CHECK: kernel.store %[[OWN]], %{{.*}}[%[[SUBGROUP]]]
// CHECK: kernel.barrier workgroup
// CHECK: scf.for {{.*}} to %[[SUBGROUP]] step {{.*}} -> (f32)
// CHECK: arith.addf %{{.*}}, %[[OWN]] : f32
// CHECK: kernel.barrier workgroup
// CHECK-NOT: kernel.barrier
// CHECK: kernel.store {{.*}} : vector<4xf32>
func.func @scan(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %y = graph.scan add %x dim = 1 : tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}

// Counts of i32 and f64 are added up so, too. Maxima, integers of 64 bits and neighbours that are of other columns go through shared
// memory alone.
// CHECK-LABEL: kernel.func @numbers_0
// CHECK: kernel.subgroup_scan %{{.*}} : i32
// CHECK: kernel.subgroup_scan %{{.*}} : i32
// CHECK-LABEL: kernel.func @largest_0
// CHECK-NOT: kernel.subgroup
// CHECK-LABEL: kernel.func @doubles_0
// CHECK: kernel.subgroup_scan %{{.*}} : f64
// CHECK-LABEL: kernel.func @wide_0
// CHECK-NOT: kernel.subgroup
// CHECK-LABEL: kernel.func @columns_0
// CHECK-NOT: kernel.subgroup
func.func @numbers(%x: tensor<4x1000xi32>) -> tensor<4x1000xi32> {
  %y = graph.scan add %x dim = 1 exclusive : tensor<4x1000xi32>
  return %y : tensor<4x1000xi32>
}
func.func @largest(%x: tensor<4x1000xi32>) -> tensor<4x1000xi32> {
  %y = graph.scan max %x dim = 1 : tensor<4x1000xi32>
  return %y : tensor<4x1000xi32>
}
func.func @doubles(%x: tensor<4x1000xf64>) -> tensor<4x1000xf64> {
  %y = graph.scan add %x dim = 1 : tensor<4x1000xf64>
  return %y : tensor<4x1000xf64>
}
func.func @wide(%x: tensor<4x1000xi64>) -> tensor<4x1000xi64> {
  %y = graph.scan add %x dim = 1 : tensor<4x1000xi64>
  return %y : tensor<4x1000xi64>
}
func.func @columns(%x: tensor<2x1000x4xf32>) -> tensor<2x1000x4xf32> {
  %y = graph.scan add %x dim = 1 : tensor<2x1000x4xf32>
  return %y : tensor<2x1000x4xf32>
}

// Threads of a scatter count what they found.
// CHECK-LABEL: kernel.func @scatter_0
// CHECK: kernel.subgroup_scan
// CHECK: arith.remui
// CHECK: kernel.subgroup_scan %{{.*}} : i32
// CHECK: kernel.id num_subgroups
func.func @scatter(%x: tensor<512x8xf32>, %i: tensor<300xi32>, %u: tensor<300x8xf32>) -> tensor<512x8xf32> {
  %y = graph.scatter add %x[%i], %u dim = 0 : (tensor<512x8xf32>, tensor<300xi32>, tensor<300x8xf32>) -> tensor<512x8xf32>
  return %y : tensor<512x8xf32>
}

// Those of a sort have two numbers in a word, which are added up apart.
// CHECK-LABEL: kernel.func @first_0_sort
// CHECK: kernel.subgroup_scan
// CHECK: arith.remui
// CHECK: %[[LOW:.*]] = kernel.subgroup_scan %{{.*}} : i32
// CHECK: arith.extui %[[LOW]] : i32 to i64
// CHECK: %[[HIGH:.*]] = kernel.subgroup_scan %{{.*}} : i32
// CHECK: arith.extui %[[HIGH]] : i32 to i64
// CHECK: arith.ori %{{.*}} : i64
func.func @first(%x: tensor<4x8192xf32>) -> tensor<4x8192xf32> {
  %y = graph.sort values %x dim = 1 descending {zyx.first = 8 : i64} : tensor<4x8192xf32> -> tensor<4x8192xf32>
  return %y : tensor<4x8192xf32>
}
