// RUN: zyx-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has -1 trips}}
  %0 = graph.loop(%i to -1) carry(%p = %x : tensor<4xf32>) {
    graph.yield %p : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{carries nothing}}
  graph.loop(%i to 1) carry() with(%p = %x : tensor<4xf32>) {
    graph.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{goes on while 'tensor<4xf32>', which is no 'tensor<i1>'}}
  %0 = "graph.loop"(%x) <{operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%i: tensor<i64>, %p: tensor<4xf32>):
    graph.yield %p : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%n: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@+1 {{has both a constant number of trips and a count}}
  %0 = "graph.loop"(%n, %x) <{trips = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%i: tensor<i64>, %p: tensor<4xf32>):
    graph.yield %p : tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<i1>) {
  // expected-error@+1 {{carries nothing}}
  graph.loop(%i while) carry() with(%p = %x : tensor<i1>) {
    graph.yield
  }
  return
}

// -----

func.func @f(%x: tensor<i1>) {
  // expected-error@+1 {{expected 'to'}}
  graph.loop(%i until) carry(%p = %x : tensor<i1>) {
    graph.yield %p : tensor<i1>
  }
  return
}

// -----

func.func @f(%n: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{counts to 'tensor<i32>', which is no 'tensor<i64>'}}
  %0 = "graph.loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%i: tensor<i64>, %p: tensor<4xf32>):
    graph.yield %p : tensor<4xf32>
  }) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has block arguments that are not its index, carried values and invariants}}
  %0 = "graph.loop"(%x) <{trips = 1 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%p: tensor<4xf32>):
    graph.yield %p : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has results whose types differ from what it carries}}
  %0 = "graph.loop"(%x) <{trips = 1 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%i: tensor<i64>, %p: tensor<4xf32>):
    graph.yield %p : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %0 = graph.loop(%i to 1) carry(%p = %x : tensor<4xf32>) {
    // expected-error@+1 {{has values whose types differ from the results of the graph.loop}}
    graph.yield %i : tensor<i64>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %0 = graph.loop(%i to 1) carry(%p = %x : tensor<4xf32>) {
    // expected-error@+1 {{belongs outside of the graph.loop, as its operand}}
    %w = graph.parameter "w" : tensor<4xf32>
    graph.yield %w : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %0 = graph.loop(%i to 1) carry(%p = %x : tensor<4xf32>) {
    // expected-error@+1 {{does not belong inside a graph.loop}}
    %c = arith.constant dense<0.0> : tensor<4xf32>
    graph.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{must end in graph.yield}}
  %0 = graph.loop(%i to 1) carry(%p = %x : tensor<4xf32>) {
    llvm.unreachable
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  %0 = graph.group(%q = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{does not belong inside a graph.group}}
    %1 = graph.group(%p = %q : tensor<4xf32>) -> tensor<4xf32> {
      graph.yield %p : tensor<4xf32>
    }
    graph.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has no name}}
  %0 = graph.custom ""(%p = %x : tensor<4xf32>) -> tensor<4xf32> {
    graph.yield %p : tensor<4xf32>
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{has no operand}}
  %0 = graph.custom "zeros"() -> tensor<4xf32> {
    %c = graph.constant dense<0.0> : tensor<4xf32>
    graph.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has no result}}
  graph.custom "nothing"(%p = %x : tensor<4xf32>) {
    graph.yield
  }
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{has block arguments that differ from its operands}}
  %0 = "graph.custom"(%x) <{name = "c"}> ({
  ^bb0(%p: tensor<5xf32>):
    %1 = graph.constant dense<0.0> : tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<i64>) {
  %v0 = graph.loop(%i0 to 1) carry(%p0 = %x : tensor<i64>) {
  %v1 = graph.loop(%i1 to 1) carry(%p1 = %p0 : tensor<i64>) {
  %v2 = graph.loop(%i2 to 1) carry(%p2 = %p1 : tensor<i64>) {
  %v3 = graph.loop(%i3 to 1) carry(%p3 = %p2 : tensor<i64>) {
  %v4 = graph.loop(%i4 to 1) carry(%p4 = %p3 : tensor<i64>) {
  %v5 = graph.loop(%i5 to 1) carry(%p5 = %p4 : tensor<i64>) {
  %v6 = graph.loop(%i6 to 1) carry(%p6 = %p5 : tensor<i64>) {
  %v7 = graph.loop(%i7 to 1) carry(%p7 = %p6 : tensor<i64>) {
  %v8 = graph.loop(%i8 to 1) carry(%p8 = %p7 : tensor<i64>) {
  %v9 = graph.loop(%i9 to 1) carry(%p9 = %p8 : tensor<i64>) {
  %v10 = graph.loop(%i10 to 1) carry(%p10 = %p9 : tensor<i64>) {
  %v11 = graph.loop(%i11 to 1) carry(%p11 = %p10 : tensor<i64>) {
  %v12 = graph.loop(%i12 to 1) carry(%p12 = %p11 : tensor<i64>) {
  %v13 = graph.loop(%i13 to 1) carry(%p13 = %p12 : tensor<i64>) {
  %v14 = graph.loop(%i14 to 1) carry(%p14 = %p13 : tensor<i64>) {
  %v15 = graph.loop(%i15 to 1) carry(%p15 = %p14 : tensor<i64>) {
  // expected-error@+1 {{lies inside of more than 15 others}}
  %v16 = graph.loop(%i16 to 1) carry(%p16 = %p15 : tensor<i64>) {
  graph.yield %p16 : tensor<i64>
  }
  graph.yield %v16 : tensor<i64>
  }
  graph.yield %v15 : tensor<i64>
  }
  graph.yield %v14 : tensor<i64>
  }
  graph.yield %v13 : tensor<i64>
  }
  graph.yield %v12 : tensor<i64>
  }
  graph.yield %v11 : tensor<i64>
  }
  graph.yield %v10 : tensor<i64>
  }
  graph.yield %v9 : tensor<i64>
  }
  graph.yield %v8 : tensor<i64>
  }
  graph.yield %v7 : tensor<i64>
  }
  graph.yield %v6 : tensor<i64>
  }
  graph.yield %v5 : tensor<i64>
  }
  graph.yield %v4 : tensor<i64>
  }
  graph.yield %v3 : tensor<i64>
  }
  graph.yield %v2 : tensor<i64>
  }
  graph.yield %v1 : tensor<i64>
  }
  return
}
