//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Donated arguments of captured functions: results take their memory.
#include "TensorFixture.h"

#include "zyx/Runtime/Simulation.h"

#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using DonationTest = DeviceTest;
using Arguments = std::span<const Tensor>;

Tensor waves(Shape shape, int seed) { return doubles(std::move(shape), seed).cast(DType::F32).detach(); }
std::vector<Tensor> doubled(Arguments a) { return {a[0] * 2}; }

} // namespace

TEST_P(DonationTest, ResultsTakeTheMemory) {
  const Jit step([](Arguments a) { return std::vector{a[1].sum(), a[0] * 2 + a[1]}; }, {.donated = {0}});
  const Tensor first = Tensor::from({1.f, 2.f, 3.f}), one = Tensor::from({1.f, 1.f, 1.f});
  const uint64_t bytes = context.counters().valueBytes;
  Tensor x = first;
  const int line = __LINE__ + 2;
  for (int i = 0; i < 4; ++i)
    x = step({x, one})[1];
  EXPECT_THAT(floats(x), ElementsAre(31, 47, 63));
  EXPECT_EQ(context.counters().valueBytes, bytes);
  EXPECT_EQ(context.counters().taken, 4u);
  EXPECT_EQ(context.counters().notTaken, 0u);
  // What was taken says by whom.
  EXPECT_FALSE(first.isRealized());
  const std::string call = "DonationTest.cpp:" + std::to_string(line);
  for (const std::string &text : {refusal([&] { first.bytes(); }), refusal([&] { (first + 1).bytes(); }),
                                  refusal([&] { first.detach(); }), refusal([&] { step({first, one}); })}) {
    EXPECT_THAT(text, HasSubstr("the tensor was donated to the call at"));
    EXPECT_THAT(text, HasSubstr(call + ", and a result of that took its memory"));
  }
  EXPECT_THAT(floats(x), ElementsAre(31, 47, 63));
}

// A row of a cache for each of two texts, and one of them all: rows of the result are those of the argument, but for
// these.
TEST_P(DonationTest, RowsAreWrittenWhereTheyLie) {
  const auto put = [](const Tensor &at, const Tensor &row, const Tensor &cache) {
    const Tensor places = Tensor::arange(0, cache.size(1)).unsqueeze(0).unsqueeze(2);
    return where(places == at, row, cache);
  };
  const Jit step(
      [&](Arguments a) {
        const Tensor next = put(a[1].reshape({a[1].numel(), 1, 1}), a[2], a[0]);
        return std::vector{next, next.sum(1)};
      },
      {.donated = {0}});
  for (const std::vector<int64_t> &at :
       {std::vector<int64_t>{3, 9}, std::vector<int64_t>{5}, std::vector<int64_t>{-1, 12}}) {
    Tensor cache = Tensor::zeros({2, 12, 4}, DType::F32) + 1;
    cache = cache.detach();
    cache.realize();
    const Tensor position = Tensor::from(at, {static_cast<int64_t>(at.size())}), row = waves({2, 1, 4}, 7);
    const Tensor expected = put(position.reshape({position.numel(), 1, 1}), row, Tensor::ones({2, 12, 4}, DType::F32));
    const std::vector<float> all = floats(expected), sums = floats(expected.sum(1));
    // Twice, that of the second time in what the first one gave.
    std::vector<Tensor> results = step({std::move(cache), position, row});
    EXPECT_EQ(floats(results[0]), all);
    EXPECT_EQ(floats(results[1]), sums);
    Tensor again = std::move(results[0]);
    results.clear();
    results = step({std::move(again), position, row});
    EXPECT_EQ(floats(results[0]), all);
    EXPECT_EQ(floats(results[1]), sums);
  }
  EXPECT_GE(context.counters().taken, 3u);
}

TEST_P(DonationTest, WhatSomebodyElseNeedsKeepsItsValue) {
  const Jit step(doubled, {.donated = {0}});
  uint64_t kept = 0;
  auto keeps = [&](const Tensor &x) {
    EXPECT_THAT(floats(step({x})[0]), ElementsAre(2, 4));
    EXPECT_THAT(floats(x), ElementsAre(1, 2));
    EXPECT_EQ(context.counters().notTaken, ++kept);
    EXPECT_EQ(context.counters().taken, 0u);
  };
  const Tensor shared = Tensor::from({1.f, 2.f}), detached = shared.detach();
  keeps(shared);
  EXPECT_THAT(floats(detached), ElementsAre(1, 2));
  const Tensor read = Tensor::from({1.f, 2.f}), reads = read + 1;
  keeps(read);
  EXPECT_THAT(floats(reads), ElementsAre(2, 3));
  keeps(Tensor::from({0.f, 1.f}) + 1);
  static const float elements[] = {1, 2};
  keeps(Tensor::borrow({DType::F32, {2}}, std::as_bytes(std::span(elements)), std::make_shared<int>(0)));
  EXPECT_EQ(elements[0], 1);
}

TEST_P(DonationTest, OneArgumentIsTakenOnce) {
  const Jit sum([](Arguments a) { return std::vector{a[0] + 2 * a[1]}; }, {.donated = {0}});
  const Tensor x = Tensor::from({1.f, 2.f});
  EXPECT_THAT(floats(sum({x, x})[0]), ElementsAre(3, 6));
  EXPECT_THAT(floats(x), ElementsAre(1, 2));
  // What is returned as it is, and what is not read.
  const Jit same([](Arguments a) { return std::vector{a[0], a[1] + 1}; }, {.donated = {0, 2}});
  const std::vector<Tensor> results = same({x, x, Tensor::from({5.f, 6.f})});
  EXPECT_THAT(floats(results[0]), ElementsAre(1, 2));
  EXPECT_THAT(floats(results[1]), ElementsAre(2, 3));
  // Of another type than any result.
  const Jit wide([](Arguments a) { return std::vector{a[0].cast(DType::F64)}; }, {.donated = {0}});
  EXPECT_EQ(wide({x})[0].toVector<double>(), (std::vector<double>{1, 2}));
  EXPECT_THAT(floats(x), ElementsAre(1, 2));
  EXPECT_EQ(context.counters().taken, 0u);
  EXPECT_EQ(context.counters().notTaken, 4u);
  EXPECT_THAT(refusal([&] { Jit(doubled, {.donated = {2}})({x}); }), HasSubstr("jit: argument 2 of 1 is donated"));
}

TEST_P(DonationTest, IsNamedOnce) {
  const Jit both([](Arguments a) { return std::vector{a[0] + 1, a[0] * 2}; }, {.donated = {0, 0}});
  EXPECT_THAT(refusal([&] { both({Tensor::from({1.f})}); }), HasSubstr("jit: argument 0 is donated twice"));
}

TEST_P(DonationTest, WhatIsBeingReadIsKept) {
  const Jit step(doubled, {.donated = {0}});
  for (int i = 0; i < 50; ++i) {
    const Tensor x = Tensor::from({1.f, 2.f, 3.f});
    x.realize();
    std::thread reader([&] {
      try {
        EXPECT_THAT(floats(x), ElementsAre(1, 2, 3));
      } catch (const Error &error) {
        EXPECT_THAT(error.what(), HasSubstr("the tensor was donated"));
      }
    });
    EXPECT_THAT(floats(step({x})[0]), ElementsAre(2, 4, 6));
    reader.join();
  }
}

TEST_P(DonationTest, APendingUpdateIsOfOneRun) {
  const Jit step(doubled);
  const PendingUpdate pending;
  const std::vector<Tensor> x = {Tensor::from({1.f, 2.f})};
  step(x, pending);
  EXPECT_THAT(refusal([&] { step(x, pending); }),
              HasSubstr("a pending update belongs to one run, and this one to another"));
  EXPECT_THAT(refusal([&] { realize(std::vector{x[0] + 1}, pending); }),
              HasSubstr("a pending update belongs to one run"));
}

TEST_P(DonationTest, HandlesBesideTheCallers) {
  const Jit step(doubled, {.donated = {0}, .callerHandles = 0});
  Tensor x = Tensor::from({1.f, 2.f});
  // One in the vector, and x.
  EXPECT_THAT(floats(step({x})[0]), ElementsAre(2, 4));
  EXPECT_THAT(floats(x), ElementsAre(1, 2));
  std::vector<Tensor> arguments;
  arguments.push_back(std::move(x));
  EXPECT_THAT(floats(step(arguments)[0]), ElementsAre(2, 4));
  EXPECT_EQ(context.counters().taken, 1u);
}

// The old value is read before and behind the kernel that makes the new one, by loops, and by what depends on weights.
TEST_P(DonationTest, ReadersComeFirst) {
  const Tensor w = waves({24, 24}, 3);
  const Jit::Function function = [&](Arguments a) {
    const Tensor next = a[0] * 0.5 + matmul(a[1], a[0]).tanh();
    const Tensor looped = loop(3, std::vector{a[1]}, [&](const Tensor &, Arguments now) {
      return std::vector{matmul(now[0], a[0]).tanh() + a[0].sum({1}, true)};
    })[0];
    const Tensor late = matmul(matmul(next, w).softmax(), a[0]);
    return std::vector{next, looped + late, cumsum(a[0], 0) + matmul(late, a[1])};
  };
  const Jit plain(function), given(function, {.donated = {0, 1}});
  std::vector<Tensor> expected = {waves({24, 24}, 1), waves({24, 24}, 2)},
                      found = {waves({24, 24}, 1), waves({24, 24}, 2)};
  for (int i = 0; i < 3; ++i) {
    expected = plain({expected[0], expected[1]});
    found = given({found[0], found[1]});
    for (size_t k = 0; k < 3; ++k)
      EXPECT_EQ(floats(found[k]), floats(expected[k])) << "result " << k << " of call " << i;
  }
  // The first ones share their memory with nobody, later ones neither.
  EXPECT_EQ(context.counters().taken, 6u);
}

INSTANTIATE_TEST_SUITE_P(Devices, DonationTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

namespace {

constexpr int64_t extent = 192;

/// On a simulated device that can be held, fails when it is told to, and knows of races.
class DonationInFlightTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  void TearDown() override {
    x = Tensor();
    EXPECT_TRUE(simulation->races().empty()) << simulation->races().front().toString();
  }
  std::unique_ptr<runtime::Simulation> simulation = *runtime::Simulation::create({.seed = 5});
  Context context{{.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}}};
  ContextScope scope{context};
  Tensor x = Tensor::ones({extent, extent}).detach();
  const Jit::Function squared = [](Arguments a) {
    return std::vector{matmul(a[0], a[0]) * (1.f / float(extent)) + a[0]};
  };
};

} // namespace

TEST_F(DonationInFlightTest, RunsThatReadItAreWaitedFor) {
  const Jit step(squared, {.donated = {0}}), reads(squared);
  Tensor y = Tensor::ones({extent, extent}).detach();
  std::vector<Tensor> before;
  for (int i = 0; i < 3; ++i) {
    simulation->hold();
    before.push_back(reads({y})[0]);
    y = step({y})[0];
    simulation->release();
    // The next call binds its argument when this run is over.
    context.sync();
  }
  float now = 1;
  for (const Tensor &each : before) {
    now = now * now + now;
    EXPECT_THAT(floats(each), Each(now));
  }
  EXPECT_THAT(floats(y), Each(now));
  EXPECT_EQ(context.counters().taken, 3u);
}

TEST_F(DonationInFlightTest, ARunThatFailsLeavesNeither) {
  const Jit step(squared, {.donated = {0}});
  step({Tensor::ones({extent, extent}).detach()})[0].bytes();
  simulation->failWork(0, 1);
  const Tensor y = step({x})[0];
  EXPECT_THAT(refusal([&] { y.bytes(); }), HasSubstr("the run that began at"));
  EXPECT_THAT(refusal([&] { x.bytes(); }), HasSubstr("the tensor was donated to the call at"));
  // The next one is not hurt.
  EXPECT_THAT(floats(step({Tensor::ones({extent, extent}).detach()})[0]), Each(2));
}

TEST_F(DonationInFlightTest, ARunThatNeverBeganGivesBackWhatItTook) {
  const Jit::Function function = [](Arguments a) {
    return std::vector{matmul(a[1], a[0]) * (1.f / float(extent)) + a[0]};
  };
  const Jit makes(squared), reads([&](Arguments a) { return std::vector{squared(a)[0] + 1}; });
  // One program has one run in flight.
  std::vector<Jit> steps;
  const Tensor y = Tensor::ones({extent, extent}).detach();
  for (int i = 0; i < 3; ++i)
    steps.emplace_back(function, JitOptions{.donated = {0}})({Tensor::ones({extent, extent}).detach(), y})[0].bytes();
  for (const Jit &call : {makes, reads})
    call({y})[0].bytes();
  for (const size_t count : {1, 2, 3}) {
    SCOPED_TRACE(count);
    const uint64_t before = simulation->device()->pool()->usage().inUse;
    simulation->hold();
    simulation->failWork(0, 1);
    // What the first step waits for fails.
    std::vector<Tensor> results = {makes({y})[0]};
    results.push_back(steps[0]({x, results[0]})[0]);
    for (size_t i = 1; i < count; ++i)
      results.push_back(steps[i]({results.back(), y})[0]);
    results.push_back(reads({results.back()})[0]);
    EXPECT_FALSE(x.isRealized());
    simulation->release();
    simulation->waitIdle();
    for (const Tensor &result : results) {
      const std::string text = refusal([&] { result.bytes(); });
      EXPECT_THAT(text, testing::AnyOf(HasSubstr("the run that began at"), HasSubstr("was donated to the call at")));
      EXPECT_THAT(text, HasSubstr("the work was told to fail"));
      EXPECT_FALSE(result.isRealized());
    }
    EXPECT_THAT(floats(x), Each(1));
    EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr("the work was told to fail"));
    results.clear();
    EXPECT_EQ(simulation->device()->pool()->usage().inUse, before);
  }
  // It may be donated again.
  EXPECT_THAT(floats(steps[0]({x, y})[0]), Each(2));
  EXPECT_FALSE(x.isRealized());
}

TEST_F(DonationInFlightTest, WhatHadBegunIsLostAndSaysWhy) {
  const Jit first(squared, {.donated = {0}}), second(squared, {.donated = {0}});
  for (const Jit &step : {first, second})
    step({Tensor::ones({extent, extent}).detach()})[0].bytes();
  simulation->failWork(0, 1);
  simulation->hold();
  const Tensor y = first({x})[0], z = second({y})[0];
  simulation->release();
  EXPECT_THAT(refusal([&] { z.bytes(); }), HasSubstr("the run that began at"));
  for (const Tensor &lost : {x, y}) {
    const std::string text = refusal([&] { lost.bytes(); });
    EXPECT_THAT(text, HasSubstr("the tensor was donated to the call at"));
    EXPECT_THAT(text, HasSubstr(", which failed"));
    EXPECT_THAT(text, HasSubstr("the work was told to fail"));
    EXPECT_THAT(refusal([&] { gradient((lost * lost).sum(), std::vector{x}); }),
                HasSubstr("the work was told to fail"));
  }
}

TEST_F(DonationInFlightTest, WhereMemoryEndsNothingIsLost) {
  const Jit step(squared, {.donated = {0}});
  const Jit wide([&](Arguments a) { return std::vector{squared(a)[0].cast(DType::F64), a[0] + 1}; }, {.donated = {0}});
  step({Tensor::ones({extent, extent}).detach()})[0].bytes();
  for (const Jit &call : {step, wide})
    for (uint64_t every : {1, 2, 3}) {
      simulation->failAllocations(0, every);
      const std::string text = refusal([&] { call({x})[0].bytes(); });
      simulation->failAllocations(0, 0);
      if (text.empty())
        x = Tensor::ones({extent, extent}).detach();
      EXPECT_THAT(floats(x), Each(1)) << every << ": " << text;
    }
  EXPECT_THAT(floats(step({x})[0]), Each(2));
}

TEST_F(DonationInFlightTest, RefusalsTakeNothing) {
  const Jit step(squared, {.donated = {0}});
  const Tensor flat = Tensor::ones({3, 5}).detach();
  EXPECT_THAT(refusal([&] { step({flat}); }), HasSubstr("matmul"));
  EXPECT_THAT(floats(flat), Each(1));
  // A compiler that is not there.
  setenv("ZYX_COMPILER", "/nowhere/libcompiler.so", 1);
  {
    const ContextScope own(
        Context({.device = "cpu:1", .cacheFolder = "", .devices = {{"cpu:1", simulation->device()}}}));
    const Tensor given = Tensor::from(std::vector<float>(extent * extent, 1), {extent, extent});
    EXPECT_THAT(refusal([&] { step({given}); }), HasSubstr("/nowhere/libcompiler.so"));
    EXPECT_THAT(floats(given), Each(1));
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    EXPECT_THAT(floats(step({given})[0]), Each(2));
  }
  EXPECT_THAT(floats(step({x})[0]), Each(2));
}
