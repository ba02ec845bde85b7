//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_TRANSPORT_H
#define ZYX_DIALECT_GRAPH_TRANSPORT_H

#include "zyx/Graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace zyx::graph::ir {

/// The name by which a caller binds an argument or reads a result: the attribute `graph.name`, or
/// "arg0", "result0" and so on.
std::string getArgumentName(mlir::func::FuncOp entry, unsigned index);
std::string getResultName(mlir::func::FuncOp entry, unsigned index);

/// Whether an argument keeps its value from run to run: the attribute `graph.weight`.
bool isWeight(mlir::func::FuncOp entry, unsigned index);

/// The plain graph of an entry, op for op, with file, line and column of each. Refuses, with the
/// place, what is not a program of graph ops: other ops, groups, several blocks, no body, two
/// inputs or two outputs of one name, an argument that is no weight behind one that is.
Result<Graph> exportGraph(mlir::func::FuncOp entry);

/// A module with the graph as its only function. Nodes keep their order; those that nothing uses
/// are kept too. The context must have the graph and func dialects in its registry.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(const Graph &graph, mlir::MLIRContext *context);

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_TRANSPORT_H
