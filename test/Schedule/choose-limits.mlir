// What a program keeps in private memory fits it, whatever the sizes and types are.
// RUN: zyx-opt %s --zyx-compile='target=x86-64-v4 stop-after=schedule' | FileCheck %s
// RUN: zyx-compile %s --entry=narrow_output --target=x86-64-v4 -o %t
// RUN: zyx-compile %s --entry=narrow_output --target=x86-64-v3 -o %t
// RUN: zyx-compile %s --entry=narrow_output --target=x86-64 -o %t
// RUN: zyx-compile %s --entry=deep --target=x86-64-v4 -o %t
// RUN: zyx-compile %s --entry=deep --target=x86-64-v3 -o %t
// RUN: zyx-compile %s --entry=deep --target=x86-64 -o %t
// RUN: zyx-compile %s --entry=repeated --target=x86-64-v4 -o %t
// RUN: zyx-compile %s --entry=repeated --target=x86-64-v3 -o %t
// RUN: zyx-compile %s --entry=repeated --target=x86-64 -o %t

// Sums in f32 cannot wait in an output of bf16: programs are so small that they fit private memory.
// CHECK-LABEL: kernel.func @narrow_output
// CHECK-SAME:  #kernel.grid_step<"m", 252>, #kernel.grid_step<"n", 256>, {{.*}} depth 512
func.func @narrow_output(%a: tensor<1024x2048xbf16>, %b: tensor<2048x1024xbf16>) -> tensor<1024x1024xbf16> {
  %bt = graph.permute %b order = [1, 0] : tensor<2048x1024xbf16> -> tensor<1024x2048xbf16>
  %aw = graph.cast %a : tensor<1024x2048xbf16> -> tensor<1024x2048xf32>
  %bw = graph.cast %bt : tensor<1024x2048xbf16> -> tensor<1024x2048xf32>
  %ar = graph.reshape %aw : tensor<1024x2048xf32> -> tensor<1024x1x2048xf32>
  %br = graph.reshape %bw : tensor<1024x2048xf32> -> tensor<1x1024x2048xf32>
  %ae = graph.expand %ar : tensor<1024x1x2048xf32> -> tensor<1024x1024x2048xf32>
  %be = graph.expand %br : tensor<1x1024x2048xf32> -> tensor<1024x1024x2048xf32>
  %p = graph.binary mul %ae, %be : tensor<1024x1024x2048xf32>
  %c = graph.reduce add %p dims = [2] : tensor<1024x1024x2048xf32> -> tensor<1024x1024xf32>
  %n = graph.cast %c : tensor<1024x1024xf32> -> tensor<1024x1024xbf16>
  return %n : tensor<1024x1024xbf16>
}

// A long contraction is many pieces.
// CHECK-LABEL: kernel.func @deep
// CHECK-SAME:  depth 512
func.func @deep(%a: tensor<600x100000xbf16>, %b: tensor<600x100000xbf16>) -> tensor<600x600xbf16> {
  %aw = graph.cast %a : tensor<600x100000xbf16> -> tensor<600x100000xf32>
  %bw = graph.cast %b : tensor<600x100000xbf16> -> tensor<600x100000xf32>
  %ar = graph.reshape %aw : tensor<600x100000xf32> -> tensor<600x1x100000xf32>
  %br = graph.reshape %bw : tensor<600x100000xf32> -> tensor<1x600x100000xf32>
  %ae = graph.expand %ar : tensor<600x1x100000xf32> -> tensor<600x600x100000xf32>
  %be = graph.expand %br : tensor<1x600x100000xf32> -> tensor<600x600x100000xf32>
  %p = graph.binary mul %ae, %be : tensor<600x600x100000xf32>
  %c = graph.reduce add %p dims = [2] : tensor<600x600x100000xf32> -> tensor<600x600xf32>
  %n = graph.cast %c : tensor<600x600xf32> -> tensor<600x600xbf16>
  return %n : tensor<600x600xbf16>
}

// The result is written along an axis that the dot lacks: tiles would have to wait for it.
// CHECK-LABEL: kernel.func @repeated
// CHECK-NOT:   block_step
// CHECK:       kernel.return
func.func @repeated(%a: tensor<512x64xf32>, %b: tensor<512x64xf32>, %x: tensor<512x512x3xf32>) -> tensor<512x512x3xf32> {
  %ar = graph.reshape %a : tensor<512x64xf32> -> tensor<512x1x64xf32>
  %br = graph.reshape %b : tensor<512x64xf32> -> tensor<1x512x64xf32>
  %ae = graph.expand %ar : tensor<512x1x64xf32> -> tensor<512x512x64xf32>
  %be = graph.expand %br : tensor<1x512x64xf32> -> tensor<512x512x64xf32>
  %p = graph.binary mul %ae, %be : tensor<512x512x64xf32>
  %c = graph.reduce add %p dims = [2] : tensor<512x512x64xf32> -> tensor<512x512xf32>
  %cr = graph.reshape %c : tensor<512x512xf32> -> tensor<512x512x1xf32>
  %ce = graph.expand %cr : tensor<512x512x1xf32> -> tensor<512x512x3xf32>
  %y = graph.binary add %ce, %x : tensor<512x512x3xf32>
  return %y : tensor<512x512x3xf32>
}

// Pieces of a matrix unit divide the contraction; where none do, nobody counts up to it.
// RUN: zyx-opt %s --zyx-compile='target=sapphirerapids stop-after=schedule' | FileCheck %s --check-prefix=PRIME
// PRIME-LABEL: kernel.func @prime
// PRIME-NOT:   narrow
// PRIME:       kernel.return
func.func @prime(%a: tensor<32x34359738337xi8>, %b: tensor<32x34359738337xi8>) -> tensor<32x32xi32> {
  %aw = graph.cast %a : tensor<32x34359738337xi8> -> tensor<32x34359738337xi32>
  %bw = graph.cast %b : tensor<32x34359738337xi8> -> tensor<32x34359738337xi32>
  %ar = graph.reshape %aw : tensor<32x34359738337xi32> -> tensor<32x1x34359738337xi32>
  %br = graph.reshape %bw : tensor<32x34359738337xi32> -> tensor<1x32x34359738337xi32>
  %ae = graph.expand %ar : tensor<32x1x34359738337xi32> -> tensor<32x32x34359738337xi32>
  %be = graph.expand %br : tensor<1x32x34359738337xi32> -> tensor<32x32x34359738337xi32>
  %p = graph.binary mul %ae, %be : tensor<32x32x34359738337xi32>
  %c = graph.reduce add %p dims = [2] : tensor<32x32x34359738337xi32> -> tensor<32x32xi32>
  return %c : tensor<32x32xi32>
}
