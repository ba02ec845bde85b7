//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The bytes of a node's attributes, for the byte form and for the canonical hash.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_GRAPH_ATTRIBUTEBYTES_H
#define ZYX_LIB_GRAPH_ATTRIBUTEBYTES_H

#include "zyx/Base/Bytes.h"
#include "zyx/Graph/Graph.h"

namespace zyx::graph {

/// The fewest bytes that attributes take.
inline constexpr uint64_t minAttributeBytes = 90;
void writeAttributes(ByteWriter &writer, const Attributes &attributes);
/// The inverse; bodies are not among the bytes. Whether they suit an op is for the graph to say;
/// whether the byte `flags` is at most 15, for the reader.
Attributes readAttributes(ByteReader &reader, uint8_t &flags);

} // namespace zyx::graph

#endif // ZYX_LIB_GRAPH_ATTRIBUTEBYTES_H
