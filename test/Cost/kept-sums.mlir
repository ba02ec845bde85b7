// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=x86-64-v4 --zyx-cost-cut-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse --zyx-split-groups --zyx-kernel-attach-target=target=sm_80 --zyx-cost-cut-groups | FileCheck %s --check-prefix=CARD

// Squares of a code book that is a weight are summed up once for many runs, where a kernel would read all of it in each;
// those of an input are not.
// CHECK-LABEL: func.func @weight
// CHECK:       %[[SUMS:.*]] = graph.group(%{{.*}} = %arg1 : tensor<8192x256xf32>) -> tensor<8192xf32>
// CHECK:       graph.group(%{{.*}} = %[[SUMS]] : tensor<8192xf32>, %{{.*}} = %arg0
// CHECK-LABEL: func.func @input
// CHECK:       graph.group(%{{.*}} = %arg1 : tensor<8192x256xf32>, %{{.*}} = %arg0
// CHECK-NOT:   graph.group
// CARD-LABEL:  func.func @weight
// CARD:        graph.group(%{{.*}} = %arg1 : tensor<8192x256xf32>, %{{.*}} = %arg0
// CARD-NOT:    graph.group
// CARD-LABEL:  func.func @input
func.func @weight(%x: tensor<8192xf32>, %book: tensor<8192x256xf32> {graph.weight}) -> tensor<8192xf32> {
  %s = graph.binary mul %book, %book : tensor<8192x256xf32>
  %c = graph.reduce add %s dims = [1] : tensor<8192x256xf32> -> tensor<8192xf32>
  %y = graph.binary sub %c, %x : tensor<8192xf32>
  return %y : tensor<8192xf32>
}

func.func @input(%x: tensor<8192xf32>, %book: tensor<8192x256xf32>) -> tensor<8192xf32> {
  %s = graph.binary mul %book, %book : tensor<8192x256xf32>
  %c = graph.reduce add %s dims = [1] : tensor<8192x256xf32> -> tensor<8192xf32>
  %y = graph.binary sub %c, %x : tensor<8192xf32>
  return %y : tensor<8192xf32>
}
