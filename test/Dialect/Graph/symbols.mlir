// RUN: zyx-opt %s --zyx-test-graph-transport | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: tensor<?x?xf32, #graph.extents<"n", "m">>
func.func @rows(%x: tensor<?x?xf32, #graph.extents<"n", "m">>, %b: tensor<?xf32, #graph.extents<"n">>)
    -> tensor<?x?xf32, #graph.extents<"n", "m">> {
  // CHECK: graph.reduce add %{{.*}} dims = [1] : tensor<?x?xf32, #graph.extents<"n", "m">> -> tensor<?xf32, #graph.extents<"n">>
  %s = graph.reduce add %x dims = [1]
      : tensor<?x?xf32, #graph.extents<"n", "m">> -> tensor<?xf32, #graph.extents<"n">>
  %t = graph.binary add %s, %b : tensor<?xf32, #graph.extents<"n">>
  %c = graph.reshape %t : tensor<?xf32, #graph.extents<"n">> -> tensor<?x1xf32, #graph.extents<"n", "1">>
  %e = graph.expand %c
      : tensor<?x1xf32, #graph.extents<"n", "1">> -> tensor<?x?xf32, #graph.extents<"n", "m">>
  %y = graph.binary mul %x, %e : tensor<?x?xf32, #graph.extents<"n", "m">>
  return %y : tensor<?x?xf32, #graph.extents<"n", "m">>
}
