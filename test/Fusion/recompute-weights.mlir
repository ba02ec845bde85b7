// RUN: zyx-opt %s -canonicalize -cse --zyx-fusion-normalize-views --zyx-fusion-recompute-weights | FileCheck %s
// RUN: zyx-opt %s -canonicalize -cse --zyx-fusion-normalize-views --zyx-fusion-recompute-weights=bits=8 | FileCheck %s --check-prefix=WIDE

// Two kernels are noted, each with products of queries and keys of its own: that of the gradients of values and keys, and that
// of queries. Factors of more bits leave the weights in memory.
// CHECK-LABEL: func.func @full(
// CHECK-DAG: graph.reduce add {{.*}} {zyx.recomputed = array<i64: 0, 0, 0>}
// CHECK-DAG: graph.reduce add {{.*}} {zyx.recomputed = array<i64: 0, 0, 1>}
// CHECK-DAG: graph.reduce add {{.*}} {zyx.recomputed = array<i64: 0, 1, 0>}
// CHECK-DAG: graph.reduce add {{.*}} {zyx.recomputed = array<i64: 0, 1, 1>}
// CHECK-DAG: graph.unary abs {{.*}} {zyx.recomputed = array<i64: 0, 2, 0>}
// CHECK-DAG: graph.reduce add {{.*}} {zyx.recomputed = array<i64: 1, 1, 0>}
// WIDE-LABEL: func.func @full(
// WIDE-NOT: zyx.recomputed
func.func @full(%q: tensor<2x3x20x16xbf16> {graph.name = "q"}, %k: tensor<2x3x20x16xbf16> {graph.name = "k"}, %v: tensor<2x3x20x16xbf16> {graph.name = "v"}, %g: tensor<2x3x20x16xbf16> {graph.name = "g"}) -> (tensor<2x3x20x16xbf16> {graph.name = "y"}, tensor<2x3x20x16xbf16> {graph.name = "dq"}, tensor<2x3x20x16xbf16> {graph.name = "dk"}, tensor<2x3x20x16xbf16> {graph.name = "dv"}) {
  %1 = graph.cast %q : tensor<2x3x20x16xbf16> -> tensor<2x3x20x16xf32>
  %2 = graph.cast %k : tensor<2x3x20x16xbf16> -> tensor<2x3x20x16xf32>
  %3 = graph.permute %2 order = [0, 1, 3, 2] : tensor<2x3x20x16xf32> -> tensor<2x3x16x20xf32>
  %4 = graph.reshape %1 : tensor<2x3x20x16xf32> -> tensor<2x3x20x16x1xf32>
  %5 = graph.expand %4 : tensor<2x3x20x16x1xf32> -> tensor<2x3x20x16x20xf32>
  %6 = graph.reshape %3 : tensor<2x3x16x20xf32> -> tensor<2x3x1x16x20xf32>
  %7 = graph.expand %6 : tensor<2x3x1x16x20xf32> -> tensor<2x3x20x16x20xf32>
  %8 = graph.binary mul %5, %7 : tensor<2x3x20x16x20xf32>
  %9 = graph.reduce add %8 dims = [3] : tensor<2x3x20x16x20xf32> -> tensor<2x3x20x20xf32>
  %10 = graph.constant dense<0.125> : tensor<2x3x20x20xf32>
  %11 = graph.binary mul %9, %10 : tensor<2x3x20x20xf32>
  %12 = graph.reduce max %11 dims = [3] : tensor<2x3x20x20xf32> -> tensor<2x3x20xf32>
  %13 = graph.reshape %12 : tensor<2x3x20xf32> -> tensor<2x3x20x1xf32>
  %14 = graph.bitcast %13 : tensor<2x3x20x1xf32> -> tensor<2x3x20x1xf32>
  %15 = graph.expand %14 : tensor<2x3x20x1xf32> -> tensor<2x3x20x20xf32>
  %16 = graph.binary sub %11, %15 : tensor<2x3x20x20xf32>
  %17 = graph.unary exp %16 : tensor<2x3x20x20xf32>
  %18 = graph.reduce add %17 dims = [3] : tensor<2x3x20x20xf32> -> tensor<2x3x20xf32>
  %19 = graph.reshape %18 : tensor<2x3x20xf32> -> tensor<2x3x20x1xf32>
  %20 = graph.expand %19 : tensor<2x3x20x1xf32> -> tensor<2x3x20x20xf32>
  %21 = graph.binary div %17, %20 : tensor<2x3x20x20xf32>
  %22 = graph.cast %v : tensor<2x3x20x16xbf16> -> tensor<2x3x20x16xf32>
  %23 = graph.reshape %21 : tensor<2x3x20x20xf32> -> tensor<2x3x20x20x1xf32>
  %24 = graph.expand %23 : tensor<2x3x20x20x1xf32> -> tensor<2x3x20x20x16xf32>
  %25 = graph.reshape %22 : tensor<2x3x20x16xf32> -> tensor<2x3x1x20x16xf32>
  %26 = graph.expand %25 : tensor<2x3x1x20x16xf32> -> tensor<2x3x20x20x16xf32>
  %27 = graph.binary mul %24, %26 : tensor<2x3x20x20x16xf32>
  %28 = graph.reduce add %27 dims = [3] : tensor<2x3x20x20x16xf32> -> tensor<2x3x20x16xf32>
  %29 = graph.cast %28 : tensor<2x3x20x16xf32> -> tensor<2x3x20x16xbf16>
  %30 = graph.cast %g : tensor<2x3x20x16xbf16> -> tensor<2x3x20x16xf32>
  %31 = graph.reshape %30 : tensor<2x3x20x16xf32> -> tensor<2x3x20x1x16xf32>
  %32 = graph.expand %31 : tensor<2x3x20x1x16xf32> -> tensor<2x3x20x20x16xf32>
  %33 = graph.binary mul %32, %26 : tensor<2x3x20x20x16xf32>
  %34 = graph.reduce add %33 dims = [4] : tensor<2x3x20x20x16xf32> -> tensor<2x3x20x20xf32>
  %35 = graph.binary mul %32, %24 : tensor<2x3x20x20x16xf32>
  %36 = graph.reduce add %35 dims = [2] : tensor<2x3x20x20x16xf32> -> tensor<2x3x20x16xf32>
  %37 = graph.cast %36 : tensor<2x3x20x16xf32> -> tensor<2x3x20x16xbf16>
  %38 = graph.binary div %34, %20 : tensor<2x3x20x20xf32>
  %39 = graph.binary mul %38, %21 : tensor<2x3x20x20xf32>
  %40 = graph.unary neg %39 : tensor<2x3x20x20xf32>
  %41 = graph.reduce add %40 dims = [3] : tensor<2x3x20x20xf32> -> tensor<2x3x20xf32>
  %42 = graph.reshape %41 : tensor<2x3x20xf32> -> tensor<2x3x20x1xf32>
  %43 = graph.expand %42 : tensor<2x3x20x1xf32> -> tensor<2x3x20x20xf32>
  %44 = graph.binary add %38, %43 : tensor<2x3x20x20xf32>
  %45 = graph.binary mul %44, %17 : tensor<2x3x20x20xf32>
  %46 = graph.constant dense<0.125> : tensor<2x3x20x20xf32>
  %47 = graph.binary mul %45, %46 : tensor<2x3x20x20xf32>
  %48 = graph.reshape %47 : tensor<2x3x20x20xf32> -> tensor<2x3x20x1x20xf32>
  %49 = graph.expand %48 : tensor<2x3x20x1x20xf32> -> tensor<2x3x20x16x20xf32>
  %50 = graph.binary mul %49, %7 : tensor<2x3x20x16x20xf32>
  %51 = graph.reduce add %50 dims = [4] : tensor<2x3x20x16x20xf32> -> tensor<2x3x20x16xf32>
  %52 = graph.cast %51 : tensor<2x3x20x16xf32> -> tensor<2x3x20x16xbf16>
  %53 = graph.binary mul %49, %5 : tensor<2x3x20x16x20xf32>
  %54 = graph.reduce add %53 dims = [2] : tensor<2x3x20x16x20xf32> -> tensor<2x3x16x20xf32>
  %55 = graph.permute %54 order = [0, 1, 3, 2] : tensor<2x3x16x20xf32> -> tensor<2x3x20x16xf32>
  %56 = graph.cast %55 : tensor<2x3x20x16xf32> -> tensor<2x3x20x16xbf16>
  return %29, %52, %56, %37 : tensor<2x3x20x16xbf16>, tensor<2x3x20x16xbf16>, tensor<2x3x20x16xbf16>, tensor<2x3x20x16xbf16>
}
