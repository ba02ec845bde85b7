// RUN: zyx-opt %s --split-input-file --zyx-fuse | FileCheck %s
// RUN: zyx-opt %s --split-input-file --zyx-fuse --zyx-convert-graph-to-kernel | FileCheck %s --check-prefix=PLAN

// A row of a cache is chosen by a comparison of its place, as nn::append does: the cache is copied unless it is given up,
// and one row of it is written.
// CHECK-LABEL: func.func @one(
// CHECK: graph.scatter set %{{.*}} dim = 2 {zyx.apart}
// CHECK-NOT: graph.select
// PLAN-LABEL: plan.func @one(
// PLAN-SAME: %[[CACHE:[a-z0-9]+]]: !plan.buffer<f16[2x4x32x8]> {plan.input = "cache"}
// PLAN-SAME: %[[OUT:[a-z0-9]+]]: !plan.buffer<f16[2x4x32x8]> {plan.output = "next"}
// PLAN-NEXT: plan.copy %[[CACHE]] to %[[OUT]]
// PLAN-NEXT: plan.launch @one_0 ins(%{{.*}}) outs(%[[OUT]] : !plan.buffer<f16[2x4x32x8]>) updates
// PLAN-NEXT: plan.return
func.func @one(%cache: tensor<2x4x32x8xf16> {graph.name = "cache"}, %row: tensor<2x4x1x8xf16> {graph.name = "row"}, %start: tensor<i64> {graph.name = "start"})
    -> (tensor<2x4x32x8xf16> {graph.name = "next"}) {
  %i = graph.iota dim = 0 : tensor<32xi64>
  %one = graph.constant dense<1> : tensor<i64>
  %1 = graph.reshape %one : tensor<i64> -> tensor<1xi64>
  %ones = graph.expand %1 : tensor<1xi64> -> tensor<32xi64>
  %times = graph.binary mul %i, %ones : tensor<32xi64>
  %places = graph.reshape %times : tensor<32xi64> -> tensor<32x1xi64>
  %s = graph.reshape %start : tensor<i64> -> tensor<1x1xi64>
  %position = graph.expand %s : tensor<1x1xi64> -> tensor<32x1xi64>
  %is = graph.binary eq %places, %position : tensor<32x1xi64>
  %is4 = graph.reshape %is : tensor<32x1xi1> -> tensor<1x1x32x1xi1>
  %all = graph.expand %is4 : tensor<1x1x32x1xi1> -> tensor<2x4x32x8xi1>
  %rows = graph.expand %row : tensor<2x4x1x8xf16> -> tensor<2x4x32x8xf16>
  %next = graph.select %all, %rows, %cache : tensor<2x4x32x8xf16>
  return %next : tensor<2x4x32x8xf16>
}

// -----

// Each text has a position of its own, and some have none: rows of all texts are one dimension.
// CHECK-LABEL: func.func @each(
// CHECK: graph.scatter set %{{.*}} dim = 0 {zyx.apart} : (tensor<256x8xf32>, tensor<8xi64>, tensor<8x8xf32>) -> tensor<256x8xf32>
// PLAN-LABEL: plan.func @each(
// PLAN: plan.copy
// PLAN: plan.launch @{{.*}} updates
// PLAN-NOT: plan.copy
func.func @each(%cache: tensor<2x4x32x8xf32> {graph.name = "cache"}, %row: tensor<2x4x1x8xf32> {graph.name = "row"}, %start: tensor<2xi64> {graph.name = "start"},
                %runs: tensor<2xi1> {graph.name = "runs"}) -> (tensor<2x4x32x8xf32> {graph.name = "next"}) {
  %i = graph.iota dim = 2 : tensor<2x1x32x1xi64>
  %s = graph.reshape %start : tensor<2xi64> -> tensor<2x1x1x1xi64>
  %position = graph.expand %s : tensor<2x1x1x1xi64> -> tensor<2x1x32x1xi64>
  %is = graph.binary eq %position, %i : tensor<2x1x32x1xi64>
  %r = graph.reshape %runs : tensor<2xi1> -> tensor<2x1x1x1xi1>
  %running = graph.expand %r : tensor<2x1x1x1xi1> -> tensor<2x1x32x1xi1>
  %both = graph.binary and %is, %running : tensor<2x1x32x1xi1>
  %all = graph.expand %both : tensor<2x1x32x1xi1> -> tensor<2x4x32x8xi1>
  %rows = graph.expand %row : tensor<2x4x1x8xf32> -> tensor<2x4x32x8xf32>
  %next = graph.select %all, %rows, %cache : tensor<2x4x32x8xf32>
  return %next : tensor<2x4x32x8xf32>
}

// -----

// The cache as it was is read by someone else, too: it is no one's to give up.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: graph.scatter
// CHECK: graph.select
func.func @kept(%cache: tensor<32x8xf32> {graph.name = "cache"}, %row: tensor<1x8xf32> {graph.name = "row"}, %start: tensor<i64> {graph.name = "start"})
    -> (tensor<32x8xf32> {graph.name = "next"}, tensor<32x8xf32> {graph.name = "twice"}) {
  %i = graph.iota dim = 0 : tensor<32x8xi64>
  %s = graph.reshape %start : tensor<i64> -> tensor<1x1xi64>
  %position = graph.expand %s : tensor<1x1xi64> -> tensor<32x8xi64>
  %is = graph.binary eq %i, %position : tensor<32x8xi64>
  %rows = graph.expand %row : tensor<1x8xf32> -> tensor<32x8xf32>
  %next = graph.select %is, %rows, %cache : tensor<32x8xf32>
  %twice = graph.binary add %cache, %cache : tensor<32x8xf32>
  return %next, %twice : tensor<32x8xf32>, tensor<32x8xf32>
}
