//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Fuzz.h"

#include "zyx/Graph/Graph.h"

using namespace zyx;

/// Magic and version, of 4 bytes each, stand before the checksum.
static constexpr size_t checksumOffset = 8;

static void readGraph(std::span<const std::byte> bytes) {
  Result<graph::Graph> graph = graph::Graph::deserialize(bytes);
  if (!graph)
    return;
  fuzz::require(graph->verify().isOk(), "a graph is accepted that does not verify");
  Result<graph::Graph> again = graph::Graph::deserialize(graph->serialize());
  fuzz::require(again.isOk() && again->canonicalHash() == graph->canonicalHash(),
                "a graph changes when it is written again");
}

/// The byte form of a graph, as it is and with a right checksum.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  readGraph(fuzz::bytesOf(data, size));
  readGraph(fuzz::withHash64(fuzz::bytesOf(data, size), checksumOffset));
  return 0;
}
