// RUN: zyx-opt %s -split-input-file --zyx-convert-graph-to-kernel -verify-diagnostics

func.func @reshape_inside(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %y = graph.group(%a = %x : tensor<4x6xf32>) -> tensor<24xf32> {
    %0 = graph.unary exp %a : tensor<4x6xf32>
    // expected-error @+1 {{'graph.reshape' op splits or merges dimensions of a value that its group computes}}
    %1 = graph.reshape %0 : tensor<4x6xf32> -> tensor<24xf32>
    %2 = graph.unary neg %1 : tensor<24xf32>
    graph.yield %2 : tensor<24xf32>
  }
  return %y : tensor<24xf32>
}

// -----

func.func @gather_inside(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>, %b = %i : tensor<2xi64>) -> tensor<2xf32> {
    %0 = graph.unary exp %a : tensor<4xf32>
    // expected-error @+1 {{'graph.gather' op gathers from a value that its group computes}}
    %1 = graph.gather %0[%b] dim = 0 : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// -----

// Each sum with the own transposition doubles what is computed.
func.func @transposed_again_and_again(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = graph.group(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @+1 {{'graph.unary' op needs too many copies of what its group computes: views of it meet along different axes}}
    %e0 = graph.unary exp %a : tensor<4x4xf32>
    %t0 = graph.permute %e0 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e1 = graph.binary add %e0, %t0 : tensor<4x4xf32>
    %t1 = graph.permute %e1 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e2 = graph.binary add %e1, %t1 : tensor<4x4xf32>
    %t2 = graph.permute %e2 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e3 = graph.binary add %e2, %t2 : tensor<4x4xf32>
    %t3 = graph.permute %e3 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e4 = graph.binary add %e3, %t3 : tensor<4x4xf32>
    %t4 = graph.permute %e4 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e5 = graph.binary add %e4, %t4 : tensor<4x4xf32>
    %t5 = graph.permute %e5 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e6 = graph.binary add %e5, %t5 : tensor<4x4xf32>
    %t6 = graph.permute %e6 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e7 = graph.binary add %e6, %t6 : tensor<4x4xf32>
    %t7 = graph.permute %e7 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e8 = graph.binary add %e7, %t7 : tensor<4x4xf32>
    %t8 = graph.permute %e8 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e9 = graph.binary add %e8, %t8 : tensor<4x4xf32>
    %t9 = graph.permute %e9 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e10 = graph.binary add %e9, %t9 : tensor<4x4xf32>
    %t10 = graph.permute %e10 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e11 = graph.binary add %e10, %t10 : tensor<4x4xf32>
    %t11 = graph.permute %e11 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e12 = graph.binary add %e11, %t11 : tensor<4x4xf32>
    %t12 = graph.permute %e12 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e13 = graph.binary add %e12, %t12 : tensor<4x4xf32>
    %t13 = graph.permute %e13 order = [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
    %e14 = graph.binary add %e13, %t13 : tensor<4x4xf32>
    graph.yield %e14 : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----

func.func @reduced_twice(%x: tensor<3x3xf32>, %w: tensor<3x3x3xf32>) -> tensor<3x3xf32> {
  %y = graph.group(%a = %x : tensor<3x3xf32>, %b = %w : tensor<3x3x3xf32>) -> tensor<3x3xf32> {
    %a1 = graph.reshape %a : tensor<3x3xf32> -> tensor<3x3x1xf32>
    %a2 = graph.expand %a1 : tensor<3x3x1xf32> -> tensor<3x3x3xf32>
    // expected-error @+1 {{needs a value along two of its axes at once}}
    %p = graph.binary mul %a2, %b : tensor<3x3x3xf32>
    %r = graph.reduce max %p dims = [1] : tensor<3x3x3xf32> -> tensor<3x3xf32>
    %s = graph.reduce max %p dims = [2] : tensor<3x3x3xf32> -> tensor<3x3xf32>
    %0 = graph.binary add %r, %s : tensor<3x3xf32>
    graph.yield %0 : tensor<3x3xf32>
  }
  return %y : tensor<3x3xf32>
}

// -----

func.func @not_of_the_graph(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.addf' op cannot be part of a plan}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op needs a body of one block to become a plan}}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @+1 {{result 'y': the tensor f32[1000000, 1000000] has 4000000000000 bytes, more than the largest size}}
func.func @large_result(%x: tensor<1000000x1xf32>) -> (tensor<1000000x1000000xf32> {graph.name = "y"}) {
  %y = graph.expand %x : tensor<1000000x1xf32> -> tensor<1000000x1000000xf32>
  return %y : tensor<1000000x1000000xf32>
}

// -----

func.func @large_temporary(%x: tensor<1000000x1xf32>) -> tensor<1000000xf32> {
  // expected-error @+1 {{a result of this kernel: the tensor f32[1000000, 1000000] has 4000000000000 bytes}}
  %0 = graph.group(%a = %x : tensor<1000000x1xf32>) -> tensor<1000000x1000000xf32> {
    %1 = graph.expand %a : tensor<1000000x1xf32> -> tensor<1000000x1000000xf32>
    graph.yield %1 : tensor<1000000x1000000xf32>
  }
  %2 = graph.reduce add %0 dims = [0] : tensor<1000000x1000000xf32> -> tensor<1000000xf32>
  return %2 : tensor<1000000xf32>
}

// -----

func.func @large_carried(%x: tensor<1000000x1000000xf32>) -> tensor<1000000xf32> {
  // expected-error @+1 {{a result of this loop: the tensor f32[1000000, 1000000] has 4000000000000 bytes}}
  %1 = graph.loop(%i to 2) carry(%p = %x : tensor<1000000x1000000xf32>) {
    graph.yield %p : tensor<1000000x1000000xf32>
  }
  %2 = graph.reduce max %1 dims = [1] : tensor<1000000x1000000xf32> -> tensor<1000000xf32>
  return %2 : tensor<1000000xf32>
}

// -----

func.func @in_a_loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.loop(%i to 2) carry(%p = %x : tensor<4xf32>) {
    // expected-error @+1 {{cannot be part of a plan}}
    %1 = graph.custom "c"(%q = %p : tensor<4xf32>) -> tensor<4xf32> {
      graph.yield %q : tensor<4xf32>
    }
    graph.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @not_alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.unary exp %a : tensor<4xf32>
    // expected-error @+1 {{'graph.scan' op reads what its group computes, but is a kernel of its own}}
    %1 = graph.scan add %0 dim = 0 : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @not_the_result(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'graph.sort' op must be the only result of its group}}
    %0 = graph.sort values %a dim = 0 : tensor<4xf32> -> tensor<4xf32>
    %1 = graph.unary exp %0 : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @padded_scan(%x: tensor<4xf32>) -> tensor<6xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>) -> tensor<6xf32> {
    %zero = graph.constant dense<0.0> : tensor<f32>
    %0 = graph.pad %a, %zero low = [1] high = [1] interior = [0] : tensor<4xf32> -> tensor<6xf32>
    // expected-error @+1 {{'graph.scan' op reads padding through operand 0, but its loops over scalars read memory alone: -zyx-fusion-decompose-movement makes a select of such a pad}}
    %1 = graph.scan add %0 dim = 0 : tensor<6xf32>
    graph.yield %1 : tensor<6xf32>
  }
  return %y : tensor<6xf32>
}

// -----

// Also where other views hide it: flipped, and split over several blocks.
func.func @padded_sort(%x: tensor<4x3xf32>) -> tensor<20xf32> {
  %y = graph.group(%a = %x : tensor<4x3xf32>) -> tensor<20xf32> {
    %zero = graph.constant dense<0.0> : tensor<f32>
    %0 = graph.pad %a, %zero low = [0, 0] high = [0, 2] interior = [0, 0] : tensor<4x3xf32> -> tensor<4x5xf32>
    %1 = graph.permute %0 order = [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
    %2 = graph.reshape %1 : tensor<5x4xf32> -> tensor<20xf32>
    %3 = graph.flip %2 dims = [0] : tensor<20xf32>
    // expected-error @+1 {{'graph.sort' op reads padding through operand 0}}
    %4 = graph.sort values %3 dim = 0 : tensor<20xf32> -> tensor<20xf32>
    graph.yield %4 : tensor<20xf32>
  }
  return %y : tensor<20xf32>
}

// -----

func.func @padded_updates(%x: tensor<6xf32>, %i: tensor<4xi32>, %u: tensor<3xf32>) -> tensor<6xf32> {
  %y = graph.group(%a = %x : tensor<6xf32>, %b = %i : tensor<4xi32>, %c = %u : tensor<3xf32>) -> tensor<6xf32> {
    %zero = graph.constant dense<0.0> : tensor<f32>
    %0 = graph.pad %c, %zero low = [1] high = [0] interior = [0] : tensor<3xf32> -> tensor<4xf32>
    // expected-error @+1 {{'graph.scatter' op reads padding through operand 2}}
    %1 = graph.scatter add %a[%b], %0 dim = 0 : (tensor<6xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<6xf32>
    graph.yield %1 : tensor<6xf32>
  }
  return %y : tensor<6xf32>
}

// -----

func.func @random(%seed: tensor<ui64>) -> tensor<4xui32> {
  // expected-error @+1 {{'graph.random_bits' op must have become element-wise ops: -zyx-fusion-expand-random-bits does that}}
  %y = graph.random_bits %seed : tensor<ui64> -> tensor<4xui32>
  return %y : tensor<4xui32>
}

// -----

func.func @flip_inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = graph.unary exp %a : tensor<4xf32>
    // expected-error @+1 {{'graph.flip' op is taken apart before groups are formed, or reads the memory that a group is given}}
    %1 = graph.flip %0 dims = [0] : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @pad_between_inside(%x: tensor<4xf32>) -> tensor<7xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>) -> tensor<7xf32> {
    %zero = graph.constant dense<0.0> : tensor<f32>
    // expected-error @+1 {{'graph.pad' op is taken apart before groups are formed}}
    %1 = graph.pad %a, %zero low = [0] high = [0] interior = [1] : tensor<4xf32> -> tensor<7xf32>
    graph.yield %1 : tensor<7xf32>
  }
  return %y : tensor<7xf32>
}

// -----

func.func @gather_beside_fills(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %y = graph.group(%a = %x : tensor<4xf32>, %b = %i : tensor<2xi64>) -> tensor<2xf32> {
    %one = graph.constant dense<1.0> : tensor<f32>
    %0 = graph.pad %a, %one low = [1] high = [0] interior = [0] : tensor<4xf32> -> tensor<5xf32>
    // expected-error @+1 {{gathers from a tensor that is padded with other elements than zero}}
    %1 = graph.gather %0[%b] dim = 0 : (tensor<5xf32>, tensor<2xi64>) -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}
