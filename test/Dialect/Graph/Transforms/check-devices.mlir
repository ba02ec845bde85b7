// A transfer to another device than the program's is refused, in bodies too.
// RUN: zyx-opt %s --pass-pipeline='builtin.module(func.func(zyx-graph-check-devices{device=cuda}))' --split-input-file --verify-diagnostics
// RUN: not zyx-opt %s --zyx-compile=target=cpu --split-input-file 2>&1 | FileCheck %s
// CHECK: error: 'graph.transfer' op to 'cuda' in a program for 'cpu': a program has one device

func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.transfer %x to "cuda" : tensor<4xf32>
  %1 = graph.transfer %0 to "cuda:0" : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'graph.transfer' op to 'cuda:1' in a program for 'cuda': a program has one device}}
  %0 = graph.transfer %x to "cuda:1" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.loop(%i to 2) carry(%p = %x : tensor<4xf32>) {
    // expected-error@+1 {{'graph.transfer' op to 'cpu' in a program for 'cuda': a program has one device}}
    %1 = graph.transfer %p to "cpu" : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
