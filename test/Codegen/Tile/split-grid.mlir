// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse -zyx-kernel-settle-memory -zyx-kernel-lower-tiles | FileCheck %s

// The last piece of 64 begins at 64 and sticks out by 28; its own pieces of two begin as far as at 126,
// where nothing is left, and not less than nothing.
// CHECK-LABEL: kernel.func @split_again
// CHECK: kernel.grid (%[[A:.*]], %[[B:.*]]) in [100, 64] step [64, 2]
// CHECK: %[[BASE:.*]] = arith.addi %[[A]], %[[B]] : index
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[BASE]] : index
// CHECK: %[[CUT:.*]] = arith.minsi %[[LEFT]], %{{.*}} : index
// CHECK: arith.maxsi %[[CUT]], %{{.*}} : index
kernel.func @split_again(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 64>, #kernel.grid_step<"i", 2>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[100] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100xf32, global>
  %w = kernel.view %y map <[<[100] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<100xf32, global> -> tensor<100xf32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<100xf32>, !kernel.view<100xf32, global>
  kernel.return
}

// The same where a loop walks the piece.
// CHECK-LABEL: kernel.func @split_again_and_walked
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[CUT:.*]] = arith.minsi %[[LEFT]], %{{.*}} : index
// CHECK: arith.maxsi %[[CUT]], %{{.*}} : index
// CHECK: scf.for
kernel.func @split_again_and_walked(%y: !kernel.buffer<i32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 64>, #kernel.grid_step<"i", 16>, #kernel.loop_step<"i", 4>]>} {
  %c0 = arith.constant 0 : index
  %w = kernel.view %y map <[<[100] strides [1]>]> : !kernel.buffer<i32, global> -> !kernel.view<100xi32, global>
  %t = kernel.iota dim 0 axes ["i"] : tensor<100xi32>
  kernel.store %t, %w[%c0] in_bounds [true] : tensor<100xi32>, !kernel.view<100xi32, global>
  kernel.return
}
