// RUN: zyx-opt %s -zyx-test-draw-schedule=seed=1 > %t.1
// RUN: zyx-opt %s -zyx-test-draw-schedule=seed=1 | diff %t.1 -
// RUN: FileCheck %s < %t.1
// RUN: zyx-opt %s -zyx-test-draw-schedule=seed=1 -zyx-kernel-apply-schedule -zyx-kernel-verify-form=form=tiled
// RUN: zyx-opt %s -zyx-test-draw-schedule=seed=2 -zyx-kernel-apply-schedule -zyx-kernel-verify-form=form=tiled

!v = !kernel.view<100x100xf32, global>

// Steps that are legal, drawn anew for each kernel; never the grid along "k".
// CHECK-LABEL: kernel.func @first
// CHECK-SAME:  schedule = [[$FIRST:#kernel.schedule<.*>]]
// CHECK-NOT: grid_step<"k"
kernel.func @first(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[100, 100] strides [100, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[100] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : !v -> tensor<100x100xf32>
  %r = kernel.reduce add %t dims [1] : tensor<100x100xf32> -> tensor<100xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<100xf32>, !kernel.view<100xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @second
// CHECK-NOT:   schedule = [[$FIRST]]
// CHECK-SAME:  schedule = #kernel.schedule<
kernel.func @second(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[100, 100] strides [100, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[100] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<100xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : !v -> tensor<100x100xf32>
  %r = kernel.reduce add %t dims [1] : tensor<100x100xf32> -> tensor<100xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<100xf32>, !kernel.view<100xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @scheduled
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 10>]>
kernel.func @scheduled(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>)
    attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 10>]>} {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[100, 100] strides [100, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[100, 100] strides [100, 1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !v -> tensor<100x100xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [true, true] : tensor<100x100xf32>, !v
  kernel.return
}
