//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_REFERENCE_PLANNER_H
#define ZYX_LIB_REFERENCE_PLANNER_H

#include "Access.h"

#include "zyx/Graph/Graph.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace zyx::reference {

/// A step of a program: fills one block with elements of a node.
struct Instruction {
  graph::NodeId node = 0;
  /// Where the elements are read; none for an elementwise op, which reads the blocks of `operands`.
  std::optional<Access> access;
  /// The block that is filled and those of the operands. A block is used again after its last
  /// reader, so a long chain of ops needs few.
  uint32_t block = 0;
  std::vector<uint32_t> operands;
};

/// An operand that is read at any of its elements: which node's elements it shows, and which of them
/// by the operand's linear index.
struct Source {
  graph::NodeId node;
  Access access;
};

/// How the elements of one stored node are computed, block by block of its iteration space: its own
/// shape, or for a reduce the operand's with the dimensions that stay first.
struct Program {
  graph::NodeId node = 0;
  std::vector<Instruction> instructions;
  uint32_t numBlocks = 0;
  /// The block of the elements that are stored; of a reduce its operand, of a gather its indices.
  uint32_t result = 0;
  /// What is read at indices that the op itself computes: x of a gather, the operands of a pad or a
  /// concat.
  std::vector<Source> sources;
};

/// Programs in an order in which a node is stored before it is read.
struct Plan {
  std::vector<Program> programs;
  /// Per node, the program that reads it last; nodes that no program reads are not here.
  std::unordered_map<graph::NodeId, size_t> lastRead;
};

/// Decides what is stored: outputs, reduces, gathers, pads, concats, the results and operands of
/// loops and custom ops, and elementwise ops that are wanted in more than one place, behind an expand
/// (where they would be computed again for each repetition), or at indices that are data. All other elementwise ops
/// become instructions of the one program that wants them; views become accesses. `order` is graph.reachable().
Plan makePlan(const graph::Graph &graph, const std::vector<graph::NodeId> &order);

} // namespace zyx::reference

#endif // ZYX_LIB_REFERENCE_PLANNER_H
