// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a -canonicalize -cse --zyx-fuse=tensor=16 --zyx-fusion-verify-groups --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s -canonicalize -cse --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s --check-prefix=APART

// Products of what products are computed of, as of scores that are multiplied with a decay. On machines with tensor
// cores they are one kernel, and nothing with rows and columns of scores is stored.

// APART-LABEL: func.func @retention(
// APART: graph.yield {{.*}}tensor<2x32x40x

// The powers of places are computed for each batch: to read them would take longer.
// CHECK-LABEL: func.func @retention(
// CHECK-COUNT-1: graph.group(
// CHECK: graph.reduce add
// CHECK: graph.unary exp
// CHECK: graph.reduce add
// CHECK: graph.yield {{.*}} : tensor<2x32x16xbf16>
// CHECK-NOT: graph.group(
func.func @retention(%q: tensor<2x32x24xbf16>, %k: tensor<2x40x24xbf16>, %v: tensor<2x40x16xbf16>, %decay: tensor<f32>) -> tensor<2x32x16xbf16> {
  %0 = graph.cast %q : tensor<2x32x24xbf16> -> tensor<2x32x24xf32>
  %1 = graph.reshape %0 : tensor<2x32x24xf32> -> tensor<2x32x1x24xf32>
  %2 = graph.expand %1 : tensor<2x32x1x24xf32> -> tensor<2x32x40x24xf32>
  %3 = graph.cast %k : tensor<2x40x24xbf16> -> tensor<2x40x24xf32>
  %4 = graph.reshape %3 : tensor<2x40x24xf32> -> tensor<2x1x40x24xf32>
  %5 = graph.expand %4 : tensor<2x1x40x24xf32> -> tensor<2x32x40x24xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x32x40x24xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x32x40x24xf32> -> tensor<2x32x40xf32>
  %8 = graph.iota dim = 0 : tensor<32x40xi32>
  %9 = graph.iota dim = 1 : tensor<32x40xi32>
  %10 = graph.binary ge %8, %9 : tensor<32x40xi32>
  %11 = graph.binary sub %8, %9 : tensor<32x40xi32>
  %12 = graph.cast %11 : tensor<32x40xi32> -> tensor<32x40xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<32x40xf32>
  %15 = graph.binary mul %12, %14 : tensor<32x40xf32>
  %16 = graph.unary exp %15 : tensor<32x40xf32>
  %17 = graph.constant dense<0.0> : tensor<32x40xf32>
  %18 = graph.select %10, %16, %17 : tensor<32x40xf32>
  %19 = graph.reshape %18 : tensor<32x40xf32> -> tensor<1x32x40xf32>
  %20 = graph.expand %19 : tensor<1x32x40xf32> -> tensor<2x32x40xf32>
  %21 = graph.binary mul %7, %20 : tensor<2x32x40xf32>
  %p = graph.cast %21 : tensor<2x32x40xf32> -> tensor<2x32x40xbf16>
  %22 = graph.cast %p : tensor<2x32x40xbf16> -> tensor<2x32x40xf32>
  %23 = graph.reshape %22 : tensor<2x32x40xf32> -> tensor<2x32x40x1xf32>
  %24 = graph.expand %23 : tensor<2x32x40x1xf32> -> tensor<2x32x40x16xf32>
  %25 = graph.cast %v : tensor<2x40x16xbf16> -> tensor<2x40x16xf32>
  %26 = graph.reshape %25 : tensor<2x40x16xf32> -> tensor<2x1x40x16xf32>
  %27 = graph.expand %26 : tensor<2x1x40x16xf32> -> tensor<2x32x40x16xf32>
  %28 = graph.binary mul %24, %27 : tensor<2x32x40x16xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x32x40x16xf32> -> tensor<2x32x16xf32>
  %30 = graph.cast %29 : tensor<2x32x16xf32> -> tensor<2x32x16xbf16>
  return %30 : tensor<2x32x16xbf16>
}

// Other functions take longer than to read what is stored of them.
// CHECK-LABEL: func.func @sines(
// CHECK: graph.unary sin
// CHECK: graph.yield {{.*}} : tensor<32x40xf32>
// CHECK: graph.yield {{.*}} : tensor<2x32x16xbf16>
// CHECK-NOT: graph.group(
func.func @sines(%q: tensor<2x32x24xbf16>, %k: tensor<2x40x24xbf16>, %v: tensor<2x40x16xbf16>, %decay: tensor<f32>) -> tensor<2x32x16xbf16> {
  %0 = graph.cast %q : tensor<2x32x24xbf16> -> tensor<2x32x24xf32>
  %1 = graph.reshape %0 : tensor<2x32x24xf32> -> tensor<2x32x1x24xf32>
  %2 = graph.expand %1 : tensor<2x32x1x24xf32> -> tensor<2x32x40x24xf32>
  %3 = graph.cast %k : tensor<2x40x24xbf16> -> tensor<2x40x24xf32>
  %4 = graph.reshape %3 : tensor<2x40x24xf32> -> tensor<2x1x40x24xf32>
  %5 = graph.expand %4 : tensor<2x1x40x24xf32> -> tensor<2x32x40x24xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x32x40x24xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x32x40x24xf32> -> tensor<2x32x40xf32>
  %8 = graph.iota dim = 0 : tensor<32x40xi32>
  %9 = graph.iota dim = 1 : tensor<32x40xi32>
  %10 = graph.binary ge %8, %9 : tensor<32x40xi32>
  %11 = graph.binary sub %8, %9 : tensor<32x40xi32>
  %12 = graph.cast %11 : tensor<32x40xi32> -> tensor<32x40xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<32x40xf32>
  %15 = graph.binary mul %12, %14 : tensor<32x40xf32>
  %16 = graph.unary sin %15 : tensor<32x40xf32>
  %17 = graph.constant dense<0.0> : tensor<32x40xf32>
  %18 = graph.select %10, %16, %17 : tensor<32x40xf32>
  %19 = graph.reshape %18 : tensor<32x40xf32> -> tensor<1x32x40xf32>
  %20 = graph.expand %19 : tensor<1x32x40xf32> -> tensor<2x32x40xf32>
  %21 = graph.binary mul %7, %20 : tensor<2x32x40xf32>
  %p = graph.cast %21 : tensor<2x32x40xf32> -> tensor<2x32x40xbf16>
  %22 = graph.cast %p : tensor<2x32x40xbf16> -> tensor<2x32x40xf32>
  %23 = graph.reshape %22 : tensor<2x32x40xf32> -> tensor<2x32x40x1xf32>
  %24 = graph.expand %23 : tensor<2x32x40x1xf32> -> tensor<2x32x40x16xf32>
  %25 = graph.cast %v : tensor<2x40x16xbf16> -> tensor<2x40x16xf32>
  %26 = graph.reshape %25 : tensor<2x40x16xf32> -> tensor<2x1x40x16xf32>
  %27 = graph.expand %26 : tensor<2x1x40x16xf32> -> tensor<2x32x40x16xf32>
  %28 = graph.binary mul %24, %27 : tensor<2x32x40x16xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x32x40x16xf32> -> tensor<2x32x16xf32>
  %30 = graph.cast %29 : tensor<2x32x16xf32> -> tensor<2x32x16xbf16>
  return %30 : tensor<2x32x16xbf16>
}

// Somebody else reads the scores.
// CHECK-LABEL: func.func @kept(
// CHECK: graph.yield {{.*}}tensor<2x32x40xbf16>
// CHECK: graph.yield {{.*}}tensor<2x32x16xbf16>
func.func @kept(%q: tensor<2x32x24xbf16>, %k: tensor<2x40x24xbf16>, %v: tensor<2x40x16xbf16>, %decay: tensor<f32>) -> (tensor<2x32x40xbf16>, tensor<2x32x16xbf16>) {
  %0 = graph.cast %q : tensor<2x32x24xbf16> -> tensor<2x32x24xf32>
  %1 = graph.reshape %0 : tensor<2x32x24xf32> -> tensor<2x32x1x24xf32>
  %2 = graph.expand %1 : tensor<2x32x1x24xf32> -> tensor<2x32x40x24xf32>
  %3 = graph.cast %k : tensor<2x40x24xbf16> -> tensor<2x40x24xf32>
  %4 = graph.reshape %3 : tensor<2x40x24xf32> -> tensor<2x1x40x24xf32>
  %5 = graph.expand %4 : tensor<2x1x40x24xf32> -> tensor<2x32x40x24xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x32x40x24xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x32x40x24xf32> -> tensor<2x32x40xf32>
  %8 = graph.iota dim = 0 : tensor<32x40xi32>
  %9 = graph.iota dim = 1 : tensor<32x40xi32>
  %10 = graph.binary ge %8, %9 : tensor<32x40xi32>
  %11 = graph.binary sub %8, %9 : tensor<32x40xi32>
  %12 = graph.cast %11 : tensor<32x40xi32> -> tensor<32x40xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<32x40xf32>
  %15 = graph.binary mul %12, %14 : tensor<32x40xf32>
  %16 = graph.unary exp %15 : tensor<32x40xf32>
  %17 = graph.constant dense<0.0> : tensor<32x40xf32>
  %18 = graph.select %10, %16, %17 : tensor<32x40xf32>
  %19 = graph.reshape %18 : tensor<32x40xf32> -> tensor<1x32x40xf32>
  %20 = graph.expand %19 : tensor<1x32x40xf32> -> tensor<2x32x40xf32>
  %21 = graph.binary mul %7, %20 : tensor<2x32x40xf32>
  %p = graph.cast %21 : tensor<2x32x40xf32> -> tensor<2x32x40xbf16>
  %22 = graph.cast %p : tensor<2x32x40xbf16> -> tensor<2x32x40xf32>
  %23 = graph.reshape %22 : tensor<2x32x40xf32> -> tensor<2x32x40x1xf32>
  %24 = graph.expand %23 : tensor<2x32x40x1xf32> -> tensor<2x32x40x16xf32>
  %25 = graph.cast %v : tensor<2x40x16xbf16> -> tensor<2x40x16xf32>
  %26 = graph.reshape %25 : tensor<2x40x16xf32> -> tensor<2x1x40x16xf32>
  %27 = graph.expand %26 : tensor<2x1x40x16xf32> -> tensor<2x32x40x16xf32>
  %28 = graph.binary mul %24, %27 : tensor<2x32x40x16xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x32x40x16xf32> -> tensor<2x32x16xf32>
  %30 = graph.cast %29 : tensor<2x32x16xf32> -> tensor<2x32x16xbf16>
  return %p, %30 : tensor<2x32x40xbf16>, tensor<2x32x16xbf16>
}

// Tensor cores would round what is multiplied, and sums of so few terms show what parts of it lack.
// CHECK-LABEL: func.func @wide(
// CHECK: graph.yield {{.*}}tensor<2x32x40xf32>
// CHECK: graph.yield {{.*}}tensor<2x32x16xbf16>
func.func @wide(%q: tensor<2x32x24xbf16>, %k: tensor<2x40x24xbf16>, %v: tensor<2x40x16xbf16>, %decay: tensor<f32>) -> tensor<2x32x16xbf16> {
  %0 = graph.cast %q : tensor<2x32x24xbf16> -> tensor<2x32x24xf32>
  %1 = graph.reshape %0 : tensor<2x32x24xf32> -> tensor<2x32x1x24xf32>
  %2 = graph.expand %1 : tensor<2x32x1x24xf32> -> tensor<2x32x40x24xf32>
  %3 = graph.cast %k : tensor<2x40x24xbf16> -> tensor<2x40x24xf32>
  %4 = graph.reshape %3 : tensor<2x40x24xf32> -> tensor<2x1x40x24xf32>
  %5 = graph.expand %4 : tensor<2x1x40x24xf32> -> tensor<2x32x40x24xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x32x40x24xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x32x40x24xf32> -> tensor<2x32x40xf32>
  %8 = graph.iota dim = 0 : tensor<32x40xi32>
  %9 = graph.iota dim = 1 : tensor<32x40xi32>
  %10 = graph.binary ge %8, %9 : tensor<32x40xi32>
  %11 = graph.binary sub %8, %9 : tensor<32x40xi32>
  %12 = graph.cast %11 : tensor<32x40xi32> -> tensor<32x40xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<32x40xf32>
  %15 = graph.binary mul %12, %14 : tensor<32x40xf32>
  %16 = graph.unary exp %15 : tensor<32x40xf32>
  %17 = graph.constant dense<0.0> : tensor<32x40xf32>
  %18 = graph.select %10, %16, %17 : tensor<32x40xf32>
  %19 = graph.reshape %18 : tensor<32x40xf32> -> tensor<1x32x40xf32>
  %20 = graph.expand %19 : tensor<1x32x40xf32> -> tensor<2x32x40xf32>
  %21 = graph.binary mul %7, %20 : tensor<2x32x40xf32>
  %23 = graph.reshape %21 : tensor<2x32x40xf32> -> tensor<2x32x40x1xf32>
  %24 = graph.expand %23 : tensor<2x32x40x1xf32> -> tensor<2x32x40x16xf32>
  %25 = graph.cast %v : tensor<2x40x16xbf16> -> tensor<2x40x16xf32>
  %26 = graph.reshape %25 : tensor<2x40x16xf32> -> tensor<2x1x40x16xf32>
  %27 = graph.expand %26 : tensor<2x1x40x16xf32> -> tensor<2x32x40x16xf32>
  %28 = graph.binary mul %24, %27 : tensor<2x32x40x16xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x32x40x16xf32> -> tensor<2x32x16xf32>
  %30 = graph.cast %29 : tensor<2x32x16xf32> -> tensor<2x32x16xbf16>
  return %30 : tensor<2x32x16xbf16>
}

// Registers do not hold results of so many columns, and features are no whole pieces of memory.
// CHECK-LABEL: func.func @columns(
// CHECK: graph.yield {{.*}}tensor<2x32x40xbf16>
// CHECK: graph.yield {{.*}}tensor<2x32x264xbf16>
func.func @columns(%q: tensor<2x32x24xbf16>, %k: tensor<2x40x24xbf16>, %v: tensor<2x40x264xbf16>, %decay: tensor<f32>) -> tensor<2x32x264xbf16> {
  %0 = graph.cast %q : tensor<2x32x24xbf16> -> tensor<2x32x24xf32>
  %1 = graph.reshape %0 : tensor<2x32x24xf32> -> tensor<2x32x1x24xf32>
  %2 = graph.expand %1 : tensor<2x32x1x24xf32> -> tensor<2x32x40x24xf32>
  %3 = graph.cast %k : tensor<2x40x24xbf16> -> tensor<2x40x24xf32>
  %4 = graph.reshape %3 : tensor<2x40x24xf32> -> tensor<2x1x40x24xf32>
  %5 = graph.expand %4 : tensor<2x1x40x24xf32> -> tensor<2x32x40x24xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x32x40x24xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x32x40x24xf32> -> tensor<2x32x40xf32>
  %8 = graph.iota dim = 0 : tensor<32x40xi32>
  %9 = graph.iota dim = 1 : tensor<32x40xi32>
  %10 = graph.binary ge %8, %9 : tensor<32x40xi32>
  %11 = graph.binary sub %8, %9 : tensor<32x40xi32>
  %12 = graph.cast %11 : tensor<32x40xi32> -> tensor<32x40xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<32x40xf32>
  %15 = graph.binary mul %12, %14 : tensor<32x40xf32>
  %16 = graph.unary exp %15 : tensor<32x40xf32>
  %17 = graph.constant dense<0.0> : tensor<32x40xf32>
  %18 = graph.select %10, %16, %17 : tensor<32x40xf32>
  %19 = graph.reshape %18 : tensor<32x40xf32> -> tensor<1x32x40xf32>
  %20 = graph.expand %19 : tensor<1x32x40xf32> -> tensor<2x32x40xf32>
  %21 = graph.binary mul %7, %20 : tensor<2x32x40xf32>
  %p = graph.cast %21 : tensor<2x32x40xf32> -> tensor<2x32x40xbf16>
  %22 = graph.cast %p : tensor<2x32x40xbf16> -> tensor<2x32x40xf32>
  %23 = graph.reshape %22 : tensor<2x32x40xf32> -> tensor<2x32x40x1xf32>
  %24 = graph.expand %23 : tensor<2x32x40x1xf32> -> tensor<2x32x40x264xf32>
  %25 = graph.cast %v : tensor<2x40x264xbf16> -> tensor<2x40x264xf32>
  %26 = graph.reshape %25 : tensor<2x40x264xf32> -> tensor<2x1x40x264xf32>
  %27 = graph.expand %26 : tensor<2x1x40x264xf32> -> tensor<2x32x40x264xf32>
  %28 = graph.binary mul %24, %27 : tensor<2x32x40x264xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x32x40x264xf32> -> tensor<2x32x264xf32>
  %30 = graph.cast %29 : tensor<2x32x264xf32> -> tensor<2x32x264xbf16>
  return %30 : tensor<2x32x264xbf16>
}

// CHECK-LABEL: func.func @pieces(
// CHECK: graph.yield {{.*}}tensor<2x32x40xf16>
// CHECK: graph.yield {{.*}}tensor<2x32x16xf16>
func.func @pieces(%q: tensor<2x32x20xf16>, %k: tensor<2x40x20xf16>, %v: tensor<2x40x16xf16>, %decay: tensor<f32>) -> tensor<2x32x16xf16> {
  %0 = graph.cast %q : tensor<2x32x20xf16> -> tensor<2x32x20xf32>
  %1 = graph.reshape %0 : tensor<2x32x20xf32> -> tensor<2x32x1x20xf32>
  %2 = graph.expand %1 : tensor<2x32x1x20xf32> -> tensor<2x32x40x20xf32>
  %3 = graph.cast %k : tensor<2x40x20xf16> -> tensor<2x40x20xf32>
  %4 = graph.reshape %3 : tensor<2x40x20xf32> -> tensor<2x1x40x20xf32>
  %5 = graph.expand %4 : tensor<2x1x40x20xf32> -> tensor<2x32x40x20xf32>
  %6 = graph.binary mul %2, %5 : tensor<2x32x40x20xf32>
  %7 = graph.reduce add %6 dims = [3] : tensor<2x32x40x20xf32> -> tensor<2x32x40xf32>
  %8 = graph.iota dim = 0 : tensor<32x40xi32>
  %9 = graph.iota dim = 1 : tensor<32x40xi32>
  %10 = graph.binary ge %8, %9 : tensor<32x40xi32>
  %11 = graph.binary sub %8, %9 : tensor<32x40xi32>
  %12 = graph.cast %11 : tensor<32x40xi32> -> tensor<32x40xf32>
  %13 = graph.reshape %decay : tensor<f32> -> tensor<1x1xf32>
  %14 = graph.expand %13 : tensor<1x1xf32> -> tensor<32x40xf32>
  %15 = graph.binary mul %12, %14 : tensor<32x40xf32>
  %16 = graph.unary exp %15 : tensor<32x40xf32>
  %17 = graph.constant dense<0.0> : tensor<32x40xf32>
  %18 = graph.select %10, %16, %17 : tensor<32x40xf32>
  %19 = graph.reshape %18 : tensor<32x40xf32> -> tensor<1x32x40xf32>
  %20 = graph.expand %19 : tensor<1x32x40xf32> -> tensor<2x32x40xf32>
  %21 = graph.binary mul %7, %20 : tensor<2x32x40xf32>
  %p = graph.cast %21 : tensor<2x32x40xf32> -> tensor<2x32x40xf16>
  %22 = graph.cast %p : tensor<2x32x40xf16> -> tensor<2x32x40xf32>
  %23 = graph.reshape %22 : tensor<2x32x40xf32> -> tensor<2x32x40x1xf32>
  %24 = graph.expand %23 : tensor<2x32x40x1xf32> -> tensor<2x32x40x16xf32>
  %25 = graph.cast %v : tensor<2x40x16xf16> -> tensor<2x40x16xf32>
  %26 = graph.reshape %25 : tensor<2x40x16xf32> -> tensor<2x1x40x16xf32>
  %27 = graph.expand %26 : tensor<2x1x40x16xf32> -> tensor<2x32x40x16xf32>
  %28 = graph.binary mul %24, %27 : tensor<2x32x40x16xf32>
  %29 = graph.reduce add %28 dims = [2] : tensor<2x32x40x16xf32> -> tensor<2x32x16xf32>
  %30 = graph.cast %29 : tensor<2x32x16xf32> -> tensor<2x32x16xf16>
  return %30 : tensor<2x32x16xf16>
}
