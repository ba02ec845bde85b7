//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Blocks of quantised numbers against a decoder that shares nothing with the graph's.
#include "zyx/Graph/Dequantise.h"
#include "../Reference/TestGraph.h"
#include "../TestBlocks.h"
#include "zyx/Session/Session.h"

#include <cstdlib>

using namespace zyx;
using graph::NodeId;
using test::allFormats;
using test::decodeAll;
using test::randomBlocks;
using testing::HasSubstr;

namespace {

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
  magnitudes.outputs = {{"y", *magnitudes.unary(graph::UnaryKind::Abs, *dequantise(magnitudes, z, format, shape))}};
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
  EXPECT_THAT(refusal(x, {2, 33}), HasSubstr("rows of [2, 33] are no whole number of Q8_0 blocks of 32 elements"));
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
