// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fuse=fuse=false | FileCheck %s --check-prefix=ALONE

// Indices that fit 32 bits are compared in these, whatever is added to them.
// CHECK-LABEL: func.func @causal
// CHECK: graph.group
// CHECK-NOT: i64
// CHECK: graph.iota dim = 1 : tensor<4x6xi32>
// CHECK: graph.binary le %{{.*}} : tensor<4x6xi32>
// CHECK: graph.select
// ALONE-LABEL: func.func @causal
// ALONE: graph.binary le %{{.*}} : tensor<4x6xi64>
func.func @causal(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %keys = graph.iota dim = 1 : tensor<4x6xi64>
  %queries = graph.iota dim = 0 : tensor<4x1xi64>
  %two = graph.constant dense<2> : tensor<4x1xi64>
  %last = graph.binary add %queries, %two : tensor<4x1xi64>
  %rows = graph.expand %last : tensor<4x1xi64> -> tensor<4x6xi64>
  %seen = graph.binary le %keys, %rows : tensor<4x6xi64>
  %none = graph.constant dense<0xFF800000> : tensor<4x6xf32>
  %y = graph.select %seen, %x, %none : tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// Neither is what does not fit, on the way or at its end,
// CHECK-LABEL: func.func @too_far
// CHECK-COUNT-3: graph.binary lt %{{.*}} : tensor<6xi64>
func.func @too_far() -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>) {
  %i = graph.iota dim = 0 : tensor<6xi64>
  %far = graph.constant dense<2147483648> : tensor<6xi64>
  %a = graph.binary lt %i, %far : tensor<6xi64>
  %many = graph.constant dense<500000000> : tensor<6xi64>
  %product = graph.binary mul %i, %many : tensor<6xi64>
  %b = graph.binary lt %product, %many : tensor<6xi64>
  %least = graph.constant dense<-2147483648> : tensor<6xi64>
  %difference = graph.binary sub %least, %i : tensor<6xi64>
  %c = graph.binary lt %difference, %many : tensor<6xi64>
  return %a, %b, %c : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>
}

// nor what comes from elsewhere.
// CHECK-LABEL: func.func @unknown
// CHECK: graph.binary eq %{{.*}} : tensor<6xi64>
func.func @unknown(%x: tensor<6xi64>) -> tensor<6xi1> {
  %i = graph.iota dim = 0 : tensor<6xi64>
  %y = graph.binary eq %i, %x : tensor<6xi64>
  return %y : tensor<6xi1>
}

// Where it is repeated along what it may equal, each number that may equal one of these is narrowed once, and what may not
// becomes -1.
// CHECK-LABEL: func.func @target
// CHECK: graph.binary ge %{{.*}} : tensor<4xi64>
// CHECK: graph.binary le %{{.*}} : tensor<4xi64>
// CHECK: graph.cast %{{.*}} : tensor<4xi64> -> tensor<4xi32>
// CHECK: graph.select %{{.*}} : tensor<4xi32>
// CHECK: graph.binary eq %{{.*}} : tensor<4x6xi32>
// CHECK: graph.binary lt %{{.*}} : tensor<4x6xi64>
func.func @target(%x: tensor<4xi64>) -> (tensor<4x6xi1>, tensor<4x6xi1>) {
  %i = graph.iota dim = 1 : tensor<4x6xi64>
  %x1 = graph.reshape %x : tensor<4xi64> -> tensor<4x1xi64>
  %rows = graph.expand %x1 : tensor<4x1xi64> -> tensor<4x6xi64>
  %y = graph.binary eq %i, %rows : tensor<4x6xi64>
  %z = graph.binary lt %i, %rows : tensor<4x6xi64>
  return %y, %z : tensor<4x6xi1>, tensor<4x6xi1>
}

// The ends of 32 bits fit.
// CHECK-LABEL: func.func @ends
// CHECK: graph.binary lt %{{.*}} : tensor<6xi32>
// CHECK: graph.binary ge %{{.*}} : tensor<6xi32>
func.func @ends() -> (tensor<6xi1>, tensor<6xi1>) {
  %i = graph.iota dim = 0 : tensor<6xi64>
  %most = graph.constant dense<2147483647> : tensor<6xi64>
  %a = graph.binary lt %i, %most : tensor<6xi64>
  %least = graph.constant dense<-2147483648> : tensor<6xi64>
  %b = graph.binary ge %i, %least : tensor<6xi64>
  return %a, %b : tensor<6xi1>, tensor<6xi1>
}
