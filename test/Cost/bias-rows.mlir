// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-cost-lay-out-results --remarks-filter=zyx-fusion --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-cost-lay-out-results -zyx-convert-graph-to-kernel -zyx-schedule-pad-rows | FileCheck %s --check-prefix=PADDED

// What is added to the scores of an attention is stored in rows of keys, which neighbouring threads read side by side. Rows that do not begin on
// multiples of 16 bytes stay an axis of the kernel that writes them, and are padded.
// CHECK: what stands beside the scores of an attention is stored in rows of keys
// CHECK-LABEL: func.func @odd
// CHECK: graph.group({{.*}}) -> tensor<16x64x67xf32> attributes {zyx.keeps_rows}
// CHECK: graph.permute {{.*}} order = [2, 0, 1] : tensor<64x67x16xf32> -> tensor<16x64x67xf32>
// CHECK: graph.group({{.*}}tensor<16x64x67xf32>
// CHECK-NEXT: graph.permute {{.*}} order = [1, 2, 0] : tensor<16x64x67xf32> -> tensor<64x67x16xf32>
// PADDED: plan.alloc : !plan.buffer<f32[16x64x68]>
// PADDED-LABEL: kernel.func @odd_0
// PADDED: kernel.store {{.*}} : tensor<64x67x16xf32>
// PADDED-LABEL: kernel.func @odd_1
// PADDED: kernel.view {{.*}} map <[<[16, 64, 67] strides [4352, 68, 1]>]>
func.func @odd(%q: tensor<8x16x64x32xf32>, %k: tensor<8x16x67x32xf32>, %v: tensor<8x16x67x32xf32>, %table: tensor<127x16xf32>, %index: tensor<64x67xi64>) -> tensor<8x16x64x32xf32> {
  %bias = graph.group(%t = %table : tensor<127x16xf32>, %i = %index : tensor<64x67xi64>) -> tensor<64x67x16xf32> {
    %0 = graph.gather %t[%i] dim = 0 : (tensor<127x16xf32>, tensor<64x67xi64>) -> tensor<64x67x16xf32>
    graph.yield %0 : tensor<64x67x16xf32>
  }
  %y = graph.group(%a = %q : tensor<8x16x64x32xf32>, %b = %k : tensor<8x16x67x32xf32>, %c = %bias : tensor<64x67x16xf32>, %d = %v : tensor<8x16x67x32xf32>) -> tensor<8x16x64x32xf32> {
    %1 = graph.reshape %a : tensor<8x16x64x32xf32> -> tensor<8x16x64x32x1xf32>
    %2 = graph.expand %1 : tensor<8x16x64x32x1xf32> -> tensor<8x16x64x32x67xf32>
    %3 = graph.permute %b order = [0, 1, 3, 2] : tensor<8x16x67x32xf32> -> tensor<8x16x32x67xf32>
    %4 = graph.reshape %3 : tensor<8x16x32x67xf32> -> tensor<8x16x1x32x67xf32>
    %5 = graph.expand %4 : tensor<8x16x1x32x67xf32> -> tensor<8x16x64x32x67xf32>
    %6 = graph.binary mul %2, %5 : tensor<8x16x64x32x67xf32>
    %7 = graph.reduce add %6 dims = [3] : tensor<8x16x64x32x67xf32> -> tensor<8x16x64x67xf32>
    %11 = graph.permute %c order = [2, 0, 1] : tensor<64x67x16xf32> -> tensor<16x64x67xf32>
    %12 = graph.reshape %11 : tensor<16x64x67xf32> -> tensor<1x16x64x67xf32>
    %13 = graph.expand %12 : tensor<1x16x64x67xf32> -> tensor<8x16x64x67xf32>
    %14 = graph.binary add %7, %13 : tensor<8x16x64x67xf32>
    %15 = graph.reduce max %14 dims = [3] : tensor<8x16x64x67xf32> -> tensor<8x16x64xf32>
    %16 = graph.reshape %15 : tensor<8x16x64xf32> -> tensor<8x16x64x1xf32>
    %17 = graph.expand %16 : tensor<8x16x64x1xf32> -> tensor<8x16x64x67xf32>
    %18 = graph.binary sub %14, %17 : tensor<8x16x64x67xf32>
    %19 = graph.unary exp %18 : tensor<8x16x64x67xf32>
    %20 = graph.reduce add %19 dims = [3] : tensor<8x16x64x67xf32> -> tensor<8x16x64xf32>
    %25 = graph.reshape %19 : tensor<8x16x64x67xf32> -> tensor<8x16x64x67x1xf32>
    %26 = graph.expand %25 : tensor<8x16x64x67x1xf32> -> tensor<8x16x64x67x32xf32>
    %27 = graph.reshape %d : tensor<8x16x67x32xf32> -> tensor<8x16x1x67x32xf32>
    %28 = graph.expand %27 : tensor<8x16x1x67x32xf32> -> tensor<8x16x64x67x32xf32>
    %29 = graph.binary mul %26, %28 : tensor<8x16x64x67x32xf32>
    %30 = graph.reduce add %29 dims = [3] : tensor<8x16x64x67x32xf32> -> tensor<8x16x64x32xf32>
    %31 = graph.reshape %20 : tensor<8x16x64xf32> -> tensor<8x16x64x1xf32>
    %32 = graph.expand %31 : tensor<8x16x64x1xf32> -> tensor<8x16x64x32xf32>
    %33 = graph.binary div %30, %32 : tensor<8x16x64x32xf32>
    graph.yield %33 : tensor<8x16x64x32xf32>
  }
  return %y : tensor<8x16x64x32xf32>
}

// Rows of 256 bytes need no more.
// CHECK-LABEL: func.func @even
// CHECK: graph.group({{.*}}) -> tensor<16x64x64xf32> {
// PADDED-LABEL: kernel.func @even_0
// PADDED: kernel.store {{.*}} : tensor<4096x16xf32>
func.func @even(%q: tensor<8x16x64x32xf32>, %k: tensor<8x16x64x32xf32>, %v: tensor<8x16x64x32xf32>, %table: tensor<127x16xf32>, %index: tensor<64x64xi64>) -> tensor<8x16x64x32xf32> {
  %bias = graph.group(%t = %table : tensor<127x16xf32>, %i = %index : tensor<64x64xi64>) -> tensor<64x64x16xf32> {
    %0 = graph.gather %t[%i] dim = 0 : (tensor<127x16xf32>, tensor<64x64xi64>) -> tensor<64x64x16xf32>
    graph.yield %0 : tensor<64x64x16xf32>
  }
  %y = graph.group(%a = %q : tensor<8x16x64x32xf32>, %b = %k : tensor<8x16x64x32xf32>, %c = %bias : tensor<64x64x16xf32>, %d = %v : tensor<8x16x64x32xf32>) -> tensor<8x16x64x32xf32> {
    %1 = graph.reshape %a : tensor<8x16x64x32xf32> -> tensor<8x16x64x32x1xf32>
    %2 = graph.expand %1 : tensor<8x16x64x32x1xf32> -> tensor<8x16x64x32x64xf32>
    %3 = graph.permute %b order = [0, 1, 3, 2] : tensor<8x16x64x32xf32> -> tensor<8x16x32x64xf32>
    %4 = graph.reshape %3 : tensor<8x16x32x64xf32> -> tensor<8x16x1x32x64xf32>
    %5 = graph.expand %4 : tensor<8x16x1x32x64xf32> -> tensor<8x16x64x32x64xf32>
    %6 = graph.binary mul %2, %5 : tensor<8x16x64x32x64xf32>
    %7 = graph.reduce add %6 dims = [3] : tensor<8x16x64x32x64xf32> -> tensor<8x16x64x64xf32>
    %11 = graph.permute %c order = [2, 0, 1] : tensor<64x64x16xf32> -> tensor<16x64x64xf32>
    %12 = graph.reshape %11 : tensor<16x64x64xf32> -> tensor<1x16x64x64xf32>
    %13 = graph.expand %12 : tensor<1x16x64x64xf32> -> tensor<8x16x64x64xf32>
    %14 = graph.binary add %7, %13 : tensor<8x16x64x64xf32>
    %15 = graph.reduce max %14 dims = [3] : tensor<8x16x64x64xf32> -> tensor<8x16x64xf32>
    %16 = graph.reshape %15 : tensor<8x16x64xf32> -> tensor<8x16x64x1xf32>
    %17 = graph.expand %16 : tensor<8x16x64x1xf32> -> tensor<8x16x64x64xf32>
    %18 = graph.binary sub %14, %17 : tensor<8x16x64x64xf32>
    %19 = graph.unary exp %18 : tensor<8x16x64x64xf32>
    %20 = graph.reduce add %19 dims = [3] : tensor<8x16x64x64xf32> -> tensor<8x16x64xf32>
    %25 = graph.reshape %19 : tensor<8x16x64x64xf32> -> tensor<8x16x64x64x1xf32>
    %26 = graph.expand %25 : tensor<8x16x64x64x1xf32> -> tensor<8x16x64x64x32xf32>
    %27 = graph.reshape %d : tensor<8x16x64x32xf32> -> tensor<8x16x1x64x32xf32>
    %28 = graph.expand %27 : tensor<8x16x1x64x32xf32> -> tensor<8x16x64x64x32xf32>
    %29 = graph.binary mul %26, %28 : tensor<8x16x64x64x32xf32>
    %30 = graph.reduce add %29 dims = [3] : tensor<8x16x64x64x32xf32> -> tensor<8x16x64x32xf32>
    %31 = graph.reshape %20 : tensor<8x16x64xf32> -> tensor<8x16x64x1xf32>
    %32 = graph.expand %31 : tensor<8x16x64x1xf32> -> tensor<8x16x64x32xf32>
    %33 = graph.binary div %30, %32 : tensor<8x16x64x32xf32>
    graph.yield %33 : tensor<8x16x64x32xf32>
  }
  return %y : tensor<8x16x64x32xf32>
}
