// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-cost-cut-groups | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-cost-cut-groups -zyx-cost-lay-out-results --remarks-filter=zyx-fusion --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ORDER

// A bias of all heads is gathered by numbers that are data, and each of 32 windows would gather it again, one by one: heads are
// neighbours in the table, but a program has one of them. So the bias is stored.
// CHECK-LABEL: func.func @gathered_bias
// CHECK: %[[BIAS:.*]] = graph.group({{.*}}) -> tensor<64x64x16xf32>
// CHECK: graph.gather
// CHECK: graph.group({{.*}} = %[[BIAS]] : tensor<64x64x16xf32>{{.*}}) -> tensor<32x16x64x32xf32>
// CHECK-NOT: graph.gather
// CHECK: return
// Vectors lie along queries, which come last then, behind keys.
// ORDER: what stands beside the scores of an attention is stored in the order in which vectors read it
// ORDER-LABEL: func.func @gathered_bias
// ORDER: %[[BIAS:.*]] = graph.group({{.*}}) -> tensor<16x64x64xf32>
// ORDER: graph.gather
// ORDER: graph.permute {{.*}} order = [2, 1, 0] : tensor<64x64x16xf32> -> tensor<16x64x64xf32>
// ORDER: graph.group({{.*}} = %[[BIAS]] : tensor<16x64x64xf32>{{.*}}) -> tensor<32x16x64x32xf32>
// ORDER-NEXT: graph.permute {{.*}} order = [2, 1, 0] : tensor<16x64x64xf32> -> tensor<64x64x16xf32>
func.func @gathered_bias(%arg0: tensor<32x16x64x32xf32> {graph.name = "q"}, %arg1: tensor<32x16x64x32xf32> {graph.name = "k"}, %arg2: tensor<32x16x64x32xf32> {graph.name = "v"}, %arg3: tensor<127x16xf32> {graph.name = "table", graph.weight}, %arg4: tensor<64x64xi64> {graph.name = "index", graph.weight}) -> (tensor<32x16x64x32xf32> {graph.name = "result0"}) {
  %0 = graph.group(%arg5 = %arg0 : tensor<32x16x64x32xf32>, %arg6 = %arg1 : tensor<32x16x64x32xf32>, %arg7 = %arg3 : tensor<127x16xf32>, %arg8 = %arg4 : tensor<64x64xi64>, %arg9 = %arg2 : tensor<32x16x64x32xf32>) -> tensor<32x16x64x32xf32> {
    %1 = graph.reshape %arg5 : tensor<32x16x64x32xf32> -> tensor<32x16x64x32x1xf32>
    %2 = graph.expand %1 : tensor<32x16x64x32x1xf32> -> tensor<32x16x64x32x64xf32>
    %3 = graph.permute %arg6 order = [0, 1, 3, 2] : tensor<32x16x64x32xf32> -> tensor<32x16x32x64xf32>
    %4 = graph.reshape %3 : tensor<32x16x32x64xf32> -> tensor<32x16x1x32x64xf32>
    %5 = graph.expand %4 : tensor<32x16x1x32x64xf32> -> tensor<32x16x64x32x64xf32>
    %6 = graph.binary mul %2, %5 : tensor<32x16x64x32x64xf32>
    %7 = graph.reduce add %6 dims = [3] : tensor<32x16x64x32x64xf32> -> tensor<32x16x64x64xf32>
    %8 = graph.constant dense<0.176776692> : tensor<32x16x64x64xf32>
    %9 = graph.binary mul %7, %8 : tensor<32x16x64x64xf32>
    %10 = graph.gather %arg7[%arg8] dim = 0 : (tensor<127x16xf32>, tensor<64x64xi64>) -> tensor<64x64x16xf32>
    %11 = graph.permute %10 order = [2, 0, 1] : tensor<64x64x16xf32> -> tensor<16x64x64xf32>
    %12 = graph.reshape %11 : tensor<16x64x64xf32> -> tensor<1x16x64x64xf32>
    %13 = graph.expand %12 : tensor<1x16x64x64xf32> -> tensor<32x16x64x64xf32>
    %14 = graph.binary add %9, %13 : tensor<32x16x64x64xf32>
    %15 = graph.reduce max %14 dims = [3] : tensor<32x16x64x64xf32> -> tensor<32x16x64xf32>
    %16 = graph.reshape %15 : tensor<32x16x64xf32> -> tensor<32x16x64x1xf32>
    %17 = graph.expand %16 : tensor<32x16x64x1xf32> -> tensor<32x16x64x64xf32>
    %18 = graph.binary sub %14, %17 : tensor<32x16x64x64xf32>
    %19 = graph.unary exp %18 : tensor<32x16x64x64xf32>
    %20 = graph.reduce add %19 dims = [3] : tensor<32x16x64x64xf32> -> tensor<32x16x64xf32>
    %21 = graph.constant dense<1.562500e-02> : tensor<32x16x64xf32>
    %22 = graph.binary mul %20, %21 : tensor<32x16x64xf32>
    %23 = graph.constant dense<1.562500e-02> : tensor<32x16x64x64xf32>
    %24 = graph.binary mul %19, %23 : tensor<32x16x64x64xf32>
    %25 = graph.reshape %24 : tensor<32x16x64x64xf32> -> tensor<32x16x64x64x1xf32>
    %26 = graph.expand %25 : tensor<32x16x64x64x1xf32> -> tensor<32x16x64x64x32xf32>
    %27 = graph.reshape %arg9 : tensor<32x16x64x32xf32> -> tensor<32x16x1x64x32xf32>
    %28 = graph.expand %27 : tensor<32x16x1x64x32xf32> -> tensor<32x16x64x64x32xf32>
    %29 = graph.binary mul %26, %28 : tensor<32x16x64x64x32xf32>
    %30 = graph.reduce add %29 dims = [3] : tensor<32x16x64x64x32xf32> -> tensor<32x16x64x32xf32>
    %31 = graph.reshape %22 : tensor<32x16x64xf32> -> tensor<32x16x64x1xf32>
    %32 = graph.expand %31 : tensor<32x16x64x1xf32> -> tensor<32x16x64x32xf32>
    %33 = graph.binary div %30, %32 : tensor<32x16x64x32xf32>
    graph.yield %33 : tensor<32x16x64x32xf32>
  }
  return %0 : tensor<32x16x64x32xf32>
}
