// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sapphirerapids -zyx-schedule-choose | FileCheck %s --check-prefixes=UNIT,CHOSEN
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=znver4 -zyx-schedule-choose | FileCheck %s --check-prefixes=UNIT,CHOSEN
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose | FileCheck %s --check-prefixes=VECTORS,CHOSEN
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=znver4 -zyx-schedule-choose -zyx-kernel-apply-schedule -canonicalize -cse | FileCheck %s --check-prefix=APPLIED
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=x86-64-v4 -zyx-schedule-choose -zyx-kernel-apply-schedule -canonicalize -cse | FileCheck %s --check-prefix=STAGED
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=znver4 -zyx-schedule-choose -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target='target=znver4 facts=arithmetic.hasMaximum=true' -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s --check-prefix=LOWERED

!b = !kernel.buffer<bf16, global>
!h = !kernel.buffer<f16, global>

// Keys are rows of the first product and are read in place; values are packed with keys side by side.
// CHOSEN-LABEL: kernel.func @bf16
// UNIT-SAME:    #kernel.block_step<<32 x 32, rows 64, depth 64, pack rhs, narrow>>, #kernel.block_step<<32 x 32, rows 64, depth 64, pack lhs rhs, narrow>>, #kernel.online_step<"n", 64>
// VECTORS-SAME: #kernel.swap_step, #kernel.grid_step<"b", 1>, #kernel.grid_step<"m", 64>, #kernel.online_step<"n", 64>

// Weights are rounded to the type of the values, their sum is that of all digits. Queries are packed by the dot.
// APPLIED-LABEL: kernel.func @bf16
// APPLIED:       scf.for
// APPLIED:         %[[S:.*]] = kernel.dot %{{.*}} blocking {{.*}}narrow> : tensor<1x64x64xbf16>, tensor<1x64x64xbf16> -> tensor<1x64x64xf32>
// APPLIED:         %[[P:.*]] = math.exp %{{.*}} : tensor<1x64x64xf32>
// APPLIED:         kernel.reduce add %[[P]]
// APPLIED:         arith.truncf %{{.*}} : tensor<1x64x64xf32> to tensor<1x64x64xbf16>
// APPLIED:         kernel.dot %{{.*}} blocking {{.*}}narrow> : tensor<1x64x64xbf16>, tensor<1x64x64xbf16, #kernel.memory<private>> -> tensor<1x64x64xf32>

// Vectors have one element of keys and values broadcast at a time: both are converted before, once for each block, in
// the order in which they lie in memory.
// STAGED-LABEL: kernel.func @bf16
// STAGED:       arith.extf
// STAGED:       scf.for
// STAGED:         %[[K:.*]] = kernel.load {{.*}} -> tensor<1x64x64xbf16>
// STAGED:         %[[LIES:.*]] = kernel.transpose %[[K]] order [0, 2, 1]
// STAGED:         %[[WIDE:.*]] = arith.extf %[[LIES]]
// STAGED:         kernel.convert %[[WIDE]] : tensor<1x64x64xf32> -> tensor<1x64x64xf32, #kernel.memory<private>>
// STAGED:         math.exp
// STAGED:         %[[V:.*]] = arith.extf
// STAGED:         kernel.convert %[[V]] : tensor<1x64x64xf32> -> tensor<1x64x64xf32, #kernel.memory<private>>

// The queries' panels are made before the loop over blocks of keys.
// LOWERED-LABEL: kernel.func @bf16
// LOWERED:       kernel.store %{{.*}}, %[[PANELS:.*]][%{{.*}}] : vector<16xi32>
// LOWERED:       scf.for %{{.*}} = %c0 to %c128 step %c64
// LOWERED-NOT:     kernel.store %{{.*}}, %[[PANELS]]
// LOWERED:         kernel.matrix_multiply %{{.*}}, %{{.*}}, %[[PANELS]]
// LOWERED-NOT:     kernel.store %{{.*}}, %[[PANELS]]
// LOWERED:         kernel.matrix_multiply
kernel.func @bf16(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %qs = kernel.view %q map <[<[2, 96, 64] strides [6144, 64, 1]>]> : !b -> !kernel.view<2x96x64xbf16, global>
  %a = kernel.load %qs[%c0, %c0, %c0] axes ["b", "m", "k"] in_bounds [true, true, true] : !kernel.view<2x96x64xbf16, global> -> tensor<2x96x64xbf16>
  %ks = kernel.view %k map <[<[2, 64, 160] strides [10240, 1, 64]>]> : !b -> !kernel.view<2x64x160xbf16, global>
  %b = kernel.load %ks[%c0, %c0, %c0] axes ["b", "k", "n"] in_bounds [true, true, true] : !kernel.view<2x64x160xbf16, global> -> tensor<2x64x160xbf16>
  %z = arith.constant dense<0.0> : tensor<2x96x160xf32>
  %s = kernel.dot %a, %b, %z : tensor<2x96x64xbf16>, tensor<2x64x160xbf16> -> tensor<2x96x160xf32>
  %m = kernel.reduce max %s dims [2] : tensor<2x96x160xf32> -> tensor<2x96xf32>
  %mb = kernel.broadcast %m dims [0, 1] : tensor<2x96xf32> -> tensor<2x96x160xf32>
  %d = arith.subf %s, %mb : tensor<2x96x160xf32>
  %p = math.exp %d : tensor<2x96x160xf32>
  %l = kernel.reduce add %p dims [2] : tensor<2x96x160xf32> -> tensor<2x96xf32>
  %vs = kernel.view %v map <[<[2, 160, 64] strides [10240, 64, 1]>]> : !b -> !kernel.view<2x160x64xbf16, global>
  %w = kernel.load %vs[%c0, %c0, %c0] axes ["b", "n", "e"] in_bounds [true, true, true] : !kernel.view<2x160x64xbf16, global> -> tensor<2x160x64xbf16>
  %y = arith.constant dense<0.0> : tensor<2x96x64xf32>
  %r = kernel.dot %p, %w, %y : tensor<2x96x160xf32>, tensor<2x160x64xbf16> -> tensor<2x96x64xf32>
  %lb = kernel.broadcast %l dims [0, 1] : tensor<2x96xf32> -> tensor<2x96x64xf32>
  %f = arith.divf %r, %lb : tensor<2x96x64xf32>
  %h = arith.truncf %f : tensor<2x96x64xf32> to tensor<2x96x64xbf16>
  %os = kernel.view %o map <[<[2, 96, 64] strides [6144, 64, 1]>]> : !b -> !kernel.view<2x96x64xbf16, global>
  kernel.store %h, %os[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x96x64xbf16>, !kernel.view<2x96x64xbf16, global>
  kernel.return
}

// So are keys that fill less than a block.
// CHOSEN-LABEL: kernel.func @one_block
// UNIT-SAME:    #kernel.block_step<<32 x 32, rows 64, depth 64, pack rhs, narrow>>, #kernel.block_step<<32 x 32, rows 64, depth 64, pack lhs rhs, narrow>>, #kernel.online_step<"n", 64>
// VECTORS-SAME: #kernel.swap_step, #kernel.grid_step<"b", 1>, #kernel.online_step<"n", 64>
kernel.func @one_block(%q: !b, %k: !b, %v: !b, %o: !b) {
  %c0 = arith.constant 0 : index
  %qs = kernel.view %q map <[<[2, 49, 64] strides [3136, 64, 1]>]> : !b -> !kernel.view<2x49x64xbf16, global>
  %a = kernel.load %qs[%c0, %c0, %c0] axes ["b", "m", "k"] in_bounds [true, true, true] : !kernel.view<2x49x64xbf16, global> -> tensor<2x49x64xbf16>
  %ks = kernel.view %k map <[<[2, 64, 49] strides [3136, 1, 64]>]> : !b -> !kernel.view<2x64x49xbf16, global>
  %b = kernel.load %ks[%c0, %c0, %c0] axes ["b", "k", "n"] in_bounds [true, true, true] : !kernel.view<2x64x49xbf16, global> -> tensor<2x64x49xbf16>
  %z = arith.constant dense<0.0> : tensor<2x49x49xf32>
  %s = kernel.dot %a, %b, %z : tensor<2x49x64xbf16>, tensor<2x64x49xbf16> -> tensor<2x49x49xf32>
  %m = kernel.reduce max %s dims [2] : tensor<2x49x49xf32> -> tensor<2x49xf32>
  %mb = kernel.broadcast %m dims [0, 1] : tensor<2x49xf32> -> tensor<2x49x49xf32>
  %d = arith.subf %s, %mb : tensor<2x49x49xf32>
  %p = math.exp %d : tensor<2x49x49xf32>
  %l = kernel.reduce add %p dims [2] : tensor<2x49x49xf32> -> tensor<2x49xf32>
  %vs = kernel.view %v map <[<[2, 49, 64] strides [3136, 64, 1]>]> : !b -> !kernel.view<2x49x64xbf16, global>
  %w = kernel.load %vs[%c0, %c0, %c0] axes ["b", "n", "e"] in_bounds [true, true, true] : !kernel.view<2x49x64xbf16, global> -> tensor<2x49x64xbf16>
  %y = arith.constant dense<0.0> : tensor<2x49x64xf32>
  %r = kernel.dot %p, %w, %y : tensor<2x49x49xf32>, tensor<2x49x64xbf16> -> tensor<2x49x64xf32>
  %lb = kernel.broadcast %l dims [0, 1] : tensor<2x49xf32> -> tensor<2x49x64xf32>
  %f = arith.divf %r, %lb : tensor<2x49x64xf32>
  %h = arith.truncf %f : tensor<2x49x64xf32> to tensor<2x49x64xbf16>
  %os = kernel.view %o map <[<[2, 49, 64] strides [3136, 64, 1]>]> : !b -> !kernel.view<2x49x64xbf16, global>
  kernel.store %h, %os[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x49x64xbf16>, !kernel.view<2x49x64xbf16, global>
  kernel.return
}

// A result of all digits takes weights of all digits.
// CHOSEN-LABEL: kernel.func @wide_result
// CHOSEN-NOT:   narrow
// CHOSEN-SAME:  #kernel.online_step<"n", 64>
kernel.func @wide_result(%q: !b, %k: !b, %v: !b, %o: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %qs = kernel.view %q map <[<[2, 96, 64] strides [6144, 64, 1]>]> : !b -> !kernel.view<2x96x64xbf16, global>
  %a = kernel.load %qs[%c0, %c0, %c0] axes ["b", "m", "k"] in_bounds [true, true, true] : !kernel.view<2x96x64xbf16, global> -> tensor<2x96x64xbf16>
  %ks = kernel.view %k map <[<[2, 64, 160] strides [10240, 1, 64]>]> : !b -> !kernel.view<2x64x160xbf16, global>
  %b = kernel.load %ks[%c0, %c0, %c0] axes ["b", "k", "n"] in_bounds [true, true, true] : !kernel.view<2x64x160xbf16, global> -> tensor<2x64x160xbf16>
  %z = arith.constant dense<0.0> : tensor<2x96x160xf32>
  %s = kernel.dot %a, %b, %z : tensor<2x96x64xbf16>, tensor<2x64x160xbf16> -> tensor<2x96x160xf32>
  %m = kernel.reduce max %s dims [2] : tensor<2x96x160xf32> -> tensor<2x96xf32>
  %mb = kernel.broadcast %m dims [0, 1] : tensor<2x96xf32> -> tensor<2x96x160xf32>
  %d = arith.subf %s, %mb : tensor<2x96x160xf32>
  %p = math.exp %d : tensor<2x96x160xf32>
  %l = kernel.reduce add %p dims [2] : tensor<2x96x160xf32> -> tensor<2x96xf32>
  %vs = kernel.view %v map <[<[2, 160, 64] strides [10240, 64, 1]>]> : !b -> !kernel.view<2x160x64xbf16, global>
  %w = kernel.load %vs[%c0, %c0, %c0] axes ["b", "n", "e"] in_bounds [true, true, true] : !kernel.view<2x160x64xbf16, global> -> tensor<2x160x64xbf16>
  %y = arith.constant dense<0.0> : tensor<2x96x64xf32>
  %r = kernel.dot %p, %w, %y : tensor<2x96x160xf32>, tensor<2x160x64xbf16> -> tensor<2x96x64xf32>
  %lb = kernel.broadcast %l dims [0, 1] : tensor<2x96xf32> -> tensor<2x96x64xf32>
  %f = arith.divf %r, %lb : tensor<2x96x64xf32>
  %os = kernel.view %o map <[<[2, 96, 64] strides [6144, 64, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x96x64xf32, global>
  kernel.store %f, %os[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x96x64xf32>, !kernel.view<2x96x64xf32, global>
  kernel.return
}

// There is no such instruction of f16.
// CHOSEN-LABEL: kernel.func @f16
// CHOSEN-NOT:   narrow
// CHOSEN-SAME:  #kernel.online_step<"n", 64>
kernel.func @f16(%q: !h, %k: !h, %v: !h, %o: !h) {
  %c0 = arith.constant 0 : index
  %qs = kernel.view %q map <[<[2, 96, 64] strides [6144, 64, 1]>]> : !h -> !kernel.view<2x96x64xf16, global>
  %a = kernel.load %qs[%c0, %c0, %c0] axes ["b", "m", "k"] in_bounds [true, true, true] : !kernel.view<2x96x64xf16, global> -> tensor<2x96x64xf16>
  %ks = kernel.view %k map <[<[2, 64, 160] strides [10240, 1, 64]>]> : !h -> !kernel.view<2x64x160xf16, global>
  %b = kernel.load %ks[%c0, %c0, %c0] axes ["b", "k", "n"] in_bounds [true, true, true] : !kernel.view<2x64x160xf16, global> -> tensor<2x64x160xf16>
  %z = arith.constant dense<0.0> : tensor<2x96x160xf32>
  %s = kernel.dot %a, %b, %z : tensor<2x96x64xf16>, tensor<2x64x160xf16> -> tensor<2x96x160xf32>
  %m = kernel.reduce max %s dims [2] : tensor<2x96x160xf32> -> tensor<2x96xf32>
  %mb = kernel.broadcast %m dims [0, 1] : tensor<2x96xf32> -> tensor<2x96x160xf32>
  %d = arith.subf %s, %mb : tensor<2x96x160xf32>
  %p = math.exp %d : tensor<2x96x160xf32>
  %l = kernel.reduce add %p dims [2] : tensor<2x96x160xf32> -> tensor<2x96xf32>
  %vs = kernel.view %v map <[<[2, 160, 64] strides [10240, 64, 1]>]> : !h -> !kernel.view<2x160x64xf16, global>
  %w = kernel.load %vs[%c0, %c0, %c0] axes ["b", "n", "e"] in_bounds [true, true, true] : !kernel.view<2x160x64xf16, global> -> tensor<2x160x64xf16>
  %y = arith.constant dense<0.0> : tensor<2x96x64xf32>
  %r = kernel.dot %p, %w, %y : tensor<2x96x160xf32>, tensor<2x160x64xf16> -> tensor<2x96x64xf32>
  %lb = kernel.broadcast %l dims [0, 1] : tensor<2x96xf32> -> tensor<2x96x64xf32>
  %f = arith.divf %r, %lb : tensor<2x96x64xf32>
  %h = arith.truncf %f : tensor<2x96x64xf32> to tensor<2x96x64xf16>
  %os = kernel.view %o map <[<[2, 96, 64] strides [6144, 64, 1]>]> : !h -> !kernel.view<2x96x64xf16, global>
  kernel.store %h, %os[%c0, %c0, %c0] in_bounds [true, true, true] : tensor<2x96x64xf16>, !kernel.view<2x96x64xf16, global>
  kernel.return
}
