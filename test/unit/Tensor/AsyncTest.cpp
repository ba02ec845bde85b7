//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Runs in flight, on a simulated device that can be held, fails when it is told to, and knows of races.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/Runtime/Simulation.h"
#include "zyx/Tensor/Tape.h"

#include <thread>

using namespace zyx;
using namespace zyx::test;
using runtime::Simulation;
using testing::Each;
using testing::HasSubstr;

namespace {

constexpr int64_t extent = 192;

/// Enough work to be handed to a queue.
Tensor squared(const Tensor &x) { return matmul(x, x) * (1.f / float(extent)); }

class AsyncTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  void TearDown() override {
    x = Tensor();
    if (simulation)
      EXPECT_TRUE(simulation->races().empty()) << simulation->races().front().toString();
  }
  /// Twice without faults, so that all programs are compiled and loaded.
  std::unique_ptr<Simulation> simulation = *Simulation::create({.seed = 3});
  Context context{{.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}}};
  ContextScope scope{context};
  Tensor x = Tensor::ones({extent, extent}).detach();
};

} // namespace

TEST_F(AsyncTest, RealizeReturnsBeforeTheRunIsOver) {
  const uint64_t before = simulation->counts().succeeded;
  simulation->hold();
  const Tensor y = squared(x + 1).realize();
  EXPECT_TRUE(y.isRealized());
  // Another program, behind the first one.
  const Tensor z = squared(y + 2).realize(), w = (z.sum() + y.sum()).realize();
  EXPECT_EQ(simulation->counts().succeeded, before);
  simulation->release();
  EXPECT_THAT(floats(y), Each(4));
  EXPECT_THAT(floats(z), Each(36));
  EXPECT_EQ(w.item<float>(), float(40 * extent * extent));
}

TEST_F(AsyncTest, InFlightIsRealizedForGradients) {
  simulation->hold();
  const Tensor y = squared(x).realize();
  Tensor taped;
  std::vector<Tensor> inTape;
  {
    const Tape tape(context);
    taped = matmul(x * 2, x * 2).realize();
    inTape = gradient(taped.sum(), std::vector{x});
  }
  const std::vector<Tensor> cut = gradient(y.sum() + taped.sum(), {x}, {.allowUnused = true});
  simulation->release();
  EXPECT_THAT(floats(cut[0]), Each(0));
  EXPECT_THAT(floats(inTape[0]), Each(8 * extent));
  EXPECT_THAT(floats(taped), Each(4 * extent));
}

TEST_F(AsyncTest, FailuresArriveAtTheReadAndLoseNothing) {
  const Tensor y = squared(x + 1);
  simulation->failWork(0, 1);
  simulation->hold();
  const int line = __LINE__ + 1;
  y.realize();
  const Tensor z = squared(y + 2).realize();
  simulation->release();
  const std::string place = "AsyncTest.cpp:" + std::to_string(line) + " failed";
  const int readLine = __LINE__ + 1;
  const std::string text = refusal([&] { y.bytes(); });
  EXPECT_THAT(text, HasSubstr("AsyncTest.cpp:" + std::to_string(readLine) + ": "));
  EXPECT_THAT(text, HasSubstr("the run that began at"));
  EXPECT_THAT(text, HasSubstr(place));
  EXPECT_THAT(text, HasSubstr("caused by"));
  // What depends on it fails with it, and is computed again with it.
  EXPECT_THAT(refusal([&] { z.bytes(); }), HasSubstr("caused by"));
  EXPECT_FALSE(z.isRealized());
  EXPECT_THAT(floats(z), Each(36));
  EXPECT_THAT(floats(y), Each(4));
  EXPECT_THAT(floats(x), Each(1));
}

TEST_F(AsyncTest, SyncTellsTheFirstFailure) {
  simulation->failWork(0, 1);
  const Tensor y = squared(x + 1).realize();
  EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr("fail"));
  context.sync();
  EXPECT_THAT(refusal([&] { y.bytes(); }), HasSubstr("the run that began at"));
  EXPECT_THAT(floats(y), Each(4));
  context.sync();
}

TEST_F(AsyncTest, ResultsOfCapturedFunctionsThatFailedStayFailed) {
  const Jit step([](std::span<const Tensor> a) { return std::vector{squared(a[0] + 1)}; });
  EXPECT_THAT(floats(step({x})[0]), Each(4));
  simulation->failWork(0, 1);
  const Tensor y = step({x})[0];
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(refusal([&] { y.bytes(); }), HasSubstr("the run that began at"));
  EXPECT_THAT(refusal([&] { (y + 1).bytes(); }), HasSubstr("the run that began at"));
  EXPECT_THAT(refusal([&] { step({y}); }), HasSubstr("the run that began at"));
  EXPECT_THAT(floats(step({x})[0]), Each(4));
}

TEST_F(AsyncTest, WhatIsDetachedFailsWithTheRun) {
  const Tensor y = squared(x + 1);
  simulation->hold();
  simulation->failWork(0, 1);
  const Tensor leaf = y.detach();
  EXPECT_TRUE(leaf.isRealized());
  simulation->release();
  EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr("the work was told to fail"));
  EXPECT_FALSE(leaf.isRealized());
  // It is no expression.
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(refusal([&] { leaf.bytes(); }), HasSubstr("the run that began at"));
  EXPECT_THAT(refusal([&] { gradient((leaf * leaf).sum(), std::vector{leaf}); }),
              HasSubstr("the work was told to fail"));
  EXPECT_THAT(refusal([&] { y.bytes(); }), HasSubstr("the run that began at"));
  EXPECT_THAT(floats(y.detach()), Each(4));
}

TEST_F(AsyncTest, WhatIsCapturedIsMadeAgain) {
  for (const bool isRead : {true, false}) {
    SCOPED_TRACE(isRead);
    const Tensor w = squared(x + (isRead ? 1 : 2));
    // Packed, so that the program keeps what it made of the weight.
    const Jit step([&](std::span<const Tensor> a) { return std::vector{matmul(a[0], w) * (1.f / float(extent))}; });
    simulation->hold();
    simulation->failWork(0, 1);
    w.realize();
    const Tensor y = step({x})[0];
    simulation->release();
    EXPECT_THAT(refusal([&] { y.bytes(); }), HasSubstr("the run that began at"));
    const auto look = [&] { isRead ? void(w.bytes()) : void(step({x})); };
    EXPECT_THAT(refusal(look), HasSubstr("the work was told to fail"));
    for (int i = 0; i < 2; ++i)
      EXPECT_THAT(floats(step({x})[0]), Each(isRead ? 4 : 9));
    EXPECT_EQ(step.numCaptures(), 1u);
  }
}

TEST_F(AsyncTest, MemoryGoesWithTheRun) {
  floats(squared(x + 1));
  const uint64_t before = simulation->device()->pool()->usage().inUse;
  squared(x + 1).realize();
  context.sync();
  EXPECT_EQ(simulation->device()->pool()->usage().inUse, before);
  EXPECT_EQ(context.counters().valueBytes, uint64_t(4 * extent * extent));
}

TEST_F(AsyncTest, ContextsEndWithRunsInFlight) {
  {
    Context own({.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}});
    {
      const ContextScope inner(own);
      const Tensor a = Tensor::ones({extent, extent}).detach();
      simulation->hold();
      squared(a + 1).realize();
    }
    std::thread later([&] { simulation->release(); });
    {
      const Context last = std::move(own);
    }
    later.join();
  }
  // On threads.
  for (int i = 0; i < 3; ++i) {
    const ContextScope own(Context({.device = "cpu"}));
    const Tensor a = Tensor::ones({extent, extent}).detach();
    squared(squared(a + 1).realize()).realize();
  }
}

TEST_F(AsyncTest, RandomOrdersGiveTheSame) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::unique_ptr<Simulation> world = *Simulation::create({.seed = seed, .queues = 3});
    const ContextScope own(Context({.device = "cpu:1", .devices = {{"cpu:1", world->device()}}}));
    Tensor a = Tensor::ones({extent, extent}).detach(), b = a;
    for (int i = 0; i < 4; ++i) {
      const Tensor next = squared(a) + b;
      realize(std::vector{next, b + 1});
      b = b + 1;
      a = next * 0.5f;
      if (i % 2)
        a.realize();
    }
    EXPECT_THAT(floats(b), Each(5));
    EXPECT_THAT(floats(a), Each(testing::FloatNear(5.4453125f, 1e-4))) << seed;
    EXPECT_TRUE(world->races().empty());
  }
}
