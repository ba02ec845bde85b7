//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_UNIT_REFERENCE_TESTGRAPH_H
#define ZYX_TEST_UNIT_REFERENCE_TESTGRAPH_H

#include "zyx/Base/Float.h"
#include "zyx/Graph/UnaryKind.h"
#include "zyx/Reference/Reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace zyx::reference {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double quietNaN = std::numeric_limits<double>::quiet_NaN();

template <typename T> std::vector<std::byte> bytesOf(const std::vector<T> &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T> std::vector<T> valuesOf(const HostTensor &tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

/// A tensor of any dtype from numbers that are values of it.
inline HostTensor tensor(DType dtype, Shape shape, const std::vector<double> &values) {
  const auto with = [&](auto convert) {
    std::vector<decltype(convert(0.0))> converted;
    for (double value : values)
      converted.push_back(convert(value));
    return HostTensor{{dtype, shape}, bytesOf(converted)};
  };
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return with([](double v) { return uint8_t(v); });
  case DType::I8:
    return with([](double v) { return int8_t(v); });
  case DType::I16:
    return with([](double v) { return int16_t(v); });
  case DType::I32:
    return with([](double v) { return int32_t(v); });
  case DType::I64:
    return with([](double v) { return int64_t(v); });
  case DType::U16:
    return with([](double v) { return uint16_t(v); });
  case DType::U32:
    return with([](double v) { return uint32_t(v); });
  case DType::U64:
    return with([](double v) { return uint64_t(v); });
  case DType::F16:
    return with(floatToHalf);
  case DType::BF16:
    return with(floatToBFloat16);
  case DType::F32:
    return with([](double v) { return float(v); });
  case DType::F64:
    return with([](double v) { return v; });
  case DType::F8E4M3FN:
    return with(floatToF8E4M3FN);
  case DType::F8E5M2:
    return with(floatToF8E5M2);
  }
  return {};
}

/// The elements as doubles; those of i64 and u64 beyond 2^53 are rounded.
inline std::vector<double> numbers(const HostTensor &tensor) {
  const auto with = [&]<typename T>(T, auto convert) {
    std::vector<double> values;
    for (T value : valuesOf<T>(tensor))
      values.push_back(convert(value));
    return values;
  };
  const auto same = [](auto v) { return double(v); };
  switch (tensor.type.dtype) {
  case DType::Bool:
  case DType::U8:
    return with(uint8_t(), same);
  case DType::I8:
    return with(int8_t(), same);
  case DType::I16:
    return with(int16_t(), same);
  case DType::I32:
    return with(int32_t(), same);
  case DType::I64:
    return with(int64_t(), same);
  case DType::U16:
    return with(uint16_t(), same);
  case DType::U32:
    return with(uint32_t(), same);
  case DType::U64:
    return with(uint64_t(), same);
  case DType::F16:
    return with(uint16_t(), halfToFloat);
  case DType::BF16:
    return with(uint16_t(), bfloat16ToFloat);
  case DType::F32:
    return with(float(), same);
  case DType::F64:
    return with(double(), same);
  case DType::F8E4M3FN:
    return with(uint8_t(), f8E4M3FNToFloat);
  case DType::F8E5M2:
    return with(uint8_t(), f8E5M2ToFloat);
  }
  return {};
}

/// Equal numbers: -0 is not +0, and every NaN is NaN.
inline void expectNumbers(const HostTensor &actual, const std::vector<double> &expected) {
  const std::vector<double> values = numbers(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
      continue;
    }
    EXPECT_EQ(values[i], expected[i]) << "element " << i;
    EXPECT_EQ(std::signbit(values[i]), std::signbit(expected[i])) << "element " << i;
  }
}

/// A graph and the tensors of its inputs.
struct TestGraph : graph::Graph {
  std::vector<HostTensor> tensors;

  graph::NodeId input(HostTensor value) {
    const graph::NodeId id = *parameter("x" + std::to_string(inputs.size()), value.type);
    inputs.push_back(id);
    tensors.push_back(std::move(value));
    return id;
  }
  graph::NodeId input(DType dtype, const std::vector<double> &values) {
    return input(tensor(dtype, {static_cast<int64_t>(values.size())}, values));
  }
  graph::NodeId scalar(DType dtype, Shape shape, double value) {
    return *splat({dtype, std::move(shape)}, tensor(dtype, {}, {value}).data);
  }

  /// The value of one node.
  HostTensor run(graph::NodeId id, const Options &options = {}) {
    outputs = {{"y", id}};
    Result<std::vector<HostTensor>> results = evaluate(*this, tensors, options);
    EXPECT_TRUE(results.isOk()) << results.status().toString();
    if (!results.isOk())
      return {};
    EXPECT_EQ((*results)[0].type, node(id).type);
    EXPECT_EQ((*results)[0].data.size(), size_t(*byteSize(node(id).type)));
    return (*results)[0];
  }
};

inline HostTensor evaluateUnary(graph::UnaryKind kind, DType dtype, const std::vector<double> &x) {
  TestGraph g;
  return g.run(*g.unary(kind, g.input(dtype, x)));
}

inline HostTensor evaluateBinary(graph::BinaryKind kind, DType dtype, const std::vector<double> &a,
                                 const std::vector<double> &b) {
  TestGraph g;
  const graph::NodeId x = g.input(dtype, a), y = g.input(dtype, b);
  return g.run(*g.binary(kind, x, y));
}

inline HostTensor evaluateCast(const HostTensor &x, DType to) {
  TestGraph g;
  return g.run(*g.cast(g.input(x), to));
}

inline HostTensor evaluateReduce(graph::ReduceKind kind, const HostTensor &x, std::vector<int64_t> dims) {
  TestGraph g;
  return g.run(*g.reduce(kind, g.input(x), std::move(dims)));
}

} // namespace zyx::reference

#endif // ZYX_TEST_UNIT_REFERENCE_TESTGRAPH_H
