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

// The mark says how a recurrent loop is divided: here among too few threads, and in numbers that are none.
func.func @f(%h0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{is no kernel: the clusters that it is marked with have no threads for all of its points}}
  %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>) with(%v = %w : tensor<8x8xf32>)
      attributes {zyx.one_kernel = {cluster = 1 : i64, columns = 8 : i64, parts = 8 : i64, row_groups = 1 : i64, rows = 1 : i64, threads = 32 : i64}} {
    %0 = graph.reshape %p : tensor<4x8xf32> -> tensor<4x8x1xf32>
    %1 = graph.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x8xf32>
    %2 = graph.reshape %v : tensor<8x8xf32> -> tensor<1x8x8xf32>
    %3 = graph.expand %2 : tensor<1x8x8xf32> -> tensor<4x8x8xf32>
    %4 = graph.binary mul %1, %3 : tensor<4x8x8xf32>
    %5 = graph.reduce add %4 dims = [1] : tensor<4x8x8xf32> -> tensor<4x8xf32>
    graph.yield %5 : tensor<4x8xf32>
  }
  return %h : tensor<4x8xf32>
}

// -----

func.func @f(%h0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{is no kernel: its trips need more than each point of it has}}
  %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>) with(%v = %w : tensor<8x8xf32>)
      attributes {zyx.one_kernel = {cluster = 1 : i64, columns = "8"}} {
    %0 = graph.reshape %p : tensor<4x8xf32> -> tensor<4x8x1xf32>
    %1 = graph.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x8xf32>
    %2 = graph.reshape %v : tensor<8x8xf32> -> tensor<1x8x8xf32>
    %3 = graph.expand %2 : tensor<1x8x8xf32> -> tensor<4x8x8xf32>
    %4 = graph.binary mul %1, %3 : tensor<4x8x8xf32>
    %5 = graph.reduce add %4 dims = [1] : tensor<4x8x8xf32> -> tensor<4x8xf32>
    graph.yield %5 : tensor<4x8xf32>
  }
  return %h : tensor<4x8xf32>
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
