// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=schedule' --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s --zyx-compile='target=sm_80 stop-after=schedule' | FileCheck %s --check-prefix=AMPERE
// RUN: zyx-opt %s --zyx-compile='target=sm_90a' -o /dev/null

// Threads find hidden blocks by themselves.
// AMPERE-NOT: visible

// Which keys documents leave is found once for all heads, of 16 rows each, and the attention reads it. Rows that do not exist see nothing.
// WHY: Remark=documents_0_visible, Remark=" finds which blocks data hides"
// CHECK-LABEL: plan.func @documents
// CHECK: %[[RANGES:.*]] = plan.alloc : !plan.buffer<i32[504]>
// CHECK: plan.launch @documents_0_visible ins(%{{.*}} : !plan.buffer<i64[2x2004]>) outs(%[[RANGES]] : !plan.buffer<i32[504]>)
// CHECK: plan.launch @documents_0 ins({{.*}}, %[[RANGES]] :
// CHECK-LABEL: kernel.func @documents_0(
// CHECK-SAME: visible = array<i64: 4, 252, 1, 126, 0>
// CHECK-LABEL: kernel.func @documents_0_visible(
// CHECK: kernel.view %{{.*}} map <[<[2, 126, 16] strides [2016, 16, 1]>, <[2, 2016] strides [2004, 1] valid [0 : 2, 0 : 2004]>]>
// CHECK: arith.cmpi eq
// CHECK: arith.cmpi slt, {{.*}} : tensor<126x16xi32>
// CHECK: kernel.reduce min %{{.*}} dims [2, 3] : tensor<2x126x16x2004xi32> -> tensor<2x126xi32>
// CHECK: kernel.reduce max %{{.*}} dims [2, 3] : tensor<2x126x16x2004xi32> -> tensor<2x126xi32>
func.func @documents(%q: tensor<2x16x2004x128xbf16>, %k: tensor<2x16x2004x128xbf16>, %v: tensor<2x16x2004x128xbf16>, %document: tensor<2x2004xi64>) -> tensor<2x16x2004x128xbf16> {
  %0 = graph.reshape %document : tensor<2x2004xi64> -> tensor<2x1x2004x1xi64>
  %1 = graph.expand %0 : tensor<2x1x2004x1xi64> -> tensor<2x16x2004x2004xi64>
  %2 = graph.reshape %document : tensor<2x2004xi64> -> tensor<2x1x1x2004xi64>
  %3 = graph.expand %2 : tensor<2x1x1x2004xi64> -> tensor<2x16x2004x2004xi64>
  %4 = graph.binary eq %1, %3 : tensor<2x16x2004x2004xi64>
  %qw = graph.cast %q : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %q1 = graph.reshape %qw : tensor<2x16x2004x128xf32> -> tensor<2x16x2004x1x128xf32>
  %q2 = graph.expand %q1 : tensor<2x16x2004x1x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %kw = graph.cast %k : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %k1 = graph.reshape %kw : tensor<2x16x2004x128xf32> -> tensor<2x16x1x2004x128xf32>
  %k2 = graph.expand %k1 : tensor<2x16x1x2004x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x16x2004x2004x128xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x16x2004x2004x128xf32> -> tensor<2x16x2004x2004xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %h1 = graph.reshape %hidden : tensor<f32> -> tensor<1x1x1x1xf32>
  %h2 = graph.expand %h1 : tensor<1x1x1x1xf32> -> tensor<2x16x2004x2004xf32>
  %masked = graph.select %4, %scores, %h2 : tensor<2x16x2004x2004xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004xf32>
  %m1 = graph.reshape %max : tensor<2x16x2004xf32> -> tensor<2x16x2004x1xf32>
  %m2 = graph.expand %m1 : tensor<2x16x2004x1xf32> -> tensor<2x16x2004x2004xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x16x2004x2004xf32>
  %weights = graph.unary exp %distance : tensor<2x16x2004x2004xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004xf32>
  %s1 = graph.reshape %sum : tensor<2x16x2004xf32> -> tensor<2x16x2004x1xf32>
  %s2 = graph.expand %s1 : tensor<2x16x2004x1xf32> -> tensor<2x16x2004x2004xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x16x2004x2004xf32>
  %p1 = graph.reshape %p : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004x2004x1xf32>
  %p2 = graph.expand %p1 : tensor<2x16x2004x2004x1xf32> -> tensor<2x16x2004x2004x128xf32>
  %vw = graph.cast %v : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %v1 = graph.reshape %vw : tensor<2x16x2004x128xf32> -> tensor<2x16x1x2004x128xf32>
  %v2 = graph.expand %v1 : tensor<2x16x1x2004x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x16x2004x2004x128xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x16x2004x2004x128xf32> -> tensor<2x16x2004x128xf32>
  %y = graph.cast %o : tensor<2x16x2004x128xf32> -> tensor<2x16x2004x128xbf16>
  return %y : tensor<2x16x2004x128xbf16>
}

// A key that is padding is so for all queries: there is one range of each batch, and here the condition holds where keys are hidden.
// CHECK-LABEL: plan.func @padding
// CHECK: plan.launch @padding_0_visible ins(%{{.*}} : !plan.buffer<bool[2x2004]>) outs(%{{.*}} : !plan.buffer<i32[4]>)
// CHECK-LABEL: kernel.func @padding_0(
// CHECK-SAME: visible = array<i64: 4, 2, 0, 1, 0>
// CHECK-LABEL: kernel.func @padding_0_visible(
// CHECK: arith.xori
// CHECK: kernel.reduce min %{{.*}} dims [1] : tensor<2x2004xi32> -> tensor<2xi32>
func.func @padding(%q: tensor<2x16x2004x128xbf16>, %k: tensor<2x16x2004x128xbf16>, %v: tensor<2x16x2004x128xbf16>, %padding: tensor<2x2004xi1>) -> tensor<2x16x2004x128xbf16> {
  %2 = graph.reshape %padding : tensor<2x2004xi1> -> tensor<2x1x1x2004xi1>
  %4 = graph.expand %2 : tensor<2x1x1x2004xi1> -> tensor<2x16x2004x2004xi1>
  %qw = graph.cast %q : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %q1 = graph.reshape %qw : tensor<2x16x2004x128xf32> -> tensor<2x16x2004x1x128xf32>
  %q2 = graph.expand %q1 : tensor<2x16x2004x1x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %kw = graph.cast %k : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %k1 = graph.reshape %kw : tensor<2x16x2004x128xf32> -> tensor<2x16x1x2004x128xf32>
  %k2 = graph.expand %k1 : tensor<2x16x1x2004x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x16x2004x2004x128xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x16x2004x2004x128xf32> -> tensor<2x16x2004x2004xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %h1 = graph.reshape %hidden : tensor<f32> -> tensor<1x1x1x1xf32>
  %h2 = graph.expand %h1 : tensor<1x1x1x1xf32> -> tensor<2x16x2004x2004xf32>
  %masked = graph.select %4, %h2, %scores : tensor<2x16x2004x2004xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004xf32>
  %m1 = graph.reshape %max : tensor<2x16x2004xf32> -> tensor<2x16x2004x1xf32>
  %m2 = graph.expand %m1 : tensor<2x16x2004x1xf32> -> tensor<2x16x2004x2004xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x16x2004x2004xf32>
  %weights = graph.unary exp %distance : tensor<2x16x2004x2004xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004xf32>
  %s1 = graph.reshape %sum : tensor<2x16x2004xf32> -> tensor<2x16x2004x1xf32>
  %s2 = graph.expand %s1 : tensor<2x16x2004x1xf32> -> tensor<2x16x2004x2004xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x16x2004x2004xf32>
  %p1 = graph.reshape %p : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004x2004x1xf32>
  %p2 = graph.expand %p1 : tensor<2x16x2004x2004x1xf32> -> tensor<2x16x2004x2004x128xf32>
  %vw = graph.cast %v : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %v1 = graph.reshape %vw : tensor<2x16x2004x128xf32> -> tensor<2x16x1x2004x128xf32>
  %v2 = graph.expand %v1 : tensor<2x16x1x2004x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x16x2004x2004x128xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x16x2004x2004x128xf32> -> tensor<2x16x2004x128xf32>
  %y = graph.cast %o : tensor<2x16x2004x128xf32> -> tensor<2x16x2004x128xbf16>
  return %y : tensor<2x16x2004x128xbf16>
}

// Masked by a large number, rows that see nothing weigh all keys.
// CHECK-LABEL: plan.func @lowest
// CHECK-NOT: _visible
// CHECK: plan.return
func.func @lowest(%q: tensor<2x16x2004x128xbf16>, %k: tensor<2x16x2004x128xbf16>, %v: tensor<2x16x2004x128xbf16>, %padding: tensor<2x2004xi1>) -> tensor<2x16x2004x128xbf16> {
  %2 = graph.reshape %padding : tensor<2x2004xi1> -> tensor<2x1x1x2004xi1>
  %4 = graph.expand %2 : tensor<2x1x1x2004xi1> -> tensor<2x16x2004x2004xi1>
  %qw = graph.cast %q : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %q1 = graph.reshape %qw : tensor<2x16x2004x128xf32> -> tensor<2x16x2004x1x128xf32>
  %q2 = graph.expand %q1 : tensor<2x16x2004x1x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %kw = graph.cast %k : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %k1 = graph.reshape %kw : tensor<2x16x2004x128xf32> -> tensor<2x16x1x2004x128xf32>
  %k2 = graph.expand %k1 : tensor<2x16x1x2004x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x16x2004x2004x128xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x16x2004x2004x128xf32> -> tensor<2x16x2004x2004xf32>
  %hidden = graph.constant dense<-1.0e9> : tensor<f32>
  %h1 = graph.reshape %hidden : tensor<f32> -> tensor<1x1x1x1xf32>
  %h2 = graph.expand %h1 : tensor<1x1x1x1xf32> -> tensor<2x16x2004x2004xf32>
  %masked = graph.select %4, %scores, %h2 : tensor<2x16x2004x2004xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004xf32>
  %m1 = graph.reshape %max : tensor<2x16x2004xf32> -> tensor<2x16x2004x1xf32>
  %m2 = graph.expand %m1 : tensor<2x16x2004x1xf32> -> tensor<2x16x2004x2004xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x16x2004x2004xf32>
  %weights = graph.unary exp %distance : tensor<2x16x2004x2004xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004xf32>
  %s1 = graph.reshape %sum : tensor<2x16x2004xf32> -> tensor<2x16x2004x1xf32>
  %s2 = graph.expand %s1 : tensor<2x16x2004x1xf32> -> tensor<2x16x2004x2004xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x16x2004x2004xf32>
  %p1 = graph.reshape %p : tensor<2x16x2004x2004xf32> -> tensor<2x16x2004x2004x1xf32>
  %p2 = graph.expand %p1 : tensor<2x16x2004x2004x1xf32> -> tensor<2x16x2004x2004x128xf32>
  %vw = graph.cast %v : tensor<2x16x2004x128xbf16> -> tensor<2x16x2004x128xf32>
  %v1 = graph.reshape %vw : tensor<2x16x2004x128xf32> -> tensor<2x16x1x2004x128xf32>
  %v2 = graph.expand %v1 : tensor<2x16x1x2004x128xf32> -> tensor<2x16x2004x2004x128xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x16x2004x2004x128xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x16x2004x2004x128xf32> -> tensor<2x16x2004x128xf32>
  %y = graph.cast %o : tensor<2x16x2004x128xf32> -> tensor<2x16x2004x128xbf16>
  return %y : tensor<2x16x2004x128xbf16>
}

// Of few scores two launches would take as long as what they save.
// CHECK-LABEL: plan.func @small
// CHECK-NOT: _visible
// CHECK: plan.return
func.func @small(%q: tensor<2x16x204x128xbf16>, %k: tensor<2x16x204x128xbf16>, %v: tensor<2x16x204x128xbf16>, %document: tensor<2x204xi64>) -> tensor<2x16x204x128xbf16> {
  %0 = graph.reshape %document : tensor<2x204xi64> -> tensor<2x1x204x1xi64>
  %1 = graph.expand %0 : tensor<2x1x204x1xi64> -> tensor<2x16x204x204xi64>
  %2 = graph.reshape %document : tensor<2x204xi64> -> tensor<2x1x1x204xi64>
  %3 = graph.expand %2 : tensor<2x1x1x204xi64> -> tensor<2x16x204x204xi64>
  %4 = graph.binary eq %1, %3 : tensor<2x16x204x204xi64>
  %qw = graph.cast %q : tensor<2x16x204x128xbf16> -> tensor<2x16x204x128xf32>
  %q1 = graph.reshape %qw : tensor<2x16x204x128xf32> -> tensor<2x16x204x1x128xf32>
  %q2 = graph.expand %q1 : tensor<2x16x204x1x128xf32> -> tensor<2x16x204x204x128xf32>
  %kw = graph.cast %k : tensor<2x16x204x128xbf16> -> tensor<2x16x204x128xf32>
  %k1 = graph.reshape %kw : tensor<2x16x204x128xf32> -> tensor<2x16x1x204x128xf32>
  %k2 = graph.expand %k1 : tensor<2x16x1x204x128xf32> -> tensor<2x16x204x204x128xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x16x204x204x128xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x16x204x204x128xf32> -> tensor<2x16x204x204xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %h1 = graph.reshape %hidden : tensor<f32> -> tensor<1x1x1x1xf32>
  %h2 = graph.expand %h1 : tensor<1x1x1x1xf32> -> tensor<2x16x204x204xf32>
  %masked = graph.select %4, %scores, %h2 : tensor<2x16x204x204xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x16x204x204xf32> -> tensor<2x16x204xf32>
  %m1 = graph.reshape %max : tensor<2x16x204xf32> -> tensor<2x16x204x1xf32>
  %m2 = graph.expand %m1 : tensor<2x16x204x1xf32> -> tensor<2x16x204x204xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x16x204x204xf32>
  %weights = graph.unary exp %distance : tensor<2x16x204x204xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x16x204x204xf32> -> tensor<2x16x204xf32>
  %s1 = graph.reshape %sum : tensor<2x16x204xf32> -> tensor<2x16x204x1xf32>
  %s2 = graph.expand %s1 : tensor<2x16x204x1xf32> -> tensor<2x16x204x204xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x16x204x204xf32>
  %p1 = graph.reshape %p : tensor<2x16x204x204xf32> -> tensor<2x16x204x204x1xf32>
  %p2 = graph.expand %p1 : tensor<2x16x204x204x1xf32> -> tensor<2x16x204x204x128xf32>
  %vw = graph.cast %v : tensor<2x16x204x128xbf16> -> tensor<2x16x204x128xf32>
  %v1 = graph.reshape %vw : tensor<2x16x204x128xf32> -> tensor<2x16x1x204x128xf32>
  %v2 = graph.expand %v1 : tensor<2x16x1x204x128xf32> -> tensor<2x16x204x204x128xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x16x204x204x128xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x16x204x204x128xf32> -> tensor<2x16x204x128xf32>
  %y = graph.cast %o : tensor<2x16x204x128xf32> -> tensor<2x16x204x128xbf16>
  return %y : tensor<2x16x204x128xbf16>
}

// Gradients read a mask that is stored; those of keys and values walk queries, each of which must see something: their vectors are looked at.
// CHECK-LABEL: plan.func @gradients
// They are looked for in one launch.
// CHECK: plan.launch @gradients_3_visible_and_gradients_4_visible_and_gradients_4_finite ins
// CHECK-LABEL: kernel.func @gradients_3(
// CHECK-NOT: finite
// CHECK-SAME: visible = array<i64: 8, 256, 1, 64, 0>
// CHECK-LABEL: kernel.func @gradients_4(
// CHECK-SAME: finite = array<i64: 9, 16, 1>
// CHECK-SAME: visible = array<i64: 8, 256, 1, 64, 0>
// CHECK-LABEL: kernel.func @gradients_4_finite(
// CHECK: arith.cmpf uge
// CHECK: kernel.reduce max %{{.*}} dims [2] : tensor<4x16x1024xi32> -> tensor<4x16xi32>
func.func @gradients(%arg0: tensor<4x16x1024x128xf16>, %arg1: tensor<4x16x1024x128xf16>, %arg2: tensor<4x16x1024x128xf16>, %arg3: tensor<4x1024xi64>, %arg4: tensor<4x16x1024x128xf16>) -> (tensor<4x16x1024x128xf16>, tensor<4x16x1024x128xf16>, tensor<4x16x1024x128xf16>, tensor<4x16x1024x128xf16>) {
  %0 = graph.reshape %arg3 : tensor<4x1024xi64> -> tensor<4x1x1024x1xi64>
  %1 = graph.expand %0 : tensor<4x1x1024x1xi64> -> tensor<4x1x1024x1024xi64>
  %2 = graph.reshape %arg3 : tensor<4x1024xi64> -> tensor<4x1x1x1024xi64>
  %3 = graph.expand %2 : tensor<4x1x1x1024xi64> -> tensor<4x1x1024x1024xi64>
  %4 = graph.binary eq %1, %3 : tensor<4x1x1024x1024xi64>
  %5 = graph.iota dim = 0 : tensor<1024xi64>
  %6 = graph.constant dense<1> : tensor<i64>
  %7 = graph.reshape %6 : tensor<i64> -> tensor<1xi64>
  %8 = graph.expand %7 : tensor<1xi64> -> tensor<1024xi64>
  %9 = graph.binary mul %5, %8 : tensor<1024xi64>
  %10 = graph.constant dense<0> : tensor<i64>
  %11 = graph.reshape %10 : tensor<i64> -> tensor<1xi64>
  %12 = graph.expand %11 : tensor<1xi64> -> tensor<1024xi64>
  %13 = graph.binary add %9, %12 : tensor<1024xi64>
  %14 = graph.reshape %13 : tensor<1024xi64> -> tensor<1x1024xi64>
  %15 = graph.expand %14 : tensor<1x1024xi64> -> tensor<1024x1024xi64>
  %16 = graph.reshape %13 : tensor<1024xi64> -> tensor<1024x1xi64>
  %17 = graph.expand %16 : tensor<1024x1xi64> -> tensor<1024x1024xi64>
  %18 = graph.binary le %15, %17 : tensor<1024x1024xi64>
  %19 = graph.reshape %18 : tensor<1024x1024xi1> -> tensor<1x1x1024x1024xi1>
  %20 = graph.expand %19 : tensor<1x1x1024x1024xi1> -> tensor<4x1x1024x1024xi1>
  %21 = graph.binary and %4, %20 : tensor<4x1x1024x1024xi1>
  %22 = graph.expand %21 : tensor<4x1x1024x1024xi1> -> tensor<4x16x1024x1024xi1>
  %23 = graph.cast %arg0 : tensor<4x16x1024x128xf16> -> tensor<4x16x1024x128xf32>
  %24 = graph.reshape %23 : tensor<4x16x1024x128xf32> -> tensor<4x16x1024x128x1xf32>
  %25 = graph.expand %24 : tensor<4x16x1024x128x1xf32> -> tensor<4x16x1024x128x1024xf32>
  %26 = graph.cast %arg1 : tensor<4x16x1024x128xf16> -> tensor<4x16x1024x128xf32>
  %27 = graph.permute %26 order = [0, 1, 3, 2] : tensor<4x16x1024x128xf32> -> tensor<4x16x128x1024xf32>
  %28 = graph.reshape %27 : tensor<4x16x128x1024xf32> -> tensor<4x16x1x128x1024xf32>
  %29 = graph.expand %28 : tensor<4x16x1x128x1024xf32> -> tensor<4x16x1024x128x1024xf32>
  %30 = graph.binary mul %25, %29 : tensor<4x16x1024x128x1024xf32>
  %31 = graph.reduce add %30 dims = [3] : tensor<4x16x1024x128x1024xf32> -> tensor<4x16x1024x1024xf32>
  %32 = graph.constant dense<0.0883883461> : tensor<f32>
  %33 = graph.reshape %32 : tensor<f32> -> tensor<1x1x1x1xf32>
  %34 = graph.expand %33 : tensor<1x1x1x1xf32> -> tensor<4x16x1024x1024xf32>
  %35 = graph.binary mul %31, %34 : tensor<4x16x1024x1024xf32>
  %36 = graph.constant dense<0xFF800000> : tensor<f32>
  %37 = graph.reshape %36 : tensor<f32> -> tensor<1x1x1x1xf32>
  %38 = graph.expand %37 : tensor<1x1x1x1xf32> -> tensor<4x16x1024x1024xf32>
  %39 = graph.select %22, %35, %38 : tensor<4x16x1024x1024xf32>
  %40 = graph.reduce max %39 dims = [3] : tensor<4x16x1024x1024xf32> -> tensor<4x16x1024xf32>
  %41 = graph.reshape %40 : tensor<4x16x1024xf32> -> tensor<4x16x1024x1xf32>
  %42 = graph.expand %41 : tensor<4x16x1024x1xf32> -> tensor<4x16x1024x1024xf32>
  %43 = graph.binary sub %39, %42 : tensor<4x16x1024x1024xf32>
  %44 = graph.unary exp %43 : tensor<4x16x1024x1024xf32>
  %45 = graph.reduce add %44 dims = [3] : tensor<4x16x1024x1024xf32> -> tensor<4x16x1024xf32>
  %46 = graph.reshape %45 : tensor<4x16x1024xf32> -> tensor<4x16x1024x1xf32>
  %47 = graph.expand %46 : tensor<4x16x1024x1xf32> -> tensor<4x16x1024x1024xf32>
  %48 = graph.binary div %44, %47 : tensor<4x16x1024x1024xf32>
  %49 = graph.reshape %48 : tensor<4x16x1024x1024xf32> -> tensor<4x16x1024x1024x1xf32>
  %50 = graph.expand %49 : tensor<4x16x1024x1024x1xf32> -> tensor<4x16x1024x1024x128xf32>
  %51 = graph.cast %arg2 : tensor<4x16x1024x128xf16> -> tensor<4x16x1024x128xf32>
  %52 = graph.reshape %51 : tensor<4x16x1024x128xf32> -> tensor<4x16x1x1024x128xf32>
  %53 = graph.expand %52 : tensor<4x16x1x1024x128xf32> -> tensor<4x16x1024x1024x128xf32>
  %54 = graph.binary mul %50, %53 : tensor<4x16x1024x1024x128xf32>
  %55 = graph.reduce add %54 dims = [3] : tensor<4x16x1024x1024x128xf32> -> tensor<4x16x1024x128xf32>
  %56 = graph.cast %55 : tensor<4x16x1024x128xf32> -> tensor<4x16x1024x128xf16>
  %57 = graph.cast %arg4 : tensor<4x16x1024x128xf16> -> tensor<4x16x1024x128xf32>
  %58 = graph.reshape %57 : tensor<4x16x1024x128xf32> -> tensor<4x16x1024x1x128xf32>
  %59 = graph.expand %58 : tensor<4x16x1024x1x128xf32> -> tensor<4x16x1024x1024x128xf32>
  %60 = graph.binary mul %59, %53 : tensor<4x16x1024x1024x128xf32>
  %61 = graph.reduce add %60 dims = [4] : tensor<4x16x1024x1024x128xf32> -> tensor<4x16x1024x1024xf32>
  %62 = graph.binary div %61, %47 : tensor<4x16x1024x1024xf32>
  %63 = graph.binary mul %62, %48 : tensor<4x16x1024x1024xf32>
  %64 = graph.unary neg %63 : tensor<4x16x1024x1024xf32>
  %65 = graph.reduce add %64 dims = [3] : tensor<4x16x1024x1024xf32> -> tensor<4x16x1024xf32>
  %66 = graph.reshape %65 : tensor<4x16x1024xf32> -> tensor<4x16x1024x1xf32>
  %67 = graph.expand %66 : tensor<4x16x1024x1xf32> -> tensor<4x16x1024x1024xf32>
  %68 = graph.binary add %62, %67 : tensor<4x16x1024x1024xf32>
  %69 = graph.binary mul %68, %44 : tensor<4x16x1024x1024xf32>
  %70 = graph.constant dense<0.000000e+00> : tensor<4x16x1024x1024xf32>
  %71 = graph.select %22, %69, %70 : tensor<4x16x1024x1024xf32>
  %72 = graph.binary mul %71, %34 : tensor<4x16x1024x1024xf32>
  %73 = graph.reshape %72 : tensor<4x16x1024x1024xf32> -> tensor<4x16x1024x1x1024xf32>
  %74 = graph.expand %73 : tensor<4x16x1024x1x1024xf32> -> tensor<4x16x1024x128x1024xf32>
  %75 = graph.binary mul %74, %29 : tensor<4x16x1024x128x1024xf32>
  %76 = graph.reduce add %75 dims = [4] : tensor<4x16x1024x128x1024xf32> -> tensor<4x16x1024x128xf32>
  %77 = graph.cast %76 : tensor<4x16x1024x128xf32> -> tensor<4x16x1024x128xf16>
  %78 = graph.binary mul %74, %25 : tensor<4x16x1024x128x1024xf32>
  %79 = graph.reduce add %78 dims = [2] : tensor<4x16x1024x128x1024xf32> -> tensor<4x16x128x1024xf32>
  %80 = graph.permute %79 order = [0, 1, 3, 2] : tensor<4x16x128x1024xf32> -> tensor<4x16x1024x128xf32>
  %81 = graph.cast %80 : tensor<4x16x1024x128xf32> -> tensor<4x16x1024x128xf16>
  %82 = graph.binary mul %59, %50 : tensor<4x16x1024x1024x128xf32>
  %83 = graph.reduce add %82 dims = [2] : tensor<4x16x1024x1024x128xf32> -> tensor<4x16x1024x128xf32>
  %84 = graph.cast %83 : tensor<4x16x1024x128xf32> -> tensor<4x16x1024x128xf16>
  return %56, %77, %81, %84 : tensor<4x16x1024x128xf16>, tensor<4x16x1024x128xf16>, tensor<4x16x1024x128xf16>, tensor<4x16x1024x128xf16>
}
