//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_GRAPH_SYMBOLS_H
#define ZYX_GRAPH_SYMBOLS_H

#include "zyx/Graph/Graph.h"

#include <set>

namespace zyx::graph {

/// The symbols in the types of a graph's nodes and of those in its bodies; empty for a graph that can be compiled.
std::set<std::string> collectSymbols(const Graph &graph);

/// The values that give the graph's inputs these types, one per input. An extent that is linear in
/// one symbol without a value gives it one; `given` holds values to begin with. Refuses types that
/// no values give, and symbols that get no value, by name.
Result<Bindings> bindSymbols(const Graph &graph, std::span<const TensorType> inputs, Bindings given = {});

/// The graph with values in the place of its symbols. Every type is inferred again, so what a
/// symbolic graph only seemed to satisfy is refused here, with the op and its place.
Result<Graph> specialise(const Graph &graph, const Bindings &bindings);

/// The attributes with values in the place of the symbols in their body. Values of other symbols
/// are not looked at.
Result<Attributes> specialise(const Attributes &attributes, const Bindings &bindings);

} // namespace zyx::graph

#endif // ZYX_GRAPH_SYMBOLS_H
