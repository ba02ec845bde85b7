// RUN: zyx-opt %s -zyx-fusion-verify-groups -zyx-convert-graph-to-kernel -zyx-kernel-verify-form=form=tiled | FileCheck %s
// RUN: zyx-opt %s -zyx-convert-graph-to-kernel -zyx-kernel-attach-target=target=x86-64-v3 -zyx-schedule-choose | FileCheck %s --check-prefix=SCHEDULE
// RUN: zyx-opt %s -zyx-convert-graph-to-kernel -zyx-kernel-attach-target=target=sm_80 -zyx-schedule-choose | FileCheck %s --check-prefix=THREADS

// The gradients of keys and values of an attention. Rows are keys, so that what the two products have in common stands as
// both sums read it; queries are loaded twice, because the features that scores sum up are other ones than those of the
// gradient of the keys.

// CHECK-LABEL: kernel.func @keys_0
// CHECK:      kernel.view %arg1 map <[<[200, 16] strides [16, 1]>]>
// CHECK-NEXT: %[[K:.*]] = kernel.load {{.*}} axes ["m", "k"] {{.*}} -> tensor<200x16xbf16>
// CHECK-NEXT: kernel.view %arg0 map <[<[16, 100] strides [1, 16]>]>
// CHECK-NEXT: %[[Q:.*]] = kernel.load {{.*}} axes ["k", "n"] {{.*}} -> tensor<16x100xbf16>
// CHECK:      %[[S:.*]] = kernel.dot %[[K]], %[[Q]], {{.*}} -> tensor<200x100xf32>
// CHECK:      %[[L:.*]] = kernel.load {{.*}} axes ["n"] {{.*}} -> tensor<100xf32>
// CHECK:      %[[LS:.*]] = kernel.broadcast %[[L]] dims [1] : tensor<100xf32> -> tensor<200x100xf32>
// CHECK:      %[[D:.*]] = arith.subf %[[S]], %[[LS]]
// CHECK:      %[[P:.*]] = math.exp %[[D]]
// CHECK:      %[[G:.*]] = kernel.load {{.*}} axes ["n", "n1"] {{.*}} -> tensor<100x8xbf16>
// CHECK:      kernel.dot %[[P]], %[[G]], {{.*}} : tensor<200x100xf32>, tensor<100x8xbf16> -> tensor<200x8xf32>
// CHECK:      %[[V:.*]] = kernel.load {{.*}} axes ["m", "k1"] {{.*}} -> tensor<200x8xbf16>
// CHECK:      %[[GT:.*]] = kernel.load {{.*}} axes ["k1", "n"] {{.*}} -> tensor<8x100xbf16>
// CHECK:      %[[DP:.*]] = kernel.dot %[[V]], %[[GT]], {{.*}} -> tensor<200x100xf32>
// CHECK:      %[[DIFFERENCE:.*]] = arith.subf %[[DP]],
// CHECK:      %[[DS:.*]] = arith.mulf %[[P]], %[[DIFFERENCE]]
// CHECK:      kernel.view %arg0 map <[<[100, 16] strides [16, 1]>]>
// CHECK-NEXT: %[[QR:.*]] = kernel.load {{.*}} axes ["n", "n2"] {{.*}} -> tensor<100x16xbf16>
// CHECK:      kernel.dot %[[DS]], %[[QR]], {{.*}} : tensor<200x100xf32>, tensor<100x16xbf16> -> tensor<200x16xf32>
// CHECK-NOT:  kernel.transpose

// A program for each block of keys walks the queries; a thread has fewer keys.
// SCHEDULE: schedule<[#kernel.grid_step<"m", 64>, #kernel.online_step<"n", 64>]>
// THREADS: schedule<[#kernel.grid_step<"m", {{[0-9]+}}>, #kernel.online_step<"n", 64>]>

func.func @keys(%q: tensor<100x16xbf16> {graph.name = "q"}, %k: tensor<200x16xbf16> {graph.name = "k"}, %v: tensor<200x8xbf16> {graph.name = "v"}, %g: tensor<100x8xbf16> {graph.name = "g"}, %l: tensor<100xf32> {graph.name = "l"}, %d: tensor<100xf32> {graph.name = "d"}) -> (tensor<200x8xf32> {graph.name = "dv"}, tensor<200x16xf32> {graph.name = "dk"}) {
  %0:2 = graph.group(%gq = %q : tensor<100x16xbf16>, %gk = %k : tensor<200x16xbf16>, %gv = %v : tensor<200x8xbf16>, %gg = %g : tensor<100x8xbf16>, %gl = %l : tensor<100xf32>, %gd = %d : tensor<100xf32>) -> (tensor<200x8xf32>, tensor<200x16xf32>) {
    %1 = graph.cast %gq : tensor<100x16xbf16> -> tensor<100x16xf32>
    %2 = graph.reshape %1 : tensor<100x16xf32> -> tensor<100x1x16xf32>
    %3 = graph.expand %2 : tensor<100x1x16xf32> -> tensor<100x200x16xf32>
    %4 = graph.cast %gk : tensor<200x16xbf16> -> tensor<200x16xf32>
    %5 = graph.reshape %4 : tensor<200x16xf32> -> tensor<1x200x16xf32>
    %6 = graph.expand %5 : tensor<1x200x16xf32> -> tensor<100x200x16xf32>
    %7 = graph.binary mul %3, %6 : tensor<100x200x16xf32>
    %8 = graph.reduce add %7 dims = [2] : tensor<100x200x16xf32> -> tensor<100x200xf32>
    %9 = graph.reshape %gl : tensor<100xf32> -> tensor<100x1xf32>
    %10 = graph.expand %9 : tensor<100x1xf32> -> tensor<100x200xf32>
    %11 = graph.binary sub %8, %10 : tensor<100x200xf32>
    %12 = graph.unary exp %11 : tensor<100x200xf32>
    %13 = graph.reshape %12 : tensor<100x200xf32> -> tensor<100x200x1xf32>
    %14 = graph.expand %13 : tensor<100x200x1xf32> -> tensor<100x200x8xf32>
    %15 = graph.cast %gg : tensor<100x8xbf16> -> tensor<100x8xf32>
    %16 = graph.reshape %15 : tensor<100x8xf32> -> tensor<100x1x8xf32>
    %17 = graph.expand %16 : tensor<100x1x8xf32> -> tensor<100x200x8xf32>
    %18 = graph.binary mul %14, %17 : tensor<100x200x8xf32>
    %19 = graph.reduce add %18 dims = [0] : tensor<100x200x8xf32> -> tensor<200x8xf32>
    %20 = graph.cast %gg : tensor<100x8xbf16> -> tensor<100x8xf32>
    %21 = graph.reshape %20 : tensor<100x8xf32> -> tensor<100x1x8xf32>
    %22 = graph.expand %21 : tensor<100x1x8xf32> -> tensor<100x200x8xf32>
    %23 = graph.cast %gv : tensor<200x8xbf16> -> tensor<200x8xf32>
    %24 = graph.reshape %23 : tensor<200x8xf32> -> tensor<1x200x8xf32>
    %25 = graph.expand %24 : tensor<1x200x8xf32> -> tensor<100x200x8xf32>
    %26 = graph.binary mul %22, %25 : tensor<100x200x8xf32>
    %27 = graph.reduce add %26 dims = [2] : tensor<100x200x8xf32> -> tensor<100x200xf32>
    %28 = graph.reshape %gd : tensor<100xf32> -> tensor<100x1xf32>
    %29 = graph.expand %28 : tensor<100x1xf32> -> tensor<100x200xf32>
    %30 = graph.binary sub %27, %29 : tensor<100x200xf32>
    %31 = graph.binary mul %12, %30 : tensor<100x200xf32>
    %32 = graph.reshape %31 : tensor<100x200xf32> -> tensor<100x200x1xf32>
    %33 = graph.expand %32 : tensor<100x200x1xf32> -> tensor<100x200x16xf32>
    %34 = graph.cast %gq : tensor<100x16xbf16> -> tensor<100x16xf32>
    %35 = graph.reshape %34 : tensor<100x16xf32> -> tensor<100x1x16xf32>
    %36 = graph.expand %35 : tensor<100x1x16xf32> -> tensor<100x200x16xf32>
    %37 = graph.binary mul %33, %36 : tensor<100x200x16xf32>
    %38 = graph.reduce add %37 dims = [0] : tensor<100x200x16xf32> -> tensor<200x16xf32>
    graph.yield %19, %38 : tensor<200x8xf32>, tensor<200x16xf32>
  }
  return %0#0, %0#1 : tensor<200x8xf32>, tensor<200x16xf32>
}
