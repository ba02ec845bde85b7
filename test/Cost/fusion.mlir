// RUN: zyx-opt %s --zyx-compile='target=cpu stop-after=kernel fusion=none' | FileCheck %s --check-prefix=NONE
// RUN: zyx-opt %s --zyx-compile='target=cpu stop-after=kernel fusion=all' | FileCheck %s --check-prefix=ALL
// RUN: zyx-opt %s --zyx-compile='target=cpu stop-after=kernel' | FileCheck %s --check-prefix=ALL
// RUN: zyx-compile %s --fusion=none --stop-after=kernel | FileCheck %s --check-prefix=NONE

// An op per kernel where none share one; here all may, and cutting them would pay for nothing.
// NONE-COUNT-3: kernel.func
// NONE-NOT: kernel.func
// ALL: kernel.func
// ALL-NOT: kernel.func
func.func @main(%x: tensor<64x512xf32> {graph.name = "x"}) -> (tensor<64xf32> {graph.name = "y"}) {
  %e = graph.unary exp %x : tensor<64x512xf32>
  %s = graph.binary add %e, %x : tensor<64x512xf32>
  %m = graph.reduce max %s dims = [1] : tensor<64x512xf32> -> tensor<64xf32>
  return %m : tensor<64xf32>
}
