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

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHATTRS_TD
