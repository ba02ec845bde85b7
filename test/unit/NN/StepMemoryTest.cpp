//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The training step of examples/digits-train.cpp beside the memory that it must have, and that of a transformer
// with checkpoints beside what it takes without.
//===----------------------------------------------------------------------===//
#include "../../../examples/digits.h"
#include "../Tensor/TensorFixture.h"

using namespace zyx;

namespace {

class StepMemoryTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
};

} // namespace

TEST_F(StepMemoryTest, IsNearTheLeast) {
  const Context context({.device = "cpu"});
  const ContextScope scope(context);
  nn::Draws draws(1);
  const digits::Network network(draws);
  optim::Optimizer optimizer(network.parameters(), optim::adam());
  std::vector<float> pixels(50 * 64);
  std::vector<int64_t> labels(50);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = std::sin(float(i));
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = int64_t(i % 10);
  const Tensor images = Tensor::from(pixels, {50, 1, 8, 8}), targets = Tensor::from(labels, {50});
  for (int step = 0; step < 2; ++step)
    optimizer.minimize(crossEntropy(network(images), targets));
  const ContextCounters counters = context.counters();
  RecordProperty("bytes", std::to_string(counters.runBytes));
  RecordProperty("least", std::to_string(counters.leastRunBytes));
  EXPECT_GT(counters.leastRunBytes, 1'000'000u);
  EXPECT_GE(counters.runBytes, counters.leastRunBytes);
  EXPECT_LE(counters.runBytes, counters.leastRunBytes + counters.leastRunBytes / 10)
      << counters.runBytes << " bytes, and " << counters.leastRunBytes << " at least";
}

/// What a step of 4 blocks has at the most, besides values that are there before.
static uint64_t transformerPeak(bool isCheckpoint) {
  const Context context({.device = "cpu"});
  const ContextScope scope(context);
  nn::Draws draws(2);
  nn::TransformerEncoder encoder(4, 32, {.heads = 2, .causal = true}, draws);
  optim::Optimizer optimizer(encoder.parameters(), optim::sgd());
  const Tensor x = draws.uniform({4, 64, 32}, -1, 1).realize();
  Tensor y = x;
  for (const nn::TransformerBlock &block : encoder.blocks)
    y = isCheckpoint ? checkpoint([&](const Tensor &rows) { return block(rows); }, y) : block(y);
  const uint64_t before = context.counters().valueBytes;
  const Tensor error = encoder.norm(y) - x;
  optimizer.minimize((error * error).mean());
  context.sync();
  return context.counters().peakBytes - before;
}

TEST_F(StepMemoryTest, OfATransformerFallsWithCheckpoints) {
  const uint64_t plain = transformerPeak(false), least = transformerPeak(true);
  RecordProperty("plain", std::to_string(plain));
  RecordProperty("checkpoints", std::to_string(least));
  EXPECT_LT(2 * least, plain);
}
