// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=kernel' | zyx-opt --zyx-schedule-find-visible='share=1e30 by=bounds' --remarks-filter=zyx-schedule --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s --zyx-compile='target=sm_90a stop-after=kernel' | zyx-opt --zyx-schedule-find-visible='share=1e30 by=pairs' | FileCheck %s --check-prefix=PAIRS

// Where pairs are asked for, nobody finds bounds.
// PAIRS-NOT: 0_bounds

// Documents that do not see what is behind, of 197 rows: elements that do not exist are neutral, and places of the last rows end with them.
// WHY: Remark=documents_0_visible, Remark=" finds which blocks data hides", Remark=", by bounds of blocks"
// CHECK-LABEL: plan.func @documents
// CHECK: %[[ROWS:.*]] = plan.alloc : !plan.buffer<i64[104]>
// CHECK: plan.launch @documents_0_bounds ins(%[[IDS:.*]] : !plan.buffer<i64[2x197]>) outs(%[[ROWS]]
// CHECK: %[[PLACES:.*]] = plan.alloc : !plan.buffer<i64[78]>
// CHECK: plan.launch @documents_0_bounds_{{[0-9]+}} ins(%[[IDS]] : !plan.buffer<i64[2x197]>) outs(%[[PLACES]]
// CHECK: plan.launch @documents_0_visible ins(%[[ROWS]], %[[PLACES]] : {{.*}}) outs(%[[FOUND:.*]] : !plan.buffer<i32[52]>)
// CHECK: plan.launch @documents_0 ins({{.*}}, %[[FOUND]] :
// CHECK-LABEL: kernel.func @documents_0(
// CHECK-SAME: visible = array<i64: 4, 26, 1, 13, 0>
// CHECK-LABEL: kernel.func @documents_0_bounds_
// CHECK: kernel.view %{{.*}} map <[<[2, 13, 16] strides [208, 16, 1]>, <[2, 208] strides [197, 1] valid [0 : 2, 0 : 197]>]>
// CHECK: %[[LAST:.*]] = arith.constant dense<197> : tensor<13x16xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %[[LAST]]
// CHECK: %[[NONE:.*]] = arith.constant dense<9223372036854775807>
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NONE]]
// CHECK: kernel.reduce min
// CHECK: kernel.reduce max
// CHECK: arith.shli
// CHECK: kernel.reduce or
// CHECK-LABEL: kernel.func @documents_0_bounds(
// CHECK: kernel.store {{.*}} : tensor<2x13xi64>
// CHECK: kernel.view %{{.*}} map <[<[2, 13] strides [52, 4] offset 1>]>
// CHECK-LABEL: kernel.func @documents_0_visible(
// CHECK: arith.cmpi sle, {{.*}} : tensor<2x13x13xi64>
// CHECK: arith.cmpi sle, {{.*}} : tensor<2x13x13xi64>
// CHECK: arith.cmpi ne, {{.*}} : tensor<2x13x13xi64>
// CHECK: %[[END:.*]] = arith.constant dense<196> : tensor<13xi32>
// CHECK: arith.minsi %{{.*}}, %[[END]]
// CHECK: arith.cmpi sle, {{.*}} : tensor<13x13xi32>
// CHECK: kernel.reduce min %{{.*}} dims [2] : tensor<2x13x13xi32> -> tensor<2x13xi32>
// CHECK: kernel.reduce max %{{.*}} dims [2] : tensor<2x13x13xi32> -> tensor<2x13xi32>
func.func @documents(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xi64>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xi64> -> tensor<2x1x197x1xi64>
  %r = graph.expand %r1 : tensor<2x1x197x1xi64> -> tensor<2x4x197x197xi64>
  %c1 = graph.reshape %ids : tensor<2x197xi64> -> tensor<2x1x1x197xi64>
  %c = graph.expand %c1 : tensor<2x1x1x197xi64> -> tensor<2x4x197x197xi64>
  %same = graph.binary eq %r, %c : tensor<2x4x197x197xi64>
  %i = graph.iota dim = 2 : tensor<2x4x197x197xi32>
  %j = graph.iota dim = 3 : tensor<2x4x197x197xi32>
  %before = graph.binary le %j, %i : tensor<2x4x197x197xi32>
  %seen = graph.binary and %same, %before : tensor<2x4x197x197xi1>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Differences of places cannot wrap: a window.
// WHY: Remark=window_0_visible, Remark=" finds which blocks data hides", Remark=", by bounds of blocks"
// CHECK-LABEL: kernel.func @window_0_visible(
// CHECK: arith.subi {{.*}} : tensor<13x13xi32>
// CHECK: arith.cmpi slt, {{.*}} : tensor<13x13xi32>
func.func @window(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xi32>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xi32> -> tensor<2x1x197x1xi32>
  %r = graph.expand %r1 : tensor<2x1x197x1xi32> -> tensor<2x4x197x197xi32>
  %c1 = graph.reshape %ids : tensor<2x197xi32> -> tensor<2x1x1x197xi32>
  %c = graph.expand %c1 : tensor<2x1x1x197xi32> -> tensor<2x4x197x197xi32>
  %same = graph.binary eq %r, %c : tensor<2x4x197x197xi32>
  %i = graph.iota dim = 2 : tensor<2x4x197x197xi64>
  %j = graph.iota dim = 3 : tensor<2x4x197x197xi64>
  %d = graph.binary sub %i, %j : tensor<2x4x197x197xi64>
  %w = graph.constant dense<64> : tensor<2x4x197x197xi64>
  %near = graph.binary lt %d, %w : tensor<2x4x197x197xi64>
  %seen = graph.binary and %same, %near : tensor<2x4x197x197xi1>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Unsigned numbers are compared with their first bit turned.
// WHY: Remark=unsigned_0_visible, Remark=" finds which blocks data hides", Remark=", by bounds of blocks"
// CHECK-LABEL: kernel.func @unsigned_0_bounds
// CHECK: arith.xori
// CHECK-NOT: kernel.reduce or
// CHECK-LABEL: kernel.func @unsigned_0_visible(
// CHECK: arith.cmpi sle, {{.*}} : tensor<2x13x13xi32>
func.func @unsigned(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xui32>, %last: tensor<2x197xui32>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xui32> -> tensor<2x1x197x1xui32>
  %r = graph.expand %r1 : tensor<2x1x197x1xui32> -> tensor<2x4x197x197xui32>
  %c1 = graph.reshape %last : tensor<2x197xui32> -> tensor<2x1x1x197xui32>
  %c = graph.expand %c1 : tensor<2x1x1x197xui32> -> tensor<2x4x197x197xui32>
  %seen = graph.binary le %c, %r : tensor<2x4x197x197xui32>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Of conditions, whether one holds and whether one does not.
// WHY: Remark=padding_0_visible, Remark=" finds which blocks data hides", Remark=", by bounds of blocks"
// CHECK-LABEL: kernel.func @padding_0_bounds
// CHECK: arith.extui
// CHECK-LABEL: kernel.func @padding_0_visible(
// CHECK: arith.ori
func.func @padding(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xi1>, %last: tensor<2x197xi1>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xi1> -> tensor<2x1x197x1xi1>
  %r = graph.expand %r1 : tensor<2x1x197x1xi1> -> tensor<2x4x197x197xi1>
  %c1 = graph.reshape %last : tensor<2x197xi1> -> tensor<2x1x1x197xi1>
  %c = graph.expand %c1 : tensor<2x1x1x197xi1> -> tensor<2x4x197x197xi1>
  %either = graph.binary xor %c, %r : tensor<2x4x197x197xi1>
  %seen = graph.unary not %either : tensor<2x4x197x197xi1>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Sums of numbers of any size may wrap: pair by pair.
// WHY: Remark=wraps_0_visible, Remark=" finds which blocks data hides", Remark=", pair by pair"
func.func @wraps(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xi32>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xi32> -> tensor<2x1x197x1xi32>
  %r = graph.expand %r1 : tensor<2x1x197x1xi32> -> tensor<2x4x197x197xi32>
  %c1 = graph.reshape %ids : tensor<2x197xi32> -> tensor<2x1x1x197xi32>
  %c = graph.expand %c1 : tensor<2x1x1x197xi32> -> tensor<2x4x197x197xi32>
  %one = graph.constant dense<1> : tensor<2x4x197x197xi32>
  %next = graph.binary add %c, %one : tensor<2x4x197x197xi32>
  %seen = graph.binary lt %r, %next : tensor<2x4x197x197xi32>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Products of places with a constant have room.
// WHY: Remark=scaled_0_visible, Remark=" finds which blocks data hides", Remark=", by bounds of blocks"
// CHECK-LABEL: kernel.func @scaled_0_visible(
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: arith.cmpi slt, {{.*}} : tensor<2x13x13xi32>
func.func @scaled(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xi32>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xi32> -> tensor<2x1x197x1xi32>
  %r = graph.expand %r1 : tensor<2x1x197x1xi32> -> tensor<2x4x197x197xi32>
  %i = graph.iota dim = 2 : tensor<2x4x197x197xi32>
  %j = graph.iota dim = 3 : tensor<2x4x197x197xi32>
  %minus = graph.constant dense<-2> : tensor<2x4x197x197xi32>
  %double = graph.binary mul %i, %minus : tensor<2x4x197x197xi32>
  %sum = graph.binary add %double, %j : tensor<2x4x197x197xi32>
  %seen = graph.binary lt %sum, %r : tensor<2x4x197x197xi32>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sums = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sums : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// A mask in memory has a number for each pair.
// WHY: Remark=mask_0_visible, Remark=" finds which blocks data hides", Remark=", pair by pair"
func.func @mask(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %mask: tensor<2x197x197xi1>) -> tensor<2x4x197x64xbf16> {
  %m1_ = graph.reshape %mask : tensor<2x197x197xi1> -> tensor<2x1x197x197xi1>
  %seen = graph.expand %m1_ : tensor<2x1x197x197xi1> -> tensor<2x4x197x197xi1>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Lengths hide the same keys of all rows: there are not more pairs than elements.
// WHY: Remark=lengths_0_visible, Remark=" finds which blocks data hides", Remark=", pair by pair"
func.func @lengths(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %length: tensor<2xi32>) -> tensor<2x4x197x64xbf16> {
  %l1 = graph.reshape %length : tensor<2xi32> -> tensor<2x1x1x1xi32>
  %l = graph.expand %l1 : tensor<2x1x1x1xi32> -> tensor<2x4x197x197xi32>
  %j = graph.iota dim = 3 : tensor<2x4x197x197xi32>
  %seen = graph.binary lt %j, %l : tensor<2x4x197x197xi32>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// Beside rows, lengths are exact.
// WHY: Remark=lengths_of_rows_0_visible, Remark=" finds which blocks data hides", Remark=", by bounds of blocks"
// CHECK-LABEL: kernel.func @lengths_of_rows_0_visible(
// CHECK-SAME: %[[LENGTHS:arg0]]: !kernel.buffer<i32, global>
// CHECK: kernel.view %[[LENGTHS]]
func.func @lengths_of_rows(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %length: tensor<2xi32>) -> tensor<2x4x197x64xbf16> {
  %l1 = graph.reshape %length : tensor<2xi32> -> tensor<2x1x1x1xi32>
  %l = graph.expand %l1 : tensor<2x1x1x1xi32> -> tensor<2x4x197x197xi32>
  %i = graph.iota dim = 2 : tensor<2x4x197x197xi32>
  %j = graph.iota dim = 3 : tensor<2x4x197x197xi32>
  %inside = graph.binary lt %j, %l : tensor<2x4x197x197xi32>
  %before = graph.binary le %j, %i : tensor<2x4x197x197xi32>
  %seen = graph.binary and %inside, %before : tensor<2x4x197x197xi1>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}

// What numbers are compared with may be a fraction: pair by pair.
// WHY: Remark=fractions_0_visible, Remark=" finds which blocks data hides", Remark=", pair by pair"
func.func @fractions(%q: tensor<2x4x197x64xbf16>, %k: tensor<2x4x197x64xbf16>, %v: tensor<2x4x197x64xbf16>, %ids: tensor<2x197xf32>) -> tensor<2x4x197x64xbf16> {
  %r1 = graph.reshape %ids : tensor<2x197xf32> -> tensor<2x1x197x1xf32>
  %r = graph.expand %r1 : tensor<2x1x197x1xf32> -> tensor<2x4x197x197xf32>
  %c1 = graph.reshape %ids : tensor<2x197xf32> -> tensor<2x1x1x197xf32>
  %c = graph.expand %c1 : tensor<2x1x1x197xf32> -> tensor<2x4x197x197xf32>
  %seen = graph.binary eq %r, %c : tensor<2x4x197x197xf32>
  %qw = graph.cast %q : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %q1 = graph.reshape %qw : tensor<2x4x197x64xf32> -> tensor<2x4x197x1x64xf32>
  %q2 = graph.expand %q1 : tensor<2x4x197x1x64xf32> -> tensor<2x4x197x197x64xf32>
  %kw = graph.cast %k : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %k1 = graph.reshape %kw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %k2 = graph.expand %k1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %qk = graph.binary mul %q2, %k2 : tensor<2x4x197x197x64xf32>
  %scores = graph.reduce add %qk dims = [4] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x197xf32>
  %hidden = graph.constant dense<0xFF800000> : tensor<2x4x197x197xf32>
  %masked = graph.select %seen, %scores, %hidden : tensor<2x4x197x197xf32>
  %max = graph.reduce max %masked dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %m1 = graph.reshape %max : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %m2 = graph.expand %m1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %distance = graph.binary sub %masked, %m2 : tensor<2x4x197x197xf32>
  %weights = graph.unary exp %distance : tensor<2x4x197x197xf32>
  %sum = graph.reduce add %weights dims = [3] : tensor<2x4x197x197xf32> -> tensor<2x4x197xf32>
  %s1 = graph.reshape %sum : tensor<2x4x197xf32> -> tensor<2x4x197x1xf32>
  %s2 = graph.expand %s1 : tensor<2x4x197x1xf32> -> tensor<2x4x197x197xf32>
  %p = graph.binary div %weights, %s2 : tensor<2x4x197x197xf32>
  %p1 = graph.reshape %p : tensor<2x4x197x197xf32> -> tensor<2x4x197x197x1xf32>
  %p2 = graph.expand %p1 : tensor<2x4x197x197x1xf32> -> tensor<2x4x197x197x64xf32>
  %vw = graph.cast %v : tensor<2x4x197x64xbf16> -> tensor<2x4x197x64xf32>
  %v1 = graph.reshape %vw : tensor<2x4x197x64xf32> -> tensor<2x4x1x197x64xf32>
  %v2 = graph.expand %v1 : tensor<2x4x1x197x64xf32> -> tensor<2x4x197x197x64xf32>
  %pv = graph.binary mul %p2, %v2 : tensor<2x4x197x197x64xf32>
  %o = graph.reduce add %pv dims = [3] : tensor<2x4x197x197x64xf32> -> tensor<2x4x197x64xf32>
  %y = graph.cast %o : tensor<2x4x197x64xf32> -> tensor<2x4x197x64xbf16>
  return %y : tensor<2x4x197x64xbf16>
}
