// Long constants are cut, and what held operands leaves no commas.
// RUN: zyx-translate --to-dot %s | FileCheck %s --check-prefix=CUT
// CUT: digraph "cut"
// CUT: [label="constant dense<...>\n9xf32"]
// CUT: [label="scatter add dim = 0\n9xf32"]
func.func @cut(%x: tensor<9xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<9xf32> {
  %c = graph.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<9xf32>
  %0 = graph.scatter add %x[%i], %u dim = 0 : (tensor<9xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<9xf32>
  %1 = graph.binary add %0, %c : tensor<9xf32>
  return %1 : tensor<9xf32>
}
