//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Tensor/Linalg.h"

#include "Compose.h"
#include "zyx/Tensor/Indexing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace zyx;
using namespace zyx::detail;
using graph::BinaryKind;
using graph::ReduceKind;

//===----------------------------------------------------------------------===//
// Sums of products
//===----------------------------------------------------------------------===//

namespace {

/// A letter, or -1 for the last dimension of "...", -2 for the one before it, and so on.
using Label = int;
using Labels = std::vector<Label>;

/// A tensor, and what its dimensions are called; no label comes twice.
struct Factor {
  Tensor tensor;
  Labels labels;
};

class Einsum {
public:
  Einsum(std::string_view notation, std::span<const Tensor> operands, const Place &where)
      : notation(notation), operands(operands), where(where) {}

  Tensor run();

private:
  [[noreturn]] void fail(const std::string &reason) const {
    refuse("einsum: '" + std::string(notation) + "' " + reason, where);
  }
  /// "..." is '.', and blanks go.
  std::string readTerm(std::string_view text) const;
  Labels labelsOf(const std::string &term, int64_t rank, size_t operand) const;
  void readNotation();
  void readOperands();
  Factor withoutDiagonal(Factor factor) const;
  Factor sumOver(const Factor &factor, const Labels &gone) const;
  Factor multiply(Factor a, Factor b, const Labels &needed) const;
  Tensor inOrder(const Factor &factor, const Labels &order) const;

  std::string_view notation;
  std::span<const Tensor> operands;
  const Place &where;
  std::vector<std::string> terms;
  std::optional<std::string> result;
  std::vector<Factor> factors;
  Labels output;
  /// Of letters everywhere the same; of "..." what they broadcast to.
  std::map<Label, int64_t> extents;
};

bool has(const Labels &labels, Label label) { return std::ranges::find(labels, label) != labels.end(); }

} // namespace

std::string Einsum::readTerm(std::string_view text) const {
  std::string term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i, 3) == "..." && term.find('.') == std::string::npos) {
      term += '.';
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term += c;
    } else if (c != ' ') {
      fail(std::string("has '") + c + "' where a letter is expected");
    }
  }
  return term;
}

void Einsum::readNotation() {
  std::string_view left = notation;
  if (const size_t arrow = notation.find("->"); arrow != std::string_view::npos) {
    result = readTerm(notation.substr(arrow + 2));
    left = notation.substr(0, arrow);
  }
  size_t comma = left.find(',');
  for (; comma != std::string_view::npos; comma = left.find(',')) {
    terms.push_back(readTerm(left.substr(0, comma)));
    left.remove_prefix(comma + 1);
  }
  terms.push_back(readTerm(left));
  if (terms.size() != operands.size())
    fail("names " + std::to_string(terms.size()) + " operands, not " + std::to_string(operands.size()));
}

Labels Einsum::labelsOf(const std::string &term, int64_t rank, size_t operand) const {
  const bool open = term.find('.') != std::string::npos;
  const int64_t more = rank - static_cast<int64_t>(term.size()) + (open ? 1 : 0);
  if (more < 0 || (!open && more != 0))
    fail("does not name the dimensions of operand " + std::to_string(operand) + ", " +
         toString(operands[operand].shape()));
  Labels labels;
  for (const char c : term) {
    if (c != '.')
      labels.push_back(c);
    else
      for (int64_t i = more; i > 0; --i)
        labels.push_back(static_cast<Label>(-i));
  }
  return labels;
}

Factor Einsum::withoutDiagonal(Factor factor) const {
  for (size_t i = 0; i < factor.labels.size(); ++i)
    for (size_t j = i + 1; j < factor.labels.size(); ++j) {
      if (factor.labels[i] != factor.labels[j])
        continue;
      Labels left = factor.labels;
      left.erase(left.begin() + static_cast<int64_t>(j));
      left.erase(left.begin() + static_cast<int64_t>(i));
      left.push_back(factor.labels[i]);
      return withoutDiagonal(
          {diagonal(factor.tensor, 0, static_cast<int64_t>(i), static_cast<int64_t>(j), where), left});
    }
  return factor;
}

void Einsum::readOperands() {
  std::map<Label, int> seen;
  DType dtype = DType::Bool;
  for (size_t i = 0; i < operands.size(); ++i) {
    expectTensor(operands[i], "einsum", where);
    dtype =
        i == 0
            ? operands[i].dtype()
            : resolve({factors[0].tensor.cast(dtype, where), where}, {operands[i], where}, "einsum", false).a.dtype();
    const Labels labels = labelsOf(terms[i], operands[i].rank(), i);
    for (size_t d = 0; d < labels.size(); ++d) {
      const int64_t extent = operands[i].shape()[d];
      const auto [at, isNew] = extents.try_emplace(labels[d], extent);
      ++seen[labels[d]];
      if (isNew || at->second == extent || (labels[d] < 0 && extent == 1))
        continue;
      if (labels[d] > 0 || at->second != 1)
        fail(std::string("has extents ") + std::to_string(at->second) + " and " + std::to_string(extent) + " for " +
             (labels[d] > 0 ? "'" + std::string(1, static_cast<char>(labels[d])) + "'" : "a dimension of '...'"));
      at->second = extent;
    }
    factors.push_back(withoutDiagonal({operands[i], labels}));
  }
  for (Factor &factor : factors)
    factor.tensor = factor.tensor.cast(dtype, where);
  // std::map has "..." first, and then letters in their order.
  if (!result) {
    for (const auto &[label, times] : seen)
      if (label < 0 || times == 1)
        output.push_back(label);
    return;
  }
  for (const char c : *result) {
    for (const auto &[label, times] : seen)
      if (c == '.' ? label < 0 : label == c)
        output.push_back(label);
    if (c != '.' && !seen.contains(c))
      fail(std::string("has no operand with '") + c + "'");
    if (c != '.' && std::ranges::count(*result, c) > 1)
      fail(std::string("has '") + c + "' twice in the result");
  }
}

Factor Einsum::sumOver(const Factor &factor, const Labels &gone) const {
  Dims dims;
  Labels left;
  for (size_t i = 0; i < factor.labels.size(); ++i) {
    if (has(gone, factor.labels[i]))
      dims.push_back(static_cast<int64_t>(i));
    else
      left.push_back(factor.labels[i]);
  }
  return dims.empty() ? factor : Factor{makeReduce(ReduceKind::Add, factor.tensor, dims, where), left};
}

/// With a dimension for each label of the order: of extent 1 where the factor has none.
Tensor Einsum::inOrder(const Factor &factor, const Labels &order) const {
  Dims dims;
  Shape shape;
  for (const Label label : order) {
    const auto at = std::ranges::find(factor.labels, label);
    if (at == factor.labels.end()) {
      shape.push_back(1);
      continue;
    }
    dims.push_back(at - factor.labels.begin());
    shape.push_back(factor.tensor.shape()[dims.back()]);
  }
  return factor.tensor.permute(dims, where).reshape(shape, where);
}

/// Batches, rows, columns, and what is summed up, as in a product of matrices.
Factor Einsum::multiply(Factor a, Factor b, const Labels &needed) const {
  const auto alone = [&](const Factor &factor, const Factor &other) {
    Labels labels;
    for (const Label label : factor.labels)
      if (!has(needed, label) && !has(other.labels, label))
        labels.push_back(label);
    return labels;
  };
  const Labels aloneA = alone(a, b), aloneB = alone(b, a);
  a = sumOver(a, aloneA);
  b = sumOver(b, aloneB);
  Labels batches, rows, columns, summed;
  for (const Label label : a.labels)
    (!has(b.labels, label) ? rows : has(needed, label) ? batches : summed).push_back(label);
  for (const Label label : b.labels)
    if (!has(a.labels, label))
      columns.push_back(label);
  Labels order = batches;
  for (const Labels *part : {&rows, &columns, &summed})
    order.insert(order.end(), part->begin(), part->end());
  const Tensor x = inOrder(a, order), y = inOrder(b, order);
  const Shape shape = *broadcast(x.shape(), y.shape());
  const Tensor product = makeBinary(BinaryKind::Mul, expandTo(x, shape, where), expandTo(y, shape, where), where);
  return sumOver({product, order}, summed);
}

Tensor Einsum::run() {
  readNotation();
  readOperands();
  const DType dtype = factors.front().tensor.dtype();
  const DType sums = isFloat(dtype) ? accumulatorType(dtype) : withRoom(factors.front().tensor, where).dtype();
  for (Factor &factor : factors)
    factor.tensor = factor.tensor.cast(sums, where);
  Factor all = factors.front();
  for (size_t i = 1; i < factors.size(); ++i) {
    Labels needed = output;
    for (size_t j = i + 1; j < factors.size(); ++j)
      needed.insert(needed.end(), factors[j].labels.begin(), factors[j].labels.end());
    all = multiply(all, factors[i], needed);
  }
  Labels gone;
  for (const Label label : all.labels)
    if (!has(output, label))
      gone.push_back(label);
  const Tensor value = inOrder(sumOver(all, gone), output);
  return isFloat(dtype) ? value.cast(dtype, where) : value;
}

Tensor zyx::einsum(std::string_view notation, Tensors operands, Place where) {
  return Einsum(notation, operands, where).run();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Tensor zyx::scaledDotProductAttention(const Tensor &queries, const Tensor &keys, const Tensor &values,
                                      DotProductAttentionOptions options, Place where) {
  constexpr std::string_view name = "scaledDotProductAttention";
  for (const Tensor *x : {&queries, &keys, &values}) {
    expectFloat(*x, name, where);
    if (x->rank() < 2 || x->dtype() != queries.dtype())
      refuse(std::string(name) + ": queries, keys and values of types " + toString(queries.type()) + ", " +
                 toString(keys.type()) + " and " + toString(values.type()) + " are not matrices of one dtype",
             where);
  }
  const At at{where};
  const DType dtype = queries.dtype(), sums = accumulatorType(dtype);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(queries.shape().back())));
  const Tensor products = matmul(at(queries.cast(sums, where)), at(keys.cast(sums, where).transpose(-2, -1, where)));
  Tensor scores = at(products) * at(scale);
  const double never = -std::numeric_limits<double>::infinity();
  const int64_t n = scores.size(-2), m = scores.size(-1);
  if (options.causal) {
    const Tensor row = positionsIn(queries, {n, m}, 0, where), column = positionsIn(queries, {n, m}, 1, where);
    scores = zyx::where(at(column) <= at(at(row) + at(m - n)), at(scores), at(never));
  }
  if (options.mask.isDefined()) {
    if (broadcast(options.mask.shape(), scores.shape()) != scores.shape())
      refuse(std::string(name) + ": a mask of shape " + toString(options.mask.shape()) + " does not expand to " +
                 toString(scores.shape()),
             where);
    if (options.mask.dtype() != DType::Bool && !isFloat(options.mask.dtype()))
      refuse(std::string(name) + ": a mask of dtype " + std::string(toString(options.mask.dtype())) +
                 ", which is neither bool nor float",
             where);
    scores = options.mask.dtype() == DType::Bool ? zyx::where(options.mask, at(scores), at(never))
                                                 : at(scores) + at(options.mask.cast(sums, where));
  }
  const Tensor weights = scores.softmax(-1, where);
  return matmul(at(weights), at(values.cast(sums, where))).cast(dtype, where);
}
