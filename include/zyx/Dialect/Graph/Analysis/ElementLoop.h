//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Loops whose trips are independent of each other but element by element: those that one kernel computes, in which who
// has an element has it for all trips.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_ELEMENTLOOP_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_ELEMENTLOOP_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

#include <map>
#include <optional>

namespace zyx::graph::ir {

/// What marks a loop that becomes one kernel: its body is in no groups. The value is the RecurrentShape of a loop whose
/// rows clusters have, and a unit where each point is for itself.
inline constexpr llvm::StringLiteral oneKernelAttrName = "zyx.one_kernel";
/// Whether an operand of such a loop is part of its kernel: a constant of one element, repeated. Others are in memory.
bool isInLoopKernel(mlir::Value operand);
/// What marks a group of one trip's elements, whose scatters update what they begin with.
inline constexpr llvm::StringLiteral elementsAttrName = "zyx.elements";

/// An integer that depends on the indices of the domain and on the trip: a constant, and for each of these a factor.
struct Linear {
  int64_t constant = 0;
  /// Of the domain's dimensions, and behind them of the trip.
  llvm::SmallVector<int64_t, 4> factors;

  bool operator==(const Linear &) const = default;
  bool operator<(const Linear &other) const {
    return std::tie(constant, factors) < std::tie(other.constant, other.factors);
  }
  bool isConstant() const {
    return llvm::all_of(factors, [](int64_t factor) { return factor == 0; });
  }
};

/// What one trip computes of one point of the domain, step by step.
struct ElementStep {
  enum class Kind {
    /// A carried element, by its number.
    State,
    /// An element of what the loop begins with or of an invariant, where `place` says.
    Load,
    /// The integer `place`.
    Number,
    Constant,
    /// An element-wise op.
    Compute,
    /// A reduction of all operands.
    Reduce,
    /// The sum of products of a row and a column of an invariant. The row is what all points that differ along the last
    /// dimension of the domain have: element `part * extent + point` of it is operand `part` of a point.
    Dot,
  };
  Kind kind;
  mlir::Operation *op = nullptr;
  /// Steps before this one.
  llvm::SmallVector<unsigned, 3> operands;
  /// What outside of the loop is loaded.
  mlir::Value source;
  Linear place;
  unsigned state = 0;
  /// The element type of the graph.
  mlir::Type type;
  /// From one element of a dot's column to the next one; `place` is the first.
  int64_t stride = 0;
};

/// An element that is carried in registers, one of those that its point of the domain has.
struct CarriedElement {
  /// Of the loop's results and what it begins with.
  unsigned position;
  /// Its place there.
  Linear place;
  /// The step that makes the next trip's.
  unsigned next;
};

/// A row of a carried tensor that each trip writes, and no trip reads.
struct WrittenElement {
  unsigned position;
  Linear place;
  unsigned update;
  ScatterKind kind;
  /// Along the dimension of the rows: what of it the trips write, and how far apart in memory they lie.
  int64_t firstRow, endRow, numRows, rowStride;
};

/// An element of a result of a group.
struct StoredElement {
  unsigned position;
  Linear place;
  unsigned step;
};

/// A loop as a program of the points of its domain; or a group in the body of a loop, as what one trip of that
/// computes.
struct ElementLoop {
  int64_t trips = 0;
  llvm::SmallVector<int64_t> domain;
  std::vector<ElementStep> steps;
  llvm::SmallVector<CarriedElement> carried;
  llvm::SmallVector<WrittenElement> written;
  llvm::SmallVector<StoredElement> stored;

  /// Nothing where a trip reads what other points carry, or is too long.
  static std::optional<ElementLoop> analyse(LoopOp loop);
  /// Of a loop with dots: a trip reads what points of the same row carry, as factors of products with invariants.
  static std::optional<ElementLoop> analyseRecurrent(LoopOp loop);
  /// Of a group in the body of a loop whose scatters each write the trip's row. A point may have elements of results
  /// that are several times as long as the domain.
  static std::optional<ElementLoop> analyse(GroupOp group);

  int64_t numPoints() const;
  /// Joins dimensions of the domain that everything walks as one.
  void joinDims();
};

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_ELEMENTLOOP_H
