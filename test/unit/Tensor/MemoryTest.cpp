//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What happens where memory ends, and what programs keep.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Runtime/Simulation.h"

using namespace zyx;
using namespace zyx::test;
using runtime::Simulation;
using testing::Each;
using testing::HasSubstr;

namespace {

class MemoryTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
};

constexpr uint64_t limit = 1 << 20;
Tensor floatsOf(Shape shape, float value = 1, Place where = Place::current()) {
  size_t count = 1;
  for (int64_t each : shape)
    count *= size_t(each);
  return Tensor::from(std::vector<float>(count, value), std::move(shape), where);
}

/// Needs an arena: both sums are there before what is made of them.
Tensor centered(const Tensor &x) {
  const Tensor rows = x.reshape({-1, 64});
  return matmul(rows.softmax(), rows.transpose()).softmax();
}

} // namespace

TEST_F(MemoryTest, ErrorsNameTheLargestValuesAndNothingIsLost) {
  ContextScope scope(Context({.device = "cpu", .memoryLimits = {{"cpu", limit}}}));
  const Tensor small = floatsOf({1000}, 3);
  const int line = __LINE__ + 1;
  const Tensor large = floatsOf({100'000}, 2);
  const Tensor half = (large + 1).realize();
  const Tensor sum = large + half;
  const std::string text = refusal([&] { sum.realize(); });
  EXPECT_THAT(text, HasSubstr("out of memory: pool host holds"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "tensors on 'cpu' hold 804000 bytes in 3 values, the largest of them f32[100000] of 400000 bytes from "));
  EXPECT_THAT(text, HasSubstr("MemoryTest.cpp:" + std::to_string(line)));
  EXPECT_THAT(text, HasSubstr("f32[1000] of 4000 bytes from "));
  EXPECT_THAT(refusal([] { floatsOf({100'000}); }), HasSubstr("the largest of them f32[100000]"));
  // What was there is there, and the next smaller step works.
  EXPECT_FALSE(sum.isRealized());
  EXPECT_THAT(floats(half), Each(3));
  EXPECT_THAT(floats(large), Each(2));
  EXPECT_THAT(floats(small), Each(3));
  EXPECT_EQ((large.slice({{0, 10}}) + half.slice({{0, 10}})).sum().item<float>(), 50);
}

TEST_F(MemoryTest, ProgramsGiveBackTheirArenas) {
  const Context context({.device = "cpu", .memoryLimits = {{"cpu", limit}}});
  ContextScope scope(context);
  const Tensor x = floatsOf({64 * 64});
  const auto arenas = [&] { return context.counters().programBytes; };
  std::vector<float> first = floats(centered(x));
  ASSERT_GT(arenas(), 0u);
  // Together with the arena of the program there is no room for it.
  const int64_t count = int64_t(limit - 4 * 64 * 64 - 4096) / 4;
  {
    const Tensor most = floatsOf({count});
    EXPECT_EQ(arenas(), 0u);
    EXPECT_EQ(most.slice({{0, 1}}).item<float>(), 1);
  }
  // It takes memory again.
  EXPECT_EQ(floats(centered(x)), first);
  EXPECT_GT(arenas(), 0u);
}

TEST_F(MemoryTest, AllocationsThatFailOnceAreTriedAgain) {
  const std::unique_ptr<Simulation> simulation = *Simulation::create({});
  ContextScope scope(Context({.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}}));
  const Tensor x = floatsOf({64 * 64});
  const std::vector<float> expected = floats(centered(x));
  simulation->failAllocations(0, 4);
  for (float offset : {1.f, 2.f, 3.f, 4.f})
    EXPECT_THAT(floats((x + offset).realize()), Each(1 + offset));
  EXPECT_EQ(floats(centered(x)), expected);
  // All fail.
  simulation->failAllocations(0, 1);
  const Tensor y = centered(x) + 1;
  EXPECT_THAT(refusal([&] { y.realize(); }), HasSubstr("the largest of them f32[4096] of 16384 bytes"));
  EXPECT_THAT(refusal([] { floatsOf({10}); }), HasSubstr("tensors on 'cpu:1' hold 16384 bytes in 1 values"));
  const Jit step([](std::span<const Tensor> a) { return std::vector{a[0] * 2}; });
  EXPECT_THAT(refusal([&] { step({x}); }), HasSubstr("out of memory"));
  simulation->failAllocations(0, 0);
  EXPECT_THAT(floats(step({x})[0]), Each(2));
  EXPECT_EQ(y.realize().shape(), (Shape{64, 64}));
  EXPECT_THAT(floats(x), Each(1));
  EXPECT_TRUE(simulation->races().empty());
}

TEST_F(MemoryTest, WhatPlansCaptureIsPreparedOnce) {
  const Context context({.device = "cpu"});
  ContextScope scope(context);
  const Tensor w = floatsOf({256, 256}, 0.5f);
  std::vector<uint64_t> launches;
  uint64_t held = 0;
  {
    const Jit step([&](std::span<const Tensor> x) { return std::vector{matmul(x[0], (w * 2).exp().transpose())}; });
    for (int i = 0; i < 3; ++i) {
      const uint64_t before = context.counters().launches;
      const std::vector<float> y = floats(step({floatsOf({8, 256}, float(i))})[0]);
      launches.push_back(context.counters().launches - before);
      EXPECT_THAT(y, Each(testing::FloatNear(float(i) * 256 * std::exp(1.f), 0.01f * float(i) + 1e-6f)));
    }
    EXPECT_GT(launches[0], launches[1]);
    EXPECT_EQ(launches[1], launches[2]);
    // Another function of the same form has weights of its own.
    const Tensor v = floatsOf({256, 256}, 0);
    const Jit other([&](std::span<const Tensor> x) { return std::vector{matmul(x[0], (v * 2).exp().transpose())}; });
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(floats(other({floatsOf({8, 256})})[0]), Each(256));
      EXPECT_THAT(floats(step({floatsOf({8, 256})})[0]), Each(testing::FloatNear(256 * std::exp(1.f), 0.01f)));
    }
    held = context.counters().programBytes;
    EXPECT_GE(held, uint64_t(2 * 4 * 256 * 256));
  }
  // It goes with the function; memory for temporaries, which all programs share, stays.
  EXPECT_LE(context.counters().programBytes + 2 * 4 * 256 * 256, held);
}

/// In 1 MiB on the device, of values that take more.
class SpillTest : public MemoryTest, public testing::WithParamInterface<Spill> {};

static ContextOptions spillingTo(Spill spill) {
  ContextOptions options;
  options.device = "cpu";
  options.memoryLimits = {{"cpu", limit}};
  options.spill = spill;
  return options;
}
static constexpr int64_t count = 100'000;

TEST_P(SpillTest, ValuesLeaveAndComeBack) {
  const Context context(spillingTo(GetParam()));
  ContextScope scope(context);
  std::vector<Tensor> values;
  for (int i = 0; i < 6; ++i)
    values.push_back(floatsOf({count}, float(i)));
  // Two fit.
  EXPECT_EQ(context.counters().spills, 4u);
  EXPECT_EQ(context.counters().spilledBytes, uint64_t(4 * 4 * count));
  EXPECT_EQ(context.counters().spillReturns, 0u);
  EXPECT_LE(context.counters().valueBytes, limit);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ((values[i] * 2 + 1).sum().item<float>(), float((2 * i + 1) * count)) << i;
  EXPECT_GE(context.counters().spillReturns, 10u);
  // Reading needs no place on the device, and changes nothing.
  const uint64_t returns = context.counters().spillReturns;
  for (int i = 0; i < 6; ++i)
    EXPECT_THAT(floats(values[i]), Each(float(i)));
  EXPECT_EQ(context.counters().spillReturns, returns);
  // What has left is let go like others.
  values.clear();
  EXPECT_EQ(context.counters().valueBytes, 0u);
}

TEST_P(SpillTest, WhatWasUsedLastStays) {
  const Context context(spillingTo(GetParam()));
  ContextScope scope(context);
  const Tensor first = floatsOf({count}, 1), second = floatsOf({count}, 2);
  EXPECT_EQ(first.sum().item<float>(), float(count));
  const Tensor third = floatsOf({count}, 3);
  EXPECT_EQ(context.counters().spills, 1u);
  EXPECT_EQ(first.sum().item<float>(), float(count));
  EXPECT_EQ(context.counters().spillReturns, 0u);
  EXPECT_EQ(second.sum().item<float>(), float(2 * count));
  EXPECT_EQ(context.counters().spillReturns, 1u);
  EXPECT_EQ(third.sum().item<float>(), float(3 * count));
}

TEST_P(SpillTest, ResultsOfLongChainsAreRight) {
  const Context context(spillingTo(GetParam()));
  ContextScope scope(context);
  std::vector<Tensor> values = {floatsOf({count}, 1)};
  for (int i = 0; i < 10; ++i)
    values.push_back((values.back() + float(i)).realize());
  float expected = 1;
  for (int i = 0; i < 11; ++i) {
    EXPECT_THAT(floats(values[i]), Each(expected));
    expected += float(i);
  }
  EXPECT_EQ((values[0] + values[10]).sum().item<float>(), float(47 * count));
}

TEST_P(SpillTest, ACallThatNeedsMoreThanThereIsIsRefused) {
  const Context context(spillingTo(GetParam()));
  ContextScope scope(context);
  std::vector<Tensor> values;
  for (int i = 0; i < 6; ++i)
    values.push_back(floatsOf({count}, float(i)));
  // Three operands in one program.
  const Tensor sum = values[0] * values[1] + values[2];
  EXPECT_THAT(refusal([&] { sum.realize(); }), HasSubstr("out of memory: pool host holds"));
  for (int i = 0; i < 6; ++i)
    EXPECT_THAT(floats(values[i]), Each(float(i)));
  EXPECT_EQ((values[4].slice({{0, 10}}) + values[5].slice({{0, 10}})).sum().item<float>(), 90);
}

TEST_P(SpillTest, APlanBringsBackWhatItReads) {
  const Context context(spillingTo(GetParam()));
  ContextScope scope(context);
  constexpr int64_t few = 60'000;
  const Tensor weight = floatsOf({few}, 3);
  const Jit scale([&](std::span<const Tensor> arguments) { return std::vector{arguments[0] + weight}; });
  for (int step = 0; step < 4; ++step) {
    const Tensor x = floatsOf({few}, float(step));
    EXPECT_THAT(floats(scale({x})[0]), Each(float(step + 3)));
    std::vector<Tensor> others;
    for (int i = 0; i < 4; ++i)
      others.push_back(floatsOf({few}, 9));
  }
  EXPECT_GE(context.counters().spillReturns, 3u);
  EXPECT_THAT(floats(weight), Each(3));
}

INSTANTIATE_TEST_SUITE_P(Places, SpillTest, testing::Values(Spill::Host, Spill::Disk),
                         [](const auto &info) { return info.param == Spill::Host ? "Host" : "Disk"; });

TEST_F(MemoryTest, NothingIsLostWhereValuesCannotLeave) {
  for (const bool isFull : {false, true}) {
    ContextOptions options = spillingTo(Spill::Disk);
    if (isFull)
      options.spillLimit = 1000;
    else
      options.spillFolder = "/nonexistent/folder";
    const Context context(options);
    ContextScope scope(context);
    const Tensor first = floatsOf({count}, 1), second = floatsOf({count}, 2);
    const std::string text = refusal([] { floatsOf({count}, 3); });
    // Today's words, and why it was not mended.
    EXPECT_THAT(text, HasSubstr("out of memory: pool host holds"));
    EXPECT_THAT(text, HasSubstr("tensors on 'cpu' hold 800000 bytes in 2 values"));
    EXPECT_THAT(text, HasSubstr(isFull ? "pool disk holds 0 of 1000 bytes" : "/nonexistent/folder"));
    EXPECT_EQ(context.counters().spills, 0u);
    EXPECT_THAT(floats(first), Each(1));
    EXPECT_THAT(floats(second), Each(2));
  }
}
