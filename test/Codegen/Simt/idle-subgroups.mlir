// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s

// Of 80 columns 160 of 256 threads have results: the other subgroups leave the sums to them.
// CHECK-LABEL: kernel.func @wide_0
// CHECK:       %[[THREAD:[0-9]+]] = kernel.id thread
// CHECK:       scf.for
// CHECK:       %[[BUSY:[0-9]+]] = arith.cmpi ult, %[[THREAD]], %c160
// CHECK-NEXT:  scf.if %[[BUSY]] -> (
// CHECK:         scf.for
// CHECK:         scf.yield
// CHECK:       } else {
// CHECK-NEXT:    scf.yield
func.func @wide(%q: tensor<16x512x80xf32>, %k: tensor<16x512x80xf32>, %v: tensor<16x512x80xf32>) -> tensor<16x512x80xf32> {
  %q1 = graph.reshape %q : tensor<16x512x80xf32> -> tensor<16x512x80x1xf32>
  %q2 = graph.expand %q1 : tensor<16x512x80x1xf32> -> tensor<16x512x80x512xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<16x512x80xf32> -> tensor<16x80x512xf32>
  %k1 = graph.reshape %kt : tensor<16x80x512xf32> -> tensor<16x1x80x512xf32>
  %k2 = graph.expand %k1 : tensor<16x1x80x512xf32> -> tensor<16x512x80x512xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<16x512x80x512xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<16x512x80x512xf32> -> tensor<16x512x512xf32>
  %row = graph.iota dim = 0 : tensor<512x512xi64>
  %column = graph.iota dim = 1 : tensor<512x512xi64>
  %seen = graph.binary le %column, %row : tensor<512x512xi64>
  %m1 = graph.reshape %seen : tensor<512x512xi1> -> tensor<1x512x512xi1>
  %m2 = graph.expand %m1 : tensor<1x512x512xi1> -> tensor<16x512x512xi1>
  %inf = graph.constant dense<0xFF800000> : tensor<16x512x512xf32>
  %x = graph.select %m2, %s, %inf : tensor<16x512x512xf32>
  %max = graph.reduce max %x dims = [2] : tensor<16x512x512xf32> -> tensor<16x512xf32>
  %max1 = graph.reshape %max : tensor<16x512xf32> -> tensor<16x512x1xf32>
  %max2 = graph.expand %max1 : tensor<16x512x1xf32> -> tensor<16x512x512xf32>
  %d = graph.binary sub %x, %max2 : tensor<16x512x512xf32>
  %e = graph.unary exp %d : tensor<16x512x512xf32>
  %sum = graph.reduce add %e dims = [2] : tensor<16x512x512xf32> -> tensor<16x512xf32>
  %sum1 = graph.reshape %sum : tensor<16x512xf32> -> tensor<16x512x1xf32>
  %sum2 = graph.expand %sum1 : tensor<16x512x1xf32> -> tensor<16x512x512xf32>
  %p = graph.binary div %e, %sum2 : tensor<16x512x512xf32>
  %p1 = graph.reshape %p : tensor<16x512x512xf32> -> tensor<16x512x512x1xf32>
  %p2 = graph.expand %p1 : tensor<16x512x512x1xf32> -> tensor<16x512x512x80xf32>
  %v1 = graph.reshape %v : tensor<16x512x80xf32> -> tensor<16x1x512x80xf32>
  %v2 = graph.expand %v1 : tensor<16x1x512x80xf32> -> tensor<16x512x512x80xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<16x512x512x80xf32>
  %y = graph.reduce add %pv dims = [2] : tensor<16x512x512x80xf32> -> tensor<16x512x80xf32>
  return %y : tensor<16x512x80xf32>
}

