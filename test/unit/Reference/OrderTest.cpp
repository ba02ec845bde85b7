//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Order.h"
#include "TestGraph.h"

using namespace zyx;
using namespace zyx::reference;
using graph::ReduceKind;
using graph::ScatterKind;
using graph::SortKind;

namespace {

template <typename Build> HostTensor evaluateOf(const std::vector<HostTensor> &inputs, Build build) {
  TestGraph g;
  std::vector<graph::NodeId> nodes;
  for (const HostTensor &input : inputs)
    nodes.push_back(g.input(input));
  return g.run(*build(g, nodes));
}

HostTensor scanned(ReduceKind kind, const HostTensor &x, int64_t dim, bool exclusive = false, bool reverse = false) {
  return evaluateOf({x}, [&](graph::Graph &g, const auto &in) { return g.scan(kind, in[0], dim, exclusive, reverse); });
}

HostTensor sorted(SortKind kind, const HostTensor &x, int64_t dim, bool descending = false) {
  return evaluateOf({x}, [&](graph::Graph &g, const auto &in) { return g.sort(kind, in[0], dim, descending); });
}

HostTensor scattered(ScatterKind kind, const HostTensor &x, const HostTensor &at, const HostTensor &updates,
                     int64_t dim) {
  return evaluateOf({x, at, updates},
                    [&](graph::Graph &g, const auto &in) { return g.scatter(kind, in[0], in[1], in[2], dim); });
}

} // namespace

TEST(OrderTest, ScanDirections) {
  const HostTensor x = tensor(DType::I32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expectNumbers(scanned(ReduceKind::Add, x, 1), {1, 3, 6, 4, 9, 15});
  expectNumbers(scanned(ReduceKind::Add, x, 0), {1, 2, 3, 5, 7, 9});
  expectNumbers(scanned(ReduceKind::Add, x, 1, true), {0, 1, 3, 0, 4, 9});
  expectNumbers(scanned(ReduceKind::Add, x, 1, false, true), {6, 5, 3, 15, 11, 6});
  expectNumbers(scanned(ReduceKind::Mul, x, 1, true, true), {6, 3, 1, 30, 6, 1});
}

TEST(OrderTest, ScanIdentities) {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    const HostTensor x = tensor(dtype, {3}, {-0.0, -0.0, 1});
    expectNumbers(scanned(ReduceKind::Add, x, 0), {-0.0, -0.0, 1});
    expectNumbers(scanned(ReduceKind::Add, x, 0, true), {0, 0, 0});
    expectNumbers(scanned(ReduceKind::Max, x, 0, true), {-inf, -0.0, -0.0});
    expectNumbers(scanned(ReduceKind::Min, x, 0, true), {inf, -0.0, -0.0});
    const HostTensor y = tensor(dtype, {4}, {1, quietNaN, 3, inf});
    expectNumbers(scanned(ReduceKind::Max, y, 0), {1, quietNaN, quietNaN, quietNaN});
    expectNumbers(scanned(ReduceKind::Add, y, 0, false, true), {quietNaN, quietNaN, inf, inf});
  }
  const HostTensor bits = tensor(DType::U8, {3}, {6, 3, 8});
  expectNumbers(scanned(ReduceKind::And, bits, 0, true), {255, 6, 2});
  expectNumbers(scanned(ReduceKind::Or, bits, 0, true), {0, 6, 7});
  expectNumbers(scanned(ReduceKind::Max, tensor(DType::I8, {2}, {5, 6}), 0, true), {-128, 5});
  expectNumbers(scanned(ReduceKind::Min, tensor(DType::Bool, {3}, {1, 0, 1}), 0, true), {1, 1, 0});
}

TEST(OrderTest, ScanRounds) {
  // In f32 the ones are not lost, as they would be in f16; each element is rounded once.
  expectNumbers(scanned(ReduceKind::Add, tensor(DType::F16, {4}, {2048, 1, 1, 1}), 0), {2048, 2048, 2050, 2052});
  expectNumbers(scanned(ReduceKind::Add, tensor(DType::I8, {3}, {100, 100, 100}), 0), {100, -56, 44});
}

TEST(OrderTest, Sort) {
  const HostTensor x = tensor(DType::F32, {7}, {2, quietNaN, -0.0, 0, -inf, 2, quietNaN});
  expectNumbers(sorted(SortKind::Indices, x, 0), {4, 2, 3, 0, 5, 1, 6});
  expectNumbers(sorted(SortKind::Indices, x, 0, true), {0, 5, 2, 3, 4, 1, 6});
  expectNumbers(sorted(SortKind::Values, x, 0), {-inf, -0.0, 0, 2, 2, quietNaN, quietNaN});
  const HostTensor rows = tensor(DType::U8, {2, 3}, {200, 1, 30, 5, 255, 4});
  expectNumbers(sorted(SortKind::Values, rows, 1), {1, 30, 200, 4, 5, 255});
  expectNumbers(sorted(SortKind::Values, rows, 0, true), {200, 255, 30, 5, 1, 4});
  expectNumbers(sorted(SortKind::Indices, tensor(DType::Bool, {4}, {1, 0, 1, 0}), 0), {1, 3, 0, 2});
}

TEST(OrderTest, Scatter) {
  const HostTensor x = tensor(DType::F32, {3}, {1, 2, 3});
  const HostTensor at = tensor(DType::I32, {5}, {2, -1, 0, 3, 2});
  const HostTensor updates = tensor(DType::F32, {5}, {10, 20, 30, 40, 50});
  expectNumbers(scattered(ScatterKind::Set, x, at, updates, 0), {30, 2, 50});
  expectNumbers(scattered(ScatterKind::Add, x, at, updates, 0), {31, 2, 63});
  expectNumbers(scattered(ScatterKind::Mul, x, at, updates, 0), {30, 2, 1500});
  expectNumbers(scattered(ScatterKind::Max, x, at, updates, 0), {30, 2, 50});
  expectNumbers(scattered(ScatterKind::Min, x, at, updates, 0), {1, 2, 3});
  // Slices, by indices of rank 2 along the middle dimension.
  const HostTensor zeros = tensor(DType::I32, {2, 3, 2}, std::vector<double>(12));
  const HostTensor grid = tensor(DType::U8, {1, 2}, {2, 0});
  const HostTensor slices = tensor(DType::I32, {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  expectNumbers(scattered(ScatterKind::Set, zeros, grid, slices, 1), {3, 4, 0, 0, 1, 2, 7, 8, 0, 0, 5, 6});
  // Each step rounds as the binary op does.
  expectNumbers(scattered(ScatterKind::Add, tensor(DType::F16, {1}, {2048}), tensor(DType::I32, {2}, {0, 0}),
                          tensor(DType::F16, {2}, {1, 1}), 0),
                {2048});
}

// From Random123, tests/kat_vectors, the rows of philox4x32 with 10 rounds.
TEST(OrderTest, PhiloxKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(OrderTest, RandomBitsCountElements) {
  const HostTensor seed{{DType::U64, {}}, bytesOf<uint64_t>({0x299f31d0a4093822})};
  const HostTensor bits =
      evaluateOf({seed}, [](graph::Graph &g, const auto &in) { return g.randomBits(in[0], {3, 5}); });
  std::vector<uint32_t> wanted;
  for (uint32_t block = 0; block < 4; ++block)
    for (uint32_t word : philox({block, 0, 0, 0}, {0xa4093822, 0x299f31d0}))
      wanted.push_back(word);
  wanted.resize(15);
  EXPECT_EQ(valuesOf<uint32_t>(bits), wanted);
}

TEST(OrderTest, IntegerPowers) {
  const auto power = [](DType dtype, const std::vector<double> &a, const std::vector<double> &b,
                        const std::vector<double> &wanted) {
    const auto size = static_cast<int64_t>(a.size());
    expectNumbers(
        evaluateOf({tensor(dtype, {size}, a), tensor(dtype, {size}, b)},
                   [](graph::Graph &g, const auto &in) { return g.binary(graph::BinaryKind::Pow, in[0], in[1]); }),
        wanted);
  };
  power(DType::I8, {2, 2, -3, 0, 5, 3}, {3, 7, 3, 0, 0, 5}, {8, -128, -27, 1, 1, -13});
  power(DType::I32, {2, 1, -1, -1, 0, -7}, {-1, -5, -3, -4, -2, -1}, {0, 1, -1, 1, -1, 0});
  power(DType::U8, {2, 3, 255}, {8, 255, 255}, {0, 171, 255});
}
