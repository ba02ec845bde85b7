// RUN: zyx-opt %s --zyx-kernel-attach-target='target=x86-64-v4 facts=identity.cores=2' --zyx-cost-lay-out-results --remarks-filter=zyx-fusion --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t

// The last but one group reads a result that lies in another order now, and is cut for it. Its own result might be turned, too, and is that of another
// group by then.
// WHY:     remark: [Passed] LayOutResults
// WHY:     remark: [Passed] CutGroup
// WHY-NOT: LayOutResults
// CHECK-LABEL: func.func @neighbour
// CHECK:         %[[A:.*]] = graph.group{{.*}} -> tensor<16x16x1x17xf32>
// CHECK:         %[[SUMS:.*]] = graph.group{{.*}} -> tensor<1x17x1x16x16x1xf32>
// CHECK:         graph.group({{.*}} = %[[A]] : tensor<16x16x1x17xf32>, {{.*}} = %[[SUMS]] : {{.*}}) -> tensor<1x16x16x17xf32>
func.func @neighbour(%arg0: tensor<1x16x16x17xf32>, %arg1: tensor<1x17x16x16xf32> {graph.weight}) -> (tensor<17xf32>) {
  %0 = graph.group(%arg2 = %arg0 : tensor<1x16x16x17xf32>) -> tensor<1x17x16x16xf32> {
    %5 = graph.constant dense<1.000000e+00> : tensor<1x17x1x16x16x1x3x3xf32>
    %6 = graph.reduce add %5 dims = [6, 7] : tensor<1x17x1x16x16x1x3x3xf32> -> tensor<1x17x1x16x16x1xf32>
    %7 = graph.permute %arg2 order = [0, 3, 1, 2] : tensor<1x16x16x17xf32> -> tensor<1x17x16x16xf32>
    %8 = graph.reshape %6 : tensor<1x17x1x16x16x1xf32> -> tensor<1x17x16x16xf32>
    %9 = graph.binary add %7, %8 : tensor<1x17x16x16xf32>
    graph.yield %9 : tensor<1x17x16x16xf32>
  }
  %1 = graph.group(%arg2 = %0 : tensor<1x17x16x16xf32>) -> tensor<1x16x16xf32> {
    %5 = graph.reduce add %arg2 dims = [1] : tensor<1x17x16x16xf32> -> tensor<1x16x16xf32>
    graph.yield %5 : tensor<1x16x16xf32>
  }
  %2 = graph.group(%arg2 = %1 : tensor<1x16x16xf32>) -> tensor<256x17xf32> {
    %5 = graph.reshape %arg2 : tensor<1x16x16xf32> -> tensor<256x1x1xf32>
    %6 = graph.expand %5 : tensor<256x1x1xf32> -> tensor<256x1x17xf32>
    %7 = graph.reduce add %6 dims = [1] : tensor<256x1x17xf32> -> tensor<256x17xf32>
    graph.yield %7 : tensor<256x17xf32>
  }
  %3 = graph.group(%arg2 = %2 : tensor<256x17xf32>, %arg3 = %0 : tensor<1x17x16x16xf32>, %arg4 = %arg1 : tensor<1x17x16x16xf32>) -> tensor<1x16x16x17xf32> {
    %5 = graph.reshape %arg2 : tensor<256x17xf32> -> tensor<1x16x16x17xf32>
    %6 = graph.permute %5 order = [0, 3, 1, 2] : tensor<1x16x16x17xf32> -> tensor<1x17x16x16xf32>
    %7 = graph.reshape %6 : tensor<1x17x16x16xf32> -> tensor<1x17x1x16x16x1xf32>
    %8 = graph.constant dense<0.000000e+00> : tensor<f32>
    %9 = graph.pad %7, %8 low = [0, 0, 0, 1, 1, 0] high = [0, 0, 0, 1, 1, 0] interior = [0, 0, 0, 0, 0, 0] : tensor<1x17x1x16x16x1xf32> -> tensor<1x17x1x18x18x1xf32>
    %10 = graph.window %9 dims = [3, 4] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<1x17x1x18x18x1xf32> -> tensor<1x17x1x16x16x1x3x3xf32>
    %11 = graph.reduce add %10 dims = [6, 7] : tensor<1x17x1x16x16x1x3x3xf32> -> tensor<1x17x1x16x16x1xf32>
    %12 = graph.reshape %11 : tensor<1x17x1x16x16x1xf32> -> tensor<1x17x16x16xf32>
    %13 = graph.binary add %arg3, %12 : tensor<1x17x16x16xf32>
    %14 = graph.permute %13 order = [0, 2, 3, 1] : tensor<1x17x16x16xf32> -> tensor<1x16x16x17xf32>
    %15 = graph.permute %arg4 order = [0, 2, 3, 1] : tensor<1x17x16x16xf32> -> tensor<1x16x16x17xf32>
    %16 = graph.binary mul %14, %15 : tensor<1x16x16x17xf32>
    graph.yield %16 : tensor<1x16x16x17xf32>
  }
  %4 = graph.group(%arg2 = %3 : tensor<1x16x16x17xf32>) -> tensor<17xf32> {
    %5 = graph.reduce add %arg2 dims = [0, 1, 2] : tensor<1x16x16x17xf32> -> tensor<17xf32>
    graph.yield %5 : tensor<17xf32>
  }
  return %4 : tensor<17xf32>
}
