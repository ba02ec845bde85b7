// Every phase of the compiler has a name at which it stops, and what it leaves there prints and
// parses to the same.
// RUN: zyx-opt %s --zyx-compile='stop-after=graph' --verify-roundtrip | FileCheck %s --check-prefix=GRAPH
// RUN: zyx-opt %s --zyx-compile='stop-after=groups' --verify-roundtrip | FileCheck %s --check-prefix=GROUPS
// RUN: zyx-opt %s --zyx-compile='stop-after=kernel' --verify-roundtrip | FileCheck %s --check-prefix=KERNEL
// RUN: zyx-opt %s --zyx-compile='stop-after=schedule' --verify-roundtrip | FileCheck %s --check-prefix=SCHEDULE
// RUN: zyx-opt %s --zyx-compile='target=x86-64-v4 stop-after=lowered' --verify-roundtrip | FileCheck %s --check-prefix=LOWERED
// RUN: zyx-opt %s --zyx-compile='target=c stop-after=plan' --verify-roundtrip | FileCheck %s --check-prefix=PLAN
// RUN: zyx-compile %s --stop-after=target --verify-roundtrip | FileCheck %s --check-prefix=TARGET
// RUN: zyx-compile %s --target=c --stop-after=target --verify-roundtrip | FileCheck %s --check-prefix=C

// Sums over rows and over columns are different kernels.
func.func @centre(%x: tensor<64x32xf32> {graph.name = "x"}) -> (tensor<32xf32> {graph.name = "y"}) {
  %unused = graph.unary exp %x : tensor<64x32xf32>
  %max = graph.reduce max %x dims = [1] : tensor<64x32xf32> -> tensor<64xf32>
  %column = graph.reshape %max : tensor<64xf32> -> tensor<64x1xf32>
  %columns = graph.expand %column : tensor<64x1xf32> -> tensor<64x32xf32>
  %centred = graph.binary sub %x, %columns : tensor<64x32xf32>
  %y = graph.reduce add %centred dims = [0] : tensor<64x32xf32> -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// GRAPH-LABEL: func.func @centre
// GRAPH-NOT: unary
// GRAPH: graph.reduce add
// GROUPS-LABEL: func.func @centre
// GROUPS: graph.group
// KERNEL: plan.func @centre
// KERNEL: plan.launch @centre_0
// KERNEL: kernel.func @centre_0
// KERNEL: kernel.load
// SCHEDULE: kernel.func @centre_0{{.*}} {schedule = #kernel.schedule<[#kernel
// LOWERED: kernel.func @centre_0
// LOWERED-NOT: tensor<
// LOWERED: vector<16xf32>
// PLAN-LABEL: plan.func @centre
// PLAN: plan.arena
// PLAN: %[[E:.*]] = plan.launch @centre_0
// PLAN: plan.launch @centre_1 {{.*}}wait(%[[E]])
// TARGET: llvm.func @centre_0
// C: void centre_0(

// RUN: not zyx-opt %s --zyx-compile='stop-after=lunch' 2>&1 | FileCheck %s --check-prefix=LUNCH
// LUNCH: there is no phase 'lunch'
// RUN: not zyx-opt %s --zyx-compile='fusion=salad' 2>&1 | FileCheck %s --check-prefix=SALAD
// SALAD: there is no fusion 'salad'; there are weighed, all and none
// RUN: not zyx-opt %s --zyx-compile='target=abacus' 2>&1 | FileCheck %s --check-prefix=ABACUS
// ABACUS: no target is named 'abacus'
