// RUN: zyx-opt %s --zyx-kernel-attach-target='target=sm_80 facts=identity.cores=132' --zyx-fusion-sort-runs | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-sort-runs | FileCheck %s --check-prefix=FEW

// Four runs, and these together.
// CHECK-LABEL: func.func @values
// CHECK: %[[RUNS:.*]] = graph.reshape %arg0 : tensor<8192xf32> -> tensor<4x2048xf32>
// CHECK-NEXT: %[[SORTED:.*]] = graph.sort values %[[RUNS]] dim = 1 : tensor<4x2048xf32> -> tensor<4x2048xf32>
// CHECK-NEXT: %[[ROW:.*]] = graph.reshape %[[SORTED]] : tensor<4x2048xf32> -> tensor<8192xf32>
// CHECK-NEXT: %[[ALL:.*]] = graph.sort values %[[ROW]] dim = 0 {zyx.runs = 4 : i64} : tensor<8192xf32> -> tensor<8192xf32>
// CHECK-NEXT: return %[[ALL]]
// FEW-LABEL: func.func @values
// FEW-NEXT: graph.sort values %arg0 dim = 0 : tensor<8192xf32>
func.func @values(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %y = graph.sort values %x dim = 0 : tensor<8192xf32> -> tensor<8192xf32>
  return %y : tensor<8192xf32>
}
