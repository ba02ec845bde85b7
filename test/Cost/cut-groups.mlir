// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a -zyx-cost-cut-groups --remarks-filter=zyx-fusion --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: FileCheck %s --input-file=%t
// RUN: zyx-opt %t -zyx-fusion-verify-groups -o /dev/null
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a-fast -zyx-cost-cut-groups | FileCheck %s --check-prefix=FAST
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-cost-cut-groups | FileCheck %s --check-prefix=CPU
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-test-draw-cuts=seed=3 | FileCheck %s --check-prefix=DRAWN
// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=abacus -zyx-cost-cut-groups 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: no target is named 'abacus'

// Anywhere, where that is drawn.
// DRAWN-COUNT-8: = graph.group

// Tensor cores read factors from memory: what one is computed by is stored, in its narrow type. A processor computes it while
// it packs the factor.
// WHY: Passed{{.*}}Function=factor{{.*}}2 kernels of {{.*}} us instead of one of {{.*}} us: 1 value in between is stored
// CHECK-LABEL: func.func @factor
// CHECK: %[[SCALED:.*]] = graph.group({{.*}}) -> tensor<4096x1024xbf16>
// CHECK: graph.binary mul
// CHECK: graph.group({{.*}} = %[[SCALED]] : tensor<4096x1024xbf16>{{.*}}) -> tensor<4096x1024xf32>
// CHECK: graph.reduce add
// CPU-LABEL: func.func @factor
// CPU-COUNT-1: graph.group
// CPU-NOT: graph.group
// CPU: return
func.func @factor(%x: tensor<4096x1024xbf16> {graph.name = "x"}, %s: tensor<1024xbf16> {graph.name = "s"}, %w: tensor<1024x1024xbf16> {graph.name = "w"}) -> (tensor<4096x1024xf32> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<4096x1024xbf16>, %b = %s : tensor<1024xbf16>, %c = %w : tensor<1024x1024xbf16>) -> tensor<4096x1024xf32> {
    %0 = graph.reshape %b : tensor<1024xbf16> -> tensor<1x1024xbf16>
    %1 = graph.expand %0 : tensor<1x1024xbf16> -> tensor<4096x1024xbf16>
    %2 = graph.binary mul %a, %1 : tensor<4096x1024xbf16>
    %3 = graph.cast %2 : tensor<4096x1024xbf16> -> tensor<4096x1024xf32>
    %4 = graph.cast %c : tensor<1024x1024xbf16> -> tensor<1024x1024xf32>
    %5 = graph.reshape %3 : tensor<4096x1024xf32> -> tensor<4096x1024x1xf32>
    %6 = graph.expand %5 : tensor<4096x1024x1xf32> -> tensor<4096x1024x1024xf32>
    %7 = graph.reshape %4 : tensor<1024x1024xf32> -> tensor<1x1024x1024xf32>
    %8 = graph.expand %7 : tensor<1x1024x1024xf32> -> tensor<4096x1024x1024xf32>
    %9 = graph.binary mul %6, %8 : tensor<4096x1024x1024xf32>
    %10 = graph.reduce add %9 dims = [1] : tensor<4096x1024x1024xf32> -> tensor<4096x1024xf32>
    graph.yield %10 : tensor<4096x1024xf32>
  }
  return %y : tensor<4096x1024xf32>
}

// What another group stores anyway is read there, and not computed for the product again.
// WHY: Passed{{.*}}Function=stored{{.*}}1 kernel of {{.*}} us instead of one of {{.*}} us: 1 value in between is stored
// CHECK-LABEL: func.func @stored
// CHECK: %[[BOTH:.*]]:2 = graph.group({{.*}}) -> (tensor<4096x1024xbf16>, tensor<4096xf32>)
// CHECK: graph.group({{.*}} = %[[BOTH]]#0 : tensor<4096x1024xbf16>{{.*}}) -> tensor<4096x1024xf32>
// CHECK-NOT: graph.group
// CHECK: return
func.func @stored(%x: tensor<4096x1024xbf16> {graph.name = "x"}, %w: tensor<1024x1024xbf16> {graph.name = "w"})
    -> (tensor<4096x1024xbf16> {graph.name = "p"}, tensor<4096xf32> {graph.name = "q"}, tensor<4096x1024xf32> {graph.name = "y"}) {
  %n:2 = graph.group(%a = %x : tensor<4096x1024xbf16>) -> (tensor<4096x1024xbf16>, tensor<4096xf32>) {
    %2 = graph.binary mul %a, %a : tensor<4096x1024xbf16>
    %3 = graph.cast %2 : tensor<4096x1024xbf16> -> tensor<4096x1024xf32>
    %4 = graph.reduce max %3 dims = [1] : tensor<4096x1024xf32> -> tensor<4096xf32>
    graph.yield %2, %4 : tensor<4096x1024xbf16>, tensor<4096xf32>
  }
  %y = graph.group(%a = %x : tensor<4096x1024xbf16>, %c = %w : tensor<1024x1024xbf16>) -> tensor<4096x1024xf32> {
    %2 = graph.binary mul %a, %a : tensor<4096x1024xbf16>
    %3 = graph.cast %2 : tensor<4096x1024xbf16> -> tensor<4096x1024xf32>
    %4 = graph.cast %c : tensor<1024x1024xbf16> -> tensor<1024x1024xf32>
    %5 = graph.reshape %3 : tensor<4096x1024xf32> -> tensor<4096x1024x1xf32>
    %6 = graph.expand %5 : tensor<4096x1024x1xf32> -> tensor<4096x1024x1024xf32>
    %7 = graph.reshape %4 : tensor<1024x1024xf32> -> tensor<1x1024x1024xf32>
    %8 = graph.expand %7 : tensor<1x1024x1024xf32> -> tensor<4096x1024x1024xf32>
    %9 = graph.binary mul %6, %8 : tensor<4096x1024x1024xf32>
    %10 = graph.reduce add %9 dims = [1] : tensor<4096x1024x1024xf32> -> tensor<4096x1024xf32>
    graph.yield %10 : tensor<4096x1024xf32>
  }
  return %n#0, %n#1, %y : tensor<4096x1024xbf16>, tensor<4096xf32>, tensor<4096x1024xf32>
}

// A factor that is read through a pad of one part of the contraction is shown as it is read, to tensor cores. Without
// them workgroups evaluate it into shared memory, and nothing is stored.
// CHECK-LABEL: func.func @padded
// CHECK-COUNT-1: graph.group
// CHECK-NOT: graph.group
// CHECK: return
// FAST-LABEL: func.func @padded
// FAST: %[[PADDED:.*]] = graph.group({{.*}}) -> tensor<4096x1536x1xf32>
// FAST: graph.pad
// FAST: graph.group({{.*}} = %[[PADDED]] : tensor<4096x1536x1xf32>{{.*}}) -> tensor<4096x1024xf32>
func.func @padded(%x: tensor<4096x1x512xf32> {graph.name = "x"}, %w: tensor<1024x1536xf32> {graph.name = "w"}) -> (tensor<4096x1024xf32> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<4096x1x512xf32>, %c = %w : tensor<1024x1536xf32>) -> tensor<4096x1024xf32> {
    %zero = graph.constant dense<0.0> : tensor<f32>
    %0 = graph.pad %a, %zero low = [0, 0, 0] high = [0, 2, 0] interior = [0, 0, 0] : tensor<4096x1x512xf32> -> tensor<4096x3x512xf32>
    %5 = graph.reshape %0 : tensor<4096x3x512xf32> -> tensor<4096x1536x1xf32>
    %6 = graph.expand %5 : tensor<4096x1536x1xf32> -> tensor<4096x1536x1024xf32>
    %t = graph.permute %c order = [1, 0] : tensor<1024x1536xf32> -> tensor<1536x1024xf32>
    %7 = graph.reshape %t : tensor<1536x1024xf32> -> tensor<1x1536x1024xf32>
    %8 = graph.expand %7 : tensor<1x1536x1024xf32> -> tensor<4096x1536x1024xf32>
    %9 = graph.binary mul %6, %8 : tensor<4096x1536x1024xf32>
    %10 = graph.reduce add %9 dims = [1] : tensor<4096x1536x1024xf32> -> tensor<4096x1024xf32>
    graph.yield %10 : tensor<4096x1024xf32>
  }
  return %y : tensor<4096x1024xf32>
}

// Partial sums of each row are added up once, and not by every program that writes a piece of the row.
// CPU-LABEL: func.func @again
// CPU: %[[SUM:.*]] = graph.group({{.*}}) -> tensor<8xf32>
// CPU: graph.reduce add
// CPU: graph.group({{.*}} = %[[SUM]] : tensor<8xf32>{{.*}}) -> tensor<8x262144xf32>
// CPU-NOT: graph.reduce
// CPU: return
func.func @again(%x: tensor<8x262144xf32> {graph.name = "x"}, %p: tensor<8x65536xf32> {graph.name = "p"}) -> (tensor<8x262144xf32> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<8x262144xf32>, %b = %p : tensor<8x65536xf32>) -> tensor<8x262144xf32> {
    %0 = graph.reduce add %b dims = [1] : tensor<8x65536xf32> -> tensor<8xf32>
    %1 = graph.reshape %0 : tensor<8xf32> -> tensor<8x1xf32>
    %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x262144xf32>
    %3 = graph.binary mul %a, %2 : tensor<8x262144xf32>
    graph.yield %3 : tensor<8x262144xf32>
  }
  return %y : tensor<8x262144xf32>
}

// A chain of values as small is computed in one kernel, and the last of them is stored.
// CPU-LABEL: func.func @small
// CPU: graph.group({{.*}}) -> tensor<8xf32>
// CPU: graph.group({{.*}}) -> tensor<8x262144xf32>
// CPU-NOT: graph.group
// CPU: return
func.func @small(%x: tensor<8x262144xf32> {graph.name = "x"}, %p: tensor<8x65536xf32> {graph.name = "p"}) -> (tensor<8x262144xf32> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<8x262144xf32>, %b = %p : tensor<8x65536xf32>) -> tensor<8x262144xf32> {
    %e0 = graph.reduce add %b dims = [1] : tensor<8x65536xf32> -> tensor<8xf32>
    %e1 = graph.unary exp %e0 : tensor<8xf32>
    %e2 = graph.unary tanh %e1 : tensor<8xf32>
    %e3 = graph.unary exp %e2 : tensor<8xf32>
    %e4 = graph.unary tanh %e3 : tensor<8xf32>
    %e5 = graph.unary exp %e4 : tensor<8xf32>
    %e6 = graph.unary tanh %e5 : tensor<8xf32>
    %e7 = graph.unary exp %e6 : tensor<8xf32>
    %e8 = graph.unary tanh %e7 : tensor<8xf32>
    %e9 = graph.unary exp %e8 : tensor<8xf32>
    %e10 = graph.unary tanh %e9 : tensor<8xf32>
    %1 = graph.reshape %e10 : tensor<8xf32> -> tensor<8x1xf32>
    %2 = graph.expand %1 : tensor<8x1xf32> -> tensor<8x262144xf32>
    %3 = graph.binary mul %a, %2 : tensor<8x262144xf32>
    graph.yield %3 : tensor<8x262144xf32>
  }
  return %y : tensor<8x262144xf32>
}

// On a card a division and a root take as many instructions as all the rest of a normalisation: they are stored once for
// each channel, and not computed for each element.
// WHY: Passed{{.*}}Function=statistics{{.*}}3 kernels of {{.*}} us instead of one of {{.*}} us: 2 values in between are stored
// CHECK-LABEL: func.func @statistics
// CHECK: graph.group({{.*}}) -> tensor<256xf32>
// CHECK: graph.group({{.*}}) -> tensor<256xf32>
// CHECK: graph.group({{.*}}) -> tensor<100352x256xbf16>
// CHECK-NOT: graph.group
// CHECK: return
// CPU-LABEL: func.func @statistics
// CPU-COUNT-1: graph.group
// CPU-NOT: graph.group
// CPU: return
func.func @statistics(%x: tensor<100352x256xbf16> {graph.name = "x"}, %s: tensor<256xf32> {graph.name = "s"}, %t: tensor<256xf32> {graph.name = "t"}) -> (tensor<100352x256xbf16> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<100352x256xbf16>, %b = %s : tensor<256xf32>, %c = %t : tensor<256xf32>) -> tensor<100352x256xbf16> {
    %n = graph.constant dense<1.003520e+05> : tensor<256xf32>
    %m = graph.binary div %b, %n : tensor<256xf32>
    %v = graph.binary div %c, %n : tensor<256xf32>
    %r = graph.unary rsqrt %v : tensor<256xf32>
    %m1 = graph.reshape %m : tensor<256xf32> -> tensor<1x256xf32>
    %m2 = graph.expand %m1 : tensor<1x256xf32> -> tensor<100352x256xf32>
    %r1 = graph.reshape %r : tensor<256xf32> -> tensor<1x256xf32>
    %r2 = graph.expand %r1 : tensor<1x256xf32> -> tensor<100352x256xf32>
    %0 = graph.cast %a : tensor<100352x256xbf16> -> tensor<100352x256xf32>
    %1 = graph.binary sub %0, %m2 : tensor<100352x256xf32>
    %2 = graph.binary mul %1, %r2 : tensor<100352x256xf32>
    %3 = graph.cast %2 : tensor<100352x256xf32> -> tensor<100352x256xbf16>
    graph.yield %3 : tensor<100352x256xbf16>
  }
  return %y : tensor<100352x256xbf16>
}

// A softmax is near its least as one kernel, and is not even weighed against others.
// WHY-NOT: Function=softmax
// CHECK-LABEL: func.func @softmax
// CHECK-COUNT-1: graph.group
// CHECK-NOT: graph.group
// CHECK: return
func.func @softmax(%x: tensor<16384x1024xf32> {graph.name = "x"}) -> (tensor<16384x1024xf32> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<16384x1024xf32>) -> tensor<16384x1024xf32> {
    %0 = graph.reduce max %a dims = [1] : tensor<16384x1024xf32> -> tensor<16384xf32>
    %1 = graph.reshape %0 : tensor<16384xf32> -> tensor<16384x1xf32>
    %2 = graph.expand %1 : tensor<16384x1xf32> -> tensor<16384x1024xf32>
    %3 = graph.binary sub %a, %2 : tensor<16384x1024xf32>
    %4 = graph.unary exp %3 : tensor<16384x1024xf32>
    %5 = graph.reduce add %4 dims = [1] : tensor<16384x1024xf32> -> tensor<16384xf32>
    %6 = graph.reshape %5 : tensor<16384xf32> -> tensor<16384x1xf32>
    %7 = graph.expand %6 : tensor<16384x1xf32> -> tensor<16384x1024xf32>
    %8 = graph.binary div %4, %7 : tensor<16384x1024xf32>
    graph.yield %8 : tensor<16384x1024xf32>
  }
  return %y : tensor<16384x1024xf32>
}

// Blocks of keys that a mask hides are skipped where an attention is one kernel, and not where its scores are stored: whole it
// takes half as long as one without a mask.
// CPU-LABEL: func.func @causal
// CPU-COUNT-1: graph.group
// CPU-NOT: graph.group
// CPU: return
func.func @causal(%q: tensor<28x512x96xbf16> {graph.name = "q"}, %k: tensor<4x512x96xbf16> {graph.name = "k"}, %v: tensor<4x512x96xbf16> {graph.name = "v"}) -> (tensor<28x512x96xbf16> {graph.name = "y"}) {
  %y = graph.group(%a = %q : tensor<28x512x96xbf16>, %b = %k : tensor<4x512x96xbf16>, %c = %v : tensor<4x512x96xbf16>) -> tensor<28x512x96xbf16> {
    %1 = graph.iota dim = 1 : tensor<512x512xi32>
    %2 = graph.iota dim = 0 : tensor<512x512xi32>
    %3 = graph.binary le %1, %2 : tensor<512x512xi32>
    %4 = graph.cast %a : tensor<28x512x96xbf16> -> tensor<28x512x96xf32>
    %k1 = graph.reshape %b : tensor<4x512x96xbf16> -> tensor<4x1x512x96xbf16>
    %k2 = graph.expand %k1 : tensor<4x1x512x96xbf16> -> tensor<4x7x512x96xbf16>
    %k3 = graph.reshape %k2 : tensor<4x7x512x96xbf16> -> tensor<28x512x96xbf16>
    %k4 = graph.cast %k3 : tensor<28x512x96xbf16> -> tensor<28x512x96xf32>
    %v1 = graph.reshape %c : tensor<4x512x96xbf16> -> tensor<4x1x512x96xbf16>
    %v2 = graph.expand %v1 : tensor<4x1x512x96xbf16> -> tensor<4x7x512x96xbf16>
    %v3 = graph.reshape %v2 : tensor<4x7x512x96xbf16> -> tensor<28x512x96xbf16>
    %v4 = graph.cast %v3 : tensor<28x512x96xbf16> -> tensor<28x512x96xf32>
    %9 = graph.reshape %4 : tensor<28x512x96xf32> -> tensor<28x512x96x1xf32>
    %10 = graph.expand %9 : tensor<28x512x96x1xf32> -> tensor<28x512x96x512xf32>
    %11 = graph.permute %k4 order = [0, 2, 1] : tensor<28x512x96xf32> -> tensor<28x96x512xf32>
    %12 = graph.reshape %11 : tensor<28x96x512xf32> -> tensor<28x1x96x512xf32>
    %13 = graph.expand %12 : tensor<28x1x96x512xf32> -> tensor<28x512x96x512xf32>
    %14 = graph.binary mul %10, %13 : tensor<28x512x96x512xf32>
    %15 = graph.reduce add %14 dims = [2] : tensor<28x512x96x512xf32> -> tensor<28x512x512xf32>
    %18 = graph.reshape %3 : tensor<512x512xi1> -> tensor<1x512x512xi1>
    %19 = graph.expand %18 : tensor<1x512x512xi1> -> tensor<28x512x512xi1>
    %20 = graph.constant dense<0xFF800000> : tensor<28x512x512xf32>
    %21 = graph.select %19, %15, %20 : tensor<28x512x512xf32>
    %22 = graph.reduce max %21 dims = [2] : tensor<28x512x512xf32> -> tensor<28x512xf32>
    %23 = graph.reshape %22 : tensor<28x512xf32> -> tensor<28x512x1xf32>
    %24 = graph.expand %23 : tensor<28x512x1xf32> -> tensor<28x512x512xf32>
    %25 = graph.binary sub %21, %24 : tensor<28x512x512xf32>
    %26 = graph.unary exp %25 : tensor<28x512x512xf32>
    %27 = graph.reduce add %26 dims = [2] : tensor<28x512x512xf32> -> tensor<28x512xf32>
    %36 = graph.reshape %26 : tensor<28x512x512xf32> -> tensor<28x512x512x1xf32>
    %37 = graph.expand %36 : tensor<28x512x512x1xf32> -> tensor<28x512x512x96xf32>
    %38 = graph.reshape %v4 : tensor<28x512x96xf32> -> tensor<28x1x512x96xf32>
    %39 = graph.expand %38 : tensor<28x1x512x96xf32> -> tensor<28x512x512x96xf32>
    %40 = graph.binary mul %37, %39 : tensor<28x512x512x96xf32>
    %41 = graph.reduce add %40 dims = [2] : tensor<28x512x512x96xf32> -> tensor<28x512x96xf32>
    %42 = graph.reshape %27 : tensor<28x512xf32> -> tensor<28x512x1xf32>
    %43 = graph.expand %42 : tensor<28x512x1xf32> -> tensor<28x512x96xf32>
    %44 = graph.binary div %41, %43 : tensor<28x512x96xf32>
    %45 = graph.cast %44 : tensor<28x512x96xf32> -> tensor<28x512x96xbf16>
    graph.yield %45 : tensor<28x512x96xbf16>
  }
  return %y : tensor<28x512x96xbf16>
}

// CPU-LABEL: func.func @unmasked
// CPU: graph.group({{.*}}) -> tensor<28x512x512xf32>
// CPU: graph.reduce max
// CPU: return
func.func @unmasked(%q: tensor<28x512x96xbf16> {graph.name = "q"}, %k: tensor<4x512x96xbf16> {graph.name = "k"}, %v: tensor<4x512x96xbf16> {graph.name = "v"}) -> (tensor<28x512x96xbf16> {graph.name = "y"}) {
  %y = graph.group(%a = %q : tensor<28x512x96xbf16>, %b = %k : tensor<4x512x96xbf16>, %c = %v : tensor<4x512x96xbf16>) -> tensor<28x512x96xbf16> {
    %4 = graph.cast %a : tensor<28x512x96xbf16> -> tensor<28x512x96xf32>
    %k1 = graph.reshape %b : tensor<4x512x96xbf16> -> tensor<4x1x512x96xbf16>
    %k2 = graph.expand %k1 : tensor<4x1x512x96xbf16> -> tensor<4x7x512x96xbf16>
    %k3 = graph.reshape %k2 : tensor<4x7x512x96xbf16> -> tensor<28x512x96xbf16>
    %k4 = graph.cast %k3 : tensor<28x512x96xbf16> -> tensor<28x512x96xf32>
    %v1 = graph.reshape %c : tensor<4x512x96xbf16> -> tensor<4x1x512x96xbf16>
    %v2 = graph.expand %v1 : tensor<4x1x512x96xbf16> -> tensor<4x7x512x96xbf16>
    %v3 = graph.reshape %v2 : tensor<4x7x512x96xbf16> -> tensor<28x512x96xbf16>
    %v4 = graph.cast %v3 : tensor<28x512x96xbf16> -> tensor<28x512x96xf32>
    %9 = graph.reshape %4 : tensor<28x512x96xf32> -> tensor<28x512x96x1xf32>
    %10 = graph.expand %9 : tensor<28x512x96x1xf32> -> tensor<28x512x96x512xf32>
    %11 = graph.permute %k4 order = [0, 2, 1] : tensor<28x512x96xf32> -> tensor<28x96x512xf32>
    %12 = graph.reshape %11 : tensor<28x96x512xf32> -> tensor<28x1x96x512xf32>
    %13 = graph.expand %12 : tensor<28x1x96x512xf32> -> tensor<28x512x96x512xf32>
    %14 = graph.binary mul %10, %13 : tensor<28x512x96x512xf32>
    %15 = graph.reduce add %14 dims = [2] : tensor<28x512x96x512xf32> -> tensor<28x512x512xf32>
    %22 = graph.reduce max %15 dims = [2] : tensor<28x512x512xf32> -> tensor<28x512xf32>
    %23 = graph.reshape %22 : tensor<28x512xf32> -> tensor<28x512x1xf32>
    %24 = graph.expand %23 : tensor<28x512x1xf32> -> tensor<28x512x512xf32>
    %25 = graph.binary sub %15, %24 : tensor<28x512x512xf32>
    %26 = graph.unary exp %25 : tensor<28x512x512xf32>
    %27 = graph.reduce add %26 dims = [2] : tensor<28x512x512xf32> -> tensor<28x512xf32>
    %36 = graph.reshape %26 : tensor<28x512x512xf32> -> tensor<28x512x512x1xf32>
    %37 = graph.expand %36 : tensor<28x512x512x1xf32> -> tensor<28x512x512x96xf32>
    %38 = graph.reshape %v4 : tensor<28x512x96xf32> -> tensor<28x1x512x96xf32>
    %39 = graph.expand %38 : tensor<28x1x512x96xf32> -> tensor<28x512x512x96xf32>
    %40 = graph.binary mul %37, %39 : tensor<28x512x512x96xf32>
    %41 = graph.reduce add %40 dims = [2] : tensor<28x512x512x96xf32> -> tensor<28x512x96xf32>
    %42 = graph.reshape %27 : tensor<28x512xf32> -> tensor<28x512x1xf32>
    %43 = graph.expand %42 : tensor<28x512x1xf32> -> tensor<28x512x96xf32>
    %44 = graph.binary div %41, %43 : tensor<28x512x96xf32>
    %45 = graph.cast %44 : tensor<28x512x96xf32> -> tensor<28x512x96xbf16>
    graph.yield %45 : tensor<28x512x96xbf16>
  }
  return %y : tensor<28x512x96xbf16>
}

// Scales of groups are read once for all neighbours that share them: weights of 8 bits are multiplied by theirs while they are
// packed, and not stored.
// CPU-LABEL: func.func @by_group
// CPU-COUNT-1: graph.group
// CPU-NOT: graph.group
// CPU: return
func.func @by_group(%x: tensor<48x5120xf32> {graph.name = "x"}, %q: tensor<1024x40x128xi8> {graph.name = "q", graph.weight}, %s: tensor<1024x40x1xf32> {graph.name = "s", graph.weight}) -> (tensor<48x1024xf32> {graph.name = "y"}) {
  %y = graph.group(%a = %x : tensor<48x5120xf32>, %b = %q : tensor<1024x40x128xi8>, %c = %s : tensor<1024x40x1xf32>) -> tensor<48x1024xf32> {
    %0 = graph.reshape %a : tensor<48x5120xf32> -> tensor<48x5120x1xf32>
    %1 = graph.expand %0 : tensor<48x5120x1xf32> -> tensor<48x5120x1024xf32>
    %r = graph.reshape %b : tensor<1024x40x128xi8> -> tensor<1024x5120xi8>
    %2 = graph.cast %r : tensor<1024x5120xi8> -> tensor<1024x5120xf32>
    %3 = graph.expand %c : tensor<1024x40x1xf32> -> tensor<1024x40x128xf32>
    %4 = graph.reshape %3 : tensor<1024x40x128xf32> -> tensor<1024x5120xf32>
    %5 = graph.binary mul %2, %4 : tensor<1024x5120xf32>
    %6 = graph.permute %5 order = [1, 0] : tensor<1024x5120xf32> -> tensor<5120x1024xf32>
    %7 = graph.reshape %6 : tensor<5120x1024xf32> -> tensor<1x5120x1024xf32>
    %8 = graph.expand %7 : tensor<1x5120x1024xf32> -> tensor<48x5120x1024xf32>
    %9 = graph.binary mul %1, %8 : tensor<48x5120x1024xf32>
    %10 = graph.reduce add %9 dims = [1] : tensor<48x5120x1024xf32> -> tensor<48x1024xf32>
    graph.yield %10 : tensor<48x1024xf32>
  }
  return %y : tensor<48x1024xf32>
}
