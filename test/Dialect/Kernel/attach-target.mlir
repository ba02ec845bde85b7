// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_90a --verify-roundtrip | FileCheck %s
// RUN: zyx-opt %s -zyx-kernel-attach-target='target=sm_90a facts=simt.sharedBytes=65536,arithmetic.hasFma=false,sharedProducts.readCycles=0.5' \
// RUN:   --verify-roundtrip | FileCheck %s --check-prefix=FACTS
// RUN: zyx-opt %s -zyx-kernel-attach-target=target=sm_80 -zyx-kernel-attach-target=target=c | FileCheck %s --check-prefix=AGAIN
// RUN: not zyx-opt %s -zyx-kernel-attach-target=target=abacus 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not zyx-opt %s -zyx-kernel-attach-target=facts=simt.beads=3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not zyx-opt %s -zyx-kernel-attach-target=facts=simt.sharedBytes=true 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not zyx-opt %s -zyx-kernel-attach-target=facts=matrix.instructions=3 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not zyx-opt %s -zyx-kernel-attach-target=facts=simt.sharedBytes 2>&1 | FileCheck %s --check-prefix=FORM

// Passes that decide by the machine do not guess one.
// RUN: not zyx-opt %s -zyx-schedule-choose 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not zyx-opt %s -zyx-schedule-lay-out-factors 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not zyx-opt %s -zyx-schedule-pad-rows 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not zyx-opt %s -zyx-schedule-pack-weights 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not zyx-opt %s -zyx-convert-kernel-to-nvvm 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: module attributes {kernel.target = #kernel.target<"sm_90a">} {
// CHECK-NEXT: kernel.func @nothing
// FACTS: #kernel.target<"sm_90a", {arithmetic.hasFma = false, sharedProducts.readCycles = 5.000000e-01 : f64, simt.sharedBytes = 65536 : i64}>
// AGAIN: module attributes {kernel.target = #kernel.target<"c">} {
// NAME: error: no target is named 'abacus'; there are cpu,
// UNKNOWN: error: records have no fact 'simt.beads'
// TYPE: error: fact 'simt.sharedBytes' cannot be true
// TABLE: error: fact 'matrix.instructions' cannot be 3 : i64
// FORM: error: fact 'simt.sharedBytes' has not the form group.field=value
// NONE: error: no module around says what machine it is for: 'kernel.target' is missing, which -zyx-kernel-attach-target sets
kernel.func @nothing() {
  kernel.return
}
