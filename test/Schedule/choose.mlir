// RUN: zyx-opt %s -zyx-schedule-choose=target=x86-64-v4 | FileCheck %s
// RUN: zyx-opt %s -zyx-schedule-choose=target=c | FileCheck %s --check-prefix=C
// RUN: not zyx-opt %s -zyx-schedule-choose=target=abacus 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: abacus

!v = !kernel.view<1000x1000xf32, global>

// CHECK-LABEL: kernel.func @elements
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
// C-LABEL: kernel.func @elements
// C-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 4>]>
kernel.func @elements(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %t = kernel.load %v[%c0, %c0] axes ["i", "j"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  kernel.store %t, %w[%c0, %c0] in_bounds [true, true] : tensor<1000x1000xf32>, !v
  kernel.return
}

// Rows one by one; columns in four vectors.
// CHECK-LABEL: kernel.func @row_sums
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"i", 1>]>
kernel.func @row_sums(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1000xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["i", "k"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %r = kernel.reduce add %t dims [1] : tensor<1000x1000xf32> -> tensor<1000xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<1000xf32>, !kernel.view<1000xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @column_sums
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"j", 64>]>
kernel.func @column_sums(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %v = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %w = kernel.view %y map <[<[1000] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<1000xf32, global>
  %t = kernel.load %v[%c0, %c0] axes ["k", "j"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %r = kernel.reduce add %t dims [0] : tensor<1000x1000xf32> -> tensor<1000xf32>
  kernel.store %r, %w[%c0] in_bounds [true] : tensor<1000xf32>, !kernel.view<1000xf32, global>
  kernel.return
}

// CHECK-LABEL: kernel.func @product
// CHECK-SAME:  schedule = #kernel.schedule<[#kernel.grid_step<"m", 504>, #kernel.grid_step<"n", 256>, #kernel.block_step<<12 x 32, rows 180, depth 176, pack lhs rhs>>]>
// C-LABEL:     kernel.func @product
// C-NOT:       block_step
kernel.func @product(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %b = kernel.view %w map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %c = kernel.view %y map <[<[1000, 1000] strides [1000, 1]>]> : !kernel.buffer<f32, global> -> !v
  %at = kernel.load %a[%c0, %c0] axes ["m", "k"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %bt = kernel.load %b[%c0, %c0] axes ["k", "n"] in_bounds [true, true] : !v -> tensor<1000x1000xf32>
  %z = arith.constant dense<0.0> : tensor<1000x1000xf32>
  %d = kernel.dot %at, %bt, %z : tensor<1000x1000xf32>, tensor<1000x1000xf32> -> tensor<1000x1000xf32>
  kernel.store %d, %c[%c0, %c0] in_bounds [true, true] : tensor<1000x1000xf32>, !v
  kernel.return
}

// Two axes of one name cannot be told apart by a step, so neither is split.
// CHECK-LABEL: kernel.func @one_name
// CHECK-SAME:  schedule = #kernel.schedule<[]>
kernel.func @one_name(%x: !kernel.buffer<f32, global>, %w: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %a = kernel.view %x map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %b = kernel.view %w map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %c = kernel.view %y map <[<[8] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<8xf32, global>
  %at = kernel.load %a[%c0] axes ["i"] in_bounds [true] : !kernel.view<8xf32, global> -> tensor<8xf32>
  %bt = kernel.load %b[%c0] axes ["i"] in_bounds [true] : !kernel.view<8xf32, global> -> tensor<8xf32>
  %s = kernel.reduce add %bt dims [0] : tensor<8xf32> -> tensor<f32>
  %sb = kernel.broadcast %s dims [] : tensor<f32> -> tensor<8xf32>
  %r = arith.addf %at, %sb : tensor<8xf32>
  kernel.store %r, %c[%c0] in_bounds [true] : tensor<8xf32>, !kernel.view<8xf32, global>
  kernel.return
}
