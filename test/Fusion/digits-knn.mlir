// RUN: zyx-opt %source_dir/examples/digits-knn.mlir --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s

// Both norms, the distances, the nearest neighbour with its label, and the count.
// CHECK-LABEL: func.func @knn
// CHECK: %[[X:.*]] = graph.group(%{{.*}} = %arg2 : tensor<797x8x8xui8>) -> tensor<797xf32>
// CHECK: %[[Y:.*]] = graph.group(%{{.*}} = %arg0 : tensor<1000x8x8xui8>) -> tensor<1000xf32>
// CHECK: %[[D:.*]] = graph.group(%{{.*}} = %arg2 : {{.*}}, %{{.*}} = %arg0 : {{.*}}, %{{.*}} = %[[X]] : {{.*}}, %{{.*}} = %[[Y]] : {{.*}}) -> tensor<797x1000xf32>
// CHECK: %[[N:.*]]:2 = graph.group(%{{.*}} = %[[D]] : {{.*}}, %{{.*}} = %arg1 : {{.*}}, %{{.*}} = %arg3 : {{.*}}) -> (tensor<797xi64>, tensor<797xi1>)
// CHECK: graph.reduce min
// CHECK: graph.reduce min
// CHECK: graph.gather
// CHECK: %[[C:.*]] = graph.group(%{{.*}} = %[[N]]#1 : {{.*}}) -> tensor<i64>
// CHECK-NOT: graph.group
// CHECK: return %[[C]], %[[N]]#0
