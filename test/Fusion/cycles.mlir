// RUN: zyx-opt %s --zyx-fuse --zyx-fusion-verify-groups | FileCheck %s

// Both sums are one kernel, which reads %0 and stores what the product reads. That product is no part
// of the kernel of %0, though the kernel of the sums ends behind it.
// CHECK-LABEL: func.func @around
// CHECK: %[[FIRST:.*]] = graph.group
// CHECK-NEXT: graph.cast
// CHECK-NEXT: graph.yield
// CHECK: %[[SUMS:.*]]:2 = graph.group({{.*}}%[[FIRST]]
// CHECK: graph.group({{.*}}%[[FIRST]]{{.*}}%[[SUMS]]#
func.func @around(%x: tensor<1x1xf64>) -> tensor<1x1xi64> {
  %0 = graph.cast %x : tensor<1x1xf64> -> tensor<1x1xi8>
  %1 = graph.cast %0 : tensor<1x1xi8> -> tensor<1x1xi64>
  %2 = graph.constant dense<> : tensor<0x4x1xf64>
  %3 = graph.cast %2 : tensor<0x4x1xf64> -> tensor<0x4x1xi64>
  %4 = graph.reduce add %3 dims = [0] : tensor<0x4x1xi64> -> tensor<4x1xi64>
  %5 = graph.constant dense<0> : tensor<i64>
  %6 = graph.pad %4, %5 low = [0, 0] high = [-3, 0] interior = [0, 0] : tensor<4x1xi64> -> tensor<1x1xi64>
  %7 = graph.binary mul %1, %6 : tensor<1x1xi64>
  %8 = graph.reshape %1 : tensor<1x1xi64> -> tensor<1x1x1xi64>
  %9 = graph.expand %8 : tensor<1x1x1xi64> -> tensor<0x4x1xi64>
  %10 = graph.binary add %3, %9 : tensor<0x4x1xi64>
  %11 = graph.reduce add %10 dims = [0] : tensor<0x4x1xi64> -> tensor<4x1xi64>
  %12 = graph.pad %11, %5 low = [0, 0] high = [-3, 0] interior = [0, 0] : tensor<4x1xi64> -> tensor<1x1xi64>
  %13 = graph.binary mul %7, %12 : tensor<1x1xi64>
  return %13 : tensor<1x1xi64>
}
