//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The kinds of unary. Apart from GraphOps.h, which every pass over graphs includes: a new kind builds what names kinds.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_IR_UNARYKINDS_H
#define ZYX_DIALECT_GRAPH_IR_UNARYKINDS_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include "zyx/Dialect/Graph/IR/UnaryKinds.h.inc"

#endif // ZYX_DIALECT_GRAPH_IR_UNARYKINDS_H
