//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Blocks of quantised numbers against a decoder that shares nothing with the graph's.
#include "zyx/Graph/Dequantise.h"
#include "../Reference/TestGraph.h"
#include "zyx/Session/Session.h"

#include <cstdlib>
#include <random>

using namespace zyx;
using graph::NodeId;
using testing::HasSubstr;

namespace {

constexpr BlockFormat allFormats[] = {
    BlockFormat::Q4_0, BlockFormat::Q4_1, BlockFormat::Q5_0, BlockFormat::Q5_1, BlockFormat::Q8_0,
    BlockFormat::Q2_K, BlockFormat::Q3_K, BlockFormat::Q4_K, BlockFormat::Q5_K, BlockFormat::Q6_K};

/// Where the f16 numbers of a block begin.
std::vector<size_t> halvesOf(BlockFormat format) {
  switch (format) {
  case BlockFormat::Q4_1:
  case BlockFormat::Q5_1:
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K:
    return {0, 2};
  case BlockFormat::Q2_K:
    return {80, 82};
  case BlockFormat::Q3_K:
    return {108};
  case BlockFormat::Q6_K:
    return {208};
  default:
    return {0};
  }
}

/// One element of one block, from the definition of the format: a scalar at a time.
float decode(BlockFormat format, const uint8_t *block, int e) {
  auto half = [&](size_t at) {
    return static_cast<float>(halfToFloat(static_cast<uint16_t>(block[at] | block[at + 1] << 8)));
  };
  auto bit = [](const uint8_t *from, int i) { return from[i / 8] >> (i % 8) & 1; };
  /// The 6-bit scale (of==0) or minimum (of==4) of sub-block j.
  auto six = [](const uint8_t *q, int j, int of) {
    if (j < 4)
      return q[j + of] & 63;
    return (of == 0 ? q[j + 4] & 15 : q[j + 4] >> 4) | (q[j - 4 + of] >> 6) << 4;
  };
  auto nibble = [&](const uint8_t *q) { return e < 16 ? q[e] & 15 : q[e - 16] >> 4; };
  const int part = e / 128, in = e % 128;
  switch (format) {
  case BlockFormat::Q4_0:
    return half(0) * static_cast<float>(nibble(block + 2) - 8);
  case BlockFormat::Q4_1:
    return half(0) * static_cast<float>(nibble(block + 4)) + half(2);
  case BlockFormat::Q5_0:
    return half(0) * static_cast<float>(nibble(block + 6) + 16 * bit(block + 2, e) - 16);
  case BlockFormat::Q5_1:
    return half(0) * static_cast<float>(nibble(block + 8) + 16 * bit(block + 4, e)) + half(2);
  case BlockFormat::Q8_0:
    return half(0) * static_cast<float>(static_cast<int8_t>(block[2 + e]));
  case BlockFormat::Q2_K: {
    const uint8_t scale = block[e / 16];
    const int quant = block[16 + part * 32 + in % 32] >> (in / 32 * 2) & 3;
    return half(80) * static_cast<float>(scale & 15) * static_cast<float>(quant) -
           half(82) * static_cast<float>(scale >> 4);
  }
  case BlockFormat::Q3_K: {
    const int i = e / 16;
    const uint8_t *packed = block + 96;
    const int scale =
        (i < 8 ? packed[i] & 15 : packed[i - 8] >> 4) | (packed[8 + i % 4] >> (i / 4 * 2) & 3) << 4;
    const int low = block[32 + part * 32 + in % 32] >> (in / 32 * 2) & 3;
    const int high = block[in % 32] >> (part * 4 + in / 32) & 1;
    return half(108) * static_cast<float>(scale - 32) * static_cast<float>(low - (high ? 0 : 4));
  }
  case BlockFormat::Q4_K:
  case BlockFormat::Q5_K: {
    const bool five = format == BlockFormat::Q5_K;
    const int i = e / 32, byte = block[(five ? 48 : 16) + e / 64 * 32 + e % 32];
    int quant = i % 2 ? byte >> 4 : byte & 15;
    if (five)
      quant += (block[16 + e % 32] >> i & 1) * 16;
    return half(0) * static_cast<float>(six(block + 4, i, 0)) * static_cast<float>(quant) -
           half(2) * static_cast<float>(six(block + 4, i, 4));
  }
  case BlockFormat::Q6_K: {
    const int byte = block[part * 64 + in % 64];
    const int low = in < 64 ? byte & 15 : byte >> 4;
    const int high = block[128 + part * 32 + in % 32] >> (in / 32 * 2) & 3;
    const auto scale = static_cast<int8_t>(block[192 + e / 16]);
    return half(208) * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
  }
  }
  return 0;
}

/// Random blocks. Where `finite`, no scale is an infinity or NaN.
HostTensor randomBlocks(BlockFormat format, const Shape &shape, unsigned seed, bool finite) {
  std::mt19937 random(seed);
  HostTensor blocks;
  blocks.type = *blockedType(format, shape);
  for (int64_t i = *byteSize(blocks.type); i > 0; --i)
    blocks.data.push_back(static_cast<std::byte>(random()));
  if (finite)
    for (size_t block = 0; block < blocks.data.size();
         block += static_cast<size_t>(blockBytes(format)))
      for (size_t at : halvesOf(format))
        blocks.data[block + at + 1] &= std::byte{0xbb};
  return blocks;
}

std::vector<float> decodeAll(BlockFormat format, const HostTensor &blocks) {
  std::vector<float> values;
  const auto *data = reinterpret_cast<const uint8_t *>(blocks.data.data());
  for (size_t block = 0; block < blocks.data.size();
       block += static_cast<size_t>(blockBytes(format)))
    for (int e = 0; e < blockElements(format); ++e)
      values.push_back(decode(format, data + block, e));
  return values;
}

void expectSameBits(const std::vector<float> &actual, const std::vector<float> &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  size_t shown = 0;
  for (size_t i = 0; i < actual.size() && shown < 3; ++i)
    if (std::memcmp(&actual[i], &expected[i], sizeof(float)) != 0 &&
        !(std::isnan(actual[i]) && std::isnan(expected[i]))) {
      ADD_FAILURE() << "element " << i << " is " << actual[i] << ", not " << expected[i];
      ++shown;
    }
}

class DequantiseTest : public testing::TestWithParam<BlockFormat> {};

TEST_P(DequantiseTest, IsTheDefinitionToTheLastBitOnReference) {
  const BlockFormat format = GetParam();
  const Shape shape{3, 2 * blockElements(format)};
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    reference::TestGraph g;
    const NodeId x = g.input(randomBlocks(format, shape, seed, seed % 2 == 0));
    const Result<NodeId> y = dequantise(g, x, format, shape);
    ASSERT_TRUE(y.isOk()) << y.status().toString();
    const HostTensor values = g.run(*y);
    EXPECT_EQ(values.type, (TensorType{DType::F32, shape}));
    expectSameBits(reference::valuesOf<float>(values), decodeAll(format, g.tensors[0]));
  }
}

TEST_P(DequantiseTest, TakesBytesOfAnyShape) {
  const BlockFormat format = GetParam();
  const Shape shape{2, 1, blockElements(format)};
  reference::TestGraph g;
  HostTensor blocks = randomBlocks(format, shape, 1, true);
  const std::vector<float> expected = decodeAll(format, blocks);
  blocks.type.shape = {2 * blockBytes(format)};
  const NodeId x = g.input(std::move(blocks));
  expectSameBits(reference::valuesOf<float>(g.run(*dequantise(g, x, format, shape))), expected);
  reference::TestGraph none;
  const NodeId empty = none.input(HostTensor{{DType::U8, {0, 4}}, {}});
  EXPECT_TRUE(none.run(*dequantise(none, empty, format, {0, blockElements(format)})).data.empty());
}

#ifdef ZYX_TEST_COMPILER
/// Runs a graph of one input on the CPU and returns its only output.
std::vector<float> runOnCpu(graph::Graph &g, const HostTensor &input, size_t mostLaunches) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  g.bindParameters();
  session::Session session;
  auto program = session.prepare(g, "cpu");
  EXPECT_TRUE(program.isOk()) << program.status().toString();
  if (!program)
    return {};
  EXPECT_LE((*program)->numLaunches, mostLaunches);
  EXPECT_TRUE((*program)->setInputs({input}).isOk());
  Status ran = (*program)->run();
  EXPECT_TRUE(ran.isOk()) << ran.toString();
  auto outputs = (*program)->readOutputs();
  EXPECT_TRUE(outputs.isOk()) << outputs.status().toString();
  return outputs ? reference::valuesOf<float>((*outputs)[0]) : std::vector<float>();
}

TEST_P(DequantiseTest, IsTheSameOnTheCpuInTheKernelThatUsesIt) {
  const BlockFormat format = GetParam();
  const Shape shape{5, 3 * blockElements(format)};
  const HostTensor blocks = randomBlocks(format, shape, 7, true);
  std::vector<float> expected = decodeAll(format, blocks);
  // Scales of many ops come first.
  const size_t mostLaunches = format == BlockFormat::Q4_K || format == BlockFormat::Q5_K ? 2 : 1;
  graph::Graph numbers;
  const NodeId x = *numbers.parameter("x", blocks.type);
  numbers.outputs = {{"y", *dequantise(numbers, x, format, shape)}};
  expectSameBits(runOnCpu(numbers, blocks, mostLaunches), expected);

  // A use of the numbers that rounds nothing.
  graph::Graph magnitudes;
  const NodeId z = *magnitudes.parameter("x", blocks.type);
  magnitudes.outputs = {
      {"y", *magnitudes.unary(graph::UnaryKind::Abs, *dequantise(magnitudes, z, format, shape))}};
  for (float &value : expected)
    value = std::abs(value);
  expectSameBits(runOnCpu(magnitudes, blocks, mostLaunches), expected);
}
#endif

INSTANTIATE_TEST_SUITE_P(Formats, DequantiseTest, testing::ValuesIn(allFormats),
                         [](const auto &info) { return std::string(toString(info.param)); });

TEST(DequantiseTest, RefusesWhatAreNoBlocksOfTheShape) {
  graph::Graph g;
  const NodeId x = *g.parameter("x", {DType::U8, {2, 34}});
  const NodeId f = *g.parameter("f", {DType::F32, {2, 34}});
  auto refusal = [&](NodeId node, const Shape &shape) {
    const Result<NodeId> y = dequantise(g, node, BlockFormat::Q8_0, shape);
    EXPECT_FALSE(y.isOk());
    return y.status().message();
  };
  EXPECT_TRUE(dequantise(g, x, BlockFormat::Q8_0, {2, 32}).isOk());
  EXPECT_THAT(refusal(x, {2, 33}),
              HasSubstr("rows of [2, 33] are no whole number of Q8_0 blocks of 32 elements"));
  EXPECT_THAT(refusal(x, {}), HasSubstr("rows of [] are no whole number"));
  EXPECT_THAT(refusal(x, {1, 32}), HasSubstr("dequantise: the blocks of Q8_0[1, 32] are u8 of 34 "
                                             "elements, not u8[2, 34]"));
  EXPECT_THAT(refusal(f, {2, 32}), HasSubstr("not f32[2, 34]"));
  EXPECT_THAT(refusal(99, {2, 32}), HasSubstr("dequantise: there is no node 99"));
  EXPECT_THAT(refusal(x, {int64_t(1) << 40, 32}), HasSubstr("bytes"));
  EXPECT_THAT(refusal(x, {1, int64_t(1) << 62}), HasSubstr("bytes"));
  EXPECT_THAT(refusal(x, {1, INT64_MAX - 31}), HasSubstr("do not fit in 63 bits"));
}

} // namespace
