//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Programs that are drawn by a seed, built through the functions of tensors, on the interpreter and
// on machine code. ZYX_TENSOR_PROGRAMS=FIRST:COUNT draws others.
//===----------------------------------------------------------------------===//
#include "zyx/zyx.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace zyx;

namespace {

/// A tensor of a program. An exact one has the same bits wherever it is computed: only such ones
/// are compared, rounded to whole numbers, or differentiated where a slope jumps.
struct Value {
  Tensor tensor;
  bool isExact;
};

class Program {
public:
  explicit Program(uint64_t seed) : random(seed) {}

  /// What is compared, in an order that depends on the seed alone.
  std::vector<Value> build() {
    const int leaves = 2 + draw(2);
    for (int i = 0; i < leaves; ++i)
      values.push_back({leaf(), true});
    const int ops = 3 + draw(8);
    for (int i = 0; i < ops; ++i)
      step();
    std::vector<Value> results(values.end() - std::min<size_t>(values.size(), 3), values.end());
    if (draw(2) == 0)
      addGradients(results);
    return results;
  }

private:
  /// From 0 to n - 1.
  int64_t draw(int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); }
  const Value &any() { return values[draw(static_cast<int64_t>(values.size()))]; }

  /// Quarters between -2 and 2: their sums and products have few digits.
  Tensor leaf() {
    Shape shape;
    for (int64_t rank = draw(4); rank > 0; --rank)
      shape.push_back(draw(8) == 0 ? 0 : 1 + draw(5));
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    std::vector<double> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(static_cast<double>(draw(17) - 8) / 4);
    const Tensor quarters = Tensor::from(elements, shape);
    if (draw(3) != 0)
      return quarters;
    constexpr DType integers[] = {DType::I8, DType::I32, DType::I64};
    return (quarters * 4).cast(integers[draw(3)]);
  }

  void step() {
    const Value x = any();
    if (x.tensor.dtype() == DType::Bool)
      return keep(x.tensor.cast(DType::F64), x.isExact);
    if (!isFloat(x.tensor.dtype()))
      return integer(x);
    switch (draw(7)) {
    case 0:
      return unary(x);
    case 1:
    case 2:
      return binary(x, any());
    case 3:
    case 4:
      return move(x);
    case 5:
      return reduce(x);
    default:
      return product(x, any());
    }
  }

  void keep(Tensor tensor, bool isExact) {
    // What grows without end leaves the range of exact numbers, and time.
    if (tensor.numel() <= 600)
      values.push_back({std::move(tensor), isExact && ++steps < 8});
  }

  /// Integers wrap: in any order of the operations they have the same bits.
  void integer(const Value &x) {
    const Tensor &t = x.tensor;
    const Value other = any();
    const bool hasPartner = isInteger(other.tensor.dtype());
    switch (draw(9)) {
    case 0:
      return keep(-t, true);
    case 1:
      return keep(hasPartner ? t * fit(t, other.tensor) : t.abs(), true);
    case 2:
      return keep(hasPartner ? t + fit(t, other.tensor) : t * t, true);
    case 3:
      return keep(hasPartner ? maximum(t, fit(t, other.tensor)) : t - 3, true);
    case 4:
      return keep(where(t > 1, t, t ^ 5), true);
    case 5:
      return move(x);
    case 6:
      return keep(t.numel() == 0 ? t.sum() : t.max(Dims{}, false), true);
    case 7:
      return keep(t.rank() == 0 ? t * 2 : cumsum(t, draw(t.rank())), true);
    default:
      // Sums of wrapped 64-bit integers may round in another order.
      return keep(t.cast(DType::F64), t.dtype() != DType::I64);
    }
  }

  void unary(const Value &x) {
    const Tensor &t = x.tensor;
    switch (draw(10)) {
    case 0:
      return keep(-t, x.isExact);
    case 1:
      return keep(t.abs(), x.isExact);
    case 2:
      return keep(x.isExact ? t.relu() : t.sigmoid(), x.isExact);
    case 3:
      return keep(x.isExact ? t.floor() : t.tanh(), x.isExact);
    case 4:
      return keep(x.isExact ? t.round() : t.sin(), x.isExact);
    case 5:
      return keep((t.tanh() * 2).exp(), false);
    case 6:
      return keep((t * t + 1).sqrt(), false);
    case 7:
      return keep((t * t + 0.5).log(), false);
    case 8:
      return keep(t.gelu(), false);
    default:
      return keep(x.isExact ? t.cast(DType::I32).cast(DType::F64) : t.cos(), x.isExact);
    }
  }

  /// `y` with the extents that `x` can be combined with, by slices and new dimensions.
  Tensor fit(const Tensor &x, const Tensor &y) {
    Tensor result = y;
    while (result.rank() > x.rank())
      result = result.size(0) == 0 ? result.sum({0}) : result.select(0, draw(result.size(0)));
    for (int64_t back = 1; back <= result.rank(); ++back) {
      const int64_t have = result.size(-back), want = x.size(-back);
      if (have == want || have == 1)
        continue;
      std::vector<Slice> slices(result.rank());
      slices[result.rank() - back] = have == 0 ? Slice{} : Slice{0, 1};
      result = have == 0 ? result.sum({-back}, true) : result.slice(slices);
    }
    return result;
  }

  void binary(const Value &x, const Value &other) {
    if (other.tensor.dtype() == DType::Bool)
      return;
    const Tensor y = fit(x.tensor, other.tensor).cast(DType::F64);
    const bool isExact = x.isExact && other.isExact;
    switch (draw(8)) {
    case 0:
    case 1:
      return keep(x.tensor + y, isExact);
    case 2:
      return keep(y - x.tensor, isExact);
    case 3:
    case 4:
      return keep(x.tensor * y, isExact);
    case 5:
      return keep(x.tensor / (y * y + 1), false);
    case 6:
      return isExact ? keep(maximum(x.tensor, y), true) : keep(x.tensor * 0.5 - y, false);
    default:
      return isExact ? keep(where(x.tensor < y, x.tensor, y * 2), true) : keep(x.tensor + y * 3, false);
    }
  }

  void move(const Value &x) {
    const Tensor &t = x.tensor;
    if (t.rank() == 0)
      return keep(t.reshape({1, 1}).expand({1 + draw(3), 2}), x.isExact);
    const int64_t dim = draw(t.rank());
    switch (draw(6)) {
    case 0:
      return keep(t.transpose(dim, draw(t.rank())), x.isExact);
    case 1:
      return keep(t.flatten(draw(dim + 1), dim), x.isExact);
    case 2: {
      std::vector<Slice> slices(dim + 1);
      slices[dim] = {draw(5) - 2, std::nullopt, draw(2) ? 1 + draw(3) : -1 - draw(2)};
      return keep(t.slice(slices), x.isExact);
    }
    case 3: {
      Dims low = Dims::repeated(t.rank(), 0), high = low;
      low[dim] = draw(3) - (t.size(dim) > 1);
      high[dim] = draw(3);
      return keep(t.pad(low, high, isFloat(t.dtype()) ? 0.25 : -1), x.isExact);
    }
    case 4: {
      const std::vector parts = {t, t.flip({dim}), t};
      return keep(concat(parts, dim), x.isExact);
    }
    default: {
      std::vector<int64_t> positions;
      for (int64_t i = 1 + draw(4); i > 0; --i)
        positions.push_back(draw(6) - 1);
      return keep(take(t, Tensor::from(positions, {int64_t(positions.size())}), dim), x.isExact);
    }
    }
  }

  void reduce(const Value &x) {
    const Tensor &t = x.tensor;
    const Dims dims = t.rank() == 0 ? Dims{} : Dims{draw(t.rank())};
    const bool keeps = draw(2) == 0, isEmpty = t.numel() == 0;
    switch (draw(7)) {
    case 0:
    case 1:
      return keep(t.sum(dims, keeps), x.isExact);
    case 2:
      return isEmpty ? keep(t.sum(), x.isExact) : keep(t.max(dims, keeps), x.isExact);
    case 3:
      return isEmpty ? keep(t + 1, x.isExact) : keep(t.mean(dims, keeps), false);
    case 4:
      return t.rank() == 0 || isEmpty ? keep(t * 2, x.isExact) : keep(t.softmax(dims[0]), false);
    case 5:
      return t.rank() == 0 || isEmpty || !x.isExact ? keep(t - 1, x.isExact)
                                                    : keep(t.argmax(dims[0], keeps).cast(DType::F64), true);
    default:
      return keep(x.isExact ? (t > 0).sum(dims, keeps).cast(DType::F64) : t.sum(), x.isExact);
    }
  }

  void product(const Value &x, const Value &other) {
    if (x.tensor.rank() < 2 || other.tensor.dtype() == DType::Bool)
      return keep(x.tensor.reshape({-1, 1}), x.isExact);
    const Tensor y = fit(x.tensor, other.tensor).cast(DType::F64);
    const Tensor right = (y + Tensor::zeros(x.tensor.shape(), DType::F64)).transpose();
    keep(matmul(x.tensor, right), x.isExact && other.isExact);
  }

  /// Of the sum of what was built, with respect to the leaves.
  void addGradients(std::vector<Value> &results) {
    Tensor total;
    bool isExact = true;
    for (const Value &value : results)
      if (isFloat(value.tensor.dtype())) {
        total = total.isDefined() ? total + value.tensor.sum() : value.tensor.sum();
        isExact &= value.isExact;
      }
    std::vector<Tensor> leaves;
    for (const Value &value : values)
      if (leaves.size() < 2 && isFloat(value.tensor.dtype()))
        leaves.push_back(value.tensor);
    if (!total.isDefined() || leaves.empty())
      return;
    for (const Tensor &tensor : gradient(total, leaves, {.allowUnused = true}))
      results.push_back({tensor, isExact});
  }

  std::mt19937_64 random;
  std::vector<Value> values;
  int steps = 0;
};

/// The results of several programs, computed together. A refusal names one program that has it
/// alone.
std::vector<std::vector<double>> run(const char *device, uint64_t first, uint64_t count, std::vector<bool> &isExact) {
  ContextScope scope(Context({.device = device}));
  std::vector<Tensor> results;
  isExact.clear();
  for (uint64_t seed = first; seed < first + count; ++seed)
    for (Value &value : Program(seed).build()) {
      results.push_back(value.tensor.cast(DType::F64));
      isExact.push_back(value.isExact);
    }
  try {
    realize(results);
  } catch (const Error &error) {
    if (count == 1)
      throw std::runtime_error("program " + std::to_string(first) + ": " + error.what());
    for (uint64_t seed = first; seed < first + count; ++seed)
      run(device, seed, 1, isExact);
    throw;
  }
  std::vector<std::vector<double>> numbers;
  for (const Tensor &result : results)
    numbers.push_back(result.toVector<double>());
  return numbers;
}

} // namespace

TEST(RandomProgramTest, DevicesAgree) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  unsigned long first = 1200, count = 120;
  if (const char *range = std::getenv("ZYX_TENSOR_PROGRAMS"))
    ASSERT_EQ(std::sscanf(range, "%lu:%lu", &first, &count), 2) << range;
  constexpr unsigned long batch = 40;
  size_t elements = 0;
  for (unsigned long begin = first; begin < first + count; begin += batch) {
    const unsigned long size = std::min(batch, first + count - begin);
    SCOPED_TRACE("programs " + std::to_string(begin) + ":" + std::to_string(size));
    std::vector<bool> isExact;
    const auto expected = run("reference", begin, size, isExact), got = run("cpu", begin, size, isExact);
    ASSERT_EQ(expected.size(), got.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(expected[i].size(), got[i].size());
      double scale = 1;
      for (double x : expected[i])
        scale = std::max(scale, std::isfinite(x) ? std::fabs(x) : 1);
      for (size_t j = 0; j < expected[i].size(); ++j, ++elements) {
        const double x = expected[i][j], y = got[i][j];
        const bool isSame = isExact[i] ? x == y : std::fabs(x - y) <= 1e-9 * scale;
        ASSERT_TRUE(isSame || (std::isnan(x) && std::isnan(y)) || x == y)
            << "result " << i << ", element " << j << ": " << y << " instead of " << x;
      }
    }
  }
  EXPECT_GT(elements, count);
}
