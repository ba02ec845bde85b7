// RUN: zyx-opt %s --verify-roundtrip | FileCheck %s

kernel.func @k(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {
  kernel.return
}
kernel.func @fill_n(%a: !kernel.buffer<f32, global>, %n: index) {
  kernel.return
}

// CHECK-LABEL: plan.func @all
// CHECK-SAME: (%{{.*}}: !plan.buffer<f32[4x8]> {plan.input = "x"}, %{{.*}}: !plan.buffer<f32[4x8]> {plan.output = "y"}
// CHECK-SAME: !plan.buffer<bool[]> {plan.output = "done"})
plan.func @all(%x: !plan.buffer<f32[4x8]> {plan.input = "x"},
               %y: !plan.buffer<f32[4x8]> {plan.output = "y"},
               %done: !plan.buffer<bool[]> {plan.output = "done"}) {
  // CHECK: %[[T:.*]] = plan.alloc : !plan.buffer<f32[4x8]>
  %t = plan.alloc : !plan.buffer<f32[4x8]>
  // CHECK: %[[ARENA:.*]] = plan.arena : !plan.buffer<u8[1024]>
  %arena = plan.arena : !plan.buffer<u8[1024]>
  // CHECK: plan.slice %[[ARENA]][64] : !plan.buffer<u8[1024]> -> !plan.buffer<bf16[0x3]>
  %s = plan.slice %arena[64] : !plan.buffer<u8[1024]> -> !plan.buffer<bf16[0x3]>
  %s2 = plan.slice %arena[128] : !plan.buffer<u8[1024]> -> !plan.buffer<f32[2]>
  // CHECK: plan.constant [1] : !plan.buffer<bool[]>
  %true = plan.constant [1] : !plan.buffer<bool[]>
  // CHECK: %[[E0:.*]] = plan.launch @k ins(%{{.*}} : !plan.buffer<f32[4x8]>) outs(%[[T]] : !plan.buffer<f32[4x8]>){{$}}
  %0 = plan.launch @k ins(%x : !plan.buffer<f32[4x8]>) outs(%t : !plan.buffer<f32[4x8]>)
  // CHECK: plan.launch @k ins(%[[T]] : {{.*}}) outs(%{{.*}} : {{.*}}) flops 4096 wait(%[[E0]])
  %1 = plan.launch @k ins(%t : !plan.buffer<f32[4x8]>) outs(%y : !plan.buffer<f32[4x8]>) flops 4096 wait(%0)
  // CHECK: plan.launch @fill_n outs(%{{.*}} : !plan.buffer<f32[2]>) scalars [2]
  %2 = plan.launch @fill_n outs(%s2 : !plan.buffer<f32[2]>) scalars [2]
  // CHECK: plan.copy %{{.*}} to %{{.*}} wait(%{{.*}}) : !plan.buffer<bool[]> to !plan.buffer<bool[]>
  %3 = plan.copy %true to %done wait(%0, %1) : !plan.buffer<bool[]> to !plan.buffer<bool[]>
  // CHECK: plan.fill %[[T]] bits 1065353216 wait(%{{.*}}) : !plan.buffer<f32[4x8]>
  %4 = plan.fill %t bits 1065353216 wait(%1) : !plan.buffer<f32[4x8]>
  // CHECK: plan.return
  plan.return
}

// CHECK-LABEL: plan.func @loops
plan.func @loops(%n: !plan.buffer<i64[]> {plan.input = "n"},
                 %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  %i = plan.alloc : !plan.buffer<i64[]>
  %t = plan.alloc : !plan.buffer<f32[4]>
  // CHECK: %[[E0:.*]] = plan.fill
  %0 = plan.fill %y bits 0 : !plan.buffer<f32[4]>
  // CHECK: plan.loop trips 16 index(%[[I:.*]] : !plan.buffer<i64[]>) {
  // CHECK-NEXT: plan.launch @k
  // CHECK-NEXT: plan.loop count(%{{.*}} : !plan.buffer<i64[]>) {
  // CHECK-NEXT: plan.copy
  // CHECK-NEXT: }
  // CHECK-NEXT: } wait(%[[E0]])
  %1 = plan.loop trips 16 index(%i : !plan.buffer<i64[]>) {
    %2 = plan.launch @k ins(%y : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>)
    %3 = plan.loop count(%n : !plan.buffer<i64[]>) {
      %4 = plan.copy %t to %y : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
    }
  } wait(%0)
  // CHECK: plan.loop trips 0 {
  // CHECK-NEXT: }
  %5 = plan.loop trips 0 {
  }
  // CHECK: plan.loop trips 5 {
  // CHECK-NEXT: plan.launch @k ins(%[[Y:.*]] : {{.*}}) outs(%[[T:.*]] : !plan.buffer<f32[4]>) updates flops 4 bytes 8
  // CHECK-NEXT: }, {
  // CHECK-NEXT: plan.launch @k ins(%[[T]] : {{.*}}) outs(%[[Y]] :
  // CHECK-NEXT: }
  %6 = plan.loop trips 5 {
    %7 = plan.launch @k ins(%y : !plan.buffer<f32[4]>) outs(%t : !plan.buffer<f32[4]>) updates flops 4 bytes 8
  }, {
    %8 = plan.launch @k ins(%t : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
  }
  %go = plan.alloc : !plan.buffer<bool[]>
  // CHECK: plan.loop count(%{{.*}} : !plan.buffer<bool[]>) {
  %9 = plan.loop count(%go : !plan.buffer<bool[]>) {
    %10 = plan.launch @k ins(%y : !plan.buffer<f32[4]>) outs(%go : !plan.buffer<bool[]>)
  }
  plan.return
}

// CHECK-LABEL: plan.func @init
// CHECK-SAME: {plan.input = "w", plan.weight}
plan.func @init(%w: !plan.buffer<f32[4]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  // CHECK: plan.arena kept : !plan.buffer<u8[64]>
  %arena = plan.arena kept : !plan.buffer<u8[64]>
  %s = plan.slice %arena[0] : !plan.buffer<u8[64]> -> !plan.buffer<f32[4]>
  // CHECK: %[[K:.*]] = plan.alloc kept : !plan.buffer<f32[4]>
  %k = plan.alloc kept : !plan.buffer<f32[4]>
  // CHECK: plan.init {
  // CHECK-NEXT: %[[E:.*]] = plan.launch @k
  // CHECK-NEXT: plan.copy %[[K]] to %{{.*}} wait(%[[E]])
  // CHECK-NEXT: }
  plan.init {
    %0 = plan.launch @k ins(%w : !plan.buffer<f32[4]>) outs(%k : !plan.buffer<f32[4]>)
    %1 = plan.copy %k to %s wait(%0) : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
  }
  %2 = plan.copy %s to %y : !plan.buffer<f32[4]> to !plan.buffer<f32[4]>
  plan.return
}

// CHECK: llvm.func @code(!llvm.ptr, i64, i64) attributes {{.*}}plan.arguments = 2 : i64
llvm.func @code(!llvm.ptr, i64, i64) attributes {plan.arguments = 2 : i64}
// CHECK-LABEL: plan.func @machine
plan.func @machine(%x: !plan.buffer<f32[4]> {plan.input = "x"}, %y: !plan.buffer<f32[4]> {plan.output = "y"}) {
  // CHECK: plan.launch @code
  %0 = plan.launch @code ins(%x : !plan.buffer<f32[4]>) outs(%y : !plan.buffer<f32[4]>)
  plan.return
}
