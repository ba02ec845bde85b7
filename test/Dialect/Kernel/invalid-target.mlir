// RUN: zyx-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{no target is named 'abacus'}}
module attributes {kernel.target = #kernel.target<"abacus">} {}

// -----

// expected-error @below {{records have no fact 'simt.beads'}}
module attributes {kernel.target = #kernel.target<"sm_80", {simt.beads = 3 : i64}>} {}

// -----

// expected-error @below {{fact 'vector.bytes' cannot be -1}}
module attributes {kernel.target = #kernel.target<"c", {vector.bytes = -1 : i64}>} {}

// -----

// expected-error @below {{attribute 'kernel.target' belongs on builtin.module, as a #kernel.target}}
module attributes {kernel.target = "sm_80"} {}

// -----

// expected-error @below {{attribute 'kernel.target' belongs on builtin.module, as a #kernel.target}}
kernel.func @own() attributes {kernel.target = #kernel.target<"sm_80">} {
  kernel.return
}
