//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The kinds of unary. Apart from Graph.h, which almost every file includes: a new kind builds what names kinds.
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_UNARYKIND_H
#define ZYX_GRAPH_UNARYKIND_H

#include "zyx/Graph/Graph.h"

namespace zyx::graph {

enum class UnaryKind : uint8_t {
#define ZYX_GRAPH_UNARY(Name, name) Name,
#include "zyx/Graph/UnaryKinds.inc"
};

/// Whether the derivative is 0 wherever there is one.
bool isFlat(UnaryKind kind);

} // namespace zyx::graph

#endif // ZYX_GRAPH_UNARYKIND_H
