// RUN: zyx-opt %s --zyx-plan-hoist-init | FileCheck %s
// RUN: zyx-opt %s --zyx-plan-hoist-init --remarks-filter=zyx-plan -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: zyx-opt %s --zyx-plan-hoist-init --zyx-plan-assign-arena --zyx-plan-insert-waits | FileCheck %s --check-prefix=PLANNED

kernel.func @k(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>) {
  kernel.return
}
kernel.func @sum(%a: !kernel.buffer<f32, global>, %b: !kernel.buffer<f32, global>, %c: !kernel.buffer<f32, global>) {
  kernel.return
}
kernel.func @table(%a: !kernel.buffer<f32, global>) {
  kernel.return
}

// What the run reads is kept; what only the init reads is not.
// REMARK: 2 commands run once for many runs, 32 bytes are kept
// CHECK-LABEL: plan.func @chain
// CHECK-NEXT: %[[U:.*]] = plan.alloc kept : !plan.buffer<f32[8]>
// CHECK-NEXT: plan.init {
// CHECK-NEXT: %[[T:.*]] = plan.alloc : !plan.buffer<f32[8]>
// CHECK-NEXT: plan.launch @k ins(%arg1 : {{.*}}) outs(%[[T]] :
// CHECK-NEXT: plan.launch @k ins(%[[T]] : {{.*}}) outs(%[[U]] :
// CHECK-NEXT: }
// CHECK-NEXT: plan.launch @sum ins(%arg0, %[[U]] : {{.*}}) outs(%arg2 :
// CHECK-NEXT: plan.return
// PLANNED-LABEL: plan.func @chain
// PLANNED-DAG: %[[KEPT:.*]] = plan.arena kept : !plan.buffer<u8[64]>
// PLANNED-DAG: %[[ARENA:.*]] = plan.arena : !plan.buffer<u8[64]>
// PLANNED: %[[U:.*]] = plan.slice %[[KEPT]][0] : !plan.buffer<u8[64]> -> !plan.buffer<f32[8]>
// PLANNED: plan.init {
// PLANNED: %[[T:.*]] = plan.slice %[[ARENA]][0]
// PLANNED: %[[E:.*]] = plan.launch @k ins(%arg1 : {{.*}}) outs(%[[T]] : !plan.buffer<f32[8]>){{$}}
// PLANNED: plan.launch @k ins(%[[T]] : {{.*}}) outs(%[[U]] : !plan.buffer<f32[8]>) wait(%[[E]])
// PLANNED: }
// PLANNED: plan.launch @sum ins(%arg0, %[[U]] : {{.*}}) outs(%arg2 : !plan.buffer<f32[8]>){{$}}
plan.func @chain(%x: !plan.buffer<f32[8]> {plan.input = "x"},
                 %w: !plan.buffer<f32[8]> {plan.input = "w", plan.weight},
                 %y: !plan.buffer<f32[8]> {plan.output = "y"}) {
  %t = plan.alloc : !plan.buffer<f32[8]>
  %u = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.launch @k ins(%w : !plan.buffer<f32[8]>) outs(%t : !plan.buffer<f32[8]>)
  %1 = plan.launch @k ins(%t : !plan.buffer<f32[8]>) outs(%u : !plan.buffer<f32[8]>) wait(%0)
  %2 = plan.launch @sum ins(%x, %u : !plan.buffer<f32[8]>, !plan.buffer<f32[8]>) outs(%y : !plan.buffer<f32[8]>) wait(%1)
  plan.return
}

// An input is no weight, and an output may be other memory in each run.
// CHECK-LABEL: plan.func @stays
// CHECK-NOT: plan.init
plan.func @stays(%x: !plan.buffer<f32[8]> {plan.input = "x"},
                 %w: !plan.buffer<f32[8]> {plan.input = "w", plan.weight},
                 %y: !plan.buffer<f32[8]> {plan.output = "y"},
                 %z: !plan.buffer<f32[8]> {plan.output = "z"}) {
  %t = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.launch @sum ins(%x, %w : !plan.buffer<f32[8]>, !plan.buffer<f32[8]>) outs(%t : !plan.buffer<f32[8]>)
  %1 = plan.launch @k ins(%t : !plan.buffer<f32[8]>) outs(%y : !plan.buffer<f32[8]>)
  %2 = plan.launch @k ins(%w : !plan.buffer<f32[8]>) outs(%z : !plan.buffer<f32[8]>)
  plan.return
}

// 4 MiB of a weight of 1 MiB are too much to keep, and then what reads them stays as well; 2 MiB and a
// MiB of all together are not. What no run reads may have any size.
// CHECK-LABEL: plan.func @large
// CHECK: %[[OK:.*]] = plan.alloc kept : !plan.buffer<f32[786428]>
// CHECK: %[[SMALL:.*]] = plan.alloc kept : !plan.buffer<f32[4]>
// CHECK: plan.init {
// CHECK-NEXT: plan.launch @k ins(%arg1 : {{.*}}) outs(%[[OK]] :
// CHECK-NEXT: %[[WIDE:.*]] = plan.alloc : !plan.buffer<f32[4x262144]>
// CHECK-NEXT: plan.launch @k ins(%arg1 : {{.*}}) outs(%[[WIDE]] :
// CHECK-NEXT: plan.launch @k ins(%[[WIDE]] : {{.*}}) outs(%[[SMALL]] :
// CHECK-NEXT: }
// CHECK: %[[LARGE:.*]] = plan.alloc : !plan.buffer<f32[4x262144]>
// CHECK: plan.launch @k ins(%arg1 : {{.*}}) outs(%[[LARGE]] :
// CHECK: plan.launch @k ins(%[[LARGE]] : {{.*}}) outs(%{{.*}} : !plan.buffer<f32[8]>)
plan.func @large(%x: !plan.buffer<f32[8]> {plan.input = "x"},
                 %w: !plan.buffer<f32[262144]> {plan.input = "w", plan.weight},
                 %y: !plan.buffer<f32[8]> {plan.output = "y"}) {
  %large = plan.alloc : !plan.buffer<f32[4x262144]>
  %ok = plan.alloc : !plan.buffer<f32[786428]>
  %wide = plan.alloc : !plan.buffer<f32[4x262144]>
  %small = plan.alloc : !plan.buffer<f32[4]>
  %t = plan.alloc : !plan.buffer<f32[8]>
  %u = plan.alloc : !plan.buffer<f32[8]>
  %v = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.launch @k ins(%w : !plan.buffer<f32[262144]>) outs(%large : !plan.buffer<f32[4x262144]>)
  %1 = plan.launch @k ins(%large : !plan.buffer<f32[4x262144]>) outs(%t : !plan.buffer<f32[8]>)
  %2 = plan.launch @k ins(%w : !plan.buffer<f32[262144]>) outs(%ok : !plan.buffer<f32[786428]>)
  %3 = plan.launch @sum ins(%x, %ok : !plan.buffer<f32[8]>, !plan.buffer<f32[786428]>) outs(%u : !plan.buffer<f32[8]>)
  %4 = plan.launch @k ins(%w : !plan.buffer<f32[262144]>) outs(%wide : !plan.buffer<f32[4x262144]>)
  %5 = plan.launch @k ins(%wide : !plan.buffer<f32[4x262144]>) outs(%small : !plan.buffer<f32[4]>)
  %6 = plan.launch @sum ins(%u, %small : !plan.buffer<f32[8]>, !plan.buffer<f32[4]>) outs(%v : !plan.buffer<f32[8]>)
  %7 = plan.launch @sum ins(%v, %large : !plan.buffer<f32[8]>, !plan.buffer<f32[4x262144]>) outs(%y : !plan.buffer<f32[8]>)
  plan.return
}

// Tables that need no weight are kept up to a MiB, all together.
// CHECK-LABEL: plan.func @tables
// CHECK: %[[A:.*]] = plan.alloc kept : !plan.buffer<f32[131072]>
// CHECK: %[[B:.*]] = plan.alloc kept : !plan.buffer<f32[131072]>
// CHECK: plan.init {
// CHECK-NEXT: plan.launch @table outs(%[[A]] :
// CHECK-NEXT: plan.launch @table outs(%[[B]] :
// CHECK-NEXT: }
// CHECK: %[[C:.*]] = plan.alloc : !plan.buffer<f32[131072]>
// CHECK: plan.launch @table outs(%[[C]] :
plan.func @tables(%x: !plan.buffer<f32[8]> {plan.input = "x"}, %y: !plan.buffer<f32[8]> {plan.output = "y"}) {
  %a = plan.alloc : !plan.buffer<f32[131072]>
  %b = plan.alloc : !plan.buffer<f32[131072]>
  %c = plan.alloc : !plan.buffer<f32[131072]>
  %t = plan.alloc : !plan.buffer<f32[8]>
  %u = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.launch @table outs(%a : !plan.buffer<f32[131072]>)
  %1 = plan.launch @sum ins(%x, %a : !plan.buffer<f32[8]>, !plan.buffer<f32[131072]>) outs(%t : !plan.buffer<f32[8]>)
  %2 = plan.launch @table outs(%b : !plan.buffer<f32[131072]>)
  %3 = plan.launch @sum ins(%t, %b : !plan.buffer<f32[8]>, !plan.buffer<f32[131072]>) outs(%u : !plan.buffer<f32[8]>)
  %4 = plan.launch @table outs(%c : !plan.buffer<f32[131072]>)
  %5 = plan.launch @sum ins(%u, %c : !plan.buffer<f32[8]>, !plan.buffer<f32[131072]>) outs(%y : !plan.buffer<f32[8]>)
  plan.return
}

// From inside of a loop, too; what the loop carries is written twice.
// CHECK-LABEL: plan.func @loop
// CHECK: plan.init {
// CHECK-NEXT: plan.launch @k ins(%arg1 :
// CHECK-NEXT: }
// CHECK: plan.copy %arg1 to %[[H:.*]] :
// CHECK: plan.loop trips 3 {
// CHECK-NEXT: %[[N:.*]] = plan.alloc
// CHECK-NEXT: plan.launch @sum ins(%[[H]],
// CHECK-NEXT: plan.copy %[[N]] to %[[H]]
plan.func @loop(%x: !plan.buffer<f32[8]> {plan.input = "x"},
                %w: !plan.buffer<f32[8]> {plan.input = "w", plan.weight},
                %y: !plan.buffer<f32[8]> {plan.output = "y"}) {
  %h = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.copy %w to %h : !plan.buffer<f32[8]> to !plan.buffer<f32[8]>
  %1 = plan.loop trips 3 {
    %t = plan.alloc : !plan.buffer<f32[8]>
    %n = plan.alloc : !plan.buffer<f32[8]>
    %2 = plan.launch @k ins(%w : !plan.buffer<f32[8]>) outs(%t : !plan.buffer<f32[8]>)
    %3 = plan.launch @sum ins(%h, %t : !plan.buffer<f32[8]>, !plan.buffer<f32[8]>) outs(%n : !plan.buffer<f32[8]>)
    %4 = plan.copy %n to %h : !plan.buffer<f32[8]> to !plan.buffer<f32[8]>
  }
  %5 = plan.launch @sum ins(%x, %h : !plan.buffer<f32[8]>, !plan.buffer<f32[8]>) outs(%y : !plan.buffer<f32[8]>)
  plan.return
}

// What reads nothing, or constants alone, is the same in every run.
// CHECK-LABEL: plan.func @constants
// CHECK: %[[C:.*]] = plan.constant
// CHECK: plan.init {
// CHECK-NEXT: plan.launch @table
// CHECK-NEXT: plan.fill %{{.*}} bits 7
// CHECK-NEXT: plan.launch @k ins(%[[C]] :
// CHECK-NEXT: }
// CHECK: plan.launch
// CHECK: plan.return
plan.func @constants(%x: !plan.buffer<f32[8]> {plan.input = "x"},
                     %y: !plan.buffer<f32[8]> {plan.output = "y"}) {
  %t = plan.alloc : !plan.buffer<f32[8]>
  %u = plan.alloc : !plan.buffer<f32[8]>
  %v = plan.alloc : !plan.buffer<f32[2]>
  %r = plan.alloc : !plan.buffer<f32[8]>
  %s = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.launch @table outs(%t : !plan.buffer<f32[8]>)
  %1 = plan.fill %u bits 7 : !plan.buffer<f32[8]>
  %c = plan.constant [0, 0, 0, 64, 0, 0, 0, 64] : !plan.buffer<f32[2]>
  %2 = plan.launch @k ins(%c : !plan.buffer<f32[2]>) outs(%v : !plan.buffer<f32[2]>)
  %3 = plan.launch @sum ins(%x, %t : !plan.buffer<f32[8]>, !plan.buffer<f32[8]>) outs(%r : !plan.buffer<f32[8]>)
  %4 = plan.launch @sum ins(%r, %u : !plan.buffer<f32[8]>, !plan.buffer<f32[8]>) outs(%s : !plan.buffer<f32[8]>)
  %5 = plan.launch @sum ins(%s, %v : !plan.buffer<f32[8]>, !plan.buffer<f32[2]>) outs(%y : !plan.buffer<f32[8]>)
  plan.return
}

// A plan with an init stays as it is.
// CHECK-LABEL: plan.func @again
// CHECK: plan.init {
// CHECK-NEXT: }
// CHECK: plan.launch @table
plan.func @again(%y: !plan.buffer<f32[8]> {plan.output = "y"}) {
  plan.init {
  }
  %t = plan.alloc : !plan.buffer<f32[8]>
  %0 = plan.launch @table outs(%t : !plan.buffer<f32[8]>)
  %1 = plan.launch @k ins(%t : !plan.buffer<f32[8]>) outs(%y : !plan.buffer<f32[8]>)
  plan.return
}
