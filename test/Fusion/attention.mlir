// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s

// An attention is one group, however it is spelled. The division by the sum comes behind the product
// with the values; the power of two keeps that from overflowing.

// CHECK-LABEL: func.func @einsum(
// CHECK-NEXT: graph.group
// CHECK: %[[E:.*]] = graph.unary exp
// CHECK: %[[S:.*]] = graph.reduce add %[[E]] dims = [2]
// CHECK-DAG: %[[SCALES:.*]] = graph.constant dense<1.562500e-02> : tensor<2x37x50xf32>
// CHECK-DAG: %[[P:.*]] = graph.binary mul %[[E]], %[[SCALES]]
// CHECK-DAG: %[[SCALE:.*]] = graph.constant dense<1.562500e-02> : tensor<2x37xf32>
// CHECK-DAG: %[[T:.*]] = graph.binary mul %[[S]], %[[SCALE]]
// CHECK: %[[O:.*]] = graph.reduce add %{{.*}} dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
// CHECK-NEXT: %[[U:.*]] = graph.reshape %[[T]]
// CHECK-NEXT: %[[W:.*]] = graph.expand %[[U]]
// CHECK-NEXT: graph.binary div %[[O]], %[[W]]
// CHECK-NOT: graph.group
// CHECK: return
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

// CHECK-LABEL: func.func @transposed(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @transposed(%q: tensor<2x37x3x16xf32> {graph.name = "q"}, %k: tensor<2x50x3x16xf32> {graph.name = "k"}, %v: tensor<2x50x3x8xf32> {graph.name = "v"}) -> (tensor<2x37x3x8xf32> {graph.name = "y"}) {
  %1 = graph.permute %q order = [0, 2, 1, 3] : tensor<2x37x3x16xf32> -> tensor<2x3x37x16xf32>
  %2 = graph.permute %k order = [0, 2, 1, 3] : tensor<2x50x3x16xf32> -> tensor<2x3x50x16xf32>
  %3 = graph.permute %v order = [0, 2, 1, 3] : tensor<2x50x3x8xf32> -> tensor<2x3x50x8xf32>
  %4 = graph.permute %2 order = [0, 1, 3, 2] : tensor<2x3x50x16xf32> -> tensor<2x3x16x50xf32>
  %5 = graph.reshape %1 : tensor<2x3x37x16xf32> -> tensor<2x3x37x16x1xf32>
  %6 = graph.expand %5 : tensor<2x3x37x16x1xf32> -> tensor<2x3x37x16x50xf32>
  %7 = graph.reshape %4 : tensor<2x3x16x50xf32> -> tensor<2x3x1x16x50xf32>
  %8 = graph.expand %7 : tensor<2x3x1x16x50xf32> -> tensor<2x3x37x16x50xf32>
  %9 = graph.binary mul %6, %8 : tensor<2x3x37x16x50xf32>
  %10 = graph.reduce add %9 dims = [3] : tensor<2x3x37x16x50xf32> -> tensor<2x3x37x50xf32>
  %11 = graph.constant dense<0.25> : tensor<2x3x37x50xf32>
  %12 = graph.binary mul %10, %11 : tensor<2x3x37x50xf32>
  %13 = graph.reduce max %12 dims = [3] : tensor<2x3x37x50xf32> -> tensor<2x3x37xf32>
  %14 = graph.reshape %13 : tensor<2x3x37xf32> -> tensor<2x3x37x1xf32>
  %15 = graph.expand %14 : tensor<2x3x37x1xf32> -> tensor<2x3x37x50xf32>
  %16 = graph.binary sub %12, %15 : tensor<2x3x37x50xf32>
  %17 = graph.unary exp %16 : tensor<2x3x37x50xf32>
  %18 = graph.reduce add %17 dims = [3] : tensor<2x3x37x50xf32> -> tensor<2x3x37xf32>
  %19 = graph.reshape %18 : tensor<2x3x37xf32> -> tensor<2x3x37x1xf32>
  %20 = graph.expand %19 : tensor<2x3x37x1xf32> -> tensor<2x3x37x50xf32>
  %21 = graph.binary div %17, %20 : tensor<2x3x37x50xf32>
  %22 = graph.reshape %21 : tensor<2x3x37x50xf32> -> tensor<2x3x37x50x1xf32>
  %23 = graph.expand %22 : tensor<2x3x37x50x1xf32> -> tensor<2x3x37x50x8xf32>
  %24 = graph.reshape %3 : tensor<2x3x50x8xf32> -> tensor<2x3x1x50x8xf32>
  %25 = graph.expand %24 : tensor<2x3x1x50x8xf32> -> tensor<2x3x37x50x8xf32>
  %26 = graph.binary mul %23, %25 : tensor<2x3x37x50x8xf32>
  %27 = graph.reduce add %26 dims = [3] : tensor<2x3x37x50x8xf32> -> tensor<2x3x37x8xf32>
  %28 = graph.permute %27 order = [0, 2, 1, 3] : tensor<2x3x37x8xf32> -> tensor<2x37x3x8xf32>
  return %28 : tensor<2x37x3x8xf32>
}

// CHECK-LABEL: func.func @scaled_queries_divided_afterwards(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_queries_divided_afterwards(%q: tensor<2x37x16xf32> {graph.name = "q"}, %k: tensor<2x50x16xf32> {graph.name = "k"}, %v: tensor<2x50x8xf32> {graph.name = "v"}) -> (tensor<2x37x8xf32> {graph.name = "y"}) {
  %1 = graph.constant dense<0.25> : tensor<2x37x16xf32>
  %2 = graph.binary mul %q, %1 : tensor<2x37x16xf32>
  %3 = graph.permute %k order = [0, 2, 1] : tensor<2x50x16xf32> -> tensor<2x16x50xf32>
  %4 = graph.reshape %2 : tensor<2x37x16xf32> -> tensor<2x37x16x1xf32>
  %5 = graph.expand %4 : tensor<2x37x16x1xf32> -> tensor<2x37x16x50xf32>
  %6 = graph.reshape %3 : tensor<2x16x50xf32> -> tensor<2x1x16x50xf32>
  %7 = graph.expand %6 : tensor<2x1x16x50xf32> -> tensor<2x37x16x50xf32>
  %8 = graph.binary mul %5, %7 : tensor<2x37x16x50xf32>
  %9 = graph.reduce add %8 dims = [2] : tensor<2x37x16x50xf32> -> tensor<2x37x50xf32>
  %10 = graph.reduce max %9 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %11 = graph.reshape %10 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %12 = graph.expand %11 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %13 = graph.binary sub %9, %12 : tensor<2x37x50xf32>
  %14 = graph.unary exp %13 : tensor<2x37x50xf32>
  %15 = graph.reduce add %14 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %16 = graph.reshape %14 : tensor<2x37x50xf32> -> tensor<2x37x50x1xf32>
  %17 = graph.expand %16 : tensor<2x37x50x1xf32> -> tensor<2x37x50x8xf32>
  %18 = graph.reshape %v : tensor<2x50x8xf32> -> tensor<2x1x50x8xf32>
  %19 = graph.expand %18 : tensor<2x1x50x8xf32> -> tensor<2x37x50x8xf32>
  %20 = graph.binary mul %17, %19 : tensor<2x37x50x8xf32>
  %21 = graph.reduce add %20 dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
  %22 = graph.reshape %15 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %23 = graph.expand %22 : tensor<2x37x1xf32> -> tensor<2x37x8xf32>
  %24 = graph.binary div %21, %23 : tensor<2x37x8xf32>
  return %24 : tensor<2x37x8xf32>
}

// CHECK-LABEL: func.func @scaled_keys_causal(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @scaled_keys_causal(%q: tensor<2x37x16xf32> {graph.name = "q"}, %k: tensor<2x50x16xf32> {graph.name = "k"}, %v: tensor<2x50x8xf32> {graph.name = "v"}) -> (tensor<2x37x8xf32> {graph.name = "y"}) {
  %1 = graph.constant dense<4.0> : tensor<2x50x16xf32>
  %2 = graph.binary div %k, %1 : tensor<2x50x16xf32>
  %3 = graph.permute %2 order = [0, 2, 1] : tensor<2x50x16xf32> -> tensor<2x16x50xf32>
  %4 = graph.reshape %q : tensor<2x37x16xf32> -> tensor<2x37x16x1xf32>
  %5 = graph.expand %4 : tensor<2x37x16x1xf32> -> tensor<2x37x16x50xf32>
  %6 = graph.reshape %3 : tensor<2x16x50xf32> -> tensor<2x1x16x50xf32>
  %7 = graph.expand %6 : tensor<2x1x16x50xf32> -> tensor<2x37x16x50xf32>
  %8 = graph.binary mul %5, %7 : tensor<2x37x16x50xf32>
  %9 = graph.reduce add %8 dims = [2] : tensor<2x37x16x50xf32> -> tensor<2x37x50xf32>
  %10 = graph.iota dim = 1 : tensor<2x37x50xi32>
  %11 = graph.iota dim = 2 : tensor<2x37x50xi32>
  %12 = graph.binary ge %10, %11 : tensor<2x37x50xi32>
  %14 = graph.constant dense<0xFF800000> : tensor<2x37x50xf32>
  %13 = graph.select %12, %9, %14 : tensor<2x37x50xf32>
  %15 = graph.reduce max %13 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %16 = graph.reshape %15 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %17 = graph.expand %16 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %18 = graph.binary sub %13, %17 : tensor<2x37x50xf32>
  %19 = graph.unary exp %18 : tensor<2x37x50xf32>
  %20 = graph.reduce add %19 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %21 = graph.unary recip %20 : tensor<2x37xf32>
  %22 = graph.reshape %21 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %23 = graph.expand %22 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %24 = graph.binary mul %19, %23 : tensor<2x37x50xf32>
  %25 = graph.reshape %24 : tensor<2x37x50xf32> -> tensor<2x37x50x1xf32>
  %26 = graph.expand %25 : tensor<2x37x50x1xf32> -> tensor<2x37x50x8xf32>
  %27 = graph.reshape %v : tensor<2x50x8xf32> -> tensor<2x1x50x8xf32>
  %28 = graph.expand %27 : tensor<2x1x50x8xf32> -> tensor<2x37x50x8xf32>
  %29 = graph.binary mul %26, %28 : tensor<2x37x50x8xf32>
  %30 = graph.reduce add %29 dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
  return %30 : tensor<2x37x8xf32>
}

// CHECK-LABEL: func.func @mask_by_add(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @mask_by_add(%q: tensor<2x37x16xf32> {graph.name = "q"}, %k: tensor<2x50x16xf32> {graph.name = "k"}, %v: tensor<2x50x8xf32> {graph.name = "v"}, %m: tensor<37x50xf32> {graph.name = "m"}) -> (tensor<2x37x8xf32> {graph.name = "y"}) {
  %1 = graph.permute %k order = [0, 2, 1] : tensor<2x50x16xf32> -> tensor<2x16x50xf32>
  %2 = graph.reshape %q : tensor<2x37x16xf32> -> tensor<2x37x16x1xf32>
  %3 = graph.expand %2 : tensor<2x37x16x1xf32> -> tensor<2x37x16x50xf32>
  %4 = graph.reshape %1 : tensor<2x16x50xf32> -> tensor<2x1x16x50xf32>
  %5 = graph.expand %4 : tensor<2x1x16x50xf32> -> tensor<2x37x16x50xf32>
  %6 = graph.binary mul %3, %5 : tensor<2x37x16x50xf32>
  %7 = graph.reduce add %6 dims = [2] : tensor<2x37x16x50xf32> -> tensor<2x37x50xf32>
  %8 = graph.constant dense<4.0> : tensor<2x37x50xf32>
  %9 = graph.binary div %7, %8 : tensor<2x37x50xf32>
  %10 = graph.reshape %m : tensor<37x50xf32> -> tensor<1x37x50xf32>
  %11 = graph.expand %10 : tensor<1x37x50xf32> -> tensor<2x37x50xf32>
  %12 = graph.binary add %9, %11 : tensor<2x37x50xf32>
  %13 = graph.reduce max %12 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %14 = graph.reshape %13 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %15 = graph.expand %14 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %16 = graph.binary sub %12, %15 : tensor<2x37x50xf32>
  %17 = graph.unary exp %16 : tensor<2x37x50xf32>
  %18 = graph.reduce add %17 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %19 = graph.reshape %18 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %20 = graph.expand %19 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %21 = graph.binary div %17, %20 : tensor<2x37x50xf32>
  %22 = graph.reshape %21 : tensor<2x37x50xf32> -> tensor<2x37x50x1xf32>
  %23 = graph.expand %22 : tensor<2x37x50x1xf32> -> tensor<2x37x50x8xf32>
  %24 = graph.reshape %v : tensor<2x50x8xf32> -> tensor<2x1x50x8xf32>
  %25 = graph.expand %24 : tensor<2x1x50x8xf32> -> tensor<2x37x50x8xf32>
  %26 = graph.binary mul %23, %25 : tensor<2x37x50x8xf32>
  %27 = graph.reduce add %26 dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
  return %27 : tensor<2x37x8xf32>
}

// CHECK-LABEL: func.func @mask_by_select(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @mask_by_select(%q: tensor<2x37x16xf32> {graph.name = "q"}, %k: tensor<2x50x16xf32> {graph.name = "k"}, %v: tensor<2x50x8xf32> {graph.name = "v"}, %m: tensor<37x50xi1> {graph.name = "m"}) -> (tensor<2x37x8xf32> {graph.name = "y"}) {
  %1 = graph.permute %k order = [0, 2, 1] : tensor<2x50x16xf32> -> tensor<2x16x50xf32>
  %2 = graph.reshape %q : tensor<2x37x16xf32> -> tensor<2x37x16x1xf32>
  %3 = graph.expand %2 : tensor<2x37x16x1xf32> -> tensor<2x37x16x50xf32>
  %4 = graph.reshape %1 : tensor<2x16x50xf32> -> tensor<2x1x16x50xf32>
  %5 = graph.expand %4 : tensor<2x1x16x50xf32> -> tensor<2x37x16x50xf32>
  %6 = graph.binary mul %3, %5 : tensor<2x37x16x50xf32>
  %7 = graph.reduce add %6 dims = [2] : tensor<2x37x16x50xf32> -> tensor<2x37x50xf32>
  %8 = graph.constant dense<0.25> : tensor<2x37x50xf32>
  %9 = graph.binary mul %7, %8 : tensor<2x37x50xf32>
  %10 = graph.reshape %m : tensor<37x50xi1> -> tensor<1x37x50xi1>
  %11 = graph.expand %10 : tensor<1x37x50xi1> -> tensor<2x37x50xi1>
  %13 = graph.constant dense<-1.0e30> : tensor<2x37x50xf32>
  %12 = graph.select %11, %9, %13 : tensor<2x37x50xf32>
  %14 = graph.reduce max %12 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %15 = graph.reshape %14 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %16 = graph.expand %15 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %17 = graph.binary sub %12, %16 : tensor<2x37x50xf32>
  %18 = graph.unary exp %17 : tensor<2x37x50xf32>
  %19 = graph.reduce add %18 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %20 = graph.reshape %19 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %21 = graph.expand %20 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %22 = graph.binary div %18, %21 : tensor<2x37x50xf32>
  %23 = graph.reshape %22 : tensor<2x37x50xf32> -> tensor<2x37x50x1xf32>
  %24 = graph.expand %23 : tensor<2x37x50x1xf32> -> tensor<2x37x50x8xf32>
  %25 = graph.reshape %v : tensor<2x50x8xf32> -> tensor<2x1x50x8xf32>
  %26 = graph.expand %25 : tensor<2x1x50x8xf32> -> tensor<2x37x50x8xf32>
  %27 = graph.binary mul %24, %26 : tensor<2x37x50x8xf32>
  %28 = graph.reduce add %27 dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
  return %28 : tensor<2x37x8xf32>
}

// CHECK-LABEL: func.func @upcast(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @upcast(%q: tensor<2x37x16xbf16> {graph.name = "q"}, %k: tensor<2x50x16xbf16> {graph.name = "k"}, %v: tensor<2x50x8xbf16> {graph.name = "v"}) -> (tensor<2x37x8xbf16> {graph.name = "y"}) {
  %1 = graph.cast %q : tensor<2x37x16xbf16> -> tensor<2x37x16xf32>
  %2 = graph.cast %k : tensor<2x50x16xbf16> -> tensor<2x50x16xf32>
  %3 = graph.cast %v : tensor<2x50x8xbf16> -> tensor<2x50x8xf32>
  %4 = graph.constant dense<0.25> : tensor<2x37x16xf32>
  %5 = graph.binary mul %1, %4 : tensor<2x37x16xf32>
  %6 = graph.permute %2 order = [0, 2, 1] : tensor<2x50x16xf32> -> tensor<2x16x50xf32>
  %7 = graph.reshape %5 : tensor<2x37x16xf32> -> tensor<2x37x16x1xf32>
  %8 = graph.expand %7 : tensor<2x37x16x1xf32> -> tensor<2x37x16x50xf32>
  %9 = graph.reshape %6 : tensor<2x16x50xf32> -> tensor<2x1x16x50xf32>
  %10 = graph.expand %9 : tensor<2x1x16x50xf32> -> tensor<2x37x16x50xf32>
  %11 = graph.binary mul %8, %10 : tensor<2x37x16x50xf32>
  %12 = graph.reduce add %11 dims = [2] : tensor<2x37x16x50xf32> -> tensor<2x37x50xf32>
  %13 = graph.reduce max %12 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %14 = graph.reshape %13 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %15 = graph.expand %14 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %16 = graph.binary sub %12, %15 : tensor<2x37x50xf32>
  %17 = graph.unary exp %16 : tensor<2x37x50xf32>
  %18 = graph.reduce add %17 dims = [2] : tensor<2x37x50xf32> -> tensor<2x37xf32>
  %19 = graph.reshape %18 : tensor<2x37xf32> -> tensor<2x37x1xf32>
  %20 = graph.expand %19 : tensor<2x37x1xf32> -> tensor<2x37x50xf32>
  %21 = graph.binary div %17, %20 : tensor<2x37x50xf32>
  %22 = graph.cast %21 : tensor<2x37x50xf32> -> tensor<2x37x50xbf16>
  %23 = graph.cast %22 : tensor<2x37x50xbf16> -> tensor<2x37x50xf32>
  %24 = graph.reshape %23 : tensor<2x37x50xf32> -> tensor<2x37x50x1xf32>
  %25 = graph.expand %24 : tensor<2x37x50x1xf32> -> tensor<2x37x50x8xf32>
  %26 = graph.reshape %3 : tensor<2x50x8xf32> -> tensor<2x1x50x8xf32>
  %27 = graph.expand %26 : tensor<2x1x50x8xf32> -> tensor<2x37x50x8xf32>
  %28 = graph.binary mul %25, %27 : tensor<2x37x50x8xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x37x50x8xf32> -> tensor<2x37x8xf32>
  %30 = graph.cast %29 : tensor<2x37x8xf32> -> tensor<2x37x8xbf16>
  return %30 : tensor<2x37x8xbf16>
}

// Four heads of queries read one of keys and values.
// CHECK-LABEL: func.func @grouped(
// CHECK-NEXT: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @grouped(%q: tensor<2x4x37x16xf32> {graph.name = "q"}, %k0: tensor<2x1x50x16xf32> {graph.name = "k"}, %v0: tensor<2x1x50x8xf32> {graph.name = "v"}) -> (tensor<2x4x37x8xf32> {graph.name = "y"}) {
  %k = graph.expand %k0 : tensor<2x1x50x16xf32> -> tensor<2x4x50x16xf32>
  %v = graph.expand %v0 : tensor<2x1x50x8xf32> -> tensor<2x4x50x8xf32>
  %1 = graph.permute %k order = [0, 1, 3, 2] : tensor<2x4x50x16xf32> -> tensor<2x4x16x50xf32>
  %2 = graph.reshape %q : tensor<2x4x37x16xf32> -> tensor<2x4x37x16x1xf32>
  %3 = graph.expand %2 : tensor<2x4x37x16x1xf32> -> tensor<2x4x37x16x50xf32>
  %4 = graph.reshape %1 : tensor<2x4x16x50xf32> -> tensor<2x4x1x16x50xf32>
  %5 = graph.expand %4 : tensor<2x4x1x16x50xf32> -> tensor<2x4x37x16x50xf32>
  %6 = graph.binary mul %3, %5 : tensor<2x4x37x16x50xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x4x37x16x50xf32> -> tensor<2x4x37x50xf32>
  %8 = graph.constant dense<0.25> : tensor<2x4x37x50xf32>
  %9 = graph.binary mul %7, %8 : tensor<2x4x37x50xf32>
  %10 = graph.reduce max %9 dims = [3] : tensor<2x4x37x50xf32> -> tensor<2x4x37xf32>
  %11 = graph.reshape %10 : tensor<2x4x37xf32> -> tensor<2x4x37x1xf32>
  %12 = graph.expand %11 : tensor<2x4x37x1xf32> -> tensor<2x4x37x50xf32>
  %13 = graph.binary sub %9, %12 : tensor<2x4x37x50xf32>
  %14 = graph.unary exp %13 : tensor<2x4x37x50xf32>
  %15 = graph.reduce add %14 dims = [3] : tensor<2x4x37x50xf32> -> tensor<2x4x37xf32>
  %16 = graph.reshape %15 : tensor<2x4x37xf32> -> tensor<2x4x37x1xf32>
  %17 = graph.expand %16 : tensor<2x4x37x1xf32> -> tensor<2x4x37x50xf32>
  %18 = graph.binary div %14, %17 : tensor<2x4x37x50xf32>
  %19 = graph.reshape %18 : tensor<2x4x37x50xf32> -> tensor<2x4x37x50x1xf32>
  %20 = graph.expand %19 : tensor<2x4x37x50x1xf32> -> tensor<2x4x37x50x8xf32>
  %21 = graph.reshape %v : tensor<2x4x50x8xf32> -> tensor<2x4x1x50x8xf32>
  %22 = graph.expand %21 : tensor<2x4x1x50x8xf32> -> tensor<2x4x37x50x8xf32>
  %23 = graph.binary mul %20, %22 : tensor<2x4x37x50x8xf32>
  %24 = graph.reduce add %23 dims = [3] : tensor<2x4x37x50x8xf32> -> tensor<2x4x37x8xf32>
  return %24 : tensor<2x4x37x8xf32>
}

// Weights that somebody else reads are stored, so they stay as they are.
// CHECK-LABEL: func.func @weights_too(
// CHECK-COUNT-3: graph.group
// CHECK: return
func.func @weights_too(%q: tensor<2x37x16xf32> {graph.name = "q"}, %k: tensor<2x50x16xf32> {graph.name = "k"}, %v: tensor<2x50x8xf32> {graph.name = "v"}) -> (tensor<2x37x8xf32> {graph.name = "y"}, tensor<2x37x50xf32> {graph.name = "w"}) {
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
  return %24, %18 : tensor<2x37x8xf32>, tensor<2x37x50xf32>
}

// A sum of squared weights is none: there are no values beside them.
// CHECK-LABEL: func.func @squared_weights(
// CHECK: %[[W:.*]] = graph.binary div
// CHECK: %[[P:.*]] = graph.binary mul %[[W]], %[[W]]
// CHECK: graph.reduce add %[[P]] dims = [1]
// CHECK: return
func.func @squared_weights(%q: tensor<8x16xf32> {graph.name = "q"}, %k: tensor<64x16xf32> {graph.name = "k"}) -> (tensor<8xf32> {graph.name = "y"}) {
  %0 = graph.reshape %q : tensor<8x16xf32> -> tensor<8x1x16xf32>
  %1 = graph.expand %0 : tensor<8x1x16xf32> -> tensor<8x64x16xf32>
  %2 = graph.reshape %k : tensor<64x16xf32> -> tensor<1x64x16xf32>
  %3 = graph.expand %2 : tensor<1x64x16xf32> -> tensor<8x64x16xf32>
  %4 = graph.binary mul %1, %3 : tensor<8x64x16xf32>
  %5 = graph.reduce add %4 dims = [2] : tensor<8x64x16xf32> -> tensor<8x64xf32>
  %6 = graph.reduce max %5 dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %7 = graph.reshape %6 : tensor<8xf32> -> tensor<8x1xf32>
  %8 = graph.expand %7 : tensor<8x1xf32> -> tensor<8x64xf32>
  %9 = graph.binary sub %5, %8 : tensor<8x64xf32>
  %10 = graph.unary exp %9 : tensor<8x64xf32>
  %11 = graph.reduce add %10 dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  %12 = graph.reshape %11 : tensor<8xf32> -> tensor<8x1xf32>
  %13 = graph.expand %12 : tensor<8x1xf32> -> tensor<8x64xf32>
  %14 = graph.binary div %10, %13 : tensor<8x64xf32>
  %15 = graph.binary mul %14, %14 : tensor<8x64xf32>
  %16 = graph.reduce add %15 dims = [1] : tensor<8x64xf32> -> tensor<8xf32>
  return %16 : tensor<8xf32>
}
