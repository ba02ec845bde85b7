// RUN: zyx-opt %s -zyx-kernel-apply-schedule -cse -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse -zyx-kernel-verify-form=form=lowered | FileCheck %s

// Two dimensions of the grid along one axis: 12 columns from 24 on have programs that begin at 33 of 31 and have nothing.
// Their lanes, read one by one, read the last column, as those of programs that stick out do: by what is left, which is
// less than 0, and not by a number of columns, which is not.
// CHECK-LABEL: kernel.func @columns
// CHECK:       %[[FIRST:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK:       %[[LEFT:.*]] = arith.subi %c31, %[[FIRST]]
// CHECK:       %[[TO_END:.*]] = arith.minsi %[[LEFT]], %c3
// CHECK:       %[[LAST:.*]] = arith.subi %[[TO_END]], %c1
// CHECK:       %[[LANE:.*]] = arith.minsi %[[LAST]], %c2
// CHECK:       arith.addi %[[FIRST]], %[[LANE]]
kernel.func @columns(%a: !kernel.buffer<f16, global>, %b: !kernel.buffer<f16, global>, %c: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"n", 12>, #kernel.grid_step<"n", 3>]>} {
  %c0 = arith.constant 0 : index
  %va = kernel.view %a map <[<[2, 12] strides [12, 1]>]> : !kernel.buffer<f16, global> -> !kernel.view<2x12xf16, global>
  %vb = kernel.view %b map <[<[12, 31] strides [1, 12]>]> : !kernel.buffer<f16, global> -> !kernel.view<12x31xf16, global>
  %vc = kernel.view %c map <[<[2, 31] strides [31, 1]>]> : !kernel.buffer<f32, global> -> !kernel.view<2x31xf32, global>
  %l = kernel.load %va[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<2x12xf16, global> -> tensor<2x12xf16>
  %r = kernel.load %vb[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<12x31xf16, global> -> tensor<12x31xf16>
  %z = arith.constant dense<0.0> : tensor<2x31xf32>
  %d = kernel.dot %l, %r, %z : tensor<2x12xf16>, tensor<12x31xf16> -> tensor<2x31xf32>
  kernel.store %d, %vc[%c0, %c0] in_bounds [true, true] : tensor<2x31xf32>, !kernel.view<2x31xf32, global>
  kernel.return
}
