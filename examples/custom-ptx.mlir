// A kernel of the user's own in PTX, for NVIDIA's GPUs: docs/custom-kernels.md.
//   zyx-run examples/custom-ptx.mlir --device=cuda --random=1 --print
#own = #graph.implementation<ptx "squared_relu" for "cuda" : (tensor<256x1024xf32>) -> tensor<256x1024xf32> groups 1024 threads 256 text [
    ".version 7.0",
    ".target sm_80",
    ".address_size 64",
    ".visible .entry squared_relu(.param .u64 x, .param .u64 y) {",
    "  .reg .b32 %r<4>;",
    "  .reg .b64 %rd<6>;",
    "  .reg .f32 %f<4>;",
    "  ld.param.u64 %rd1, [x];",
    "  ld.param.u64 %rd2, [y];",
    "  mov.u32 %r1, %ctaid.x;",
    "  mov.u32 %r2, %tid.x;",
    "  mad.lo.s32 %r3, %r1, 256, %r2;",
    "  mul.wide.u32 %rd3, %r3, 4;",
    "  add.s64 %rd4, %rd1, %rd3;",
    "  add.s64 %rd5, %rd2, %rd3;",
    "  ld.global.f32 %f1, [%rd4];",
    "  max.NaN.f32 %f2, %f1, 0f00000000;",
    "  mul.rn.f32 %f3, %f2, %f2;",
    "  st.global.f32 [%rd5], %f3;",
    "  ret;",
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
