// Kernels of the user's own: of the kernel dialect what is in the text, of others a kernel that holds the text.
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel | FileCheck %s
// RUN: zyx-opt %s --zyx-convert-graph-to-kernel | zyx-opt | FileCheck %s
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_80 --zyx-convert-graph-to-kernel --zyx-kernel-merge-identical | FileCheck %s --check-prefix=MERGED

#own = #graph.implementation<kernel "twice" for "any" : (tensor<4xf32>) -> tensor<4xf32> text [
  "kernel.func @twice(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {",
  "  %xs = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>",
  "  %ys = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>",
  "  %c0 = arith.constant 0 : index",
  "  %t = kernel.load %xs[%c0] axes [\"i\"] : !kernel.view<4xf32, global> -> tensor<4xf32>",
  "  %s = arith.addf %t, %t : tensor<4xf32>",
  "  kernel.store %s, %ys[%c0] : tensor<4xf32>, !kernel.view<4xf32, global>",
  "  kernel.return",
  "}"]>
#c = #graph.implementation<c "twice" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> groups 4 text ["void twice(const float *x, float *y, int64_t begin, int64_t end) {", "}"]>
#ptx = #graph.implementation<ptx "twice" for "cuda" : (tensor<4xf32>) -> tensor<4xf32> groups 2 threads 32 shared 64 text [".version 7.0"]>

// CHECK: plan.func @main
// CHECK: plan.launch @main_0
// CHECK: plan.launch @main_1
// CHECK: plan.launch @main_2
// CHECK: plan.launch @main_3
// CHECK: kernel.func @main_0(%{{.*}}: !kernel.buffer<f32, global>, %{{.*}}: !kernel.buffer<f32, global>) {
// CHECK: arith.addf
// CHECK: kernel.func @main_1(%{{.*}}: !kernel.buffer<f32, global>, %{{.*}}: !kernel.buffer<f32, global>)
// CHECK-SAME: external = #kernel.external<c "twice" of "second" results 1 shared 0 text ["void twice(const float *x, float *y, int64_t begin, int64_t end) {", "}"]>
// CHECK-SAME: programs = 4 : i64
// CHECK-SAME: schedule = #kernel.schedule<[]>
// CHECK-NEXT: kernel.return
// CHECK: kernel.func @main_2(
// CHECK-SAME: external = #kernel.external<ptx "twice" of "third" results 1 shared 64 text [".version 7.0"]>
// CHECK-SAME: programs = 2 : i64
// CHECK-SAME: threads = 32 : i64

// Kernels of one text are one, those of another op are none of them: errors name the op.
// MERGED: plan.launch @main_0
// MERGED: plan.launch @main_1
// MERGED: plan.launch @main_2
// MERGED: plan.launch @main_2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.external "first" by #own(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.external "second" by #c(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.external "third" by #ptx(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.external "third" by #ptx(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
