//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What a function that is captured reads and sets besides its arguments, and gradients that would be 0 without a word.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

using CaptureTest = DeviceTest;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

TEST_P(CaptureTest, ParametersAreThoseOfEachCall) {
  const Parameter w(Tensor::from({2.f, 3.f}));
  const Jit scaled([&](std::span<const Tensor> a) { return std::vector{a[0] * *w, w->sum()}; });
  const Tensor x = Tensor::from({1.f, 10.f});
  EXPECT_THAT(floats(scaled({x})[0]), ElementsAre(2, 30));
  w.set(Tensor::from({4.f, 5.f}));
  const std::vector<Tensor> after = scaled({x});
  EXPECT_THAT(floats(after[0]), ElementsAre(4, 50));
  EXPECT_EQ(after[1].item<float>(), 9);
  // An expression that nobody computed.
  w.set(*w + 1);
  EXPECT_THAT(floats(scaled({x})[0]), ElementsAre(5, 60));
  EXPECT_EQ(scaled.numCaptures(), 1u);
  // Of another dtype it is another program.
  w.cast(DType::F64);
  EXPECT_EQ(scaled({x})[1].dtype(), DType::F64);
  EXPECT_EQ(scaled.numCaptures(), 2u);
}

/// What depends on parameters alone is computed again when they change, and at no other time.
TEST_P(CaptureTest, WeightsAreMadeAgainOnlyAfterAChange) {
  if (GetParam() == std::string("reference"))
    GTEST_SKIP() << "the interpreter keeps nothing";
  const Parameter w(doubles({16, 16}).cast(DType::F32));
  const Tensor x = doubles({16, 16}, 3).cast(DType::F32).realize();
  const Jit product([&](std::span<const Tensor> a) { return std::vector{matmul(a[0], (*w * 2).exp().transpose())}; });
  const auto launches = [&] {
    const uint64_t before = context.counters().launches;
    product({x})[0].realize();
    return context.counters().launches - before;
  };
  const uint64_t first = launches(), second = launches();
  EXPECT_GT(first, second);
  EXPECT_EQ(launches(), second);
  w.set(*w * 0.5);
  w->realize();
  EXPECT_EQ(launches(), first);
  EXPECT_EQ(launches(), second);
  expectNear(floats(product({x})[0]), wide(floats(matmul(x, (*w * 2).exp().transpose()))), 1e-4);
}

TEST_P(CaptureTest, WhatIsSetIsSetByEachCall) {
  const Parameter count(Tensor::from({0.f})), last(Tensor::from({0.f}));
  const Jit add([&](std::span<const Tensor> a) {
    count.set(*count + 1);
    last.set(a[0]);
    return std::vector{*count * 10};
  });
  for (int i = 1; i <= 3; ++i) {
    EXPECT_THAT(floats(add({Tensor::from({float(i)})})[0]), ElementsAre(10 * i));
    EXPECT_THAT(floats(*count), ElementsAre(i));
    EXPECT_THAT(floats(*last), ElementsAre(i));
  }
  EXPECT_EQ(add.numCaptures(), 1u);
}

TEST_P(CaptureTest, AFunctionThatFailsSetsNothing) {
  const Parameter w(Tensor::from({1.f}));
  const Jit fails([&](std::span<const Tensor> a) -> std::vector<Tensor> {
    w.set(a[0]);
    throw std::runtime_error("of the user");
  });
  EXPECT_THROW(fails({Tensor::from({2.f})}), std::runtime_error);
  EXPECT_THAT(floats(*w), ElementsAre(1));
  const Jit reads([&](std::span<const Tensor>) { return std::vector{Tensor::from({w->item<float>()})}; });
  EXPECT_THAT(refusal([&] { reads({Tensor::from({2.f})}); }),
              HasSubstr("a value is read that depends on the arguments"));
  EXPECT_THAT(floats(*w), ElementsAre(1));
}

TEST_P(CaptureTest, BodiesOfLoopsSetNothing) {
  const Parameter w(Tensor::from({1.f}));
  const auto body = [&](const Tensor &, std::span<const Tensor> now) {
    w.set(now[0]);
    return std::vector{now[0] * *w};
  };
  EXPECT_THAT(
      refusal([&] { loop(2, {Tensor::from({2.f})}, body); }),
      HasSubstr(
          "a parameter is set in the body of a loop, which is called once for all trips: carry its value from trip "
          "to trip, and set it behind the loop"));
  const Jit inside([&](std::span<const Tensor> a) { return loop(2, {a[0]}, body); });
  EXPECT_THAT(refusal([&] { inside({Tensor::from({2.f})}); }), HasSubstr("a parameter is set in the body of a loop"));
  EXPECT_THAT(floats(*w), ElementsAre(1));
  // They read.
  const Jit reads([&](std::span<const Tensor> a) {
    return loop(2, {a[0]}, [&](const Tensor &, std::span<const Tensor> now) { return std::vector{now[0] * *w}; });
  });
  w.set(Tensor::from({3.f}));
  EXPECT_THAT(floats(reads({Tensor::from({2.f})})[0]), ElementsAre(18));
  w.set(Tensor::from({1.f}));
  EXPECT_THAT(floats(reads({Tensor::from({2.f})})[0]), ElementsAre(2));
}

TEST_P(CaptureTest, ParameterOverridesAreOfOneThread) {
  const Parameter w(Tensor::from({1.f}));
  const ParameterOverride others({{"w", w}}, {Tensor::from({2.f})});
  EXPECT_THAT(floats(*w), ElementsAre(2));
  std::vector<float> there;
  std::thread([&] { there = floats(*w); }).join();
  EXPECT_THAT(there, ElementsAre(1));
}

TEST_P(CaptureTest, AssumptionsAreCapturedAgain) {
  bool isDoubled = false;
  const Jit jit([&](std::span<const Tensor> a) {
    Jit::assume([&, was = isDoubled] { return isDoubled == was; });
    return std::vector{isDoubled ? a[0] * 2 : a[0] * 1};
  });
  const Tensor x = Tensor::from({3.f});
  for (int i = 0; i < 4; ++i, isDoubled = !isDoubled)
    EXPECT_THAT(floats(jit({x})[0]), ElementsAre(isDoubled ? 6 : 3));
  EXPECT_EQ(jit.numCaptures(), 2u);
  const Jit never([](std::span<const Tensor> a) {
    Jit::assume([] { return false; });
    return std::vector{a[0]};
  });
  EXPECT_THAT(refusal([&] { never({x}); }),
              HasSubstr("jit: while the function was captured, a parameter or an assumption of it has changed"));
}

//===----------------------------------------------------------------------===//
// Seeds and calls of a Jit in a Jit
//===----------------------------------------------------------------------===//

TEST_P(CaptureTest, SeedsAreThoseWithoutAJit) {
  Generator seeds(1), same(1);
  auto draw = [](Generator &from) {
    const Tensor first = uniform(from.next(), {2});
    return std::vector{first, uniform(from.next(), {3})};
  };
  const Jit jit([&](std::span<const Tensor>) { return draw(seeds); });
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> drawn = jit({}), expected = draw(same);
    EXPECT_EQ(floats(drawn[0]), floats(expected[0])) << i;
    EXPECT_EQ(floats(drawn[1]), floats(expected[1])) << i;
  }
  EXPECT_EQ(jit.numCaptures(), 1u);
  EXPECT_EQ(seeds.state(), same.state());
  const std::string reason =
      "Generator: a seed that is drawn in the body of a loop would be the same one in each trip; take "
      "it as an argument";
  const auto body = [&](const Tensor &, std::span<const Tensor>) { return std::vector{uniform(seeds.next(), {2})}; };
  EXPECT_THAT(refusal([&] { loop(2, {Tensor::ones({2})}, body); }), HasSubstr(reason));
  EXPECT_THAT(
      refusal([&] { Jit([&](std::span<const Tensor> a) { return loop(2, {a[0]}, body); })({Tensor::ones({2})}); }),
      HasSubstr(reason));
}

TEST_P(CaptureTest, AJitInAJitIsItsFunction) {
  const Parameter w(Tensor::from({2.f}));
  const Jit inner([&](std::span<const Tensor> a) { return std::vector{a[0] + *w}; });
  const Jit outer([&](std::span<const Tensor> a) { return inner({a[0] * 2}); });
  const Tensor x = Tensor::from({1.f});
  EXPECT_THAT(floats(outer({x})[0]), ElementsAre(4));
  w.set(Tensor::from({5.f}));
  EXPECT_THAT(floats(outer({x})[0]), ElementsAre(7));
  EXPECT_EQ(inner.numCaptures(), 0u);
}

TEST_P(CaptureTest, AJitThatCallsItselfIsRefused) {
  std::function<std::vector<Tensor>(const Tensor &)> call;
  const Jit jit([&](std::span<const Tensor> a) { return std::vector{a[0] + call(Tensor::from({1.f}))[0]}; });
  call = [&](const Tensor &x) { return jit({x}); };
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(refusal([&] { call(Tensor::from({1.f})); }),
                HasSubstr("jit: the function calls the Jit that it is captured for"));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

TEST_P(CaptureTest, GradientsOfWhatIsNotUsedAreRefused) {
  const Tensor x = Tensor::from({1.f, 2.f}), y = Tensor::from({3.f, 4.f});
  EXPECT_THAT(
      refusal([&] { gradient((x * x).sum(), {x, y}); }),
      testing::AllOf(HasSubstr("does not depend on source 1, f32[2] of 'parameter' from " + std::string(__FILE__)),
                     HasSubstr("through ops that have gradients, or what lies between was realized and has forgotten "
                               "what it was made of (Tape); allowUnused takes that for 0")));
  const std::vector<Tensor> zeros = gradient((x * x).sum(), {x, y}, {.allowUnused = true});
  EXPECT_THAT(floats(zeros[0]), ElementsAre(2, 4));
  EXPECT_THAT(floats(zeros[1]), ElementsAre(0, 0));
  EXPECT_FALSE(gradient((x * x).sum(), {x, y}, {.allowUnused = true, .materialize = false})[1].isDefined());
  // Through rounding it is 0; through a comparison there is none.
  EXPECT_THAT(floats(gradient(x.floor().sum(), {x})[0]), ElementsAre(0, 0));
  EXPECT_THAT(refusal([&] { gradient((x > 1).cast(DType::F32).sum(), {x}); }),
              HasSubstr("does not depend on source 0"));
  // What was realized between has forgotten.
  const Tensor between = x * 2;
  between.realize();
  EXPECT_THAT(refusal([&] { gradient((between * 3).sum(), {x}); }),
              HasSubstr("has forgotten what it was made of (Tape)"));
}

TEST_P(CaptureTest, GradientsThroughAJitAreRefused) {
  const Tensor x = Tensor::from({1.f, 2.f});
  const Parameter w(Tensor::from({3.f, 4.f}));
  const Jit squared([&](std::span<const Tensor> a) { return std::vector{a[0] * a[0] * *w}; });
  const std::string reason = "through a result of the Jit that was called at " + std::string(__FILE__);
  const Tensor y = squared({x})[0];
  EXPECT_THAT(refusal([&] { gradient(y.sum(), {x}); }),
              testing::AllOf(
                  HasSubstr(reason),
                  HasSubstr(", and nothing is known of what is inside: take the gradient in the function, or call it "
                            "without the Jit; of detach() of the result it is none")));
  // A part that is there does not hide what is not.
  EXPECT_THAT(refusal([&] { gradient((y + x).sum(), {x}); }), HasSubstr(reason));
  EXPECT_THAT(refusal([&] { gradient((y * *w).sum(), {*w}); }), HasSubstr(reason));
  const Tensor z = squared({y * 2})[0];
  EXPECT_THAT(refusal([&] { gradient((z + x).sum(), {x}); }), HasSubstr(reason));
  // Of others it is data, and so is it after detach().
  const Tensor v = Tensor::from({5.f, 6.f});
  EXPECT_THAT(floats(gradient((y * v).sum(), {v})[0]), ElementsAre(3, 16));
  EXPECT_THAT(floats(gradient((y.detach() * x).sum(), {x})[0]), ElementsAre(3, 16));
  EXPECT_THAT(floats(gradient((y * 2).sum(), {y})[0]), ElementsAre(2, 2));
  // Inside of the function there is one.
  const Jit inside([](std::span<const Tensor> a) { return gradient((a[0] * a[0]).sum(), {a[0]}); });
  EXPECT_THAT(floats(inside({x})[0]), ElementsAre(2, 4));
}

INSTANTIATE_TEST_SUITE_P(Devices, CaptureTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
