// RUN: zyx-opt %s -split-input-file --zyx-kernel-attach-target=target=sm_80 --zyx-convert-graph-to-kernel -verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' takes 1 arguments, and the op has 2 operands and results}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text [
  "kernel.func @twice(%x: !kernel.buffer<f32, global>) {",
  "  kernel.return",
  "}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' takes '!kernel.buffer<i32, global>' as argument 1, which is '!kernel.buffer<f32, global>'}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text [
  "kernel.func @twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<i32, global>) {",
  "  kernel.return",
  "}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' is not in its text, which holds one kernel.func of that name and nothing else}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text [
  "kernel.func @thrice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {",
  "  %xs = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>",
  "  %ys = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>",
  "  %c0 = arith.constant 0 : index",
  "  %t = kernel.load %xs[%c0] axes [\"i\"] : !kernel.view<4xf32, global> -> tensor<4xf32>",
  "  %s = arith.addf %t, %t : tensor<4xf32>",
  "  kernel.store %s, %ys[%c0] : tensor<4xf32>, !kernel.view<4xf32, global>",
  "  kernel.return",
  "}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' is not in its text, which holds one kernel.func of that name and nothing else}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text [
  "kernel.func @twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {",
  "  %xs = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>",
  "  %ys = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>",
  "  %c0 = arith.constant 0 : index",
  "  %t = kernel.load %xs[%c0] axes [\"i\"] : !kernel.view<4xf32, global> -> tensor<4xf32>",
  "  %s = arith.addf %t, %t : tensor<4xf32>",
  "  kernel.store %s, %ys[%c0] : tensor<4xf32>, !kernel.view<4xf32, global>",
  "  kernel.return",
  "}", "kernel.func @more() { kernel.return }"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' is not in its text, which holds one kernel.func of that name and nothing else}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text ["module {}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' is for target 'sm_90a', and the program for 'sm_80'}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text ["module attributes {kernel.target = #kernel.target<\22sm_90a\22>} {",
  "kernel.func @twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {",
  "  kernel.return",
  "}", "}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' is no text that is read: }}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text ["(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{custom 'op': its kernel 'twice' is external itself}}
  %0 = graph.external "op" by <kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text ["kernel.func @twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {external = #kernel.external<c \22a\22 of \22b\22 results 1 shared 0 text [\22x\22]>} {", "kernel.return", "}"]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
