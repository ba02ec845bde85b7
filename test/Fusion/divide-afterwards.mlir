// RUN: zyx-opt %s --zyx-fusion-divide-afterwards | FileCheck %s

// What is summed up is divided, not the weights; the power of two keeps the sum from overflowing.
// CHECK-LABEL: func.func @einsum(
// CHECK: %[[E:.*]] = graph.unary exp
// CHECK: %[[S:.*]] = graph.reduce add %[[E]] dims = [2]
// CHECK-DAG: graph.constant dense<1.562500e-02> : tensor<2x37x50xf32>
// CHECK-NOT: graph.binary div %[[E]]
// CHECK: %[[O:.*]] = graph.reduce add %{{.*}} dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
// CHECK: %[[D:.*]] = graph.binary div %[[O]], %{{.*}} : tensor<2x37x8xf32>
// CHECK: return %[[D]]
func.func @einsum(%q: tensor<2x37x16xf32> {graph.name = "q"}, %k: tensor<2x50x16xf32> {graph.name = "k"}, %v: tensor<2x50x8xf32> {graph.name = "v"}) -> (tensor<2x37x8xf32> {graph.name = "y"}) {
  %1 = graph.permute %k order = [0, 2, 1] : tensor<2x50x16xf32> -> tensor<2x16x50xf32>
  %2 = graph.reshape %q : tensor<2x37x16xf32> -> tensor<2x37x16x1xf32>
  %3 = graph.expand %2 : tensor<2x37x16x1xf32> -> tensor<2x37x16x50xf32>
  %4 = graph.reshape %1 : tensor<2x16x50xf32> -> tensor<2x1x16x50xf32>
  %5 = graph.expand %4 : tensor<2x1x16x50xf32> -> tensor<2x37x16x50xf32>
  %6 = graph.binary mul %3, %5 : tensor<2x37x16x50xf32>
  %7 = graph.reduce add %6 dims = [2] : tensor<2x37x16x50xf32> -> tensor<2x37x50xf32>
  %8 = graph.constant dense<0.25> : tensor<2x37x50xf32>
  %9 = graph.binary mul %7, %8 : tensor<2x37x50xf32>
  %10 = graph.reduce max %9 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %11 = graph.reshape %10 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %12 = graph.expand %11 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %13 = graph.binary sub %9, %12 : tensor<2x37x50xf32>
  %14 = graph.unary exp %13 : tensor<2x37x50xf32>
  %15 = graph.reduce add %14 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %16 = graph.reshape %15 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %17 = graph.expand %16 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %18 = graph.binary div %14, %17 : tensor<2x37x50xf32>
  %19 = graph.reshape %18 : tensor<2x37x50xf32> -> tensor<2x37x50x1xf32>
  %20 = graph.expand %19 : tensor<2x37x50x1xf32> -> tensor<2x37x50x8xf32>
  %21 = graph.reshape %v : tensor<2x50x8xf32> -> tensor<2x1x50x8xf32>
  %22 = graph.expand %21 : tensor<2x1x50x8xf32> -> tensor<2x37x50x8xf32>
  %23 = graph.binary mul %20, %22 : tensor<2x37x50x8xf32>
  %24 = graph.reduce add %23 dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
  return %24 : tensor<2x37x8xf32>
}
