// RUN: zyx-opt %s -zyx-kernel-apply-schedule -cse -zyx-kernel-verify-form=form=tiled | FileCheck %s

!x = !kernel.view<8x18xf32, global>
!v = !kernel.view<18x4xf32, global>
!w = !kernel.view<8x4xf32, global>
!s = !kernel.view<8xf32, global>

// A softmax times a matrix, in pieces of eight keys and one of two. The sums that were made relative to
// an old maximum shrink, and what follows the sums comes behind the loops.
// CHECK-LABEL: kernel.func @softmax
// CHECK-DAG:   %[[NONE:.*]] = arith.constant dense<0xFF800000> : tensor<8xf32>
// CHECK-DAG:   %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-DAG:   %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
// CHECK:       %[[MAIN:.*]]:3 = scf.for %[[J:.*]] = %c0 to %c16 step %c8 iter_args(%[[M:.*]] = %[[NONE]], %[[L:.*]] = %[[ZERO]], %[[A:.*]] = %[[ZEROS]])
// CHECK:         %[[X:.*]] = kernel.load %{{.*}}[%c0, %[[J]]] axes ["m", "n"] in_bounds [true, true] : {{.*}} -> tensor<8x8xf32>
// CHECK:         %[[HERE:.*]] = kernel.reduce max %[[X]] dims [1]
// CHECK:         %[[LARGER:.*]] = arith.maximumf %[[M]], %[[HERE]]
// CHECK:         %[[EMPTY:.*]] = arith.cmpf oeq, %[[LARGER]], %[[NONE]]
// CHECK:         %[[SAFE:.*]] = arith.select %[[EMPTY]], %[[ZERO]], %[[LARGER]]
// CHECK:         %[[KEPT:.*]] = kernel.convert %[[SAFE]] : tensor<8xf32> -> tensor<8xf32, #kernel.memory<private>>
// CHECK:         %[[FROM:.*]] = kernel.convert %[[KEPT]]
// CHECK:         %[[CHANGE:.*]] = arith.subf %[[M]], %[[FROM]]
// CHECK:         %[[SHRINK:.*]] = math.exp %[[CHANGE]]
// CHECK:         %[[POWERS:.*]] = math.exp
// CHECK:         %[[SHRUNK:.*]] = arith.mulf %[[L]],
// CHECK:         %[[SUM:.*]] = kernel.reduce add %[[POWERS]] dims [1]
// CHECK:         %[[TOTAL:.*]] = arith.addf %[[SHRUNK]], %[[SUM]]
// CHECK:         %[[ACC:.*]] = arith.mulf %[[A]],
// CHECK:         %[[WEIGHTS:.*]] = kernel.convert %[[POWERS]] : tensor<8x8xf32> -> tensor<8x8xf32, #kernel.memory<private>>
// CHECK:         %[[DOT:.*]] = kernel.dot %[[WEIGHTS]], %{{.*}}, %[[ACC]]
// CHECK:         scf.yield %[[LARGER]], %[[TOTAL]], %[[DOT]]
// CHECK:       %[[REST:.*]]:3 = scf.for %{{.*}} = %c16 to %c18 step %c2 iter_args(%{{.*}} = %[[MAIN]]#0, %{{.*}} = %[[MAIN]]#1, %{{.*}} = %[[MAIN]]#2)
// CHECK:         kernel.dot {{.*}} : tensor<8x2xf32, #kernel.memory<private>>, tensor<2x4xf32> -> tensor<8x4xf32>
// CHECK:       %[[EMPTY:.*]] = arith.cmpf oeq, %[[REST]]#0, %[[NONE]]
// CHECK:       %[[FACTOR:.*]] = arith.select %[[EMPTY]], %{{.*}}, %{{.*}}
// CHECK:       %[[LSUM:.*]] = arith.mulf %[[REST]]#1,
// CHECK:       %[[FACTORS:.*]] = kernel.broadcast %[[FACTOR]] dims [0] : tensor<8xf32> -> tensor<8x4xf32>
// CHECK:       %[[ASUM:.*]] = arith.mulf %[[REST]]#2, %[[FACTORS]]
// CHECK:       %[[LOG:.*]] = math.log %[[LSUM]]
// CHECK:       %[[DIVISOR:.*]] = kernel.broadcast %[[LSUM]]
// CHECK:       %[[Y:.*]] = arith.divf %[[ASUM]], %[[DIVISOR]]
// CHECK:       kernel.store %[[Y]]
// CHECK:       %[[LSE:.*]] = arith.addf %[[REST]]#0, %[[LOG]]
// CHECK:       kernel.store %[[LSE]]
kernel.func @softmax(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %l: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.online_step<"n", 8>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8, 18] strides [18, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[18, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %ls = kernel.view %l map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !s
  %t = kernel.load %xs[%c0, %c0] axes ["m", "n"] in_bounds [true, true] : !x -> tensor<8x18xf32>
  %m = kernel.reduce max %t dims [1] : tensor<8x18xf32> -> tensor<8xf32>
  %b = kernel.broadcast %m dims [0] : tensor<8xf32> -> tensor<8x18xf32>
  %d = arith.subf %t, %b : tensor<8x18xf32>
  %e = math.exp %d : tensor<8x18xf32>
  %s = kernel.reduce add %e dims [1] : tensor<8x18xf32> -> tensor<8xf32>
  %log = math.log %s : tensor<8xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<18x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<8x18xf32>, tensor<18x4xf32> -> tensor<8x4xf32>
  %sb = kernel.broadcast %s dims [0] : tensor<8xf32> -> tensor<8x4xf32>
  %q = arith.divf %o, %sb : tensor<8x4xf32>
  kernel.store %q, %ys[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !w
  %lse = arith.addf %m, %log : tensor<8xf32>
  kernel.store %lse, %ls[%c0] in_bounds [true] : tensor<8xf32>, !s
  kernel.return
}

// The transpose of the product of the transposed factors.
// CHECK-LABEL: kernel.func @swap
// CHECK:       %[[A:.*]] = kernel.load {{.*}} -> tensor<8x18xf32>
// CHECK:       %[[B:.*]] = kernel.load {{.*}} -> tensor<18x4xf32>
// CHECK-DAG:   %[[R:.*]] = kernel.transpose %[[A]] order [1, 0] : tensor<8x18xf32> -> tensor<18x8xf32>
// CHECK-DAG:   %[[L:.*]] = kernel.transpose %[[B]] order [1, 0] : tensor<18x4xf32> -> tensor<4x18xf32>
// CHECK:       %[[D:.*]] = kernel.dot %[[L]], %[[R]], %{{.*}} -> tensor<4x8xf32>
// CHECK:       %[[T:.*]] = kernel.transpose %[[D]] order [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK:       kernel.store %[[T]]
kernel.func @swap(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.swap_step]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8, 18] strides [18, 1]>]> : !kernel.buffer<f32, global> -> !x
  %vs = kernel.view %v map <[<[18, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !x -> tensor<8x18xf32>
  %b = kernel.load %vs[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !v -> tensor<18x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %d = kernel.dot %a, %b, %z : tensor<8x18xf32>, tensor<18x4xf32> -> tensor<8x4xf32>
  kernel.store %d, %ys[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !w
  kernel.return
}

// Sums of what is computed without them, and without a maximum: they are carried as they are. An exponential that
// several sums read is computed once.
// CHECK-LABEL: kernel.func @sums
// CHECK:       %[[F:.*]] = kernel.load {{.*}} axes ["m", "k"] {{.*}} -> tensor<8x4xf32>
// CHECK:       %[[FS:.*]] = kernel.convert %[[F]] : tensor<8x4xf32> -> tensor<8x4xf32, #kernel.memory<private>>
// CHECK:       %[[MAIN:.*]]:2 = scf.for %[[I:.*]] = %c0 to %c16 step %c8 iter_args(%[[ASO:.*]] = %{{.*}}, %[[RSO:.*]] = %{{.*}}) -> (tensor<8x4xf32>, tensor<8xf32>)
// CHECK:         %[[T:.*]] = kernel.load {{.*}}[%c0, %[[I]]] axes ["k", "n"] {{.*}} -> tensor<4x8xf32>
// CHECK:         %[[D:.*]] = kernel.dot %[[FS]], %[[T]], {{.*}} -> tensor<8x8xf32>
// CHECK:         %[[E:.*]] = math.exp %[[D]]
// CHECK:         %[[KEPT:.*]] = kernel.convert %[[E]] : tensor<8x8xf32> -> tensor<8x8xf32, #kernel.memory<private>>
// CHECK:         %[[EXP:.*]] = kernel.convert %[[KEPT]]
// CHECK:         %[[V:.*]] = kernel.load {{.*}}[%[[I]], %c0] axes ["n", "e"] {{.*}} -> tensor<8x4xf32>
// CHECK:         %[[A:.*]] = kernel.dot %[[KEPT]], %[[V]], %[[ASO]]
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[EXP]], %[[EXP]]
// CHECK:         %[[HERE:.*]] = kernel.reduce add %[[SQUARE]] dims [1]
// CHECK:         %[[R:.*]] = arith.addf %[[RSO]], %[[HERE]]
// CHECK:         scf.yield %[[A]], %[[R]]
// CHECK:       %[[REST:.*]]:2 = scf.for %{{.*}} = %c16 to %c18 step %c2 iter_args(%{{.*}} = %[[MAIN]]#0, %{{.*}} = %[[MAIN]]#1)
// CHECK:       kernel.store %[[REST]]#0
// CHECK:       kernel.store %[[REST]]#1
!f = !kernel.view<8x4xf32, global>
!k = !kernel.view<4x18xf32, global>
kernel.func @sums(%x: !kernel.buffer<f32, global>, %v: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>, %l: !kernel.buffer<f32, global>) attributes {
    schedule = #kernel.schedule<[#kernel.online_step<"n", 8>]>} {
  %c0 = arith.constant 0 : index
  %xs = kernel.view %x map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !f
  %ts = kernel.view %v map <[<[4, 18] strides [1, 4]>]> : !kernel.buffer<f32, global> -> !k
  %vs = kernel.view %v map <[<[18, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !v
  %ys = kernel.view %y map <[<[8, 4] strides [4, 1]>]> : !kernel.buffer<f32, global> -> !w
  %ls = kernel.view %l map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !s
  %a = kernel.load %xs[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !f -> tensor<8x4xf32>
  %t = kernel.load %ts[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !k -> tensor<4x18xf32>
  %i = arith.constant dense<0.0> : tensor<8x18xf32>
  %d = kernel.dot %a, %t, %i : tensor<8x4xf32>, tensor<4x18xf32> -> tensor<8x18xf32>
  %e = math.exp %d : tensor<8x18xf32>
  %vt = kernel.load %vs[%c0, %c0] axes ["n", "e"] in_bounds [true, true] : !v -> tensor<18x4xf32>
  %z = arith.constant dense<0.0> : tensor<8x4xf32>
  %o = kernel.dot %e, %vt, %z : tensor<8x18xf32>, tensor<18x4xf32> -> tensor<8x4xf32>
  %q = arith.mulf %e, %e : tensor<8x18xf32>
  %s = kernel.reduce add %q dims [1] : tensor<8x18xf32> -> tensor<8xf32>
  kernel.store %o, %ys[%c0, %c0] in_bounds [true, true] : tensor<8x4xf32>, !w
  kernel.store %s, %ls[%c0] in_bounds [true] : tensor<8xf32>, !s
  kernel.return
}
