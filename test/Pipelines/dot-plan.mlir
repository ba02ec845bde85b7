// What a plan's drawing says of memory: a part that is written again has a new writer, and an event
// without data is a dashed edge.
// RUN: zyx-translate --to-dot %s | FileCheck %s
// RUN: zyx-translate --to-dot %s | FileCheck %s --check-prefix=REUSED

kernel.func @k(%x: !kernel.buffer<f32, global>, %y: !kernel.buffer<f32, global>) {
  kernel.return
}
plan.func @p(%x: !plan.buffer<f32[16]> {plan.input = "x"}, %y: !plan.buffer<f32[16]> {plan.output = "y"}) {
  %arena = plan.arena : !plan.buffer<u8[64]>
  %t = plan.slice %arena[0] : !plan.buffer<u8[64]> -> !plan.buffer<f32[16]>
  %e0 = plan.launch @k ins(%x : !plan.buffer<f32[16]>) outs(%t : !plan.buffer<f32[16]>)
  %e1 = plan.copy %t to %y wait(%e0) : !plan.buffer<f32[16]> to !plan.buffer<f32[16]>
  %e2 = plan.fill %t bits 0 wait(%e1) : !plan.buffer<f32[16]>
  %e3 = plan.launch @k ins(%t : !plan.buffer<f32[16]>) outs(%y : !plan.buffer<f32[16]>) wait(%e2)
  plan.return
}

// A loop is a frame around its commands.
plan.func @l(%n: !plan.buffer<i64[]> {plan.input = "n"}, %y: !plan.buffer<f32[16]> {plan.output = "y"}) {
  %e0 = plan.fill %y bits 0 : !plan.buffer<f32[16]>
  %e1 = plan.loop count(%n : !plan.buffer<i64[]>) {
    %t = plan.alloc : !plan.buffer<f32[16]>
    %e2 = plan.launch @k ins(%y : !plan.buffer<f32[16]>) outs(%t : !plan.buffer<f32[16]>)
  } wait(%e0)
  %e3 = plan.loop trips 3 {
    %e4 = plan.fill %y bits 1 : !plan.buffer<f32[16]>
  } wait(%e1)
  plan.return
}

// An init is one, too.
plan.func @i(%w: !plan.buffer<f32[16]> {plan.input = "w", plan.weight}, %y: !plan.buffer<f32[16]> {plan.output = "y"}) {
  %t = plan.alloc kept : !plan.buffer<f32[16]>
  plan.init {
    %e0 = plan.launch @k ins(%w : !plan.buffer<f32[16]>) outs(%t : !plan.buffer<f32[16]>)
  }
  %e1 = plan.launch @k ins(%t : !plan.buffer<f32[16]>) outs(%y : !plan.buffer<f32[16]>)
  plan.return
}
// Smaller buffers in the memory of a larger one that is no longer needed: what reads them, reads nothing of its
// writer, whose rest is still there.
plan.func @reused(%x: !plan.buffer<f32[64]> {plan.input = "x"}, %y: !plan.buffer<f32[16]> {plan.output = "y"}) {
  %arena = plan.arena : !plan.buffer<u8[256]>
  %large = plan.slice %arena[0] : !plan.buffer<u8[256]> -> !plan.buffer<f32[64]>
  %small = plan.slice %arena[64] : !plan.buffer<u8[256]> -> !plan.buffer<f32[16]>
  %rest = plan.slice %arena[128] : !plan.buffer<u8[256]> -> !plan.buffer<f32[16]>
  %e0 = plan.launch @k ins(%x : !plan.buffer<f32[64]>) outs(%large : !plan.buffer<f32[64]>)
  %e1 = plan.fill %small bits 0 wait(%e0) : !plan.buffer<f32[16]>
  %e2 = plan.launch @k ins(%small : !plan.buffer<f32[16]>) outs(%y : !plan.buffer<f32[16]>) wait(%e1)
  %e3 = plan.launch @k ins(%rest : !plan.buffer<f32[16]>) outs(%y : !plan.buffer<f32[16]>) wait(%e2)
  plan.return
}
// REUSED: digraph "reused"
// REUSED: n0 -> n1 [label="f32[64]"]
// REUSED-NEXT: n1 -> n2 [style=dashed]
// REUSED-NEXT: n2 -> n3 [label="f32[16] at 64"]
// REUSED-NEXT: n1 -> n4 [label="f32[16] at 128"]
// REUSED-NEXT: n3 -> n4 [style=dashed]
// REUSED-NEXT: n4 -> n5

// CHECK: n1 [label="launch k"]
// CHECK-NEXT: n2 [label="copy"]
// CHECK-NEXT: n3 [label="fill"]
// CHECK-NEXT: n4 [label="launch k"]
// CHECK-NEXT: n5 [label="y", shape=ellipse]
// CHECK-NEXT: n0 -> n1 [label="f32[16]"]
// CHECK-NEXT: n1 -> n2 [label="f32[16] at 0"]
// CHECK-NEXT: n2 -> n3 [style=dashed]
// CHECK-NEXT: n3 -> n4 [label="f32[16] at 0"]
// CHECK-NEXT: n4 -> n5 [label="f32[16]"]

// CHECK: digraph "l"
// CHECK: n1 [label="fill"]
// CHECK-NEXT: subgraph cluster_0 {
// CHECK-NEXT: label="loop"
// CHECK-NEXT: n2 [label="loop"]
// CHECK-NEXT: n3 [label="launch k"]
// CHECK: n4 [label="loop\ntrips 3"]
// CHECK: n0 -> n2 [label="i64[]"]
// CHECK-NEXT: n1 -> n2 [style=dashed]
// CHECK-NEXT: n1 -> n3 [label="f32[16]"]

// CHECK: digraph "i"
// CHECK: subgraph cluster_0 {
// CHECK-NEXT: label="init"
// CHECK-NEXT: n1 [label="launch k"]
// CHECK: n1 -> n2 [label="f32[16]"]
