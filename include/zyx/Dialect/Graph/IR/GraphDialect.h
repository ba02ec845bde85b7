//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_GRAPHDIALECT_H
#define ZYX_DIALECT_GRAPH_IR_GRAPHDIALECT_H

#include "mlir/IR/Dialect.h"

#include "zyx/Dialect/Graph/IR/GraphDialect.h.inc"

#endif // ZYX_DIALECT_GRAPH_IR_GRAPHDIALECT_H
