// A program as a drawing, in the three forms in which it is worth looking at.
// RUN: zyx-compile %s --dump-dot=graph | FileCheck %s --check-prefix=GRAPH
// RUN: zyx-compile %s --dump-dot=groups | FileCheck %s --check-prefix=GROUPS
// RUN: zyx-compile %s --dump-dot=plan | FileCheck %s --check-prefix=PLAN
// RUN: zyx-translate --to-dot %s | FileCheck %s --check-prefix=GRAPH
// RUN: zyx-opt %s --zyx-compile='stop-after=plan' | zyx-translate --to-dot | FileCheck %s --check-prefix=PLAN
// RUN: zyx-compile %source_dir/examples/recurrent.mlir --dump-dot=graph | FileCheck %s --check-prefix=BODY
// RUN: not zyx-compile %s --dump-dot=lowered 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not zyx-compile %s --dump-dot=plan --stop-after=plan 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: echo 'module {}' | not zyx-translate --to-dot 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: echo 'func.func private @f()' | not zyx-translate --to-dot 2>&1 | FileCheck %s --check-prefix=DECLARED

// Sums over rows and over columns are different kernels.
func.func @centre(%x: tensor<64x32xf32> {graph.name = "x"}) -> (tensor<32xf32> {graph.name = "y"}) {
  %max = graph.reduce max %x dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
  %column = graph.reshape %max : tensor<64xf32> -> tensor<64x1xf32>
  %columns = graph.expand %column : tensor<64x1xf32> -> tensor<64x32xf32>
  %centred = graph.binary sub %x, %columns : tensor<64x32xf32>
  %y = graph.reduce add %centred dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// GRAPH: digraph "centre" {
// GRAPH: n0 [label="x\n64x32xf32", shape=ellipse]
// GRAPH-NEXT: n1 [label="reduce max dims = [1]\n64xf32"]
// GRAPH-NEXT: n2 [label="reshape\n64x1xf32"]
// GRAPH-NEXT: n3 [label="expand\n64x32xf32"]
// GRAPH-NEXT: n4 [label="binary sub\n64x32xf32"]
// GRAPH-NEXT: n5 [label="reduce add dims = [0]\n32xf32"]
// GRAPH-NEXT: n6 [label="y", shape=ellipse]
// GRAPH-NEXT: n0 -> n1
// GRAPH-NEXT: n1 -> n2
// GRAPH-NEXT: n2 -> n3
// GRAPH-NEXT: n0 -> n4
// GRAPH-NEXT: n3 -> n4
// GRAPH-NEXT: n4 -> n5
// GRAPH-NEXT: n5 -> n6
// GRAPH-NEXT: {{^[}]}}

// GROUPS: subgraph cluster_0 {
// GROUPS-NEXT: label="group 0"
// GROUPS-NEXT: n[[#MAX:]] [label="reduce max
// GROUPS-NEXT: }
// GROUPS-NEXT: subgraph cluster_1 {
// GROUPS-NEXT: label="group 1"
// GROUPS-NEXT: n[[#COLUMN:]] [label="reshape
// GROUPS: reduce add
// GROUPS-NEXT: {{^  [}]}}
// GROUPS-NOT: cluster_2
// GROUPS: n[[#MAX]] -> n[[#COLUMN]]

// PLAN: n0 [label="x", shape=ellipse]
// PLAN-NEXT: n1 [label="launch centre_0\nflops {{[0-9]+}}"]
// PLAN-NEXT: n2 [label="launch centre_1\nflops {{[0-9]+}}"]
// PLAN-NEXT: n3 [label="y", shape=ellipse]
// PLAN-NEXT: n0 -> n1 [label="f32[64x32]"]
// PLAN-DAG: n0 -> n2 [label="f32[64x32]"]
// PLAN-DAG: n1 -> n2 [label="f32[64] at 0"]
// PLAN: n2 -> n3 [label="f32[32]"]

// BODY: n[[#LOOP:]] [label="loop{{.*}} = 16{{.*}}\n4x8xf32"]
// BODY-NEXT: subgraph cluster_0 {
// BODY-NEXT: label="loop"
// BODY-NEXT: n[[#INDEX:]] [label="index\ni64", shape=ellipse]
// BODY-NEXT: n[[#CARRIED:]] [label="carried 0\n4x8xf32", shape=ellipse]
// BODY: label="invariant {{[0-9]+}}\n
// BODY: n[[#STEP:]] [label="unary tanh\n4x8xf32"]
// BODY-NEXT: n[[#YIELD:]] [label="yield", shape=ellipse]
// BODY-NEXT: {{^  [}]}}
// BODY: n[[#LOOP]] -> n[[#INDEX]] [style=dashed]
// BODY-NEXT: n[[#LOOP]] -> n[[#CARRIED]] [style=dashed]
// BODY: n[[#STEP]] -> n[[#YIELD]]

// PHASE: error: invalid argument: phase 'lowered' is not drawn; graph, groups and plan are
// BOTH: error: invalid argument: --dump-dot and --stop-after exclude each other
// EMPTY: error: there is no entry to draw, neither func.func nor plan.func
// DECLARED: error: function 'f' is no entry to draw: it has no one block
