// RUN: zyx-compile %s --target=gfx1100 --stop-after=target | FileCheck %s
// RUN: zyx-compile %s --target=gfx1201 --stop-after=target | FileCheck %s

// All trips of a loop over 16 states are one block, whose sums are more than there are registers: they need not stay until
// its end.
// CHECK-LABEL: main_0:
// CHECK: .private_segment_fixed_size: 0
// CHECK: .vgpr_spill_count: 0
module {
  func.func @main(%arg0: tensor<2x6x13xbf16>, %arg1: tensor<13x16xbf16>, %arg2: tensor<2x6x16xbf16> {graph.weight}) -> (tensor<2x13x16xbf16>, tensor<2x6x13xbf16>) {
    %0 = graph.constant dense<1.250000e-01> : tensor<13x16xbf16>
    %1 = graph.binary mul %arg1, %0 : tensor<13x16xbf16>
    %2 = graph.constant dense<0.000000e+00> : tensor<2x13x16xbf16>
    %3 = graph.constant dense<0.000000e+00> : tensor<2x6x13xbf16>
    %4:2 = graph.loop(%arg3 to 6) carry(%arg4 = %2 : tensor<2x13x16xbf16>, %arg5 = %3 : tensor<2x6x13xbf16>) with(%arg6 = %arg0 : tensor<2x6x13xbf16>, %arg7 = %arg2 : tensor<2x6x16xbf16>, %arg8 = %1 : tensor<13x16xbf16>) {
      %5 = graph.reshape %arg8 : tensor<13x16xbf16> -> tensor<1x13x16xbf16>
      %6 = graph.expand %5 : tensor<1x13x16xbf16> -> tensor<2x13x16xbf16>
      %7 = graph.binary mul %6, %arg4 : tensor<2x13x16xbf16>
      %8 = graph.gather %arg6[%arg3] dim = 1 : (tensor<2x6x13xbf16>, tensor<i64>) -> tensor<2x13xbf16>
      %9 = graph.reshape %8 : tensor<2x13xbf16> -> tensor<2x13x1xbf16>
      %10 = graph.expand %9 : tensor<2x13x1xbf16> -> tensor<2x13x16xbf16>
      %11 = graph.gather %arg7[%arg3] dim = 1 : (tensor<2x6x16xbf16>, tensor<i64>) -> tensor<2x16xbf16>
      %12 = graph.reshape %11 : tensor<2x16xbf16> -> tensor<2x1x16xbf16>
      %13 = graph.expand %12 : tensor<2x1x16xbf16> -> tensor<2x13x16xbf16>
      %14 = graph.binary mul %10, %13 : tensor<2x13x16xbf16>
      %15 = graph.binary add %7, %14 : tensor<2x13x16xbf16>
      %16 = graph.binary mul %15, %13 : tensor<2x13x16xbf16>
      %17 = graph.reduce add %16 dims = [2] : tensor<2x13x16xbf16> -> tensor<2x13xbf16>
      %18 = graph.scatter set %arg5[%arg3], %17 dim = 1 : (tensor<2x6x13xbf16>, tensor<i64>, tensor<2x13xbf16>) -> tensor<2x6x13xbf16>
      graph.yield %15, %18 : tensor<2x13x16xbf16>, tensor<2x6x13xbf16>
    }
    return %4#0, %4#1 : tensor<2x13x16xbf16>, tensor<2x6x13xbf16>
  }
}

