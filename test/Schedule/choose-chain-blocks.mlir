// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s
// RUN: sed 's/<16x1x/<2048x1x/g' %s | zyx-opt - --zyx-compile='target=sm_90a stop-after=schedule' | FileCheck %s --check-prefix=MANY

// Gradients of 16 windows of 14x14 with a bias. Blocks of 128 columns would be 256 for the 196 that exist: two of 112 are the gradient
// of queries, three of 80 those of keys and values, where more need too many registers. The sum of the bias has few tiles for the
// multiprocessors, and narrow ones.
// CHECK-LABEL: kernel.func @windows_1(
// CHECK-LABEL: kernel.func @windows_3(
// CHECK-SAME:    #kernel.tensor_step<128, 112, 64,
// CHECK-LABEL: kernel.func @windows_4(
// CHECK-SAME:    #kernel.tensor_step<128, 32, 64, stages 4, group 1>
// CHECK-LABEL: kernel.func @windows_5(
// CHECK-SAME:    #kernel.tensor_step<128, 80, 64,
// Of 2048 windows as many tiles of the sum as there is room for have 64 columns: of 80 there would be fewer. The bias lies along
// queries for the gradients of keys and values, which have neighbours of it after a copy.
// MANY-LABEL: kernel.func @windows_4(
// MANY-SAME:    #kernel.tensor_step<128, 64, 64, stages 4, group 1>
// MANY-LABEL: kernel.func @windows_5(
// MANY-SAME:    #kernel.tensor_step<128, 80, 64,
// MANY:         kernel.view %arg7 map <[<[196, 196] strides [200, 1]>]>
// MANY-LABEL: kernel.func @windows_5_turned(
// MANY:         kernel.view %arg0 map <[<[196, 196] strides [1, 200]>]>
// MANY:         kernel.view %arg1 map <[<[196, 196] strides [200, 1]>]>
func.func @windows(%arg0: tensor<16x1x196x32xbf16>, %arg1: tensor<16x1x196x32xbf16>, %arg2: tensor<16x1x196x32xbf16>, %arg3: tensor<391x1xbf16>, %arg4: tensor<196x196xi64>, %arg5: tensor<16x1x196x32xbf16>) -> (tensor<16x1x196x32xbf16> {graph.name = "result0"}, tensor<16x1x196x32xbf16> {graph.name = "result1"}, tensor<16x1x196x32xbf16> {graph.name = "result2"}, tensor<16x1x196x32xbf16> {graph.name = "result3"}, tensor<391x1xbf16> {graph.name = "result4"}) {
  %0 = graph.cast %arg0 : tensor<16x1x196x32xbf16> -> tensor<16x1x196x32xf32>
  %1 = graph.reshape %0 : tensor<16x1x196x32xf32> -> tensor<16x1x196x32x1xf32>
  %2 = graph.expand %1 : tensor<16x1x196x32x1xf32> -> tensor<16x1x196x32x196xf32>
  %3 = graph.cast %arg1 : tensor<16x1x196x32xbf16> -> tensor<16x1x196x32xf32>
  %4 = graph.permute %3 order = [0, 1, 3, 2] : tensor<16x1x196x32xf32> -> tensor<16x1x32x196xf32>
  %5 = graph.reshape %4 : tensor<16x1x32x196xf32> -> tensor<16x1x1x32x196xf32>
  %6 = graph.expand %5 : tensor<16x1x1x32x196xf32> -> tensor<16x1x196x32x196xf32>
  %7 = graph.binary mul %2, %6 : tensor<16x1x196x32x196xf32>
  %8 = graph.reduce add %7 dims = [3] : tensor<16x1x196x32x196xf32> -> tensor<16x1x196x196xf32>
  %9 = graph.constant dense<0.176776692> : tensor<f32>
  %10 = graph.reshape %9 : tensor<f32> -> tensor<1x1x1x1xf32>
  %11 = graph.expand %10 : tensor<1x1x1x1xf32> -> tensor<16x1x196x196xf32>
  %12 = graph.binary mul %8, %11 : tensor<16x1x196x196xf32>
  %13 = graph.gather %arg3[%arg4] dim = 0 : (tensor<391x1xbf16>, tensor<196x196xi64>) -> tensor<196x196x1xbf16>
  %14 = graph.permute %13 order = [2, 0, 1] : tensor<196x196x1xbf16> -> tensor<1x196x196xbf16>
  %15 = graph.cast %14 : tensor<1x196x196xbf16> -> tensor<1x196x196xf32>
  %16 = graph.reshape %15 : tensor<1x196x196xf32> -> tensor<1x1x196x196xf32>
  %17 = graph.expand %16 : tensor<1x1x196x196xf32> -> tensor<16x1x196x196xf32>
  %18 = graph.binary add %12, %17 : tensor<16x1x196x196xf32>
  %19 = graph.reduce max %18 dims = [3] : tensor<16x1x196x196xf32> -> tensor<16x1x196xf32>
  %20 = graph.reshape %19 : tensor<16x1x196xf32> -> tensor<16x1x196x1xf32>
  %21 = graph.expand %20 : tensor<16x1x196x1xf32> -> tensor<16x1x196x196xf32>
  %22 = graph.binary sub %18, %21 : tensor<16x1x196x196xf32>
  %23 = graph.unary exp %22 : tensor<16x1x196x196xf32>
  %24 = graph.reduce add %23 dims = [3] : tensor<16x1x196x196xf32> -> tensor<16x1x196xf32>
  %25 = graph.reshape %24 : tensor<16x1x196xf32> -> tensor<16x1x196x1xf32>
  %26 = graph.expand %25 : tensor<16x1x196x1xf32> -> tensor<16x1x196x196xf32>
  %27 = graph.binary div %23, %26 : tensor<16x1x196x196xf32>
  %28 = graph.reshape %27 : tensor<16x1x196x196xf32> -> tensor<16x1x196x196x1xf32>
  %29 = graph.expand %28 : tensor<16x1x196x196x1xf32> -> tensor<16x1x196x196x32xf32>
  %30 = graph.cast %arg2 : tensor<16x1x196x32xbf16> -> tensor<16x1x196x32xf32>
  %31 = graph.reshape %30 : tensor<16x1x196x32xf32> -> tensor<16x1x1x196x32xf32>
  %32 = graph.expand %31 : tensor<16x1x1x196x32xf32> -> tensor<16x1x196x196x32xf32>
  %33 = graph.binary mul %29, %32 : tensor<16x1x196x196x32xf32>
  %34 = graph.reduce add %33 dims = [3] : tensor<16x1x196x196x32xf32> -> tensor<16x1x196x32xf32>
  %35 = graph.cast %34 : tensor<16x1x196x32xf32> -> tensor<16x1x196x32xbf16>
  %36 = graph.cast %arg5 : tensor<16x1x196x32xbf16> -> tensor<16x1x196x32xf32>
  %37 = graph.reshape %36 : tensor<16x1x196x32xf32> -> tensor<16x1x196x1x32xf32>
  %38 = graph.expand %37 : tensor<16x1x196x1x32xf32> -> tensor<16x1x196x196x32xf32>
  %39 = graph.binary mul %38, %32 : tensor<16x1x196x196x32xf32>
  %40 = graph.reduce add %39 dims = [4] : tensor<16x1x196x196x32xf32> -> tensor<16x1x196x196xf32>
  %41 = graph.binary div %40, %26 : tensor<16x1x196x196xf32>
  %42 = graph.binary mul %41, %27 : tensor<16x1x196x196xf32>
  %43 = graph.unary neg %42 : tensor<16x1x196x196xf32>
  %44 = graph.reduce add %43 dims = [3] : tensor<16x1x196x196xf32> -> tensor<16x1x196xf32>
  %45 = graph.reshape %44 : tensor<16x1x196xf32> -> tensor<16x1x196x1xf32>
  %46 = graph.expand %45 : tensor<16x1x196x1xf32> -> tensor<16x1x196x196xf32>
  %47 = graph.binary add %41, %46 : tensor<16x1x196x196xf32>
  %48 = graph.binary mul %47, %23 : tensor<16x1x196x196xf32>
  %49 = graph.binary mul %48, %11 : tensor<16x1x196x196xf32>
  %50 = graph.reshape %49 : tensor<16x1x196x196xf32> -> tensor<16x1x196x1x196xf32>
  %51 = graph.expand %50 : tensor<16x1x196x1x196xf32> -> tensor<16x1x196x32x196xf32>
  %52 = graph.binary mul %51, %6 : tensor<16x1x196x32x196xf32>
  %53 = graph.reduce add %52 dims = [4] : tensor<16x1x196x32x196xf32> -> tensor<16x1x196x32xf32>
  %54 = graph.cast %53 : tensor<16x1x196x32xf32> -> tensor<16x1x196x32xbf16>
  %55 = graph.binary mul %51, %2 : tensor<16x1x196x32x196xf32>
  %56 = graph.reduce add %55 dims = [2] : tensor<16x1x196x32x196xf32> -> tensor<16x1x32x196xf32>
  %57 = graph.permute %56 order = [0, 1, 3, 2] : tensor<16x1x32x196xf32> -> tensor<16x1x196x32xf32>
  %58 = graph.cast %57 : tensor<16x1x196x32xf32> -> tensor<16x1x196x32xbf16>
  %59 = graph.binary mul %38, %29 : tensor<16x1x196x196x32xf32>
  %60 = graph.reduce add %59 dims = [2] : tensor<16x1x196x196x32xf32> -> tensor<16x1x196x32xf32>
  %61 = graph.cast %60 : tensor<16x1x196x32xf32> -> tensor<16x1x196x32xbf16>
  %62 = graph.constant dense<0.000000e+00> : tensor<391x1xf32>
  %63 = graph.reduce add %48 dims = [0] : tensor<16x1x196x196xf32> -> tensor<1x196x196xf32>
  %64 = graph.permute %63 order = [1, 2, 0] : tensor<1x196x196xf32> -> tensor<196x196x1xf32>
  %65 = graph.scatter add %62[%arg4], %64 dim = 0 : (tensor<391x1xf32>, tensor<196x196xi64>, tensor<196x196x1xf32>) -> tensor<391x1xf32>
  %66 = graph.cast %65 : tensor<391x1xf32> -> tensor<391x1xbf16>
  return %35, %54, %58, %61, %66 : tensor<16x1x196x32xbf16>, tensor<16x1x196x32xbf16>, tensor<16x1x196x32xbf16>, tensor<16x1x196x32xbf16>, tensor<391x1xbf16>
}
