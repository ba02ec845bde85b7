//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "InferSymbolic.h"

#include "zyx/Graph/Symbols.h"

namespace zyx::graph {

// A rule on numbers is applied at a few points: values for all symbols. It must hold at each, and
// the result's extents must be the same expressions at all of them. Two polynomials that agree at
// random points are equal but for an unlikely accident, and an accident does no harm: specialising
// a graph infers every type again, on numbers.

static constexpr int numPoints = 5;

/// Values from 64 to 191: large enough that windows fit, small enough that products do not
/// overflow; scattered, so that no simple relation holds between symbols.
static int64_t valueAt(size_t symbol, int point) {
  const uint64_t mixed = (symbol * numPoints + static_cast<uint64_t>(point) + 1) * uint64_t(0x9e3779b97f4a7c15);
  return static_cast<int64_t>(64 + (mixed >> 40) % 128);
}

Result<Extent> findExtent(const std::vector<int64_t> &values, const std::vector<Bindings> &points,
                          const std::vector<Extent> &candidates) {
  bool isConstant = true;
  for (int64_t value : values)
    isConstant &= value == values[0];
  if (isConstant)
    return Extent(values[0]);
  for (const Extent &candidate : candidates) {
    bool matches = true;
    for (size_t i = 0; i < points.size() && matches; ++i) {
      const Result<int64_t> value = candidate.evaluate(points[i]);
      matches = value.isOk() && *value == values[i];
    }
    if (matches)
      return candidate;
  }
  return Status::unsupported("has an extent that no expression of the operands gives");
}

/// scale * x + offset.
static Result<Extent> affine(const Extent &x, int64_t scale, int64_t offset) {
  ZYX_ASSIGN_OR_RETURN(const Extent scaled, Extent::multiply(x, Extent(scale)));
  return Extent::add(scaled, Extent(offset));
}

/// Appends the extents that an op computes from those of its operands; which dimension each belongs
/// to is found by comparing values. The rules on numbers are in Infer.cpp.
static Status addComputedExtents(Op op, const Attributes &a, std::span<const TensorType *const> operands,
                                 std::vector<Extent> &extents) {
  if (op == Op::Pad)
    for (size_t d = 0; d < operands[0]->extents.size(); ++d) {
      ZYX_ASSIGN_OR_RETURN(extents.emplace_back(),
                           affine(operands[0]->extents[d], a.interior[d] + 1, a.low[d] + a.high[d] - a.interior[d]));
    }
  if (op == Op::Window)
    for (size_t i = 0; i < a.dims.size() && operands[0]->isSymbolic(); ++i) {
      const int64_t reach = (a.size[i] - 1) * a.dilation[i];
      ZYX_ASSIGN_OR_RETURN(const Extent last, affine(operands[0]->extents[a.dims[i]], 1, -1 - reach));
      ZYX_ASSIGN_OR_RETURN(const Extent quotient, Extent::floorDivide(last, a.stride[i]));
      ZYX_ASSIGN_OR_RETURN(extents.emplace_back(), Extent::add(quotient, Extent(1)));
    }
  if (op == Op::Concat) {
    Extent sum;
    for (const TensorType *operand : operands) {
      const size_t dim = a.dims[0];
      ZYX_ASSIGN_OR_RETURN(
          sum, Extent::add(sum, operand->isSymbolic() ? operand->extents[dim] : Extent(operand->shape[dim])));
    }
    extents.push_back(std::move(sum));
  }
  return Status::ok();
}

Result<TensorType> inferSymbolicType(Op op, const Attributes &attributes, std::span<const TensorType *const> operands,
                                     const TensorType &requested) {
  if (op == Op::Constant)
    return Status::invalidArgument("constant of " + toString(requested) +
                                   ": expand a constant of numbers to symbolic extents");
  std::set<std::string> symbols;
  for (const TensorType *operand : operands)
    collectSymbols(*operand, symbols);
  collectSymbols(requested, symbols);
  if (attributes.body)
    symbols.merge(collectSymbols(attributes.body.graph()));

  std::vector<Bindings> points(numPoints);
  std::vector<TensorType> results;
  for (int point = 0; point < numPoints; ++point) {
    size_t number = 0;
    for (const std::string &symbol : symbols)
      points[point][symbol] = valueAt(number++, point);
    const std::string where = "at " + zyx::toString(points[point]) + ": ";
    std::vector<TensorType> types;
    for (const TensorType *operand : operands) {
      ZYX_ASSIGN_OR_RETURN(types.emplace_back(), zyx::specialise(*operand, points[point]));
    }
    ZYX_ASSIGN_OR_RETURN(const TensorType wanted, zyx::specialise(requested, points[point]));
    ZYX_ASSIGN_OR_RETURN(const Attributes numbers, specialise(attributes, points[point]));
    const Result<TensorType> result = inferType(op, numbers, types, wanted);
    if (!result.isOk())
      return Status(result.status().code(), where + result.status().message());
    results.push_back(*result);
  }

  std::vector<Extent> others;
  ZYX_RETURN_IF_ERROR(addComputedExtents(op, attributes, operands, others));
  for (const TensorType *operand : operands)
    others.insert(others.end(), operand->extents.begin(), operand->extents.end());
  if (attributes.body)
    for (const Output &output : attributes.body.graph().outputs) {
      const std::vector<Extent> &extents = attributes.body.graph().node(output.node).type.extents;
      others.insert(others.end(), extents.begin(), extents.end());
    }
  others.insert(others.end(), requested.extents.begin(), requested.extents.end());
  std::vector<Extent> extents;
  for (size_t dim = 0; dim < results[0].shape.size(); ++dim) {
    std::vector<int64_t> values;
    for (const TensorType &result : results)
      values.push_back(result.shape[dim]);
    // What is written for this dimension comes first: equal quotients may have several spellings.
    std::vector<Extent> candidates;
    if (dim < requested.extents.size())
      candidates.push_back(requested.extents[dim]);
    candidates.insert(candidates.end(), others.begin(), others.end());
    Result<Extent> extent = findExtent(values, points, candidates);
    if (!extent.isOk())
      return Status(extent.status().code(), std::string(toString(op)) + ": dimension " + std::to_string(dim) +
                                                " of its result " + extent.status().message());
    extents.push_back(std::move(*extent));
  }
  return symbolicType(results[0].dtype, std::move(extents));
}

} // namespace zyx::graph
