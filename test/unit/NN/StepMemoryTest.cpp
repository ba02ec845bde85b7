//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The training step of examples/digits-train.cpp beside the memory that it must have, and that of a transformer
// with checkpoints beside what it takes without.
//===----------------------------------------------------------------------===//
#include "../../../examples/digits.h"
#include "../Tensor/TensorFixture.h"

#include <deque>

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
  nn::InitRng rng(1);
  const digits::Network network(rng);
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
  EXPECT_LE(counters.runBytes, counters.leastRunBytes + counters.leastRunBytes / 5)
      << counters.runBytes << " bytes, and " << counters.leastRunBytes << " at least";
}

/// Steps of a deeper network by AdamW; what the loss was at last, and what the context counted.
static std::pair<float, ContextCounters> stepsOf(bool donates) {
  const Context context({.device = "cpu"});
  const ContextScope scope(context);
  ConvolutionOptions padded;
  padded.padding = {1, 1};
  nn::InitRng rng(1);
  const nn::Convolution first(1, 16, {3, 3}, rng, padded), second(16, 32, {3, 3}, rng, padded);
  const nn::Linear out(64, 10, rng);
  std::deque<nn::Linear> layers;
  std::vector<std::pair<std::string, const nn::Module *>> modules = {
      {"first", &first}, {"second", &second}, {"out", &out}};
  for (int i = 0; i < 9; ++i)
    modules.emplace_back(std::to_string(i), &layers.emplace_back(i % 2 ? 64 : 512, i % 2 ? 512 : 64, rng));
  Parameters parameters;
  for (const auto &[name, module] : modules)
    for (const NamedParameter &each : module->parameters())
      parameters.push_back({name + "." + each.name, each.parameter});
  optim::Optimizer optimizer(parameters, optim::adamW());
  const optim::TrainStep step(optimizer,
                              [&](std::span<const Tensor> batch) {
                                Tensor x = maxPool(second(first(batch[0]).relu()).relu(), {2, 2}).flatten(1);
                                for (const nn::Linear &layer : layers)
                                  x = layer(x).relu();
                                return std::vector{crossEntropy(out(x), batch[1])};
                              },
                              {.donates = donates});
  std::vector<float> pixels(10 * 64);
  std::vector<int64_t> labels(10);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = std::sin(float(i));
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = int64_t(i);
  const Tensor images = Tensor::from(pixels, {10, 1, 8, 8}), targets = Tensor::from(labels, {10});
  float loss = 0;
  for (int i = 0; i < 4; ++i)
    loss = step(std::vector{images, targets})[0].item<float>();
  return {loss, context.counters()};
}

// 300,000 parameters with two moments each: 3.6 MB, which are there once and not twice, but for what is made while
// the old ones of a layer are still read.
TEST_F(StepMemoryTest, FallsWithDonation) {
  const auto [plainLoss, plain] = stepsOf(false);
  const auto [loss, given] = stepsOf(true);
  EXPECT_EQ(loss, plainLoss);
  EXPECT_EQ(given.taken, 4 * 72u);
  EXPECT_EQ(given.notTaken, 0u);
  constexpr uint64_t states = 3 * 4 * (16 * 9 + 16 + 32 * 16 * 9 + 32 + 9 * 64 * 512 + 4 * 512 + 5 * 64 + 640 + 10);
  RecordProperty("plain", std::to_string(plain.runBytes));
  RecordProperty("given", std::to_string(given.runBytes));
  RecordProperty("least", std::to_string(given.leastRunBytes));
  RecordProperty("plainPeak", std::to_string(plain.peakBytes));
  RecordProperty("givenPeak", std::to_string(given.peakBytes));
  EXPECT_LE(given.runBytes, given.leastRunBytes + given.leastRunBytes / 10);
  EXPECT_LE(given.runBytes + states / 2, plain.runBytes);
  EXPECT_LE(given.peakBytes + states / 2, plain.peakBytes);
}

/// What a step of 4 blocks has at the most, besides values that are there before.
static uint64_t transformerPeak(bool isCheckpoint) {
  const Context context({.device = "cpu"});
  const ContextScope scope(context);
  nn::InitRng rng(2);
  nn::TransformerEncoder encoder(4, 32, {.heads = 2, .causal = true}, rng);
  optim::Optimizer optimizer(encoder.parameters(), optim::sgd());
  const Tensor x = rng.uniform({4, 64, 32}, -1, 1).realize();
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
