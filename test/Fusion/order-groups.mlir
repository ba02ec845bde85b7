// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s

// What only ends a value comes before the next value: two of the three scans are alive at once, where the order of
// the text has them all. What is returned lies in memory of the caller.
// CHECK-LABEL: func.func @ends
// CHECK: graph.scan add
// CHECK: graph.scan max
// CHECK: graph.scan add
// CHECK: graph.scan max
// CHECK: graph.scan add
// CHECK: graph.scan min
// CHECK: graph.scan max
func.func @ends(%x: tensor<1024xf32>)
    -> (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %a = graph.scan add %x dim = 0 : tensor<1024xf32>
  %b = graph.scan add %a dim = 0 : tensor<1024xf32>
  %c = graph.scan add %b dim = 0 : tensor<1024xf32>
  %d = graph.scan min %c dim = 0 : tensor<1024xf32>
  %ra = graph.scan max %a dim = 0 : tensor<1024xf32>
  %rb = graph.scan max %b dim = 0 : tensor<1024xf32>
  %rc = graph.scan max %c dim = 0 : tensor<1024xf32>
  return %d, %ra, %rb, %rc : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}

// So does what makes little, and stays to the end, where only several together end a value.
// CHECK-LABEL: func.func @small
// CHECK: graph.scan add
// CHECK: graph.sort values
// CHECK: graph.sort indices
// CHECK: graph.scan add
// CHECK: graph.sort values
// CHECK: graph.sort indices
// CHECK: graph.scan add
// CHECK: graph.scan min
func.func @small(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<8xf32>, tensor<8xi64>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %a = graph.scan add %x dim = 0 : tensor<1024xf32>
  %b = graph.scan add %a dim = 0 : tensor<1024xf32>
  %c = graph.scan add %b dim = 0 : tensor<1024xf32>
  %d = graph.scan min %c dim = 0 : tensor<1024xf32>
  %a8 = graph.pad %a, %zero low = [0] high = [-1016] interior = [0] : tensor<1024xf32> -> tensor<8xf32>
  %b8 = graph.pad %b, %zero low = [0] high = [-1016] interior = [0] : tensor<1024xf32> -> tensor<8xf32>
  %ra = graph.sort values %a8 dim = 0 : tensor<8xf32> -> tensor<8xf32>
  %rb = graph.sort values %b8 dim = 0 : tensor<8xf32> -> tensor<8xf32>
  %ia = graph.sort indices %a8 dim = 0 descending : tensor<8xf32> -> tensor<8xi64>
  %ib = graph.sort indices %b8 dim = 0 descending : tensor<8xf32> -> tensor<8xi64>
  %r = graph.binary add %ra, %rb : tensor<8xf32>
  %i = graph.binary add %ia, %ib : tensor<8xi64>
  return %d, %r, %i : tensor<1024xf32>, tensor<8xf32>, tensor<8xi64>
}

// What a loop hands on as it is stays where it was: behind it, `%a` is alive still, and `%b` is the one to end.
// CHECK-LABEL: func.func @handed
// CHECK: graph.scan add
// CHECK: graph.scan mul
// CHECK: graph.loop
// CHECK: graph.sort values
// CHECK: graph.scan max
// CHECK: graph.scan min
func.func @handed(%x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %a = graph.scan add %x dim = 0 : tensor<1024xf32>
  %b = graph.scan mul %a dim = 0 : tensor<1024xf32>
  %l = graph.loop(%i to 1) carry(%p = %a : tensor<1024xf32>) with(%g = %b : tensor<1024xf32>) {
    graph.yield %p : tensor<1024xf32>
  }
  %m = graph.scan max %l dim = 0 : tensor<1024xf32>
  %n = graph.scan min %m dim = 0 : tensor<1024xf32>
  %rb = graph.sort values %b dim = 0 : tensor<1024xf32> -> tensor<1024xf32>
  return %n, %rb : tensor<1024xf32>, tensor<1024xf32>
}

// Where nothing is gained, the order is that of the text.
// CHECK-LABEL: func.func @text
// CHECK: graph.scan add
// CHECK: graph.scan max
// CHECK: graph.scan min
func.func @text(%x: tensor<64xf32>, %y: tensor<8xf32>) -> (tensor<64xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = graph.scan add %x dim = 0 : tensor<64xf32>
  %b = graph.scan max %y dim = 0 : tensor<8xf32>
  %c = graph.scan min %y dim = 0 : tensor<8xf32>
  return %a, %b, %c : tensor<64xf32>, tensor<8xf32>, tensor<8xf32>
}
