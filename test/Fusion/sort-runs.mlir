// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' -zyx-fuse | FileCheck %s
// RUN: zyx-opt %s -zyx-fuse | FileCheck %s --check-prefix=ALONE

// Few long rows are sorted in runs, and these together; behind the last element stands what is last.
// CHECK-LABEL: func.func @values
// CHECK:       graph.sort values %{{.*}} dim = 2 descending : tensor<1x25x2048xf32>
// CHECK:       graph.sort values %{{.*}} dim = 1 descending {{.*}}zyx.runs = 25{{.*}} : tensor<1x51200xf32>
// ALONE-LABEL: func.func @values
// ALONE-NOT:   zyx.runs
func.func @values(%x: tensor<1x50257xf32>) -> tensor<1x50257xf32> {
  %y = graph.sort values %x dim = 1 descending : tensor<1x50257xf32> -> tensor<1x50257xf32>
  return %y : tensor<1x50257xf32>
}

// Where rows are many each has a workgroup; what a text says of runs is not believed.
// CHECK-LABEL: func.func @many
// CHECK-NOT:   zyx.runs
func.func @many(%x: tensor<64x32000xf32>) -> tensor<64x32000xf32> {
  %y = graph.sort values %x dim = 1 {zyx.runs = 4 : i64} : tensor<64x32000xf32> -> tensor<64x32000xf32>
  return %y : tensor<64x32000xf32>
}
