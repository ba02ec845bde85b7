// RUN: zyx-opt %s --split-input-file --verify-diagnostics --zyx-fuse

// expected-error@+1 {{groups are formed in functions of one block}}
func.func @blocks() {
  llvm.br ^next
^next:
  return
}

// -----

func.func @foreign() {
  // expected-error@+1 {{groups are formed of graph ops, of which this is none}}
  %0 = arith.constant 1 : i32
  return
}

// -----

func.func private @external(tensor<4xf32>)
