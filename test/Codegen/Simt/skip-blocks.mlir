// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_90a stop-after=lowered' | FileCheck %s
// RUN: zyx-opt %s --split-input-file --zyx-compile='target=sm_80 stop-after=lowered' | FileCheck %s

// A mask of data is evaluated before a block of keys: who sees one of its own pairs writes where the block begins, and
// after a barrier all read whether anybody did. Only then keys and values are read. What a thread found out of its pairs
// is kept in memory until their scores are masked: nothing is compared again.
// CHECK-LABEL: kernel.func @documents_0
// CHECK:       %[[VOTES:.*]] = kernel.alloc : <2xi32, shared>
// CHECK:       kernel.store %{{.*}}, %[[VOTES]]
// CHECK:       kernel.barrier workgroup
// CHECK:       scf.for %[[FIRST:[a-z0-9]+]] = %
// CHECK:       arith.cmpi eq, %{{.*}} : i64
// CHECK:       %[[KEPT:[0-9]+]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT:  kernel.store %[[KEPT]], %[[TOPS:[0-9]+]]
// CHECK:       %[[STAMP:[0-9]+]] = arith.index_cast %[[FIRST]] : index to i32
// CHECK-NEXT:  scf.if
// CHECK-NEXT:    kernel.store %[[STAMP]], %[[VOTES]]
// CHECK-NEXT:  }
// CHECK-NEXT:  kernel.barrier workgroup
// CHECK-NEXT:  %[[LAST:[0-9]+]] = kernel.load %[[VOTES]]
// CHECK-NEXT:  %[[SEEN:[0-9]+]] = arith.cmpi eq, %[[LAST]], %[[STAMP]] : i32
// CHECK-NEXT:  scf.if %[[SEEN]] -> ({{.*}}) {
// CHECK-NOT:     arith.cmpi eq, %{{.*}} : i64
// CHECK:         %[[BACK:[0-9]+]] = kernel.load %[[TOPS]]
// CHECK:         arith.fptosi %[[BACK]] : f32 to i32
// CHECK-NOT:     arith.cmpi eq, %{{.*}} : i64
// CHECK:       } else {
// CHECK:         scf.yield
func.func @documents(%q: tensor<16x512x64xf32>, %k: tensor<16x512x64xf32>, %v: tensor<16x512x64xf32>, %ids: tensor<512xi64>, %of: tensor<512xi64>) -> tensor<16x512x64xf32> {
  %q1 = graph.reshape %q : tensor<16x512x64xf32> -> tensor<16x512x64x1xf32>
  %q2 = graph.expand %q1 : tensor<16x512x64x1xf32> -> tensor<16x512x64x512xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<16x512x64xf32> -> tensor<16x64x512xf32>
  %k1 = graph.reshape %kt : tensor<16x64x512xf32> -> tensor<16x1x64x512xf32>
  %k2 = graph.expand %k1 : tensor<16x1x64x512xf32> -> tensor<16x512x64x512xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<16x512x64x512xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<16x512x64x512xf32> -> tensor<16x512x512xf32>
  %r1 = graph.reshape %ids : tensor<512xi64> -> tensor<512x1xi64>
  %r2 = graph.expand %r1 : tensor<512x1xi64> -> tensor<512x512xi64>
  %c1 = graph.reshape %of : tensor<512xi64> -> tensor<1x512xi64>
  %c2 = graph.expand %c1 : tensor<1x512xi64> -> tensor<512x512xi64>
  %seen = graph.binary eq %r2, %c2 : tensor<512x512xi64>
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
  %p2 = graph.expand %p1 : tensor<16x512x512x1xf32> -> tensor<16x512x512x64xf32>
  %v1 = graph.reshape %v : tensor<16x512x64xf32> -> tensor<16x1x512x64xf32>
  %v2 = graph.expand %v1 : tensor<16x1x512x64xf32> -> tensor<16x512x512x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<16x512x512x64xf32>
  %y = graph.reduce add %pv dims = [2] : tensor<16x512x512x64xf32> -> tensor<16x512x64xf32>
  return %y : tensor<16x512x64xf32>
}

// -----

// Limits that follow from places are computed before the first block: nobody votes.
// CHECK-LABEL: kernel.func @causal_0
// CHECK-NOT:   xi32, shared>
// CHECK:       kernel.return
func.func @causal(%q: tensor<16x512x64xf32>, %k: tensor<16x512x64xf32>, %v: tensor<16x512x64xf32>) -> tensor<16x512x64xf32> {
  %q1 = graph.reshape %q : tensor<16x512x64xf32> -> tensor<16x512x64x1xf32>
  %q2 = graph.expand %q1 : tensor<16x512x64x1xf32> -> tensor<16x512x64x512xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<16x512x64xf32> -> tensor<16x64x512xf32>
  %k1 = graph.reshape %kt : tensor<16x64x512xf32> -> tensor<16x1x64x512xf32>
  %k2 = graph.expand %k1 : tensor<16x1x64x512xf32> -> tensor<16x512x64x512xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<16x512x64x512xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<16x512x64x512xf32> -> tensor<16x512x512xf32>
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
  %p2 = graph.expand %p1 : tensor<16x512x512x1xf32> -> tensor<16x512x512x64xf32>
  %v1 = graph.reshape %v : tensor<16x512x64xf32> -> tensor<16x1x512x64xf32>
  %v2 = graph.expand %v1 : tensor<16x1x512x64xf32> -> tensor<16x512x512x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<16x512x512x64xf32>
  %y = graph.reduce add %pv dims = [2] : tensor<16x512x512x64xf32> -> tensor<16x512x64xf32>
  return %y : tensor<16x512x64xf32>
}

// -----

// Few rows take no longer for a block than for a vote.
// CHECK-LABEL: kernel.func @few_0
// CHECK-NOT:   xi32, shared>
// CHECK:       kernel.return
func.func @few(%q: tensor<16x8x64xf32>, %k: tensor<16x512x64xf32>, %v: tensor<16x512x64xf32>, %ids: tensor<8xi64>, %of: tensor<512xi64>) -> tensor<16x8x64xf32> {
  %q1 = graph.reshape %q : tensor<16x8x64xf32> -> tensor<16x8x64x1xf32>
  %q2 = graph.expand %q1 : tensor<16x8x64x1xf32> -> tensor<16x8x64x512xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<16x512x64xf32> -> tensor<16x64x512xf32>
  %k1 = graph.reshape %kt : tensor<16x64x512xf32> -> tensor<16x1x64x512xf32>
  %k2 = graph.expand %k1 : tensor<16x1x64x512xf32> -> tensor<16x8x64x512xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<16x8x64x512xf32>
  %s = graph.reduce add %qk dims = [2] : tensor<16x8x64x512xf32> -> tensor<16x8x512xf32>
  %r1 = graph.reshape %ids : tensor<8xi64> -> tensor<8x1xi64>
  %r2 = graph.expand %r1 : tensor<8x1xi64> -> tensor<8x512xi64>
  %c1 = graph.reshape %of : tensor<512xi64> -> tensor<1x512xi64>
  %c2 = graph.expand %c1 : tensor<1x512xi64> -> tensor<8x512xi64>
  %seen = graph.binary eq %r2, %c2 : tensor<8x512xi64>
  %m1 = graph.reshape %seen : tensor<8x512xi1> -> tensor<1x8x512xi1>
  %m2 = graph.expand %m1 : tensor<1x8x512xi1> -> tensor<16x8x512xi1>
  %inf = graph.constant dense<0xFF800000> : tensor<16x8x512xf32>
  %x = graph.select %m2, %s, %inf : tensor<16x8x512xf32>
  %max = graph.reduce max %x dims = [2] : tensor<16x8x512xf32> -> tensor<16x8xf32>
  %max1 = graph.reshape %max : tensor<16x8xf32> -> tensor<16x8x1xf32>
  %max2 = graph.expand %max1 : tensor<16x8x1xf32> -> tensor<16x8x512xf32>
  %d = graph.binary sub %x, %max2 : tensor<16x8x512xf32>
  %e = graph.unary exp %d : tensor<16x8x512xf32>
  %sum = graph.reduce add %e dims = [2] : tensor<16x8x512xf32> -> tensor<16x8xf32>
  %sum1 = graph.reshape %sum : tensor<16x8xf32> -> tensor<16x8x1xf32>
  %sum2 = graph.expand %sum1 : tensor<16x8x1xf32> -> tensor<16x8x512xf32>
  %p = graph.binary div %e, %sum2 : tensor<16x8x512xf32>
  %p1 = graph.reshape %p : tensor<16x8x512xf32> -> tensor<16x8x512x1xf32>
  %p2 = graph.expand %p1 : tensor<16x8x512x1xf32> -> tensor<16x8x512x64xf32>
  %v1 = graph.reshape %v : tensor<16x512x64xf32> -> tensor<16x1x512x64xf32>
  %v2 = graph.expand %v1 : tensor<16x1x512x64xf32> -> tensor<16x8x512x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<16x8x512x64xf32>
  %y = graph.reduce add %pv dims = [2] : tensor<16x8x512x64xf32> -> tensor<16x8x64xf32>
  return %y : tensor<16x8x64xf32>
}

// -----

// Of a part of the keys the limit counts from its first key on, and what lies before it is negative.
// CHECK-LABEL: kernel.func @filled_0
// CHECK:       kernel.grid (%{{.*}}, %[[PART:[a-z0-9]+]], %{{.*}}) in
// CHECK:       %[[END:[0-9]+]] = kernel.load %{{.*}}[] : <i64, global> -> i64
// CHECK:       %[[PLACE:[0-9]+]] = arith.index_cast %[[END]] : i64 to index
// CHECK:       %[[LIMIT:[0-9]+]] = arith.maxsi %[[PLACE]], %c-1 : index
// CHECK:       %[[FIRST:[0-9]+]] = arith.muli %{{.*}}, %c{{128|192}}_i64 : i64
// CHECK:       %[[BASE:[0-9]+]] = arith.index_cast %[[FIRST]] : i64 to index
// CHECK:       arith.subi %[[LIMIT]], %[[BASE]] : index
// CHECK:       scf.for
func.func @filled(%q: tensor<4x1x64xf32>, %k: tensor<4x8192x64xf32>, %v: tensor<4x8192x64xf32>, %end: tensor<1xi64>) -> tensor<4x1x64xf32> {
  %q1 = graph.reshape %q : tensor<4x1x64xf32> -> tensor<4x1x64x1xf32>
  %qs = graph.expand %q1 : tensor<4x1x64x1xf32> -> tensor<4x1x64x8192xf32>
  %kt = graph.permute %k order = [0, 2, 1] : tensor<4x8192x64xf32> -> tensor<4x64x8192xf32>
  %k1 = graph.reshape %kt : tensor<4x64x8192xf32> -> tensor<4x1x64x8192xf32>
  %p = graph.binary mul %qs, %k1 : tensor<4x1x64x8192xf32>
  %s = graph.reduce add %p dims = [2] : tensor<4x1x64x8192xf32> -> tensor<4x1x8192xf32>
  %at = graph.iota dim = 2 : tensor<4x1x8192xi64>
  %e1 = graph.reshape %end : tensor<1xi64> -> tensor<1x1x1xi64>
  %es = graph.expand %e1 : tensor<1x1x1xi64> -> tensor<4x1x8192xi64>
  %seen = graph.binary lt %at, %es : tensor<4x1x8192xi64>
  %none = graph.constant dense<0xFF800000> : tensor<4x1x8192xf32>
  %x = graph.select %seen, %s, %none : tensor<4x1x8192xf32>
  %m = graph.reduce max %x dims = [2] : tensor<4x1x8192xf32> -> tensor<4x1xf32>
  %m1 = graph.reshape %m : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ms = graph.expand %m1 : tensor<4x1x1xf32> -> tensor<4x1x8192xf32>
  %d = graph.binary sub %x, %ms : tensor<4x1x8192xf32>
  %e = graph.unary exp %d : tensor<4x1x8192xf32>
  %l = graph.reduce add %e dims = [2] : tensor<4x1x8192xf32> -> tensor<4x1xf32>
  %l1 = graph.reshape %l : tensor<4x1xf32> -> tensor<4x1x1xf32>
  %ls = graph.expand %l1 : tensor<4x1x1xf32> -> tensor<4x1x8192xf32>
  %w = graph.binary div %e, %ls : tensor<4x1x8192xf32>
  %w1 = graph.reshape %w : tensor<4x1x8192xf32> -> tensor<4x1x8192x1xf32>
  %ws = graph.expand %w1 : tensor<4x1x8192x1xf32> -> tensor<4x1x8192x64xf32>
  %v1 = graph.reshape %v : tensor<4x8192x64xf32> -> tensor<4x1x8192x64xf32>
  %t = graph.binary mul %ws, %v1 : tensor<4x1x8192x64xf32>
  %y = graph.reduce add %t dims = [2] : tensor<4x1x8192x64xf32> -> tensor<4x1x64xf32>
  return %y : tensor<4x1x64xf32>
}

