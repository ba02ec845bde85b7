// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-form-groups | FileCheck %s
// RUN: zyx-opt %s --zyx-fusion-form-groups | FileCheck %s --check-prefix=PROCESSOR
// RUN: zyx-opt %s --zyx-kernel-attach-target=target=sm_90a --zyx-fusion-form-groups --mlir-disable-threading --remarks-filter=zyx-fusion --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: [Missed] {{.*}}"not in the kernel of its producer: it would add up the same sum again in each program"

// Each of a card's programs would add up the parts again: the sum is stored. A processor has few programs.
// CHECK-LABEL: func.func @large
// CHECK:       %[[SUM:.*]] = graph.group({{.*}}) -> tensor<64xf32>
// CHECK:       graph.reduce add
// CHECK:       graph.group({{.*}}%[[SUM]] : tensor<64xf32>{{.*}}) -> tensor<1024x64x196xf32>
// CHECK-NOT:   graph.reduce
// CHECK:       return
// PROCESSOR-LABEL: func.func @large
// PROCESSOR-NEXT:  graph.group({{.*}}) -> tensor<1024x64x196xf32>
func.func @large(%x: tensor<1024x64x196xf32>, %parts: tensor<8x64xf32>) -> tensor<1024x64x196xf32> {
  %0 = graph.reduce add %parts dims = [0] : tensor<8x64xf32> -> tensor<64xf32>
  %1 = graph.reshape %0 : tensor<64xf32> -> tensor<1x64x1xf32>
  %2 = graph.expand %1 : tensor<1x64x1xf32> -> tensor<1024x64x196xf32>
  %3 = graph.binary sub %x, %2 : tensor<1024x64x196xf32>
  return %3 : tensor<1024x64x196xf32>
}

// Of a small result a launch takes longer.
// CHECK-LABEL: func.func @small
// CHECK-NEXT:  graph.group({{.*}}) -> tensor<16x64x196xf32>
func.func @small(%x: tensor<16x64x196xf32>, %parts: tensor<8x64xf32>) -> tensor<16x64x196xf32> {
  %0 = graph.reduce add %parts dims = [0] : tensor<8x64xf32> -> tensor<64xf32>
  %1 = graph.reshape %0 : tensor<64xf32> -> tensor<1x64x1xf32>
  %2 = graph.expand %1 : tensor<1x64x1xf32> -> tensor<16x64x196xf32>
  %3 = graph.binary sub %x, %2 : tensor<16x64x196xf32>
  return %3 : tensor<16x64x196xf32>
}
