//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Private to the analysis of loops over elements.
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_GRAPH_ANALYSIS_ELEMENTEVALUATOR_H
#define ZYX_DIALECT_GRAPH_ANALYSIS_ELEMENTEVALUATOR_H

#include "zyx/Dialect/Graph/Analysis/ElementLoop.h"

#include <map>

namespace zyx::graph::ir {

/// Indices of an element, one for each dimension of its tensor.
using Indices = llvm::SmallVector<Linear, 4>;

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}
inline mlir::Type elementOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

/// Follows the values of a body from what a trip yields to what it reads. What an argument of the body is, who derives
/// from it says: a loop or a group.
class ElementEvaluator {
public:
  /// Steps of one trip that a kernel still has in registers, and elements of one point.
  static constexpr size_t mostSteps = 1024;
  static constexpr int64_t mostElements = 64;

  virtual ~ElementEvaluator() = default;

protected:
  /// The step that is an argument of the body at these indices.
  virtual std::optional<unsigned> evaluateArgument(mlir::BlockArgument argument, const Indices &at) = 0;
  virtual std::optional<unsigned> evaluateReduce(ReduceOp reduce, const Indices &at);

  std::optional<unsigned> evaluate(mlir::Value value, const Indices &at);
  /// Of a value whose elements are one number of the domain and the trip, that.
  std::optional<Linear> evaluateNumber(mlir::Value value, const Indices &at);
  /// The element of the updates at these indices.
  bool addRow(unsigned position, ScatterOp scatter, const Indices &at);
  /// Indices have become places.
  void dropUnread();

  unsigned add(ElementStep step) {
    result.steps.push_back(std::move(step));
    return result.steps.size() - 1;
  }
  unsigned addNumber(Linear number, mlir::Type type) {
    return add({ElementStep::Kind::Number, nullptr, {}, {}, std::move(number), 0, type});
  }
  Linear constant(int64_t value) const {
    Linear result;
    result.constant = value;
    result.factors.assign(this->result.domain.size() + 1, 0);
    return result;
  }
  /// The number of the trip.
  Linear trip() const {
    Linear trip = constant(0);
    trip.factors.back() = 1;
    return trip;
  }
  Linear linearize(llvm::ArrayRef<int64_t> shape, const Indices &at) const;
  /// The indices in what a view shows.
  std::optional<Indices> throughView(mlir::Operation *view, const Indices &at) const;

  ElementLoop result;

private:
  std::optional<unsigned> evaluateOp(mlir::Operation *op, const Indices &at);
  std::optional<unsigned> evaluatePad(PadOp pad, const Indices &at);
  std::optional<unsigned> evaluateConcat(ConcatOp concat, const Indices &at);
  std::optional<Indices> throughReshape(ReshapeOp reshape, const Indices &at) const;
  std::optional<Linear> foldNumbers(mlir::Operation *op, llvm::ArrayRef<unsigned> operands) const;

  /// The smallest and the largest value.
  std::pair<int64_t, int64_t> rangeOf(const Linear &linear) const;
  bool isWithin(const Linear &linear, int64_t begin, int64_t end) const {
    auto [low, high] = rangeOf(linear);
    return begin <= low && high < end;
  }

  std::map<std::pair<void *, std::vector<Linear>>, std::optional<unsigned>> known;
};

} // namespace zyx::graph::ir

#endif // ZYX_DIALECT_GRAPH_ANALYSIS_ELEMENTEVALUATOR_H
