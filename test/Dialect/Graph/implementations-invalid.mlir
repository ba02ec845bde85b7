// RUN: zyx-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom own: an implementation in c has no target}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the entry 'not one', which is no name of a function}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "not one" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has the entry '', which is no name of a function}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the implementation for 'cpu' has no text}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text [""]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 2 operands, and the op has 1}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 0 results, and the op has 1}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> () text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is for f32[5] as operand 0, which is f32[4]}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<5xf32>) -> tensor<4xf32> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is for f16[4] as result 0, which is f32[4]}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf16> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{two implementations are for 'cpu'}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>,
      #graph.implementation<kernel "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 0 groups; there are 1 to 2147483647}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> groups 0 text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{says threads, which c does not take}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> threads 2 text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{says groups, which kernel does not take}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<kernel "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> groups 2 text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{says shared bytes, which c does not take}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> shared 4 text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has 2048 threads; there are 1 to 1024}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<ptx "own" for "cuda" : (tensor<4xf32>) -> tensor<4xf32> threads 2048 text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has -1 shared bytes; there are 0 to 1048576}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [
      #graph.implementation<ptx "own" for "cuda" : (tensor<4xf32>) -> tensor<4xf32> shared -1 text ["x"]>] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{lists no implementation}}
  %y = graph.custom "own"(%p = %x : tensor<4xf32>) -> tensor<4xf32> implementations [] {
    graph.yield %p : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{there is no language 'cobol'; there are kernel, c and ptx}}
#own = #graph.implementation<cobol "own" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text ["x"]>

// -----

func.func @f(%x: tensor<?xf32, #graph.extents<"n">>) -> tensor<?xf32, #graph.extents<"n">> {
  // expected-error@+1 {{is for f32[n] as operand 0, whose extents are no numbers}}
  %y = graph.custom "own"(%p = %x : tensor<?xf32, #graph.extents<"n">>) -> tensor<?xf32, #graph.extents<"n">> implementations [
      #graph.implementation<c "own" for "cpu" : (tensor<?xf32, #graph.extents<"n">>) -> tensor<?xf32, #graph.extents<"n">> text ["x"]>] {
    graph.yield %p : tensor<?xf32, #graph.extents<"n">>
  }
  return %y : tensor<?xf32, #graph.extents<"n">>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{is for f32[5] as operand 0, which is f32[4]}}
  %y = graph.external "own" by <c "own" for "cpu" : (tensor<5xf32>) -> tensor<4xf32> text ["x"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
