// RUN: zyx-opt %s -canonicalize -cse --zyx-fuse=tensor=16 --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s -canonicalize -cse --zyx-fusion-separate-sinks | FileCheck %s --check-prefix=PARTS
// RUN: zyx-opt %s -canonicalize -cse --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s --check-prefix=STORED
// RUN: zyx-opt %s -canonicalize -cse --zyx-fuse=tensor=16 --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Causal attention with a sink for each head, and its gradients, as zyx-smith draws them: nothing with queries and keys is
// stored, and the gradient of the sinks reads rows alone.

// STORED-LABEL: func.func @sinks(
// STORED-NOT: 20x21x
// STORED: graph.yield {{.*}}tensor<1x3x20x20xbf16>

// REMARK: [Passed] FormGroups {{.*}}Function=sinks {{.*}}an attention and 5 results over 60 rows
// REMARK: [Passed] FormGroups {{.*}}Function=sinks {{.*}}1 reduction and 2 results over 60 rows
// REMARK: [Passed] FormGroups {{.*}}Function=sinks {{.*}}a chain of contractions and 1 result over 60 rows
// REMARK: [Passed] FormGroups {{.*}}Function=sinks {{.*}}a chain of contractions and 2 results over 60 rows
// REMARK: [Passed] FormGroups {{.*}}Function=sinks {{.*}}1 reduction and 1 result over 3 rows

// What has scores of keys and of the sink in one dimension falls into parts, the gradients, too. The sink's part of what
// comes to the weights is zero.
// PARTS-LABEL: func.func @sinks(
// PARTS-NOT: graph.concat
// PARTS: %[[X:.*]] = graph.select %{{.*}} : tensor<1x3x20x20xf32>
// PARTS: %[[KEYS:.*]] = graph.reduce max %[[X]] dims = [3]
// PARTS: %[[MAX:.*]] = graph.binary max %[[KEYS]],
// PARTS: %[[DISTANCE:.*]] = graph.binary sub %[[X]],
// PARTS: %[[E:.*]] = graph.unary exp %[[DISTANCE]] : tensor<1x3x20x20xf32>
// PARTS: %[[O:.*]] = graph.unary exp %{{.*}} : tensor<1x3x20x1xf32>
// PARTS: %[[SUM:.*]] = graph.reduce add %[[E]] dims = [3]
// PARTS: %[[O1:.*]] = graph.reshape %[[O]]
// PARTS: graph.binary add %[[SUM]], %[[O1]]
// PARTS: %[[D:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<1x3x20x20xf32> -> tensor<1x3x20xf32>
// PARTS: %[[D1:.*]] = graph.reshape %[[D]]
// PARTS: graph.binary mul %{{.*}}, %[[E]]
// PARTS: graph.binary mul %[[D1]], %[[O]] : tensor<1x3x20x1xf32>
// PARTS-NOT: graph.pad
// PARTS: return

// The attention has the largest score and the sum of keys alone, and L that of the sink, too.
// CHECK-LABEL: func.func @sinks(
// CHECK: graph.group({{.*}}) -> (tensor<1x3x20x1xf32>, tensor<1x3x20xf32>, tensor<1x3x20xf32>, tensor<1x3x20xf32>, tensor<1x3x20x16xbf16>) {
// CHECK: %[[KEYS:.*]] = graph.reduce max
// CHECK: %[[MAX:.*]] = graph.binary max %[[KEYS]],
// CHECK: %[[OF_KEYS:.*]] = graph.reduce add
// CHECK: %[[SUM:.*]] = graph.binary add %{{.*}}, %{{.*}} : tensor<1x3x20xf32>
// CHECK: %[[LOG:.*]] = graph.unary log %[[SUM]]
// CHECK: %[[L:.*]] = graph.binary add %[[MAX]], %[[LOG]]
// CHECK: graph.yield %{{.*}}, %[[SUM]], %[[L]],

// The sum along the keys of weights times their gradients, and the gradient of the sink in each row: -D o / s.
// CHECK: graph.group({{.*}}) -> (tensor<1x3x20xf32>, tensor<1x3x20x1xf32>) {
// CHECK: %[[D:.*]] = graph.reduce add %{{.*}} dims = [3] : tensor<1x3x20x16xf32> -> tensor<1x3x20xf32>
// CHECK: graph.binary div
// CHECK: graph.binary mul
// CHECK: graph.constant dense<-1.000000e+00>
// CHECK: graph.yield %[[D]],

// Queries; keys and values.
// CHECK: graph.group({{.*}}) -> tensor<1x3x20x16xbf16> {
// CHECK-NOT: graph.reduce max
// CHECK: graph.group({{.*}}) -> (tensor<1x3x20x16xbf16>, tensor<1x3x20x16xbf16>) {
// CHECK-NOT: graph.reduce max
// CHECK: graph.group({{.*}}tensor<1x3x20x1xf32>) -> tensor<3xbf16> {
// CHECK-NOT: graph.group
// CHECK: return

func.func @sinks(%arg0: tensor<1x3x20x16xbf16> {graph.name = "q"}, %arg1: tensor<1x3x20x16xbf16> {graph.name = "k"}, %arg2: tensor<1x3x20x16xbf16> {graph.name = "v"}, %arg3: tensor<3xbf16> {graph.name = "sinks"}, %arg4: tensor<1x3x20x16xbf16> {graph.name = "dy"}) -> (tensor<1x3x20x16xbf16> {graph.name = "result0"}, tensor<1x3x20x16xbf16> {graph.name = "result1"}, tensor<1x3x20x16xbf16> {graph.name = "result2"}, tensor<1x3x20x16xbf16> {graph.name = "result3"}, tensor<3xbf16> {graph.name = "result4"}) {
  %0 = graph.iota dim = 0 : tensor<20xi64>
  %1 = graph.constant dense<1> : tensor<i64>
  %2 = graph.reshape %1 : tensor<i64> -> tensor<1xi64>
  %3 = graph.expand %2 : tensor<1xi64> -> tensor<20xi64>
  %4 = graph.binary mul %0, %3 : tensor<20xi64>
  %5 = graph.constant dense<0> : tensor<i64>
  %6 = graph.reshape %5 : tensor<i64> -> tensor<1xi64>
  %7 = graph.expand %6 : tensor<1xi64> -> tensor<20xi64>
  %8 = graph.binary add %4, %7 : tensor<20xi64>
  %9 = graph.reshape %8 : tensor<20xi64> -> tensor<1x20xi64>
  %10 = graph.expand %9 : tensor<1x20xi64> -> tensor<20x20xi64>
  %11 = graph.reshape %8 : tensor<20xi64> -> tensor<20x1xi64>
  %12 = graph.expand %11 : tensor<20x1xi64> -> tensor<20x20xi64>
  %13 = graph.binary le %10, %12 : tensor<20x20xi64>
  %14 = graph.reshape %13 : tensor<20x20xi1> -> tensor<1x1x20x20xi1>
  %15 = graph.expand %14 : tensor<1x1x20x20xi1> -> tensor<1x3x20x20xi1>
  %16 = graph.cast %arg0 : tensor<1x3x20x16xbf16> -> tensor<1x3x20x16xf32>
  %17 = graph.reshape %16 : tensor<1x3x20x16xf32> -> tensor<1x3x20x16x1xf32>
  %18 = graph.expand %17 : tensor<1x3x20x16x1xf32> -> tensor<1x3x20x16x20xf32>
  %19 = graph.permute %arg1 order = [0, 1, 3, 2] : tensor<1x3x20x16xbf16> -> tensor<1x3x16x20xbf16>
  %20 = graph.cast %19 : tensor<1x3x16x20xbf16> -> tensor<1x3x16x20xf32>
  %21 = graph.reshape %20 : tensor<1x3x16x20xf32> -> tensor<1x3x1x16x20xf32>
  %22 = graph.expand %21 : tensor<1x3x1x16x20xf32> -> tensor<1x3x20x16x20xf32>
  %23 = graph.binary mul %18, %22 : tensor<1x3x20x16x20xf32>
  %24 = graph.reduce add %23 dims = [3] : tensor<1x3x20x16x20xf32> -> tensor<1x3x20x20xf32>
  %25 = graph.cast %24 : tensor<1x3x20x20xf32> -> tensor<1x3x20x20xbf16>
  %26 = graph.constant dense<1.250000e-01> : tensor<bf16>
  %27 = graph.reshape %26 : tensor<bf16> -> tensor<1x1x1x1xbf16>
  %28 = graph.expand %27 : tensor<1x1x1x1xbf16> -> tensor<1x3x20x20xbf16>
  %29 = graph.binary mul %25, %28 : tensor<1x3x20x20xbf16>
  %30 = graph.cast %29 : tensor<1x3x20x20xbf16> -> tensor<1x3x20x20xf32>
  %31 = graph.constant dense<0xFF800000> : tensor<f32>
  %32 = graph.reshape %31 : tensor<f32> -> tensor<1x1x1x1xf32>
  %33 = graph.expand %32 : tensor<1x1x1x1xf32> -> tensor<1x3x20x20xf32>
  %34 = graph.select %15, %30, %33 : tensor<1x3x20x20xf32>
  %35 = graph.cast %arg3 : tensor<3xbf16> -> tensor<3xf32>
  %36 = graph.reshape %35 : tensor<3xf32> -> tensor<1x3x1x1xf32>
  %37 = graph.expand %36 : tensor<1x3x1x1xf32> -> tensor<1x3x20x1xf32>
  %38 = graph.concat %34, %37 dim = 3 : (tensor<1x3x20x20xf32>, tensor<1x3x20x1xf32>) -> tensor<1x3x20x21xf32>
  %39 = graph.reduce max %38 dims = [3] : tensor<1x3x20x21xf32> -> tensor<1x3x20xf32>
  %40 = graph.reshape %39 : tensor<1x3x20xf32> -> tensor<1x3x20x1xf32>
  %41 = graph.expand %40 : tensor<1x3x20x1xf32> -> tensor<1x3x20x21xf32>
  %42 = graph.binary sub %38, %41 : tensor<1x3x20x21xf32>
  %43 = graph.unary exp %42 : tensor<1x3x20x21xf32>
  %44 = graph.reduce add %43 dims = [3] : tensor<1x3x20x21xf32> -> tensor<1x3x20xf32>
  %45 = graph.reshape %44 : tensor<1x3x20xf32> -> tensor<1x3x20x1xf32>
  %46 = graph.expand %45 : tensor<1x3x20x1xf32> -> tensor<1x3x20x21xf32>
  %47 = graph.binary div %43, %46 : tensor<1x3x20x21xf32>
  %48 = graph.constant dense<0.000000e+00> : tensor<f32>
  %49 = graph.pad %47, %48 low = [0, 0, 0, 0] high = [0, 0, 0, -1] interior = [0, 0, 0, 0] : tensor<1x3x20x21xf32> -> tensor<1x3x20x20xf32>
  %50 = graph.cast %49 : tensor<1x3x20x20xf32> -> tensor<1x3x20x20xbf16>
  %51 = graph.cast %50 : tensor<1x3x20x20xbf16> -> tensor<1x3x20x20xf32>
  %52 = graph.reshape %51 : tensor<1x3x20x20xf32> -> tensor<1x3x20x20x1xf32>
  %53 = graph.expand %52 : tensor<1x3x20x20x1xf32> -> tensor<1x3x20x20x16xf32>
  %54 = graph.cast %arg2 : tensor<1x3x20x16xbf16> -> tensor<1x3x20x16xf32>
  %55 = graph.reshape %54 : tensor<1x3x20x16xf32> -> tensor<1x3x1x20x16xf32>
  %56 = graph.expand %55 : tensor<1x3x1x20x16xf32> -> tensor<1x3x20x20x16xf32>
  %57 = graph.binary mul %53, %56 : tensor<1x3x20x20x16xf32>
  %58 = graph.reduce add %57 dims = [3] : tensor<1x3x20x20x16xf32> -> tensor<1x3x20x16xf32>
  %59 = graph.cast %58 : tensor<1x3x20x16xf32> -> tensor<1x3x20x16xbf16>
  %60 = graph.cast %arg4 : tensor<1x3x20x16xbf16> -> tensor<1x3x20x16xf32>
  %61 = graph.reshape %60 : tensor<1x3x20x16xf32> -> tensor<1x3x20x1x16xf32>
  %62 = graph.expand %61 : tensor<1x3x20x1x16xf32> -> tensor<1x3x20x20x16xf32>
  %63 = graph.binary mul %62, %56 : tensor<1x3x20x20x16xf32>
  %64 = graph.reduce add %63 dims = [4] : tensor<1x3x20x20x16xf32> -> tensor<1x3x20x20xf32>
  %65 = graph.cast %64 : tensor<1x3x20x20xf32> -> tensor<1x3x20x20xbf16>
  %66 = graph.cast %65 : tensor<1x3x20x20xbf16> -> tensor<1x3x20x20xf32>
  %67 = graph.pad %66, %48 low = [0, 0, 0, 0] high = [0, 0, 0, 1] interior = [0, 0, 0, 0] : tensor<1x3x20x20xf32> -> tensor<1x3x20x21xf32>
  %68 = graph.binary div %67, %46 : tensor<1x3x20x21xf32>
  %69 = graph.binary mul %68, %47 : tensor<1x3x20x21xf32>
  %70 = graph.unary neg %69 : tensor<1x3x20x21xf32>
  %71 = graph.reduce add %70 dims = [3] : tensor<1x3x20x21xf32> -> tensor<1x3x20xf32>
  %72 = graph.reshape %71 : tensor<1x3x20xf32> -> tensor<1x3x20x1xf32>
  %73 = graph.expand %72 : tensor<1x3x20x1xf32> -> tensor<1x3x20x21xf32>
  %74 = graph.binary add %68, %73 : tensor<1x3x20x21xf32>
  %75 = graph.binary mul %74, %43 : tensor<1x3x20x21xf32>
  %76 = graph.pad %75, %48 low = [0, 0, 0, 0] high = [0, 0, 0, -1] interior = [0, 0, 0, 0] : tensor<1x3x20x21xf32> -> tensor<1x3x20x20xf32>
  %77 = graph.constant dense<0.000000e+00> : tensor<1x3x20x20xf32>
  %78 = graph.select %15, %76, %77 : tensor<1x3x20x20xf32>
  %79 = graph.cast %78 : tensor<1x3x20x20xf32> -> tensor<1x3x20x20xbf16>
  %80 = graph.binary mul %79, %28 : tensor<1x3x20x20xbf16>
  %81 = graph.cast %80 : tensor<1x3x20x20xbf16> -> tensor<1x3x20x20xf32>
  %82 = graph.reshape %81 : tensor<1x3x20x20xf32> -> tensor<1x3x20x1x20xf32>
  %83 = graph.expand %82 : tensor<1x3x20x1x20xf32> -> tensor<1x3x20x16x20xf32>
  %84 = graph.binary mul %83, %22 : tensor<1x3x20x16x20xf32>
  %85 = graph.reduce add %84 dims = [4] : tensor<1x3x20x16x20xf32> -> tensor<1x3x20x16xf32>
  %86 = graph.cast %85 : tensor<1x3x20x16xf32> -> tensor<1x3x20x16xbf16>
  %87 = graph.binary mul %83, %18 : tensor<1x3x20x16x20xf32>
  %88 = graph.reduce add %87 dims = [2] : tensor<1x3x20x16x20xf32> -> tensor<1x3x16x20xf32>
  %89 = graph.permute %88 order = [0, 1, 3, 2] : tensor<1x3x16x20xf32> -> tensor<1x3x20x16xf32>
  %90 = graph.cast %89 : tensor<1x3x20x16xf32> -> tensor<1x3x20x16xbf16>
  %91 = graph.binary mul %62, %53 : tensor<1x3x20x20x16xf32>
  %92 = graph.reduce add %91 dims = [2] : tensor<1x3x20x20x16xf32> -> tensor<1x3x20x16xf32>
  %93 = graph.cast %92 : tensor<1x3x20x16xf32> -> tensor<1x3x20x16xbf16>
  %94 = graph.pad %75, %48 low = [0, 0, 0, -20] high = [0, 0, 0, 0] interior = [0, 0, 0, 0] : tensor<1x3x20x21xf32> -> tensor<1x3x20x1xf32>
  %95 = graph.reduce add %94 dims = [2] : tensor<1x3x20x1xf32> -> tensor<1x3x1xf32>
  %96 = graph.reshape %95 : tensor<1x3x1xf32> -> tensor<3xf32>
  %97 = graph.cast %96 : tensor<3xf32> -> tensor<3xbf16>
  return %59, %86, %90, %93, %97 : tensor<1x3x20x16xbf16>, tensor<1x3x20x16xbf16>, tensor<1x3x20x16xbf16>, tensor<1x3x20x16xbf16>, tensor<3xbf16>
}
