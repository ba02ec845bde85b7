// A kernel of the user's own in C, for the CPU: docs/custom-kernels.md.
//   zyx-run examples/custom-c.mlir --device=cpu --random=1 --print
#own = #graph.implementation<c "squared_relu" for "cpu" : (tensor<256x1024xf32>) -> tensor<256x1024xf32> groups 256 text [
    "// Rows [begin, end) of 1024 elements: threads of the device call it with ranges of their own.",
    "void squared_relu(const float *restrict x, float *restrict y, int64_t begin, int64_t end) {",
    "  for (int64_t i = begin * 1024; i < end * 1024; ++i) {",
    "    float r = x[i] < 0 ? 0 : x[i];",
    "    y[i] = r * r;",
    "  }",
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
