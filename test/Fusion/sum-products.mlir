// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a -canonicalize -cse --zyx-fuse=tensor=16 --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_80 -canonicalize -cse --zyx-fuse=tensor=16 --zyx-fusion-verify-groups | FileCheck %s --check-prefix=STORED
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a -zyx-fusion-sum-products | FileCheck %s --check-prefix=ALONE

// The gradient of a bias that is added to the scores of 32 windows: where tensor cores have whole tiles, the kernel that
// computes the gradients of the scores sums them up over 4 parts of the windows, and no group stores one.
// CHECK-LABEL: func.func @relative(
// CHECK-NOT:     graph.yield {{.*}}32x2x70x70
// CHECK:         graph.reduce add %{{.*}} dims = [1] : tensor<4x8x2x70x70xf32> -> tensor<4x2x70x70xf32>
// CHECK-NEXT:    graph.yield %{{.*}} : tensor<4x2x70x70xf32>
// CHECK-NOT:     graph.yield {{.*}}32x2x70x70
// CHECK:         graph.reduce add %{{.*}} dims = [0] : tensor<4x2x70x70xf32> -> tensor<2x70x70xf32>
// STORED-LABEL: func.func @relative(
// STORED:         graph.yield {{.*}}tensor<32x2x70x70xf32>
func.func @relative(%arg0: tensor<32x2x70x32xbf16>, %arg1: tensor<32x2x70x32xbf16>, %arg2: tensor<32x2x70x32xbf16>, %arg3: tensor<391x2xbf16>, %arg4: tensor<70x70xi64>, %arg5: tensor<32x2x70x32xbf16>) -> (tensor<32x2x70x32xbf16> {graph.name = "result0"}, tensor<32x2x70x32xbf16> {graph.name = "result1"}, tensor<32x2x70x32xbf16> {graph.name = "result2"}, tensor<32x2x70x32xbf16> {graph.name = "result3"}, tensor<391x2xbf16> {graph.name = "result4"}) {
  %0 = graph.cast %arg0 : tensor<32x2x70x32xbf16> -> tensor<32x2x70x32xf32>
  %1 = graph.reshape %0 : tensor<32x2x70x32xf32> -> tensor<32x2x70x32x1xf32>
  %2 = graph.expand %1 : tensor<32x2x70x32x1xf32> -> tensor<32x2x70x32x70xf32>
  %3 = graph.cast %arg1 : tensor<32x2x70x32xbf16> -> tensor<32x2x70x32xf32>
  %4 = graph.permute %3 order = [0, 1, 3, 2] : tensor<32x2x70x32xf32> -> tensor<32x2x32x70xf32>
  %5 = graph.reshape %4 : tensor<32x2x32x70xf32> -> tensor<32x2x1x32x70xf32>
  %6 = graph.expand %5 : tensor<32x2x1x32x70xf32> -> tensor<32x2x70x32x70xf32>
  %7 = graph.binary mul %2, %6 : tensor<32x2x70x32x70xf32>
  %8 = graph.reduce add %7 dims = [3] : tensor<32x2x70x32x70xf32> -> tensor<32x2x70x70xf32>
  %9 = graph.constant dense<0.176776692> : tensor<f32>
  %10 = graph.reshape %9 : tensor<f32> -> tensor<1x1x1x1xf32>
  %11 = graph.expand %10 : tensor<1x1x1x1xf32> -> tensor<32x2x70x70xf32>
  %12 = graph.binary mul %8, %11 : tensor<32x2x70x70xf32>
  %13 = graph.gather %arg3[%arg4] dim = 0 : (tensor<391x2xbf16>, tensor<70x70xi64>) -> tensor<70x70x2xbf16>
  %14 = graph.permute %13 order = [2, 0, 1] : tensor<70x70x2xbf16> -> tensor<2x70x70xbf16>
  %15 = graph.cast %14 : tensor<2x70x70xbf16> -> tensor<2x70x70xf32>
  %16 = graph.reshape %15 : tensor<2x70x70xf32> -> tensor<1x2x70x70xf32>
  %17 = graph.expand %16 : tensor<1x2x70x70xf32> -> tensor<32x2x70x70xf32>
  %18 = graph.binary add %12, %17 : tensor<32x2x70x70xf32>
  %19 = graph.reduce max %18 dims = [3] : tensor<32x2x70x70xf32> -> tensor<32x2x70xf32>
  %20 = graph.reshape %19 : tensor<32x2x70xf32> -> tensor<32x2x70x1xf32>
  %21 = graph.expand %20 : tensor<32x2x70x1xf32> -> tensor<32x2x70x70xf32>
  %22 = graph.binary sub %18, %21 : tensor<32x2x70x70xf32>
  %23 = graph.unary exp %22 : tensor<32x2x70x70xf32>
  %24 = graph.reduce add %23 dims = [3] : tensor<32x2x70x70xf32> -> tensor<32x2x70xf32>
  %25 = graph.reshape %24 : tensor<32x2x70xf32> -> tensor<32x2x70x1xf32>
  %26 = graph.expand %25 : tensor<32x2x70x1xf32> -> tensor<32x2x70x70xf32>
  %27 = graph.binary div %23, %26 : tensor<32x2x70x70xf32>
  %28 = graph.reshape %27 : tensor<32x2x70x70xf32> -> tensor<32x2x70x70x1xf32>
  %29 = graph.expand %28 : tensor<32x2x70x70x1xf32> -> tensor<32x2x70x70x32xf32>
  %30 = graph.cast %arg2 : tensor<32x2x70x32xbf16> -> tensor<32x2x70x32xf32>
  %31 = graph.reshape %30 : tensor<32x2x70x32xf32> -> tensor<32x2x1x70x32xf32>
  %32 = graph.expand %31 : tensor<32x2x1x70x32xf32> -> tensor<32x2x70x70x32xf32>
  %33 = graph.binary mul %29, %32 : tensor<32x2x70x70x32xf32>
  %34 = graph.reduce add %33 dims = [3] : tensor<32x2x70x70x32xf32> -> tensor<32x2x70x32xf32>
  %35 = graph.cast %34 : tensor<32x2x70x32xf32> -> tensor<32x2x70x32xbf16>
  %36 = graph.cast %arg5 : tensor<32x2x70x32xbf16> -> tensor<32x2x70x32xf32>
  %37 = graph.reshape %36 : tensor<32x2x70x32xf32> -> tensor<32x2x70x1x32xf32>
  %38 = graph.expand %37 : tensor<32x2x70x1x32xf32> -> tensor<32x2x70x70x32xf32>
  %39 = graph.binary mul %38, %32 : tensor<32x2x70x70x32xf32>
  %40 = graph.reduce add %39 dims = [4] : tensor<32x2x70x70x32xf32> -> tensor<32x2x70x70xf32>
  %41 = graph.binary div %40, %26 : tensor<32x2x70x70xf32>
  %42 = graph.binary mul %41, %27 : tensor<32x2x70x70xf32>
  %43 = graph.unary neg %42 : tensor<32x2x70x70xf32>
  %44 = graph.reduce add %43 dims = [3] : tensor<32x2x70x70xf32> -> tensor<32x2x70xf32>
  %45 = graph.reshape %44 : tensor<32x2x70xf32> -> tensor<32x2x70x1xf32>
  %46 = graph.expand %45 : tensor<32x2x70x1xf32> -> tensor<32x2x70x70xf32>
  %47 = graph.binary add %41, %46 : tensor<32x2x70x70xf32>
  %48 = graph.binary mul %47, %23 : tensor<32x2x70x70xf32>
  %49 = graph.binary mul %48, %11 : tensor<32x2x70x70xf32>
  %50 = graph.reshape %49 : tensor<32x2x70x70xf32> -> tensor<32x2x70x1x70xf32>
  %51 = graph.expand %50 : tensor<32x2x70x1x70xf32> -> tensor<32x2x70x32x70xf32>
  %52 = graph.binary mul %51, %6 : tensor<32x2x70x32x70xf32>
  %53 = graph.reduce add %52 dims = [4] : tensor<32x2x70x32x70xf32> -> tensor<32x2x70x32xf32>
  %54 = graph.cast %53 : tensor<32x2x70x32xf32> -> tensor<32x2x70x32xbf16>
  %55 = graph.binary mul %51, %2 : tensor<32x2x70x32x70xf32>
  %56 = graph.reduce add %55 dims = [2] : tensor<32x2x70x32x70xf32> -> tensor<32x2x32x70xf32>
  %57 = graph.permute %56 order = [0, 1, 3, 2] : tensor<32x2x32x70xf32> -> tensor<32x2x70x32xf32>
  %58 = graph.cast %57 : tensor<32x2x70x32xf32> -> tensor<32x2x70x32xbf16>
  %59 = graph.binary mul %38, %29 : tensor<32x2x70x70x32xf32>
  %60 = graph.reduce add %59 dims = [2] : tensor<32x2x70x70x32xf32> -> tensor<32x2x70x32xf32>
  %61 = graph.cast %60 : tensor<32x2x70x32xf32> -> tensor<32x2x70x32xbf16>
  %62 = graph.constant dense<0.000000e+00> : tensor<391x2xf32>
  %63 = graph.reduce add %48 dims = [0] : tensor<32x2x70x70xf32> -> tensor<2x70x70xf32>
  %64 = graph.permute %63 order = [1, 2, 0] : tensor<2x70x70xf32> -> tensor<70x70x2xf32>
  %65 = graph.scatter add %62[%arg4], %64 dim = 0 : (tensor<391x2xf32>, tensor<70x70xi64>, tensor<70x70x2xf32>) -> tensor<391x2xf32>
  %66 = graph.cast %65 : tensor<391x2xf32> -> tensor<391x2xbf16>
  return %35, %54, %58, %61, %66 : tensor<32x2x70x32xbf16>, tensor<32x2x70x32xbf16>, tensor<32x2x70x32xbf16>, tensor<32x2x70x32xbf16>, tensor<391x2xbf16>
}

// Products of two factors, multiplied with each other and summed up over batches; of 23 there are no parts. A value that
// somebody else reads as well is stored, and so is what few batches have.
// ALONE-LABEL: func.func @alone(
// ALONE:         graph.reduce add %{{.*}} dims = [0] {zyx.products_sum} : tensor<23x64x64xf32> -> tensor<64x64xf32>
// ALONE-LABEL: func.func @read(
// ALONE-NOT:     zyx.products_sum
// ALONE-LABEL: func.func @few(
// ALONE-NOT:     zyx.products_sum
func.func @alone(%a: tensor<23x64x32xf16>, %b: tensor<23x64x32xf16>) -> tensor<64x64xf32> {
  %0 = graph.cast %a : tensor<23x64x32xf16> -> tensor<23x64x32xf32>
  %1 = graph.cast %b : tensor<23x64x32xf16> -> tensor<23x64x32xf32>
  %2 = graph.reshape %0 : tensor<23x64x32xf32> -> tensor<23x64x1x32xf32>
  %3 = graph.expand %2 : tensor<23x64x1x32xf32> -> tensor<23x64x64x32xf32>
  %4 = graph.reshape %1 : tensor<23x64x32xf32> -> tensor<23x1x64x32xf32>
  %5 = graph.expand %4 : tensor<23x1x64x32xf32> -> tensor<23x64x64x32xf32>
  %6 = graph.binary mul %3, %5 : tensor<23x64x64x32xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<23x64x64x32xf32> -> tensor<23x64x64xf32>
  %8 = graph.unary exp %7 : tensor<23x64x64xf32>
  %9 = graph.reduce add %8 dims = [0] : tensor<23x64x64xf32> -> tensor<64x64xf32>
  return %9 : tensor<64x64xf32>
}

func.func @read(%a: tensor<23x64x32xf16>, %b: tensor<23x64x32xf16>) -> (tensor<64x64xf32>, tensor<23x64x64xf32>) {
  %0 = graph.cast %a : tensor<23x64x32xf16> -> tensor<23x64x32xf32>
  %1 = graph.cast %b : tensor<23x64x32xf16> -> tensor<23x64x32xf32>
  %2 = graph.reshape %0 : tensor<23x64x32xf32> -> tensor<23x64x1x32xf32>
  %3 = graph.expand %2 : tensor<23x64x1x32xf32> -> tensor<23x64x64x32xf32>
  %4 = graph.reshape %1 : tensor<23x64x32xf32> -> tensor<23x1x64x32xf32>
  %5 = graph.expand %4 : tensor<23x1x64x32xf32> -> tensor<23x64x64x32xf32>
  %6 = graph.binary mul %3, %5 : tensor<23x64x64x32xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<23x64x64x32xf32> -> tensor<23x64x64xf32>
  %8 = graph.unary exp %7 : tensor<23x64x64xf32>
  %9 = graph.reduce add %8 dims = [0] : tensor<23x64x64xf32> -> tensor<64x64xf32>
  return %9, %8 : tensor<64x64xf32>, tensor<23x64x64xf32>
}

func.func @few(%a: tensor<8x64x32xf16>, %b: tensor<8x64x32xf16>) -> tensor<64x64xf32> {
  %0 = graph.cast %a : tensor<8x64x32xf16> -> tensor<8x64x32xf32>
  %1 = graph.cast %b : tensor<8x64x32xf16> -> tensor<8x64x32xf32>
  %2 = graph.reshape %0 : tensor<8x64x32xf32> -> tensor<8x64x1x32xf32>
  %3 = graph.expand %2 : tensor<8x64x1x32xf32> -> tensor<8x64x64x32xf32>
  %4 = graph.reshape %1 : tensor<8x64x32xf32> -> tensor<8x1x64x32xf32>
  %5 = graph.expand %4 : tensor<8x1x64x32xf32> -> tensor<8x64x64x32xf32>
  %6 = graph.binary mul %3, %5 : tensor<8x64x64x32xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<8x64x64x32xf32> -> tensor<8x64x64xf32>
  %8 = graph.unary exp %7 : tensor<8x64x64xf32>
  %9 = graph.reduce add %8 dims = [0] : tensor<8x64x64xf32> -> tensor<64x64xf32>
  return %9 : tensor<64x64xf32>
}
