// RUN: zyx-compile %s --target=cpu --isa=x86-64-v3 --stop-after=lowered -o - | FileCheck %s

// The gradient of depthwise filters, of images whose channels come last and of gradients whose channels come first. A program has the channels
// of half a line of memory, and copies them together: rows lie 2 KB apart, where a line that is not read at once is lost. Squares of channels and
// positions are transposed in registers; the last one of a row begins where it is whole.

// CHECK-LABEL: kernel.func @filters_0(
// CHECK:       kernel.grid (%{{.*}}) in [512] step [8]
// CHECK:         %[[NEAR:.*]] = kernel.alloc : <{{[0-9]+}}xf32, private>
// CHECK:           scf.if
// CHECK:             scf.for %[[X:.*]] = %c1 to %c29 step %c8 {
// CHECK:               %[[I:.*]] = arith.minsi %[[X]], %c21 : index
// CHECK:               %[[ROW:.*]] = arith.muli %[[I]], %c512 : index
// CHECK:               %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]] : index
// CHECK:               kernel.load %{{.*}}[%[[AT]]] : {{.*}} -> vector<8xf32>
// CHECK-COUNT-24:      vector.shuffle
// CHECK-COUNT-8:       kernel.store %{{.*}}, %[[NEAR]][%{{.*}}] : vector<8xf32>
func.func @filters(%x: tensor<2x28x28x512xf32>, %dy: tensor<2x512x28x28xf32>) -> tensor<512x3x3xf32> {
  %0 = graph.permute %x order = [0, 3, 1, 2] : tensor<2x28x28x512xf32> -> tensor<2x512x28x28xf32>
  %zero = graph.constant dense<0.000000e+00> : tensor<f32>
  %1 = graph.pad %0, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : tensor<2x512x28x28xf32> -> tensor<2x512x30x30xf32>
  %2 = graph.window %1 dims = [2, 3] size = [3, 3] stride = [1, 1] dilation = [1, 1] : tensor<2x512x30x30xf32> -> tensor<2x512x28x28x3x3xf32>
  %3 = graph.reshape %dy : tensor<2x512x28x28xf32> -> tensor<2x512x28x28x1x1xf32>
  %4 = graph.expand %3 : tensor<2x512x28x28x1x1xf32> -> tensor<2x512x28x28x3x3xf32>
  %5 = graph.binary mul %4, %2 : tensor<2x512x28x28x3x3xf32>
  %6 = graph.reduce add %5 dims = [0, 2, 3] : tensor<2x512x28x28x3x3xf32> -> tensor<512x3x3xf32>
  return %6 : tensor<512x3x3xf32>
}
