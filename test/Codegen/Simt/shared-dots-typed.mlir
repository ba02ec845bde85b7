// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target=target=webgpu -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   -zyx-kernel-verify-form=form=lowered | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-apply-schedule -canonicalize -cse \
// RUN:   -zyx-kernel-attach-target=target=vulkan -zyx-kernel-settle-memory -zyx-kernel-lower-tiles -canonicalize -cse \
// RUN:   | FileCheck %s --check-prefix=VULKAN

// Of a machine whose memory has one type: a vector of a slice is written whole by one thread, which reads a row for each
// of its lanes. Neighbours among the threads are neighbours along the contraction.

!f = !kernel.buffer<f32, global>

// CHECK-LABEL: kernel.func @whole
// CHECK:         %[[A:.*]] = kernel.alloc : <32x36xf32, shared>
// CHECK-NOT:     kernel.store {{.*}}, %[[A]][{{.*}}] : f32
// CHECK:         kernel.store {{.*}}, %[[A]][{{.*}}] : vector<4xf32>
// CHECK-NOT:     kernel.store {{.*}}, %[[A]][{{.*}}] : f32
// CHECK:         kernel.return
// VULKAN-LABEL: kernel.func @whole
// VULKAN:         %[[A:.*]] = kernel.alloc : <32x36xf32, shared>
// VULKAN:         kernel.store {{.*}}, %[[A]][{{.*}}] : f32
// VULKAN:         kernel.return
kernel.func @whole(%x: !f, %w: !f, %y: !f) attributes {threads = 64 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 32>, #kernel.grid_step<"n", 16>, #kernel.block_step<<4 x 4, rows 4, depth 16, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[100, 70] strides [70, 1]>]> : !f -> !kernel.view<100x70xf32, global>
  %b = kernel.view %w map <[<[70, 52] strides [52, 1]>]> : !f -> !kernel.view<70x52xf32, global>
  %c = kernel.view %y map <[<[100, 52] strides [52, 1]>]> : !f -> !kernel.view<100x52xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<100x70xf32, global> -> tensor<100x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x52xf32, global> -> tensor<70x52xf32>
  %z = arith.constant dense<0.0> : tensor<100x52xf32>
  %d = kernel.dot %at, %bt, %z : tensor<100x70xf32>, tensor<70x52xf32> -> tensor<100x52xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<100x52xf32>, !kernel.view<100x52xf32, global>
  kernel.return
}

// Where the last rows are no vector, threads read along the contraction.
// CHECK-LABEL: kernel.func @parts
// CHECK:         %[[A:.*]] = kernel.alloc : <32x36xf32, shared>
// CHECK:         kernel.store {{.*}}, %[[A]][{{.*}}] : f32
// CHECK:         kernel.return
kernel.func @parts(%x: !f, %w: !f, %y: !f) attributes {threads = 64 : i64, schedule = #kernel.schedule<[
    #kernel.grid_step<"m", 32>, #kernel.grid_step<"n", 16>, #kernel.block_step<<4 x 4, rows 4, depth 16, pack lhs rhs>>]>} {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[99, 70] strides [70, 1]>]> : !f -> !kernel.view<99x70xf32, global>
  %b = kernel.view %w map <[<[70, 52] strides [52, 1]>]> : !f -> !kernel.view<70x52xf32, global>
  %c = kernel.view %y map <[<[99, 52] strides [52, 1]>]> : !f -> !kernel.view<99x52xf32, global>
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !kernel.view<99x70xf32, global> -> tensor<99x70xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !kernel.view<70x52xf32, global> -> tensor<70x52xf32>
  %z = arith.constant dense<0.0> : tensor<99x52xf32>
  %d = kernel.dot %at, %bt, %z : tensor<99x70xf32>, tensor<70x52xf32> -> tensor<99x52xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<99x52xf32>, !kernel.view<99x52xf32, global>
  kernel.return
}
