// An op means what is written, in the generic form too: a kind is required, nothing is said twice, and nothing is
// read over.
// RUN: zyx-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.unary' op requires its property 'kind', in <{...}>}}
  %0 = "graph.unary"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.unary' op requires its property 'kind', in <{...}>}}
  %0 = "graph.unary"(%x) {kind = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.binary' op requires its property 'kind', in <{...}>}}
  %0 = "graph.binary"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{it requires its property 'kind', an i32}}
  %0 = "graph.reduce"(%x) <{dims = array<i64: 0>}> : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{it requires its property 'kind', an i32}}
  %0 = "graph.scan"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{it requires its property 'kind', an i32}}
  %0 = "graph.sort"(%x) <{dim = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A number of more bits would lose some.
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{it requires its property 'kind', an i32}}
  %0 = "graph.unary"(%x) <{kind = 4294967298 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{it has no property 'exclusiv'}}
  %0 = "graph.scan"(%x) <{kind = 0 : i32, dim = 0 : i64, exclusiv}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.unary' op has no attribute 'kind'}}
  %0 = graph.unary exp %x {kind = 3 : i32} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.unary' op has no attribute 'kind'}}
  %0 = "graph.unary"(%x) <{kind = 2 : i32}> {kind = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.scan' op has no attribute 'exclusiv'}}
  %0 = graph.scan add %x dim = 0 {exclusiv} : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'graph.iota' has its attribute 'dim' twice}}
  %0 = graph.iota dim = 0 {dim = 1 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{it has its attribute 'dims' twice}}
  %0 = "graph.flip"(%x) <{dims = array<i64: 0>}> {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'graph.loop' has its attribute 'trips' twice}}
  %0 = graph.loop(%i to 3) carry(%p = %x : tensor<4xf32>) attributes {trips = 4 : i64} {
    graph.yield %p : tensor<4xf32>
  }
  return
}

// -----

// The other dialects are as strict.
kernel.func @k(%x: !kernel.buffer<f32, global>) {
  %t = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error@+1 {{requires attribute 'kind'}}
  %r = "kernel.reduce"(%t) <{dims = array<i64: 0>}> : (tensor<8xf32>) -> tensor<f32>
  kernel.return
}

// -----

kernel.func @k(%x: !kernel.buffer<f32, global>) {
  %t = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error@+1 {{'kernel.reduce' has its attribute 'kind' twice}}
  %r = kernel.reduce add %t dims [0] {kind = 2 : i32} : tensor<8xf32> -> tensor<f32>
  kernel.return
}

// -----

plan.func @p(%y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  // expected-error@+1 {{'plan.fill' has its attribute 'bits' twice}}
  %e = plan.fill %y bits 1 {bits = 2 : i64} : !plan.buffer<f32[4]>
  plan.return
}

// -----

plan.func @p(%y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  // expected-error@+1 {{'plan.fill' op has no attribute 'waits'}}
  %e = plan.fill %y bits 1 {waits = 2 : i64} : !plan.buffer<f32[4]>
  plan.return
}

// -----

// What belongs to others stays, and what is written in another order is the same.
func.func @f(%x: tensor<?xf32, #graph.extents<"m + n">>) -> tensor<?xf32, #graph.extents<"n + m">> {
  %0 = graph.scan add %x dim = 0 {exclusive, test.note = 1} : tensor<?xf32, #graph.extents<"n + m">>
  return %0 : tensor<?xf32, #graph.extents<"n + m">>
}
