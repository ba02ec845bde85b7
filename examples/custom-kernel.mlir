// A kernel of the user's own in the kernel dialect, for every machine: docs/custom-kernels.md.
//   zyx-run examples/custom-kernel.mlir --random=1 --print
#own = #graph.implementation<kernel "squared_relu" for "any" : (tensor<256x1024xf32>) -> tensor<256x1024xf32> text [
    "kernel.func @squared_relu(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {",
    "  %xs = kernel.view %x map <[<[262144] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<262144xf32, global>",
    "  %ys = kernel.view %y map <[<[262144] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<262144xf32, global>",
    "  %c0 = arith.constant 0 : index",
    "  %zero = arith.constant dense<0.0> : tensor<262144xf32>",
    "  %t = kernel.load %xs[%c0] axes [\"i\"] : !kernel.view<262144xf32, global> -> tensor<262144xf32>",
    "  %r = arith.maximumf %t, %zero : tensor<262144xf32>",
    "  %s = arith.mulf %r, %r : tensor<262144xf32>",
    "  kernel.store %s, %ys[%c0] : tensor<262144xf32>, !kernel.view<262144xf32, global>",
    "  kernel.return",
    "}"]>

func.func @main(%x: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %h = graph.unary tanh %x : tensor<256x1024xf32>
  %0 = graph.custom "squared_relu"(%p = %h : tensor<256x1024xf32>) -> tensor<256x1024xf32>
      implementations [#own] {
    %zero = graph.constant dense<0.0> : tensor<256x1024xf32>
    %1 = graph.binary max %p, %zero : tensor<256x1024xf32>
    %2 = graph.binary mul %1, %1 : tensor<256x1024xf32>
    graph.yield %2 : tensor<256x1024xf32>
  }
  %y = graph.unary exp %0 : tensor<256x1024xf32>
  return %y : tensor<256x1024xf32>
}
