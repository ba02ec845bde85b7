// RUN: zyx-opt %s --split-input-file --zyx-graph-specialise=values=n=3 --verify-diagnostics
// RUN: not zyx-opt %s --split-input-file --zyx-graph-specialise=values=n 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: 'n' gives no symbol a value, as n=4 does
// RUN: not zyx-opt %s --split-input-file --zyx-graph-specialise=values=n=1,n=2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: the symbol n is given two values

// expected-error@+1 {{the symbol m has no value}}
func.func @unknown(%x: tensor<?xf32, #graph.extents<"m">>) { return }

// -----

// expected-error@+1 {{the extent n - 5 of f32[n - 5] becomes -2}}
func.func @negative(%x: tensor<?xf32, #graph.extents<"n - 5">>) { return }

// -----

// expected-error@+1 {{the symbol m has no value}}
func.func private @declared() -> tensor<?xf32, #graph.extents<"m">>
