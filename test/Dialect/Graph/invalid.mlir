// RUN: zyx-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{tensor<?xf32> has an extent without a name: write #graph.extents}}
  %0 = graph.unary exp %x : tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32, "blocked">) {
  // expected-error@+1 {{has an encoding that is not #graph.extents}}
  %0 = graph.unary exp %x : tensor<4xf32, "blocked">
  return
}

// -----

func.func @f(%x: tensor<4xsi8>) {
  // expected-error@+1 {{ranked tensor of bool, integer or float}}
  %0 = graph.reshape %x : tensor<4xsi8> -> tensor<2x2xsi8>
  return
}

// -----

func.func @f(%x: tensor<4xi4>) {
  // expected-error@+1 {{tensor<4xi4> has an element type that the graph has not; it has i1, i8 to i64, ui8 to ui64, f16, bf16, f32, f64, f8E4M3FN and f8E5M2}}
  %0 = graph.unary neg %x : tensor<4xi4>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{result tensor<?xf32> has an extent without a name: write #graph.extents}}
  %0 = graph.reshape %x : tensor<?x4xf32> -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{'graph.unary' op exp needs a float, not i32[4]}}
  %0 = graph.unary exp %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{expected one of [neg, not, exp,}}
  // expected-error@+1 {{invalid value for property kind}}
  %0 = graph.unary gelu %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+2 {{'graph.unary' op exp needs a float, not i32[4]}}
  // expected-error@+1 {{'graph.unary' op failed to infer returned types}}
  %0 = "graph.unary"(%x) <{kind = 2 : i32}> : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{reduce add of f32[4] over [1], which are not increasing dimensions of it}}
  %0 = graph.reduce add %x dims = [1] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+2 {{'graph.reduce' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<8xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.reduce add %x dims = [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+2 {{permute of f32[4, 8] by [0, 0], which is no permutation of its dimensions}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.permute %x order = [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{changes the number of elements from 4 to 6}}
  %0 = graph.reshape %x : tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{changes dimension 0, whose extent is not 1}}
  %0 = graph.expand %x : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.cast' op cast of f32[4] to i32[5] changes the shape}}
  %0 = graph.cast %x : tensor<4xf32> -> tensor<5xi32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{along [1], which is not one of its dimensions}}
  %0 = graph.iota dim = 1 : tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{the indices must be integers}}
  %0 = graph.gather %x[%i] dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{has no name}}
  %0 = graph.parameter "" : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.parameter' op parameter w: }}
  %0 = graph.parameter "w" : tensor<1024x1024x1024x1024x8xf32>
  return
}

// -----

// expected-error@+1 {{attribute 'graph.name' must be a string that is not empty}}
func.func @f(%x: tensor<4xf32> {graph.name = 1 : i32}) { return }

// -----

// expected-error@+1 {{attribute 'graph.name' must be a string that is not empty}}
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.name = ""}) { return %x : tensor<4xf32> }

// -----

// expected-error@+1 {{attribute 'graph.weight' has no value}}
func.func @f(%x: tensor<4xf32> {graph.weight = "x"}) { return }

// -----

// expected-error@+1 {{unknown attribute 'graph.title'}}
func.func @f(%x: tensor<4xf32> {graph.title = "x"}) { return }

// -----

// expected-error@+1 {{attribute 'graph.name' belongs on arguments and results of functions}}
func.func @f() attributes {graph.name = "x"} { return }

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has block arguments that differ from its inputs}}
  "graph.group"(%x) ({
  ^bb0(%p: tensor<5xf32>):
    "graph.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @f() {
  graph.group() {
    // expected-error@+1 {{'arith.constant' op does not belong inside a graph.group}}
    %0 = arith.constant 1 : i32
    graph.yield
  }
  return
}

// -----

func.func @f() {
  graph.group() {
    // expected-error@+1 {{belongs outside of the graph.group, as its input}}
    %0 = graph.parameter "w" : tensor<4xf32>
    graph.yield
  }
  return
}

// -----

func.func @f() {
  graph.group() {
    // expected-error@+1 {{'graph.group' op does not belong inside a graph.group}}
    graph.group() {
      graph.yield
    }
    graph.yield
  }
  return
}

// -----

func.func @f() {
  %0 = graph.group() -> tensor<4xf32> {
    // expected-error@+1 {{has values whose types differ from the group's results}}
    graph.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{must end in graph.yield}}
  graph.group() {
    llvm.unreachable
  }
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'graph.flip' op flip of f32[4, 8] along [1, 0], which are not increasing dimensions of it}}
  %0 = graph.flip %x dims = [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %fill: tensor<f32>) {
  // expected-error@+2 {{'graph.pad' op pad of f32[4] along dimension 0 removes 1 elements more than there are}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.pad %x, %fill low = [-5] high = [0] interior = [0] : tensor<4xf32> -> tensor<0xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %fill: tensor<1xf32>) {
  // expected-error@+1 {{the fill is one element of the operand's type}}
  %0 = "graph.pad"(%x, %fill) <{low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>}> : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+2 {{'graph.window' op window of f32[4] by size [2] stride [0] dilation [1]: each number must be positive}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.window %x dims = [0] size = [2] stride = [0] dilation = [1] : tensor<4xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+2 {{'graph.concat' op concat of f32[4] and f16[4] along dimension 0: all else must be the same}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.concat %x, %y dim = 0 : (tensor<4xf32>, tensor<4xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+2 {{'graph.concat' op concat needs at least one operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = graph.concat dim = 0 : () -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.bitcast' op bitcast of f32[4] to i64[4] changes the width of elements}}
  %0 = graph.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.transfer' op transfer of f32[4] to 'My GPU', which is no name of a device, such as cpu or cuda:1}}
  %0 = graph.transfer %x to "My GPU" : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{1 extents for a tensor of rank 2}}
func.func private @f(tensor<?x4xf32, #graph.extents<"n">>)

// -----

// expected-error@+1 {{the extent 'n' stands for 4}}
func.func private @f(tensor<4x?xf32, #graph.extents<"n", "m">>)

// -----

// expected-error@+1 {{the extent '3' stands for ?}}
func.func private @f(tensor<?x?xf32, #graph.extents<"n", "3">>)

// -----

// expected-error@+1 {{extents without a symbol are written in the shape}}
func.func private @f(tensor<4xf32, #graph.extents<"4">>)

// -----

// expected-error@+1 {{the extent 'n +' has no number, symbol or parenthesis at character 3}}
func.func private @f(tensor<?xf32, #graph.extents<"n +">>)

// -----

func.func @f(%x: tensor<?xf32, #graph.extents<"n">>) {
  // expected-error@+1 {{at n = 185: reshape of f32[185] to f32[186] changes the number of elements}}
  %0 = graph.reshape %x : tensor<?xf32, #graph.extents<"n">> -> tensor<?xf32, #graph.extents<"n + 1">>
  return
}
