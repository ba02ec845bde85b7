// RUN: zyx-opt %s --verify-roundtrip -zyx-kernel-attach-target=target=sm_90a -zyx-kernel-map-tensor-cores -canonicalize -cse -zyx-kernel-verify-form=form=machine | FileCheck %s

// Documents of numbers of 64 bits, of which a query sees what is before it. A mask that is more than the diagonal is
// computed for all scores; blocks behind the diagonal are not loaded.

// CHECK-LABEL: kernel.func @documents
// CHECK: kernel.role "producer"
// The last block that a tile of queries sees.
// CHECK: [[BEHIND:%.*]] = arith.addi {{.*}}, %c191 : index
// CHECK: [[END:%.*]] = arith.maxsi [[BEHIND]], %c64
// CHECK: arith.divui [[END]], %c64
// CHECK: kernel.role "consumer"
// CHECK: kernel.load {{.*}} in_bounds [false] : <200xi64, global> -> tensor<64xi64, #kernel.slice<dim = 1, #kernel.frag<wgmma_acc>>>
// CHECK: kernel.load {{.*}} in_bounds [false] : <200xi64, global> -> tensor<64xi64, #kernel.slice<dim = 0, #kernel.frag<wgmma_acc>>>
// CHECK: arith.cmpi eq, {{.*}} : tensor<64x64xi64, #kernel.frag<wgmma_acc>>
!b = !kernel.buffer<bf16, global>
!l = !kernel.buffer<i64, global>
!m = !kernel.view<200x64xbf16, global>
!t = !kernel.view<64x200xbf16, global>
kernel.func @documents(%q: !b, %k: !b, %v: !b, %o: !b, %ids: !l) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<200x64xbf16>
  %2 = kernel.view %k map <[<[64, 200] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x200xbf16>
  %z = arith.constant dense<0.0> : tensor<200x200xf32>
  %4 = kernel.dot %1, %3, %z : tensor<200x64xbf16>, tensor<64x200xbf16> -> tensor<200x200xf32>
  %d0 = kernel.view %ids map <[<[200] strides [1]>]> : !l -> !kernel.view<200xi64, global>
  %d1 = kernel.load %d0[%c0] axes ["m"] : !kernel.view<200xi64, global> -> tensor<200xi64>
  %d2 = kernel.load %d0[%c0] axes ["n"] : !kernel.view<200xi64, global> -> tensor<200xi64>
  %d3 = kernel.broadcast %d1 dims [0] : tensor<200xi64> -> tensor<200x200xi64>
  %d4 = kernel.broadcast %d2 dims [1] : tensor<200xi64> -> tensor<200x200xi64>
  %same = arith.cmpi eq, %d3, %d4 : tensor<200x200xi64>
  %p0 = kernel.iota dim 0 axes ["n"] : tensor<200xi32>
  %p1 = kernel.iota dim 0 axes ["m"] : tensor<200xi32>
  %p2 = kernel.broadcast %p0 dims [1] : tensor<200xi32> -> tensor<200x200xi32>
  %p3 = kernel.broadcast %p1 dims [0] : tensor<200xi32> -> tensor<200x200xi32>
  %before = arith.cmpi sle, %p2, %p3 : tensor<200x200xi32>
  %seen = arith.andi %same, %before : tensor<200x200xi1>
  %i = arith.constant dense<0xFF800000> : tensor<200x200xf32>
  %5 = arith.select %seen, %4, %i : tensor<200x200xi1>, tensor<200x200xf32>
  %6 = kernel.reduce max %5 dims [1] : tensor<200x200xf32> -> tensor<200xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<200xf32> -> tensor<200x200xf32>
  %8 = arith.subf %5, %7 : tensor<200x200xf32>
  %9 = math.exp %8 : tensor<200x200xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<200x200xf32> -> tensor<200xf32>
  %13 = kernel.view %v map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<200x64xbf16>
  %y = arith.constant dense<0.0> : tensor<200x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<200x200xf32>, tensor<200x64xbf16> -> tensor<200x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<200xf32> -> tensor<200x64xf32>
  %17 = arith.divf %15, %16 : tensor<200x64xf32>
  %18 = arith.truncf %17 : tensor<200x64xf32> to tensor<200x64xbf16>
  %19 = kernel.view %o map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<200x64xbf16>, !m
  kernel.return
}

// A soft cap in bf16: each step is rounded. The quotient by 30 is the sum of two products, and the tangent is the card's
// own.

// CHECK-LABEL: kernel.func @capped
// CHECK-DAG: [[UPPER:%.*]] = arith.constant dense<0.0333333313> : tensor<64x64xf32, #kernel.frag<wgmma_acc>>
// CHECK-DAG: [[LOWER:%.*]] = arith.constant dense<1.98682{{[0-9]+}}E-9> : tensor<64x64xf32, #kernel.frag<wgmma_acc>>
// CHECK: kernel.role "consumer"
// CHECK: [[LESS:%.*]] = arith.mulf [[X:%.*]], [[LOWER]]
// CHECK-NEXT: [[Q:%.*]] = math.fma [[X]], [[UPPER]], [[LESS]]
// CHECK-NEXT: arith.truncf [[Q]]
// CHECK-NEXT: arith.extf
// CHECK-NEXT: [[T:%.*]] = math.tanh %{{.*}} fastmath<afn>
// CHECK-NEXT: arith.truncf [[T]]
kernel.func @capped(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<200x64xbf16>
  %2 = kernel.view %k map <[<[64, 200] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x200xbf16>
  %z = arith.constant dense<0.0> : tensor<200x200xf32>
  %4 = kernel.dot %1, %3, %z : tensor<200x64xbf16>, tensor<64x200xbf16> -> tensor<200x200xf32>
  %h = arith.truncf %4 : tensor<200x200xf32> to tensor<200x200xbf16>
  %by = arith.constant dense<3.0e+01> : tensor<200x200xbf16>
  %h0 = arith.divf %h, %by : tensor<200x200xbf16>
  %h1 = math.tanh %h0 : tensor<200x200xbf16>
  %times = arith.constant dense<3.0e+01> : tensor<200x200xbf16>
  %h2 = arith.mulf %h1, %times : tensor<200x200xbf16>
  %5 = arith.extf %h2 : tensor<200x200xbf16> to tensor<200x200xf32>
  %6 = kernel.reduce max %5 dims [1] : tensor<200x200xf32> -> tensor<200xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<200xf32> -> tensor<200x200xf32>
  %8 = arith.subf %5, %7 : tensor<200x200xf32>
  %9 = math.exp %8 : tensor<200x200xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<200x200xf32> -> tensor<200xf32>
  %13 = kernel.view %v map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<200x64xbf16>
  %y = arith.constant dense<0.0> : tensor<200x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<200x200xf32>, tensor<200x64xbf16> -> tensor<200x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<200xf32> -> tensor<200x64xf32>
  %17 = arith.divf %15, %16 : tensor<200x64xf32>
  %18 = arith.truncf %17 : tensor<200x64xf32> to tensor<200x64xbf16>
  %19 = kernel.view %o map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<200x64xbf16>, !m
  kernel.return
}

// What is added hides keys behind the query, as slopes of distances do, and is rounded to bf16. Blocks behind the
// diagonal are not loaded. Those before it have neither the comparison nor the choice, and count places in f32. The
// scaled scores and what is added are one operation.

// CHECK-LABEL: kernel.func @slopes
// CHECK: kernel.role "producer"
// CHECK: [[BEHIND:%.*]] = arith.addi {{.*}}, %c191 : index
// CHECK: [[END:%.*]] = arith.maxsi [[BEHIND]], %c64
// CHECK: arith.divui [[END]], %c64
// CHECK: kernel.role "consumer"
// The last block, and the loop over those that the diagonal crosses.
// CHECK-COUNT-2: arith.truncf {{.*}} : tensor<64x64xf32, #kernel.frag<wgmma_acc>> to tensor<64x64xbf16
// CHECK: [[SEEN:%.*]] = arith.cmpi sle, {{.*}} : tensor<64x64xi32, #kernel.frag<wgmma_acc>>
// CHECK: [[BIAS:%.*]] = arith.select [[SEEN]], {{.*}} : tensor<64x64xi1
// CHECK-NEXT: arith.truncf [[BIAS]]
// The loop over the others.
// CHECK: scf.for
// CHECK-NOT: arith.cmpi sle
// CHECK-NOT: arith.sitofp
// CHECK: kernel.iota dim 0 base {{.*}} : tensor<64xf32, #kernel.slice<dim = 0, #kernel.frag<wgmma_acc>>>
// CHECK-NOT: arith.cmpi sle
// CHECK: [[DISTANCE:%.*]] = arith.subf
// CHECK-NEXT: [[BIAS:%.*]] = arith.mulf [[DISTANCE]]
// CHECK-NEXT: [[NARROW:%.*]] = arith.truncf [[BIAS]] {{.*}} to tensor<64x64xbf16
// CHECK-NEXT: [[ADDED:%.*]] = arith.extf [[NARROW]]
// CHECK-NEXT: [[SCORES:%.*]] = math.fma {{.*}}, {{.*}}, [[ADDED]]
// CHECK-NEXT: kernel.reduce max [[SCORES]]
kernel.func @slopes(%q: !b, %k: !b, %v: !b, %o: !b) attributes {
    schedule = #kernel.schedule<[#kernel.tensor_step<128, 64, 64, stages 2, group 1>]>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.view %q map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  %1 = kernel.load %0[%c0, %c0] axes ["m", "k"] : !m -> tensor<200x64xbf16>
  %2 = kernel.view %k map <[<[64, 200] strides [1, 64]>]> : !b -> !t
  %3 = kernel.load %2[%c0, %c0] axes ["k", "n"] : !t -> tensor<64x200xbf16>
  %z = arith.constant dense<0.0> : tensor<200x200xf32>
  %4 = kernel.dot %1, %3, %z : tensor<200x64xbf16>, tensor<64x200xbf16> -> tensor<200x200xf32>
  %by = arith.constant dense<1.3e-01> : tensor<200x200xf32>
  %s = arith.mulf %4, %by : tensor<200x200xf32>
  %p0 = kernel.iota dim 0 axes ["n"] : tensor<200xi32>
  %p1 = kernel.iota dim 0 axes ["m"] : tensor<200xi32>
  %p2 = kernel.broadcast %p0 dims [1] : tensor<200xi32> -> tensor<200x200xi32>
  %p3 = kernel.broadcast %p1 dims [0] : tensor<200xi32> -> tensor<200x200xi32>
  %before = arith.cmpi sle, %p2, %p3 : tensor<200x200xi32>
  %f0 = arith.sitofp %p0 : tensor<200xi32> to tensor<200xf32>
  %f1 = arith.sitofp %p1 : tensor<200xi32> to tensor<200xf32>
  %f2 = kernel.broadcast %f0 dims [1] : tensor<200xf32> -> tensor<200x200xf32>
  %f3 = kernel.broadcast %f1 dims [0] : tensor<200xf32> -> tensor<200x200xf32>
  %far = arith.subf %f2, %f3 : tensor<200x200xf32>
  %slope = arith.constant dense<0.37> : tensor<200x200xf32>
  %b = arith.mulf %far, %slope : tensor<200x200xf32>
  %i = arith.constant dense<0xFF800000> : tensor<200x200xf32>
  %b0 = arith.select %before, %b, %i : tensor<200x200xi1>, tensor<200x200xf32>
  %b1 = arith.truncf %b0 : tensor<200x200xf32> to tensor<200x200xbf16>
  %b2 = arith.extf %b1 : tensor<200x200xbf16> to tensor<200x200xf32>
  %5 = arith.addf %s, %b2 : tensor<200x200xf32>
  %6 = kernel.reduce max %5 dims [1] : tensor<200x200xf32> -> tensor<200xf32>
  %7 = kernel.broadcast %6 dims [0] : tensor<200xf32> -> tensor<200x200xf32>
  %8 = arith.subf %5, %7 : tensor<200x200xf32>
  %9 = math.exp %8 : tensor<200x200xf32>
  %10 = kernel.reduce add %9 dims [1] : tensor<200x200xf32> -> tensor<200xf32>
  %13 = kernel.view %v map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  %14 = kernel.load %13[%c0, %c0] axes ["n", "d"] : !m -> tensor<200x64xbf16>
  %y = arith.constant dense<0.0> : tensor<200x64xf32>
  %15 = kernel.dot %9, %14, %y : tensor<200x200xf32>, tensor<200x64xbf16> -> tensor<200x64xf32>
  %16 = kernel.broadcast %10 dims [0] : tensor<200xf32> -> tensor<200x64xf32>
  %17 = arith.divf %15, %16 : tensor<200x64xf32>
  %18 = arith.truncf %17 : tensor<200x64xf32> to tensor<200x64xbf16>
  %19 = kernel.view %o map <[<[200, 64] strides [64, 1]>]> : !b -> !m
  kernel.store %18, %19[%c0, %c0] : tensor<200x64xbf16>, !m
  kernel.return
}
