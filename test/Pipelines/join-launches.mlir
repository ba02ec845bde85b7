// RUN: zyx-compile %s --target=sm_90a --stop-after=lowered | FileCheck %s
// RUN: zyx-compile %s --target=sm_90a --stop-after=target | FileCheck %s --check-prefix=PTX
// RUN: zyx-compile %s --target=sm_90a --fusion=none --stop-after=lowered | FileCheck %s --check-prefix=ALONE
// RUN: zyx-compile %s --target=opencl --stop-after=lowered | FileCheck %s --check-prefix=ALONE

// The sums of three inputs, each of another size, are one launch of one kernel, and nothing is left of its parts.
// CHECK-LABEL: plan.func @main
// CHECK: plan.launch @[[ALL:main_1_and_main_0_and_main_2]] ins(
// CHECK-NOT: plan.launch
// CHECK: kernel.func @[[ALL]]
// CHECK-SAME: form = #kernel.form<lowered>
// CHECK-NOT: parts
// CHECK-NOT: kernel.func
// PTX-COUNT-1: .entry main_1_and_main_0_and_main_2
// PTX-NOT: brx.idx
// PTX-NOT: .entry
// ALONE-NOT: _and_
func.func @main(%x: tensor<64x96xf32> {graph.name = "x"}, %y: tensor<512x24xf32> {graph.name = "y"}, %z: tensor<32x7xf32> {graph.name = "z"})
    -> (tensor<96xf32> {graph.name = "a"}, tensor<24xf32> {graph.name = "b"}, tensor<7xf32> {graph.name = "c"}) {
  %a = graph.reduce add %x dims = [0] : tensor<64x96xf32> -> tensor<96xf32>
  %b = graph.reduce add %y dims = [0] : tensor<512x24xf32> -> tensor<24xf32>
  %c = graph.reduce add %z dims = [0] : tensor<32x7xf32> -> tensor<7xf32>
  return %a, %b, %c : tensor<96xf32>, tensor<24xf32>, tensor<7xf32>
}
