// RUN: zyx-opt %s --zyx-plan-insert-waits | FileCheck %s

kernel.func @k(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {
  kernel.return
}
kernel.func @k2(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>,
                %c: !kernel.buffer<f32, global>) {
  kernel.return
}

// The last launch reads what the first two wrote; waiting for the second implies the first.
// CHECK-LABEL: plan.func @chain
// CHECK: %[[E0:.*]] = plan.launch @k ins(%{{[^)]*}}) outs(%{{[^)]*}}){{$}}
// CHECK: %[[E1:.*]] = plan.launch @k ins(%{{[^)]*}}) outs(%{{[^)]*}}) wait(%[[E0]]){{$}}
// CHECK: plan.launch @k2 {{.*}} wait(%[[E1]]){{$}}
plan.func @chain(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                 %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %t = plan.alloc : !plan.buffer<f32[4]>
  %u = plan.alloc : !plan.buffer<f32[4]>
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
  %1 = plan.launch @k ins(%t : !plan.buffer<f32[4]>) outs(%u : !plan.buffer<f32[4]>)
  %2 = plan.launch @k2 ins(%t, %u : !plan.buffer<f32[4]>, !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>) wait(%0)
  plan.return
}

// Launches that only read the same input need no order; the join waits for both, in their order.
// CHECK-LABEL: plan.func @diamond
// CHECK: %[[E0:.*]] = plan.launch @k ins(%{{[^)]*}}) outs(%{{[^)]*}}){{$}}
// CHECK: %[[E1:.*]] = plan.launch @k ins(%{{[^)]*}}) outs(%{{[^)]*}}){{$}}
// CHECK: plan.launch @k2 {{.*}} wait(%[[E0]], %[[E1]]){{$}}
plan.func @diamond(%x: !plan.buffer<f32[4]> {plan.input = "x"},
                   %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %t = plan.alloc : !plan.buffer<f32[4]>
  %u = plan.alloc : !plan.buffer<f32[4]>
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
  %1 = plan.launch @k ins(%x : !plan.buffer<f32[4]>) outs(%u : !plan.buffer<f32[4]>)
  %2 = plan.launch @k2 ins(%t, %u : !plan.buffer<f32[4]>, !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
}

// Slices that share bytes: the fill (WAR) waits for the copy that reads the bytes, the second fill
// (WAW) for the first. The slice beside them is independent.
// CHECK-LABEL: plan.func @slices
// CHECK: %[[E0:.*]] = plan.fill %{{.*}} bits 0 :
// CHECK: %[[E1:.*]] = plan.copy %{{.*}} to %{{.*}} wait(%[[E0]]) :
// CHECK: %[[E2:.*]] = plan.fill %{{.*}} bits 1 wait(%[[E1]]) :
// CHECK: plan.fill %{{.*}} bits 2 :
// CHECK: plan.fill %{{.*}} bits 3 wait(%[[E2]]) :
plan.func @slices(%y: !plan.buffer<i32[16]> {plan.output = "y"}) {
  %arena = plan.arena : !plan.buffer<u8[256]>
  %a = plan.slice %arena[0] : !plan.buffer<u8[256]> -> !plan.buffer<i32[16]>
  %b = plan.slice %arena[0] : !plan.buffer<u8[256]> -> !plan.buffer<i32[32]>
  %c = plan.slice %arena[128] : !plan.buffer<u8[256]> -> !plan.buffer<i32[16]>
  %d = plan.slice %arena[64] : !plan.buffer<u8[256]> -> !plan.buffer<i32[16]>
  %0 = plan.fill %a bits 0 : !plan.buffer<i32[16]>
  %1 = plan.copy %a to %y : !plan.buffer<i32[16]> to !plan.buffer<i32[16]>
  %2 = plan.fill %b bits 1 : !plan.buffer<i32[32]>
  %3 = plan.fill %c bits 2 : !plan.buffer<i32[16]>
  %4 = plan.fill %d bits 3 : !plan.buffer<i32[16]>
  plan.return
}

// So do those of each of several bodies.
// CHECK-LABEL: plan.func @bodies
// CHECK: plan.loop trips 3 {
// CHECK-NEXT: %[[A:.*]] = plan.fill
// CHECK-NEXT: plan.copy %{{.*}} wait(%[[A]])
// CHECK-NEXT: }, {
// CHECK-NEXT: %[[B:.*]] = plan.copy
// CHECK-NEXT: plan.fill %{{.*}} wait(%[[B]])
// CHECK-NEXT: }
plan.func @bodies(%y: !plan.buffer<f32[4]> {plan.output = "y"}, %z: !plan.buffer<f32[4]> {plan.output = "z"}) {
  %0 = plan.loop trips 3 {
    %1 = plan.fill %y bits 0 : !plan.buffer<f32[4]>
    %2 = plan.copy %y to %z : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
  }, {
    %3 = plan.copy %z to %y : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
    %4 = plan.fill %z bits 0 : !plan.buffer<f32[4]>
  }
  plan.return
}

// A loop waits for what its body needs, and its body's commands for each other.
// CHECK-LABEL: plan.func @loop
// CHECK: %[[E0:.*]] = plan.fill %{{.*}} bits 0 :
// CHECK: %[[E1:.*]] = plan.fill %{{.*}} bits 1 :
// CHECK: %[[LOOP:.*]] = plan.loop trips 3 {
// CHECK: %[[E2:.*]] = plan.launch @k ins(%{{.*}}) outs(%{{[^ ]*}} : !plan.buffer<f32[4]>){{$}}
// CHECK: plan.copy %{{.*}} to %{{.*}} wait(%[[E2]]) :
// CHECK: } wait(%[[E0]]){{$}}
// CHECK: plan.copy %{{.*}} to %{{.*}} wait(%[[E1]], %[[LOOP]]) :
plan.func @loop(%y: !plan.buffer<f32[4]> {plan.output = "y"},
                %z: !plan.buffer<f32[4]> {plan.output = "z"}) {
  %c = plan.alloc : !plan.buffer<f32[4]>
  %t = plan.alloc : !plan.buffer<f32[4]>
  %0 = plan.fill %c bits 0 : !plan.buffer<f32[4]>
  %1 = plan.fill %z bits 1 : !plan.buffer<f32[4]>
  %2 = plan.loop trips 3 {
    %3 = plan.launch @k ins(%c : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
    %4 = plan.copy %t to %c : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
  }
  %5 = plan.copy %c to %z : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
  plan.return
}
