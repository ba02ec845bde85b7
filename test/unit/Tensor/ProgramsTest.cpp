//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// How many programs there are, and what they hold.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

class ProgramsTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
    setenv("ZYX_CACHE_DIR", "off", 1);
  }
};

/// Has temporaries.
Tensor mixed(const Tensor &x) { return matmul(x.softmax(), x.transpose()).softmax(); }
Tensor ones(size_t count) { return Tensor::from(std::vector<float>(count, 1), {int64_t(count)}); }
Tensor rows(int64_t count) { return doubles({count, 96}).cast(DType::F32); }

uint64_t compiles(const Context &context) { return context.counters().compiles; }

} // namespace

TEST_F(ProgramsTest, AllShapesHaveOneArena) {
  uint64_t alone = 0;
  {
    const Context context({.device = "cpu"});
    ContextScope scope(context);
    mixed(rows(300)).realize();
    alone = context.counters().programBytes;
    ASSERT_GT(alone, 300u * 300 * 4);
  }
  const Context context({.device = "cpu"});
  ContextScope scope(context);
  std::vector<std::vector<float>> first;
  // Growing, then shrinking.
  for (int64_t count : {100, 140, 180, 220, 260, 300, 280, 240, 200, 160})
    first.push_back(floats(mixed(rows(count))));
  EXPECT_EQ(compiles(context), 10u);
  EXPECT_LT(context.counters().programBytes, alone + alone / 4);
  size_t i = 0;
  for (int64_t count : {100, 140, 180, 220, 260, 300, 280, 240, 200, 160})
    EXPECT_EQ(floats(mixed(rows(count))), first[i++]);
  EXPECT_EQ(compiles(context), 10u);
}

TEST_F(ProgramsTest, TogetherTheyHoldNoMoreThanTheirBound) {
  uint64_t one = 0;
  {
    const Context context({.device = "cpu"});
    ContextScope scope(context);
    (Tensor::from({1.f, 2.f}).exp() + 1).realize();
    one = context.counters().codeBytes;
    ASSERT_GT(one, 0u);
  }
  const uint64_t bound = 4 * one;
  const Context context({.device = "cpu", .programCacheSize = bound});
  ContextScope scope(context);
  const auto run = [](size_t count) { return floats(ones(count).exp() + 1); };
  for (size_t count = 2; count < 12; ++count) {
    EXPECT_THAT(run(count), Each(testing::FloatNear(std::exp(1.f) + 1, 1e-6f)));
    const ContextCounters now = context.counters();
    EXPECT_LE(now.codeBytes, bound + one);
    EXPECT_EQ(now.programs + now.evicted, now.compiles);
  }
  EXPECT_GT(context.counters().evicted, 3u);
  // Those that were used last are there; others are made again.
  const uint64_t before = compiles(context);
  run(11);
  EXPECT_EQ(compiles(context), before);
  EXPECT_THAT(run(2), Each(testing::FloatNear(std::exp(1.f) + 1, 1e-6f)));
  EXPECT_EQ(compiles(context), before + 1);
}

TEST_F(ProgramsTest, PlansAreMadeAgainWithoutCallingTheFunction) {
  const Context context({.device = "cpu", .programCacheSize = 1});
  ContextScope scope(context);
  const Tensor w = rows(96);
  int calls = 0;
  const Jit step([&](std::span<const Tensor> x) {
    ++calls;
    return std::vector{matmul(x[0], (w * 2).exp().transpose())};
  });
  std::vector<std::vector<float>> first;
  for (int64_t count : {2, 4, 8})
    first.push_back(floats(step({rows(count)})[0]));
  EXPECT_EQ(calls, 3);
  EXPECT_GT(context.counters().evicted, 0u);
  for (int pass = 0; pass < 2; ++pass) {
    size_t i = 0;
    for (int64_t count : {2, 4, 8})
      EXPECT_EQ(floats(step({rows(count)})[0]), first[i++]);
  }
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(step.numCaptures(), 3u);
  EXPECT_LE(context.counters().programs, 8u);
}

namespace {

/// Batches whose products read the same panels of a packed weight: whole blocks of rows for every instruction set.
constexpr int64_t batches[] = {96, 120, 144, 192};
constexpr int64_t width = 1024;
constexpr uint64_t weightBytes = width * width * 4;

Tensor batch(int64_t count) { return Tensor::full({count, width}, 1).realize(); }

} // namespace

TEST_F(ProgramsTest, PlansOfAllBatchesShareAPackedWeight) {
  const Context context({.device = "cpu"});
  ContextScope scope(context);
  const Parameter weight(Tensor::full({width, width}, 1).realize());
  const Jit linear([&](std::span<const Tensor> x) { return std::vector{matmul(x[0], *weight)}; });
  const auto held = [&] { return context.counters().programBytes; };
  for (int64_t count : batches) {
    EXPECT_THAT(floats(linear({batch(count)})[0]), Each(width));
    EXPECT_GE(held(), weightBytes);
    EXPECT_LT(held(), weightBytes + weightBytes / 2);
  }
  EXPECT_EQ(linear.numCaptures(), 4u);
  // Prepared once.
  for (int64_t count : batches) {
    const Tensor x = batch(count);
    const uint64_t launches = context.counters().launches;
    linear({x})[0].realize();
    EXPECT_EQ(context.counters().launches, launches + 1);
  }
  // Every plan has the value that was set, and nobody has the one before.
  weight.set(Tensor::full({width, width}, 2).realize());
  for (int64_t count : batches) {
    EXPECT_THAT(floats(linear({batch(count)})[0]), Each(2 * width));
    EXPECT_LT(held(), weightBytes + weightBytes / 2);
  }
}

TEST_F(ProgramsTest, NoPlanReadsAPackedWeightFromBeforeAStep) {
  const Context context({.device = "cpu"});
  ContextScope scope(context);
  const Parameter weight(Tensor::full({width, width}, 1).realize());
  // Its value lies where the last one lay.
  const Jit step([&](std::span<const Tensor> x) {
    weight.set(*weight + x[0]);
    return std::vector<Tensor>{x[0] + 1};
  });
  const Jit linear([&](std::span<const Tensor> x) { return std::vector{matmul(x[0], *weight)}; });
  for (int i = 1; i <= 4; ++i) {
    step({Tensor::full({}, 1)});
    for (int64_t count : {96, 120})
      EXPECT_THAT(floats(linear({batch(count)})[0]), Each((1 + i) * width));
    EXPECT_LT(context.counters().programBytes, weightBytes + weightBytes / 2);
  }
}

TEST_F(ProgramsTest, ThreadsThatRunTwoPlansShareAPackedWeight) {
  const Context context({.device = "cpu"});
  ContextScope scope(context);
  const Parameter weight(Tensor::full({width, width}, 1).realize());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int64_t count : {96, 120})
    threads.emplace_back([&, count] {
      ContextScope own(context);
      const Jit linear([&](std::span<const Tensor> x) { return std::vector{matmul(x[0], *weight)}; });
      const Tensor x = batch(count);
      for (int i = 0; i < 20; ++i) {
        const std::vector<float> y = floats(linear({x})[0]);
        wrong += y != std::vector<float>(y.size(), y[0]) || std::fmod(y[0], float(width)) != 0;
      }
    });
  for (int i = 2; i < 6; ++i)
    weight.set(Tensor::full({width, width}, i).realize());
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ProgramsTest, WhatTheInterpreterKeepsIsBoundedToo) {
  const Context context({.device = "reference", .programCacheSize = 8192});
  ContextScope scope(context);
  for (size_t count = 1; count < 40; ++count)
    EXPECT_THAT(floats(ones(count) + 1), Each(2));
  EXPECT_GT(context.counters().evicted, 0u);
  EXPECT_LE(context.counters().codeBytes, 8192u + 2048);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {

class NumbersTest : public DeviceTest {
protected:
  /// For all these numbers.
  template <typename F> uint64_t compilesOf(F &&function, int count) {
    const uint64_t before = compiles(context);
    for (int i = 0; i < count; ++i)
      function(i);
    return compiles(context) - before;
  }
  const Tensor x = Tensor::from({1.f, 2.f, -3.f});
};

} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, NumbersTest, testing::Values("cpu", "c"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(NumbersTest, ThatVaryAreArgumentsOfOneProgram) {
  EXPECT_LE(compilesOf(
                [&](int i) {
                  const float s = 0.1f * float(i);
                  EXPECT_THAT(floats(x * s), ElementsAre(1 * s, 2 * s, -3 * s));
                },
                40),
            3u);
  // Of integers, from 0 on as loops count, and on both sides.
  const Tensor n = Tensor::from({1, -2, 3});
  EXPECT_LE(compilesOf([&](int i) { EXPECT_THAT((i - n * i).toVector<int32_t>(), ElementsAre(0, 3 * i, -2 * i)); }, 40),
            3u);
  // Two that vary, one that does not, one at a time.
  EXPECT_LE(compilesOf(
                [&](int i) {
                  const float a = i < 5 ? 2.5f : float(i) + 0.125f, b = float(i) / 4 + 0.0625f;
                  EXPECT_THAT(floats((x * a + 3) / 2 - b),
                              ElementsAre((a + 3) / 2 - b, (2 * a + 3) / 2 - b, (-3 * a + 3) / 2 - b));
                },
                12),
            3u);
  EXPECT_LE(compilesOf([&](int i) { EXPECT_THAT(floats(Tensor::full({2, 3}, i, DType::F32)), Each(float(i))); }, 12),
            3u);
}

TEST_P(NumbersTest, ThatStayAreConstants) {
  const auto f = [&](int i) { floats(maximum(x * 2.5 + (float(i) + 0.25f), 0)); };
  EXPECT_LE(compilesOf(f, 10), 2u);
  // What was compiled with the first value is used for that again.
  EXPECT_EQ(compilesOf([&](int) { f(0); }, 3), 0u);
}

TEST_P(NumbersTest, WhoseValueIsTheProgramStayConstants) {
  EXPECT_EQ(compilesOf([&](int i) { floats(pow(x, i + 2)); }, 3), 3u);
  EXPECT_EQ(compilesOf([&](int i) { floats(where(x > 0, x, -10.f * float(i + 1))); }, 3), 3u);
  EXPECT_EQ(compilesOf([&](int i) { (Tensor::from({7, 8}) / (i + 2)).bytes(); }, 3), 3u);
}

TEST_P(NumbersTest, GradientsAndHistoryAreAsWithConstants) {
  EXPECT_LE(compilesOf(
                [&](int i) {
                  const float s = float(i) + 0.5f;
                  const Tensor y = (x * s).exp().sum();
                  const Tensor g = gradient(y, std::vector{x})[0];
                  expectNear(floats(g), {s * std::exp(s), s * std::exp(2 * s), s * std::exp(-3 * s)},
                             1e-4 * s * std::exp(2 * s));
                },
                8),
            3u);
  EXPECT_THAT(programText(std::vector{x * 0.375}), HasSubstr("3.750000e-01"));
}

TEST_P(NumbersTest, ResultsAreTheSameBits) {
  struct Case {
    const char *name;
    std::function<Tensor(const Tensor &, double)> function;
  };
  const Case cases[] = {
      {"sum of products", [](const Tensor &x, double s) { return (x * s).sum(); }},
      {"sums of rows", [](const Tensor &x, double s) { return (x * s).sum({1}) / s; }},
      {"sums of columns", [](const Tensor &x, double s) { return (x / s + x).mean({0}) - s; }},
      {"softmax", [](const Tensor &x, double s) { return (x * s).softmax() * s; }},
      {"normalised",
       [](const Tensor &x, double s) { return (x - x.mean({1}, true)) / ((x * x).mean({1}, true) + s).sqrt(); }},
      {"product of matrices", [](const Tensor &x, double s) { return matmul(x * s, x.transpose()) * s + s; }},
      {"attention", [](const Tensor &x, double s) { return matmul((matmul(x, x.transpose()) * s).softmax(), x); }},
      {"elementwise", [](const Tensor &x, double s) { return ((x + s).exp() * (x - s)).tanh() / (x * x + s); }},
      {"comparison", [](const Tensor &x, double s) { return maximum(where(x * s < s, x * s, x + s), -s); }},
      {"gradient", [](const Tensor &x, double s) { return gradient(((x * s).gelu() + s).sum(), std::vector{x})[0]; }},
      {"gradient of a loss",
       [](const Tensor &x, double s) {
         return x - gradient(matmul(x, x.transpose()).logSoftmax().mean(), std::vector{x})[0] * s;
       }},
  };
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16})
    for (const Case &each : cases) {
      // Each is compiled four times: a choice of them.
      const auto number = &each - cases;
      if ((dtype != DType::F32 && number % 4 != static_cast<int>(dtype) % 4) ||
          (std::string(GetParam()) == "c" && (dtype != DType::F32 || number % 3 != 0)))
        continue;
      SCOPED_TRACE(std::string(each.name) + " of " + std::string(toString(dtype)));
      const auto compute = [&](const Context &in, double s) {
        ContextScope scope(in);
        return each.function(doubles({24, 48}).cast(dtype).detach(), s).bytes();
      };
      const Context varies({.device = GetParam()});
      compute(varies, 0.625);
      for (double s : {0.1, 3.3}) {
        const Context constant({.device = GetParam()});
        EXPECT_EQ(compute(varies, s), compute(constant, s)) << s;
      }
    }
}

//===----------------------------------------------------------------------===//
// What is compiled again and again
//===----------------------------------------------------------------------===//

TEST_F(ProgramsTest, EightProgramsOfOneStructureAreTold) {
  const auto run = [](std::optional<bool> notice) {
    testing::internal::CaptureStderr();
    {
      const Context context({.device = "cpu", .recompileNotice = notice});
      ContextScope scope(context);
      for (size_t count = 1; count <= 10; ++count)
        floats(ones(count).exp());
      for (int exponent = 2; exponent < 10; ++exponent)
        floats(pow(Tensor::from({1.f, 2.f}), exponent));
      const Tensor x = ones(20);
      for (int64_t begin = 0; begin < 9; ++begin)
        floats(x.slice({{begin, begin + 4}}) * 2);
      // These are one.
      for (int i = 0; i < 20; ++i)
        floats(x * float(i));
    }
    return testing::internal::GetCapturedStderr();
  };
  const std::string text = run(std::nullopt);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_THAT(
      text,
      HasSubstr("zyx: 8 programs of one structure were compiled, the last one for what is made at ProgramsTest.cpp:"));
  EXPECT_THAT(text, HasSubstr("sizes vary (input 'in0', now f32[8]): pad them to a few."));
  EXPECT_THAT(text, HasSubstr("numbers vary (the constant at ProgramsTest.cpp:"));
  EXPECT_THAT(text, HasSubstr("positions vary ('pad"));
  EXPECT_EQ(run(false), "");
}
