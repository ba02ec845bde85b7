// RUN: split-file %s %t
// RUN: not zyx-opt %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not zyx-opt %t/short.mlir 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not zyx-opt %t/long.mlir 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not zyx-opt %t/bools.mlir 2>&1 | FileCheck %s --check-prefix=BOOLS
// RUN: not zyx-opt %t/large.mlir 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not zyx-opt %t/open.mlir 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not zyx-opt %t/symbols.mlir 2>&1 | FileCheck %s --check-prefix=SYMBOLS
// RUN: not zyx-opt %t/vector.mlir 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not zyx-opt %t/index.mlir 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not zyx-opt %t/result.mlir 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not zyx-opt %t/digits.mlir 2>&1 | FileCheck %s --check-prefix=DIGITS
// RUN: not zyx-opt %t/odd.mlir 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not zyx-opt %t/far.mlir 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not zyx-compile %t/short.mlir --target=cpu -o %t.zyxa 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not zyx-compile %t/far.mlir --target=cpu -o %t.zyxa 2>&1 | FileCheck %s --check-prefix=FAR

//--- missing.mlir
// MISSING: missing.mlir:3:8: error: 'graph.constant' op the resource 'table' has no elements in the text
func.func @main() -> tensor<2xf32> {
  %0 = graph.constant dense_resource<table> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- short.mlir
// SHORT: short.mlir:3:8: error: 'graph.constant' op the resource 'table' has 4 bytes, and f32[2] has 8
func.func @main() -> tensor<2xf32> {
  %0 = graph.constant dense_resource<table> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { table: "0x040000000000803F" } } #-}

//--- long.mlir
// LONG: long.mlir:3:8: error: 'graph.constant' op the resource 'table' has 5 bytes, and f32[] has 4
func.func @main() -> tensor<f32> {
  %0 = graph.constant dense_resource<table> : tensor<f32>
  return %0 : tensor<f32>
}
{-# dialect_resources: { builtin: { table: "0x040000000000803F00" } } #-}

//--- bools.mlir
// BOOLS: bools.mlir:3:8: error: 'graph.constant' op the resource 'flags' has a byte that is no bool, 0 or 1
func.func @main() -> tensor<2xi1> {
  %0 = graph.constant dense_resource<flags> : tensor<2xi1>
  return %0 : tensor<2xi1>
}
{-# dialect_resources: { builtin: { flags: "0x010000000102" } } #-}

//--- large.mlir
// LARGE: large.mlir:3:8: error: 'graph.constant' op the resource 'table' has 4 bytes, and i8[4097] has 4097
func.func @main() -> tensor<4097xi8> {
  %0 = graph.constant dense_resource<table> : tensor<4097xi8>
  return %0 : tensor<4097xi8>
}
{-# dialect_resources: { builtin: { table: "0x0100000001020304" } } #-}

//--- open.mlir
// OPEN: open.mlir:3:8: error: 'graph.constant' op failed to verify that all of {value, result} have same type
func.func @main() -> tensor<?xf32> {
  %0 = graph.constant dense_resource<table> : tensor<?xf32>
  return %0 : tensor<?xf32>
}
{-# dialect_resources: { builtin: { table: "0x040000000000803F" } } #-}

//--- symbols.mlir
// SYMBOLS: symbols.mlir:3:8: error: 'graph.constant' op failed to verify that all of {value, result} have same type
func.func @main() -> tensor<?xf32, #graph.extents<"n">> {
  %0 = graph.constant dense_resource<table> : tensor<?xf32, #graph.extents<"n">>
  return %0 : tensor<?xf32, #graph.extents<"n">>
}
{-# dialect_resources: { builtin: { table: "0x040000000000803F" } } #-}

//--- vector.mlir
// VECTOR: vector.mlir:3:8: error: 'graph.constant' op result #0 must be
func.func @main() {
  %0 = graph.constant dense_resource<table> : vector<1xf32>
  return
}
{-# dialect_resources: { builtin: { table: "0x040000000000803F" } } #-}

//--- index.mlir
// INDEX: index.mlir:3:8: error: 'graph.constant' op result #0 must be
func.func @main() {
  %0 = graph.constant dense_resource<table> : tensor<1xindex>
  return
}
{-# dialect_resources: { builtin: { table: "0x080000000000000000000000" } } #-}

//--- result.mlir
// RESULT: result.mlir:3:8: error: 'graph.constant' op failed to verify that all of {value, result} have same type
func.func @main() -> tensor<2xf32> {
  %0 = "graph.constant"() <{value = dense_resource<table> : tensor<1xf32>}> : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { table: "0x040000000000803F" } } #-}

//--- digits.mlir
// DIGITS: digits.mlir:6:44: error: expected hex string blob for key 'table'
func.func @main() -> tensor<1xf32> {
  %0 = graph.constant dense_resource<table> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
{-# dialect_resources: { builtin: { table: "0x0400zz" } } #-}

//--- odd.mlir
// ODD: odd.mlir:6:44: error: expected hex string blob for key 'table' to encode alignment in first 4 bytes, but got non-power-of-2 value: 3
func.func @main() -> tensor<1xf32> {
  %0 = graph.constant dense_resource<table> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
{-# dialect_resources: { builtin: { table: "0x030000000000803F" } } #-}

//--- far.mlir
// FAR: far.mlir{{.*}} line 6 has a resource that is aligned to 2147483648 bytes, more than 4096
func.func @main() -> tensor<1xf32> {
  %0 = graph.constant dense_resource<table> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
{-# dialect_resources: { builtin: { table: "0x000000800000803F" } } #-}
