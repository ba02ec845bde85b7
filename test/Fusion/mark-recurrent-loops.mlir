// RUN: zyx-opt %s --split-input-file --zyx-fusion-mark-element-loops | FileCheck %s

// Clusters have rows of the batch, and the weights are columns for all of them. The loop carries how these are divided.
// CHECK-LABEL: func.func @rnn
// CHECK: graph.loop(%{{.*}} to 16) {{.*}} attributes {zyx.one_kernel = {cluster = 1 : i64, columns = 8 : i64, parts = {{[0-9]+}} : i64, row_groups = 1 : i64, rows = 1 : i64, threads = {{[0-9]+}} : i64}}
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  func.func @rnn(%x: tensor<16x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
    %h0 = graph.constant dense<0.0> : tensor<4x8xf32>
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>)
        with(%xs = %x : tensor<16x4x8xf32>, %v = %w : tensor<8x8xf32>) {
      %0 = graph.reshape %p : tensor<4x8xf32> -> tensor<4x8x1xf32>
      %1 = graph.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x8xf32>
      %2 = graph.reshape %v : tensor<8x8xf32> -> tensor<1x8x8xf32>
      %3 = graph.expand %2 : tensor<1x8x8xf32> -> tensor<4x8x8xf32>
      %4 = graph.binary mul %1, %3 : tensor<4x8x8xf32>
      %5 = graph.reduce add %4 dims = [1] : tensor<4x8x8xf32> -> tensor<4x8xf32>
      %6 = graph.gather %xs[%i] dim = 0 : (tensor<16x4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
      %7 = graph.binary add %5, %6 : tensor<4x8xf32>
      %8 = graph.unary tanh %7 : tensor<4x8xf32>
      graph.yield %8 : tensor<4x8xf32>
    }
    return %h : tensor<4x8xf32>
  }
}

// -----

// Gates are columns of one product; rows of 16 bits are multiplied in f32.
// CHECK-LABEL: func.func @gates
// CHECK: attributes {zyx.one_kernel = {cluster
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  func.func @gates(%x: tensor<16x3x12xbf16>, %w: tensor<12x6xbf16>) -> tensor<3x6xbf16> {
    %h0 = graph.constant dense<0.0> : tensor<3x6xbf16>
    %zero = graph.constant dense<0.0> : tensor<bf16>
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<3x6xbf16>)
        with(%xs = %x : tensor<16x3x12xbf16>, %v = %w : tensor<12x6xbf16>, %z = %zero : tensor<bf16>) {
      %pw = graph.cast %p : tensor<3x6xbf16> -> tensor<3x6xf32>
      %vw = graph.cast %v : tensor<12x6xbf16> -> tensor<12x6xf32>
      %0 = graph.reshape %pw : tensor<3x6xf32> -> tensor<3x1x6xf32>
      %1 = graph.expand %0 : tensor<3x1x6xf32> -> tensor<3x12x6xf32>
      %2 = graph.reshape %vw : tensor<12x6xf32> -> tensor<1x12x6xf32>
      %3 = graph.expand %2 : tensor<1x12x6xf32> -> tensor<3x12x6xf32>
      %4 = graph.binary mul %3, %1 : tensor<3x12x6xf32>
      %5 = graph.reduce add %4 dims = [2] : tensor<3x12x6xf32> -> tensor<3x12xf32>
      %6 = graph.cast %5 : tensor<3x12xf32> -> tensor<3x12xbf16>
      %7 = graph.gather %xs[%i] dim = 0 : (tensor<16x3x12xbf16>, tensor<i64>) -> tensor<3x12xbf16>
      %8 = graph.binary add %6, %7 : tensor<3x12xbf16>
      %9 = graph.pad %8, %z low = [0, 0] high = [0, -6] interior = [0, 0] : tensor<3x12xbf16> -> tensor<3x6xbf16>
      %10 = graph.pad %8, %z low = [0, -6] high = [0, 0] interior = [0, 0] : tensor<3x12xbf16> -> tensor<3x6xbf16>
      %11 = graph.unary tanh %9 : tensor<3x6xbf16>
      %12 = graph.binary mul %11, %10 : tensor<3x6xbf16>
      graph.yield %12 : tensor<3x6xbf16>
    }
    return %h : tensor<3x6xbf16>
  }
}

// -----

// Rows of the batch meet: no cluster has all of them.
// CHECK-LABEL: func.func @rows_meet
// CHECK: graph.loop
// CHECK-NOT: zyx.one_kernel
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  func.func @rows_meet(%w: tensor<8x8xf32>, %h0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>) with(%v = %w : tensor<8x8xf32>) {
      %f = graph.flip %p dims = [0] : tensor<4x8xf32>
      %0 = graph.reshape %f : tensor<4x8xf32> -> tensor<4x8x1xf32>
      %1 = graph.expand %0 : tensor<4x8x1xf32> -> tensor<4x8x8xf32>
      %2 = graph.reshape %v : tensor<8x8xf32> -> tensor<1x8x8xf32>
      %3 = graph.expand %2 : tensor<1x8x8xf32> -> tensor<4x8x8xf32>
      %4 = graph.binary mul %1, %3 : tensor<4x8x8xf32>
      %5 = graph.reduce add %4 dims = [1] : tensor<4x8x8xf32> -> tensor<4x8xf32>
      graph.yield %5 : tensor<4x8xf32>
    }
    return %h : tensor<4x8xf32>
  }
}

// -----

// The weights of 2048 columns do not fit into the registers of a cluster.
// CHECK-LABEL: func.func @large
// CHECK: graph.loop
// CHECK-NOT: zyx.one_kernel
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  func.func @large(%w: tensor<2048x2048xf32>, %h0: tensor<4x2048xf32>) -> tensor<4x2048xf32> {
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x2048xf32>) with(%v = %w : tensor<2048x2048xf32>) {
      %0 = graph.reshape %p : tensor<4x2048xf32> -> tensor<4x2048x1xf32>
      %1 = graph.expand %0 : tensor<4x2048x1xf32> -> tensor<4x2048x2048xf32>
      %2 = graph.reshape %v : tensor<2048x2048xf32> -> tensor<1x2048x2048xf32>
      %3 = graph.expand %2 : tensor<1x2048x2048xf32> -> tensor<4x2048x2048xf32>
      %4 = graph.binary mul %1, %3 : tensor<4x2048x2048xf32>
      %5 = graph.reduce add %4 dims = [1] : tensor<4x2048x2048xf32> -> tensor<4x2048xf32>
      graph.yield %5 : tensor<4x2048xf32>
    }
    return %h : tensor<4x2048xf32>
  }
}

// -----

// A machine without clusters has launches in each trip.
// CHECK-LABEL: func.func @ampere
// CHECK: graph.loop
// CHECK-NOT: zyx.one_kernel
module attributes {kernel.target = #kernel.target<"sm_80">} {
  func.func @ampere(%w: tensor<8x8xf32>, %h0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>) with(%v = %w : tensor<8x8xf32>) {
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
}

// -----

// A sum of products with a constant of the body is none of a row with weights.
// CHECK-LABEL: func.func @scaled
// CHECK: graph.loop
// CHECK-NOT: zyx.one_kernel
// CHECK: return
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  func.func @scaled(%h0: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>) with(%v = %w : tensor<8x8xf32>) {
      %half = graph.constant dense<0.5> : tensor<4x8xf32>
      %4 = graph.binary mul %p, %half : tensor<4x8xf32>
      %5 = graph.reduce add %4 dims = [1] : tensor<4x8xf32> -> tensor<4xf32>
      %6 = graph.reshape %5 : tensor<4xf32> -> tensor<4x1xf32>
      %7 = graph.expand %6 : tensor<4x1xf32> -> tensor<4x8xf32>
      graph.yield %7 : tensor<4x8xf32>
    }
    return %h : tensor<4x8xf32>
  }
}

// -----

// Weights that are a view of a constant become one before there are kernels, which have it.
// CHECK-LABEL: func.func @constant_weights
// CHECK: graph.loop
// CHECK-SAME: zyx.one_kernel = {cluster
module attributes {kernel.target = #kernel.target<"sm_90a">} {
  func.func @constant_weights(%h0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = graph.constant dense<0.5> : tensor<64xf32>
    %w = graph.reshape %c : tensor<64xf32> -> tensor<8x8xf32>
    %h = graph.loop(%i to 16) carry(%p = %h0 : tensor<4x8xf32>) with(%v = %w : tensor<8x8xf32>) {
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
}
