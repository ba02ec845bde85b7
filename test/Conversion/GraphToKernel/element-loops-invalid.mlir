// RUN: zyx-opt %s --split-input-file --verify-diagnostics --zyx-convert-graph-to-kernel

// A trip needs its neighbours' elements.
func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = graph.group(%q = %x : tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error @below {{is no kernel: its trips need more than each point of it has}}
    %1 = graph.loop(%i to 3) carry(%p = %q : tensor<8x8xf32>) {
      %2 = graph.permute %p order = [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
      graph.yield %2 : tensor<8x8xf32>
    }
    graph.yield %1 : tensor<8x8xf32>
  }
  return %0 : tensor<8x8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has more than the elements of a trip}}
  %0 = graph.group(%q = %x : tensor<8x8xf32>) -> tensor<8xf32> attributes {zyx.elements} {
    %1 = graph.reduce add %q dims = [1] : tensor<8x8xf32> -> tensor<8xf32>
    graph.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
