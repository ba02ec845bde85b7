// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-join-heads | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=x86-64-v3 --zyx-fusion-join-heads | FileCheck %s --check-prefix=HOST

// Eight queries of four heads that share keys are 32 queries of one head. Their mask of positions comes again for each head.
// CHECK-LABEL: func.func @shared
// CHECK:       graph.binary le {{.*}} : tensor<32x128xi64>
// CHECK:       %[[Q:.*]] = graph.cast %{{.*}} : tensor<2x2x32x16xf16> -> tensor<2x2x32x16xf32>
// CHECK:       graph.reshape %[[Q]] : tensor<2x2x32x16xf32> -> tensor<2x2x32x16x1xf32>
// CHECK:       graph.reduce add {{.*}} dims = [3] : tensor<2x2x32x16x128xf32> -> tensor<2x2x32x128xf32>
// CHECK:       graph.reduce max {{.*}} dims = [3] : tensor<2x2x32x128xf32> -> tensor<2x2x32xf32>
// CHECK:       %[[Y:.*]] = graph.reduce add {{.*}} dims = [3] : tensor<2x2x32x128x16xf32> -> tensor<2x2x32x16xf32>
// CHECK-NEXT:  %[[ALL:.*]] = graph.reshape %[[Y]] : tensor<2x2x32x16xf32> -> tensor<2x8x8x16xf32>
// CHECK-NEXT:  return %[[ALL]]
// HOST-LABEL:  func.func @shared
// HOST-NOT:    tensor<2x2x32
func.func @shared(%q: tensor<2x8x8x16xf16>, %k: tensor<2x2x128x16xf16>, %v: tensor<2x2x128x16xf16>, %at: tensor<8xi64>) -> tensor<2x8x8x16xf32> {
  %0 = graph.cast %q : tensor<2x8x8x16xf16> -> tensor<2x8x8x16xf32>
  %1 = graph.reshape %0 : tensor<2x8x8x16xf32> -> tensor<2x8x8x16x1xf32>
  %2 = graph.expand %1 : tensor<2x8x8x16x1xf32> -> tensor<2x8x8x16x128xf32>
  %3 = graph.reshape %k : tensor<2x2x128x16xf16> -> tensor<2x2x1x128x16xf16>
  %4 = graph.expand %3 : tensor<2x2x1x128x16xf16> -> tensor<2x2x4x128x16xf16>
  %5 = graph.reshape %4 : tensor<2x2x4x128x16xf16> -> tensor<2x8x128x16xf16>
  %6 = graph.cast %5 : tensor<2x8x128x16xf16> -> tensor<2x8x128x16xf32>
  %7 = graph.permute %6 order = [0, 1, 3, 2] : tensor<2x8x128x16xf32> -> tensor<2x8x16x128xf32>
  %8 = graph.reshape %7 : tensor<2x8x16x128xf32> -> tensor<2x8x1x16x128xf32>
  %9 = graph.expand %8 : tensor<2x8x1x16x128xf32> -> tensor<2x8x8x16x128xf32>
  %10 = graph.binary mul %2, %9 : tensor<2x8x8x16x128xf32>
  %11 = graph.reduce add %10 dims = [3] : tensor<2x8x8x16x128xf32> -> tensor<2x8x8x128xf32>
  %12 = graph.iota dim = 1 : tensor<8x128xi64>
  %13 = graph.reshape %at : tensor<8xi64> -> tensor<8x1xi64>
  %14 = graph.expand %13 : tensor<8x1xi64> -> tensor<8x128xi64>
  %15 = graph.binary le %12, %14 : tensor<8x128xi64>
  %16 = graph.reshape %15 : tensor<8x128xi1> -> tensor<1x1x8x128xi1>
  %17 = graph.expand %16 : tensor<1x1x8x128xi1> -> tensor<2x8x8x128xi1>
  %18 = graph.constant dense<0xFF800000> : tensor<2x8x8x128xf32>
  %19 = graph.select %17, %11, %18 : tensor<2x8x8x128xf32>
  %20 = graph.reduce max %19 dims = [3] : tensor<2x8x8x128xf32> -> tensor<2x8x8xf32>
  %21 = graph.reshape %20 : tensor<2x8x8xf32> -> tensor<2x8x8x1xf32>
  %22 = graph.expand %21 : tensor<2x8x8x1xf32> -> tensor<2x8x8x128xf32>
  %23 = graph.binary sub %19, %22 : tensor<2x8x8x128xf32>
  %24 = graph.unary exp %23 : tensor<2x8x8x128xf32>
  %25 = graph.reduce add %24 dims = [3] : tensor<2x8x8x128xf32> -> tensor<2x8x8xf32>
  %26 = graph.reshape %25 : tensor<2x8x8xf32> -> tensor<2x8x8x1xf32>
  %27 = graph.expand %26 : tensor<2x8x8x1xf32> -> tensor<2x8x8x128xf32>
  %28 = graph.binary div %24, %27 : tensor<2x8x8x128xf32>
  %29 = graph.reshape %28 : tensor<2x8x8x128xf32> -> tensor<2x8x8x128x1xf32>
  %30 = graph.expand %29 : tensor<2x8x8x128x1xf32> -> tensor<2x8x8x128x16xf32>
  %31 = graph.reshape %v : tensor<2x2x128x16xf16> -> tensor<2x2x1x128x16xf16>
  %32 = graph.expand %31 : tensor<2x2x1x128x16xf16> -> tensor<2x2x4x128x16xf16>
  %33 = graph.reshape %32 : tensor<2x2x4x128x16xf16> -> tensor<2x8x128x16xf16>
  %34 = graph.cast %33 : tensor<2x8x128x16xf16> -> tensor<2x8x128x16xf32>
  %35 = graph.reshape %34 : tensor<2x8x128x16xf32> -> tensor<2x8x1x128x16xf32>
  %36 = graph.expand %35 : tensor<2x8x1x128x16xf32> -> tensor<2x8x8x128x16xf32>
  %37 = graph.binary mul %30, %36 : tensor<2x8x8x128x16xf32>
  %38 = graph.reduce add %37 dims = [3] : tensor<2x8x8x128x16xf32> -> tensor<2x8x8x16xf32>
  return %38 : tensor<2x8x8x16xf32>
}

// Heads with keys of their own stay apart.
// CHECK-LABEL: func.func @own
// CHECK-NOT:   graph.reshape {{.*}} -> tensor<2x
// CHECK:       return
func.func @own(%q: tensor<8x8x16xf16>, %k: tensor<8x128x16xf16>, %v: tensor<8x128x16xf16>) -> tensor<8x8x16xf32> {
  %0 = graph.cast %q : tensor<8x8x16xf16> -> tensor<8x8x16xf32>
  %1 = graph.reshape %0 : tensor<8x8x16xf32> -> tensor<8x8x16x1xf32>
  %2 = graph.expand %1 : tensor<8x8x16x1xf32> -> tensor<8x8x16x128xf32>
  %6 = graph.cast %k : tensor<8x128x16xf16> -> tensor<8x128x16xf32>
  %7 = graph.permute %6 order = [0, 2, 1] : tensor<8x128x16xf32> -> tensor<8x16x128xf32>
  %8 = graph.reshape %7 : tensor<8x16x128xf32> -> tensor<8x1x16x128xf32>
  %9 = graph.expand %8 : tensor<8x1x16x128xf32> -> tensor<8x8x16x128xf32>
  %10 = graph.binary mul %2, %9 : tensor<8x8x16x128xf32>
  %11 = graph.reduce add %10 dims = [2] : tensor<8x8x16x128xf32> -> tensor<8x8x128xf32>
  %20 = graph.reduce max %11 dims = [2] : tensor<8x8x128xf32> -> tensor<8x8xf32>
  %21 = graph.reshape %20 : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %22 = graph.expand %21 : tensor<8x8x1xf32> -> tensor<8x8x128xf32>
  %23 = graph.binary sub %11, %22 : tensor<8x8x128xf32>
  %24 = graph.unary exp %23 : tensor<8x8x128xf32>
  %25 = graph.reduce add %24 dims = [2] : tensor<8x8x128xf32> -> tensor<8x8xf32>
  %26 = graph.reshape %25 : tensor<8x8xf32> -> tensor<8x8x1xf32>
  %27 = graph.expand %26 : tensor<8x8x1xf32> -> tensor<8x8x128xf32>
  %28 = graph.binary div %24, %27 : tensor<8x8x128xf32>
  %29 = graph.reshape %28 : tensor<8x8x128xf32> -> tensor<8x8x128x1xf32>
  %30 = graph.expand %29 : tensor<8x8x128x1xf32> -> tensor<8x8x128x16xf32>
  %34 = graph.cast %v : tensor<8x128x16xf16> -> tensor<8x128x16xf32>
  %35 = graph.reshape %34 : tensor<8x128x16xf32> -> tensor<8x1x128x16xf32>
  %36 = graph.expand %35 : tensor<8x1x128x16xf32> -> tensor<8x8x128x16xf32>
  %37 = graph.binary mul %30, %36 : tensor<8x8x128x16xf32>
  %38 = graph.reduce add %37 dims = [2] : tensor<8x8x128x16xf32> -> tensor<8x8x16xf32>
  return %38 : tensor<8x8x16xf32>
}
