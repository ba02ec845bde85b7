//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHATTRS_TD
#define ZYX_DIALECT_GRAPH_IR_GRAPHATTRS_TD

include "zyx/Dialect/Graph/IR/GraphDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

def Graph_ExtentsAttr : AttrDef<Graph_Dialect, "Extents",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "extents";
  let summary = "Extents of a tensor as expressions of symbols";
  let description = [{
    The encoding of a tensor type that has a `?`: one expression per dimension, a number where the
    extent is one. Expressions are sums and products of integers, symbols and quotients rounded
    down (`floordiv`), in any order: they are printed in one. A symbol is a name that belongs
    to the entry; its value is what the entry's arguments make it when it is called.

    ```mlir
    %y = graph.unary exp %x : tensor<?x8xf32, #graph.extents<"2*n + 1", "8">>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$texts);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Graph_ImplementationAttr : AttrDef<Graph_Dialect, "Implementation"> {
  let mnemonic = "implementation";
  let summary = "A kernel of the user's own, for one kind of machine";
  let description = [{
    Its language (`kernel`, `c` or `ptx`), the function in the text, the name of a target or of a kind of device, the
    types of the op that it is for, how it is launched (`groups`, `threads`, `shared` bytes; 1, 1 and 0 where absent),
    and the lines of the text. docs/custom-kernels.md says what a kernel is given in each language.

    ```mlir
    #graph.implementation<c "twice" for "cpu" : (tensor<4xf32>) -> tensor<4xf32> text [
      "void twice(const float *x, float *y) {",
      "  for (int i = 0; i < 4; ++i) y[i] = 2 * x[i];",
      "}"]>
    ```
  }];
  let parameters = (ins "::zyx::graph::Language":$language, "::mlir::StringAttr":$entry, "::mlir::StringAttr":$target,
                        "::mlir::FunctionType":$types, "int64_t":$groups, "int64_t":$threads, "int64_t":$shared,
                        "::mlir::StringAttr":$text);
  let hasCustomAssemblyFormat = 1;
}

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHATTRS_TD
