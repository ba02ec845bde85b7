//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_TENSOR_RECOMPILELOG_H
#define ZYX_LIB_TENSOR_RECOMPILELOG_H

#include "zyx/Graph/Graph.h"

#include <unordered_map>
#include <unordered_set>

namespace zyx::detail {

/// Says once of each structure, when it was compiled for the eighth time, what the programs differ in. Programs are of
/// one structure where they have the same ops in the same order, of tensors of the same ranks.
class RecompileLog {
public:
  static constexpr size_t enough = 8;

  /// Of a program that is about to be compiled.
  void note(const graph::Graph &graph);

private:
  struct Structure {
    /// Of each node of the first program.
    std::vector<uint64_t> shapes, attributes;
    /// Nodes in which another one differed.
    std::vector<bool> shapeVaries, attributesVary;
    std::unordered_set<std::string> programs;
  };
  std::string describe(const graph::Graph &graph, const std::vector<graph::NodeId> &order,
                       const Structure &structure) const;

  std::unordered_map<std::string, Structure> structures;
};

} // namespace zyx::detail

#endif // ZYX_LIB_TENSOR_RECOMPILELOG_H
