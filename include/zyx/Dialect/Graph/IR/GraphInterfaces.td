//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD
#define ZYX_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def Graph_NodeOpInterface : OpInterface<"NodeOpInterface"> {
  let cppNamespace = "::zyx::graph::ir";
  let description = [{
    An op that is a node of the plain graph. With the opcode, the attributes and the operands,
    export and verification need no case per op.
  }];
  let methods = [
    InterfaceMethod<"Which op of the plain graph this is.", "::zyx::graph::Op", "getOpcode">,
    InterfaceMethod<"What the node has beside its operands.", "::zyx::graph::Attributes",
                    "getPlainAttributes">,
  ];
}

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHINTERFACES_TD
