// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-part-contractions | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-part-contractions | FileCheck %s --check-prefix=FEW

// The factors of a long sum get a dimension of parts. Behind the results' dimensions each element of a part would be
// stored by itself: it comes first.
// CHECK-LABEL: func.func @product
// CHECK: graph.reshape %{{.*}} -> tensor<32x1x[[PARTS:[0-9]+]]x[[LENGTH:[0-9]+]]xf32>
// CHECK: graph.permute %{{.*}} order = [2, 0, 1, 3] : {{.*}} -> tensor<[[PARTS]]x32x1x[[LENGTH]]xf32>
// CHECK: graph.permute %{{.*}} order = [2, 0, 1, 3] : {{.*}} -> tensor<[[PARTS]]x1x32x[[LENGTH]]xf32>
// CHECK: graph.reduce add %{{.*}} dims = [0, 3] : tensor<[[PARTS]]x32x32x[[LENGTH]]xf32> -> tensor<32x32xf32>
// FEW-LABEL: func.func @product
// FEW: graph.reduce add %{{.*}} dims = [2] : tensor<32x32x65536xf32> -> tensor<32x32xf32>
func.func @product(%a: tensor<32x65536xf32>, %b: tensor<32x65536xf32>) -> tensor<32x32xf32> {
  %a1 = graph.reshape %a : tensor<32x65536xf32> -> tensor<32x1x65536xf32>
  %as = graph.expand %a1 : tensor<32x1x65536xf32> -> tensor<32x32x65536xf32>
  %b1 = graph.reshape %b : tensor<32x65536xf32> -> tensor<1x32x65536xf32>
  %bs = graph.expand %b1 : tensor<1x32x65536xf32> -> tensor<32x32x65536xf32>
  %p = graph.binary mul %as, %bs : tensor<32x32x65536xf32>
  %y = graph.reduce add %p dims = [2] : tensor<32x32x65536xf32> -> tensor<32x32xf32>
  return %y : tensor<32x32xf32>
}
