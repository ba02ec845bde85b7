// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-cost-cut-groups --remarks-filter=zyx-fusion --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-cost-cut-groups | FileCheck %s --check-prefix=LOOPS

// The gradients of a gated unit stand behind a product. Warps of Ampere have code for each of their 128 sums, which the
// instruction cache would not hold: the product is stored, and a kernel behind it computes the rest. On Hopper that code
// is a loop over panels, and stays in the kernel.
// WHY: Passed{{.*}}Function=gated{{.*}}2 kernels of {{.*}} us instead of one of {{.*}} us: 1 value in between is stored
// CHECK-LABEL: func.func @gated
// CHECK: %[[PRODUCT:.*]] = graph.group({{.*}}) -> tensor<8192x3072xbf16>
// CHECK: graph.reduce add
// CHECK: graph.group({{.*}} = %[[PRODUCT]] : tensor<8192x3072xbf16>{{.*}}) -> (tensor<8192x3072xbf16>, tensor<8192x3072xbf16>)
// CHECK: graph.unary exp
// LOOPS-LABEL: func.func @gated
// LOOPS: = graph.group
// LOOPS-NOT: = graph.group
func.func @gated(%a: tensor<8192x768xbf16> {graph.name = "a"}, %w: tensor<768x3072xbf16> {graph.name = "w"}, %g: tensor<8192x3072xbf16> {graph.name = "g"}, %u: tensor<8192x3072xbf16> {graph.name = "u"}) -> (tensor<8192x3072xbf16> {graph.name = "dg"}, tensor<8192x3072xbf16> {graph.name = "du"}) {
  %r:2 = graph.group(%ai = %a : tensor<8192x768xbf16>, %wi = %w : tensor<768x3072xbf16>, %gi = %g : tensor<8192x3072xbf16>, %ui = %u : tensor<8192x3072xbf16>) -> (tensor<8192x3072xbf16>, tensor<8192x3072xbf16>) {
    %af = graph.cast %ai : tensor<8192x768xbf16> -> tensor<8192x768xf32>
    %wf = graph.cast %wi : tensor<768x3072xbf16> -> tensor<768x3072xf32>
    %a1 = graph.reshape %af : tensor<8192x768xf32> -> tensor<8192x768x1xf32>
    %a2 = graph.expand %a1 : tensor<8192x768x1xf32> -> tensor<8192x768x3072xf32>
    %w1 = graph.reshape %wf : tensor<768x3072xf32> -> tensor<1x768x3072xf32>
    %w2 = graph.expand %w1 : tensor<1x768x3072xf32> -> tensor<8192x768x3072xf32>
    %p = graph.binary mul %a2, %w2 : tensor<8192x768x3072xf32>
    %s = graph.reduce add %p dims = [1] : tensor<8192x768x3072xf32> -> tensor<8192x3072xf32>
    %y = graph.cast %s : tensor<8192x3072xf32> -> tensor<8192x3072xbf16>
    %gf = graph.cast %gi : tensor<8192x3072xbf16> -> tensor<8192x3072xf32>
    %abs = graph.unary abs %gf : tensor<8192x3072xf32>
    %neg = graph.unary neg %abs : tensor<8192x3072xf32>
    %e = graph.unary exp %neg : tensor<8192x3072xf32>
    %c1 = graph.constant dense<1.0> : tensor<f32>
    %c0 = graph.constant dense<0.0> : tensor<f32>
    %r1 = graph.reshape %c1 : tensor<f32> -> tensor<1x1xf32>
    %k1 = graph.expand %r1 : tensor<1x1xf32> -> tensor<8192x3072xf32>
    %r0 = graph.reshape %c0 : tensor<f32> -> tensor<1x1xf32>
    %k0 = graph.expand %r0 : tensor<1x1xf32> -> tensor<8192x3072xf32>
    %all = graph.binary add %e, %k1 : tensor<8192x3072xf32>
    %lt = graph.binary lt %gf, %k0 : tensor<8192x3072xf32>
    %num = graph.select %lt, %e, %k1 : tensor<8192x3072xf32>
    %gate = graph.binary div %num, %all : tensor<8192x3072xf32>
    %sg = graph.binary mul %gf, %gate : tensor<8192x3072xf32>
    %sgb = graph.cast %sg : tensor<8192x3072xf32> -> tensor<8192x3072xbf16>
    %du = graph.binary mul %y, %sgb : tensor<8192x3072xbf16>
    %dhb = graph.binary mul %y, %ui : tensor<8192x3072xbf16>
    %dh = graph.cast %dhb : tensor<8192x3072xbf16> -> tensor<8192x3072xf32>
    %t = graph.binary mul %dh, %gf : tensor<8192x3072xf32>
    %rest = graph.binary div %t, %all : tensor<8192x3072xf32>
    %x1 = graph.binary mul %dh, %gate : tensor<8192x3072xf32>
    %x2 = graph.binary mul %gate, %e : tensor<8192x3072xf32>
    %x3 = graph.binary mul %rest, %x2 : tensor<8192x3072xf32>
    %x4 = graph.binary add %x1, %x3 : tensor<8192x3072xf32>
    %dg = graph.cast %x4 : tensor<8192x3072xf32> -> tensor<8192x3072xbf16>
    graph.yield %dg, %du : tensor<8192x3072xbf16>, tensor<8192x3072xbf16>
  }
  return %r#0, %r#1 : tensor<8192x3072xbf16>, tensor<8192x3072xbf16>
}

// What reads and widens factors is none of it: of few rows, that is thousands of loads for each sum. A plain product
// stays one kernel.
// LOOPS-LABEL: func.func @few
// LOOPS: = graph.group
// LOOPS-NOT: = graph.group
// LOOPS: return
func.func @few(%a: tensor<8x4096xbf16> {graph.name = "a"}, %w: tensor<28672x4096xbf16> {graph.name = "w"}) -> (tensor<8x28672xbf16> {graph.name = "y"}) {
  %r = graph.group(%ai = %a : tensor<8x4096xbf16>, %wi = %w : tensor<28672x4096xbf16>) -> tensor<8x28672xbf16> {
    %af = graph.cast %ai : tensor<8x4096xbf16> -> tensor<8x4096xf32>
    %wf = graph.cast %wi : tensor<28672x4096xbf16> -> tensor<28672x4096xf32>
    %a1 = graph.reshape %af : tensor<8x4096xf32> -> tensor<8x1x4096xf32>
    %a2 = graph.expand %a1 : tensor<8x1x4096xf32> -> tensor<8x28672x4096xf32>
    %w1 = graph.reshape %wf : tensor<28672x4096xf32> -> tensor<1x28672x4096xf32>
    %w2 = graph.expand %w1 : tensor<1x28672x4096xf32> -> tensor<8x28672x4096xf32>
    %p = graph.binary mul %a2, %w2 : tensor<8x28672x4096xf32>
    %s = graph.reduce add %p dims = [2] : tensor<8x28672x4096xf32> -> tensor<8x28672xf32>
    %y = graph.cast %s : tensor<8x28672xf32> -> tensor<8x28672xbf16>
    graph.yield %y : tensor<8x28672xbf16>
  }
  return %r : tensor<8x28672xbf16>
}
