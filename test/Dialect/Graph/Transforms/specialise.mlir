// RUN: zyx-opt %s --split-input-file --zyx-graph-specialise=values=n=3,m=8 | FileCheck %s

// CHECK-LABEL: func.func @rows(%arg0: tensor<3x8xf32>, %arg1: tensor<3xf32>) -> tensor<3x8xf32>
func.func @rows(%x: tensor<?x?xf32, #graph.extents<"n", "m">>, %b: tensor<?xf32, #graph.extents<"n">>)
    -> tensor<?x?xf32, #graph.extents<"n", "m">> {
  // CHECK: graph.reduce add %arg0 dims = [1] : tensor<3x8xf32> -> tensor<3xf32>
  %s = graph.reduce add %x dims = [1]
      : tensor<?x?xf32, #graph.extents<"n", "m">> -> tensor<?xf32, #graph.extents<"n">>
  %t = graph.binary add %s, %b : tensor<?xf32, #graph.extents<"n">>
  // CHECK: graph.reshape {{.*}} : tensor<3xf32> -> tensor<3x1xf32>
  %c = graph.reshape %t : tensor<?xf32, #graph.extents<"n">> -> tensor<?x1xf32, #graph.extents<"n", "1">>
  // CHECK: graph.expand {{.*}} : tensor<3x1xf32> -> tensor<3x8xf32>
  %e = graph.expand %c
      : tensor<?x1xf32, #graph.extents<"n", "1">> -> tensor<?x?xf32, #graph.extents<"n", "m">>
  %y = graph.binary mul %x, %e : tensor<?x?xf32, #graph.extents<"n", "m">>
  return %y : tensor<?x?xf32, #graph.extents<"n", "m">>
}

// -----

// Regions are specialised too.
// CHECK-LABEL: func.func @group
// CHECK: graph.group(%{{.*}} = %arg0 : tensor<48xf32>) -> tensor<48xf32>
func.func @group(%x: tensor<?xf32, #graph.extents<"2*m*n">>) -> tensor<?xf32, #graph.extents<"2*m*n">> {
  %y = graph.group(%p = %x : tensor<?xf32, #graph.extents<"2*m*n">>) -> tensor<?xf32, #graph.extents<"2*m*n">> {
    %0 = graph.unary exp %p : tensor<?xf32, #graph.extents<"2*m*n">>
    graph.yield %0 : tensor<?xf32, #graph.extents<"2*m*n">>
  }
  return %y : tensor<?xf32, #graph.extents<"2*m*n">>
}

// -----

// CHECK-LABEL: func.func @nothing(%arg0: tensor<4xf32>)
func.func @nothing(%x: tensor<4xf32>) { return }
