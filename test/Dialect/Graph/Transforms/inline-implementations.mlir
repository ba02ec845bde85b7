// The closest implementation takes the place of a custom op; where there is none, the body does.
// RUN: zyx-opt %s --zyx-graph-inline-custom=targets=x86-64-v3,cpu,any --remarks-filter='zyx-custom' 2>&1 | FileCheck %s
// RUN: zyx-opt %s --zyx-graph-inline-custom=targets=sm_80,cuda | FileCheck %s --check-prefix=CARD
// RUN: zyx-opt %s --zyx-graph-inline-custom=targets=cpu --zyx-graph-inline-custom | FileCheck %s --check-prefix=CPU

#cpu = #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text ["void own(const float *x, float *y) {", "}"]>
#v3 = #graph.implementation<c "near" for "x86-64-v3" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>
#any = #graph.implementation<kernel "far" for "any" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>
#ptx = #graph.implementation<ptx "own" for "sm_90a" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>

// CHECK-DAG: Remark=own, {{.*}}Remark=x86-64-v3
// CHECK-DAG: Remark=other, {{.*}}Remark='sm_90a', {{.*}}Remark="x86-64-v3' or 'cpu' or 'any"

// CHECK-LABEL: func.func @main
// CARD-LABEL: func.func @main
// CPU-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = graph.external "own" by <c "near" for "x86-64-v3"
  // CHECK-SAME: (%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  // CARD-NOT: graph.external
  // CARD: graph.unary neg
  // CPU: graph.external "own" by <c "own" for "cpu"
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [#cpu, #any, #v3] {
    %0 = graph.unary neg %p : tensor<4xf32>
    graph.yield %0 : tensor<4xf32>
  }
  // CHECK-NEXT: graph.loop
  // CHECK: graph.unary exp
  %z = graph.loop(%i to 3) carry(%c = %y : tensor<4xf32>) {
    %1 = graph.custom "other"(%p = %c : tensor<4xf32>) -> tensor<4xf32> implementations [#ptx] {
      %2 = graph.unary exp %p : tensor<4xf32>
      graph.yield %2 : tensor<4xf32>
    }
    graph.yield %1 : tensor<4xf32>
  }
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
