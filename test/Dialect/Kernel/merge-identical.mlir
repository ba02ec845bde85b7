// RUN: zyx-opt %s -zyx-kernel-merge-identical | FileCheck %s

// Kernels that differ in their names alone are one; the constant, the map, the type, the schedule, any other
// attribute or the operands of an op make another one.
// CHECK-LABEL: kernel.func @first
// CHECK-NOT:   kernel.func @second
// CHECK:       kernel.func @other_constant
// CHECK:       kernel.func @other_map
// CHECK:       kernel.func @other_schedule
// CHECK:       kernel.func @other_programs
// CHECK:       kernel.func @other_residents
// CHECK:       kernel.func @other_operands
// CHECK-NOT:   kernel.func
kernel.func @first(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @second(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %a map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %b map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @other_constant(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<2.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @other_map(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [2]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @other_schedule(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {schedule = #kernel.schedule<[#kernel.grid_step<"i", 2>]>} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @other_programs(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {programs = 4 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @other_residents(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) attributes {min_resident_threads = 1024 : i64} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %t, %one : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}
kernel.func @other_operands(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %v = kernel.view %x map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %w = kernel.view %y map <[<[4] strides [1]>]> : !kernel.buffer<f32, global> -> !kernel.view<4xf32, global>
  %t = kernel.load %v[%c0] axes ["i"] in_bounds [true] : !kernel.view<4xf32, global> -> tensor<4xf32>
  %d = arith.subf %one, %t : tensor<4xf32>
  kernel.store %d, %w[%c0] in_bounds [true] : tensor<4xf32>, !kernel.view<4xf32, global>
  kernel.return
}

// CHECK-LABEL: plan.func @main
// CHECK:       plan.launch @first ins(
// CHECK:       plan.loop
// CHECK-NEXT:    plan.launch @first ins(
// CHECK:       plan.launch @other_constant
plan.func @main(%x: !plan.buffer<f32[4]> {plan.input = "x"}, %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %t = plan.alloc : !plan.buffer<f32[4]>
  %u = plan.alloc : !plan.buffer<f32[4]>
  %0 = plan.launch @first ins(%x : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
  %1 = plan.loop trips 3 {
    %2 = plan.launch @second ins(%t : !plan.buffer<f32[4]>) outs(%u : !plan.buffer<f32[4]>)
  }
  %3 = plan.launch @other_constant ins(%u : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
}
