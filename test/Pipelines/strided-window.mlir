// RUN: zyx-opt %s --zyx-compile='target=x86-64-v4 stop-after=lowered' | FileCheck %s

// Two columns that lie four elements apart: of two vectors of memory are all elements taken or none, of
// the third the first one, and of the fourth, which may lie behind the memory, nothing.
// CHECK:      kernel.load %[[X:.*]][%{{.*}}] mask %{{.*}} : vector<2xi1> : <40xf64, global> -> vector<2xf64>
// CHECK:      kernel.load %[[X]][%{{.*}}] mask %{{.*}} : vector<2xi1> : <40xf64, global> -> vector<2xf64>
// CHECK-NEXT: vector.shuffle
func.func @main(%x: tensor<8x5xf64>, %f: tensor<40x8x2xf64>) -> tensor<40x2xf64> {
  %z = graph.constant dense<0.0> : tensor<f64>
  %p = graph.pad %x, %z low = [0, 1] high = [0, 0] interior = [0, 0] : tensor<8x5xf64> -> tensor<8x6xf64>
  %w = graph.window %p dims = [1] size = [2] stride = [4] dilation = [1] : tensor<8x6xf64> -> tensor<8x2x2xf64>
  %q = graph.permute %w order = [1, 0, 2] : tensor<8x2x2xf64> -> tensor<2x8x2xf64>
  %a = graph.reshape %q : tensor<2x8x2xf64> -> tensor<1x2x16xf64>
  %b = graph.reshape %f : tensor<40x8x2xf64> -> tensor<40x1x16xf64>
  %ae = graph.expand %a : tensor<1x2x16xf64> -> tensor<40x2x16xf64>
  %be = graph.expand %b : tensor<40x1x16xf64> -> tensor<40x2x16xf64>
  %m = graph.binary mul %ae, %be : tensor<40x2x16xf64>
  %r = graph.reduce add %m dims = [2] : tensor<40x2x16xf64> -> tensor<40x2xf64>
  return %r : tensor<40x2xf64>
}
