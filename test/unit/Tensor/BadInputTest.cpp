//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What users get wrong: places without a tensor, positions that are none, numbers that a dtype does not hold, what
// ends before what it belongs to, exceptions of their own code, several threads.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <atomic>
#include <random>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using BadInputTest = DeviceTest;

TEST_P(BadInputTest, NoFunctionTakesTheAbsenceOfATensor) {
  const Tensor none, x = Tensor::ones({2, 2}), p = Tensor::zeros({2}, DType::I64), seed = Tensor::scalar(uint64_t(1));
  const std::vector<std::function<void()>> calls = {
      [&] { none.reshape({1}); },
      [&] { none.expand({1}); },
      [&] { none.permute({}); },
      [&] { none.transpose(); },
      [&] { none.flip({0}); },
      [&] { none.unsqueeze(0); },
      [&] { none.squeeze(); },
      [&] { none.flatten(); },
      [&] { none.slice({}); },
      [&] { none.select(0, 0); },
      [&] { none.pad({}, {}); },
      [&] { none.cast(DType::I8); },
      [&] { none.neg(); },
      [&] { none.logicalNot(); },
      [&] { none.sum(); },
      [&] { none.prod(); },
      [&] { none.max(); },
      [&] { none.min(); },
      [&] { none.mean(); },
      [&] { none.var(); },
      [&] { none.argmax(0); },
      [&] { none.softmax(); },
      [&] { none.logSoftmax(); },
      [&] { none.relu(); },
      [&] { none.sigmoid(); },
      [&] { none.gelu(); },
      [&] { none.silu(); },
      [&] { none.realize(); },
      [&] { none.detach(); },
      [&] { none.bytes(); },
      [&] { none.toVector<float>(); },
      [&] { none.item<float>(); },
      [&] { none.size(0); },
      [&] { none.context(); },
      [&] { x + none; },
      [&] { none *x; },
      [&] { (void)(none < 1); },
      [&] { pow(none, 2); },
      [&] { maximum(x, none); },
      [&] { -none; },
      [&] { ~none; },
      [&] { where(none, x, x); },
      [&] { where(x > 0, none, x); },
      [&] { matmul(x, none); },
      [&] { matmul(none, x); },
      [&] { concat(std::vector{x, none}); },
      [&] { take(x, none); },
      [&] { take(none, p); },
      [&] { oneHot(none, 2); },
      [&] { crossEntropy(none, p); },
      [&] { crossEntropy(x, none); },
      [&] { realize(std::vector{x + 1, none}); },
      [&] { gradient(x.sum(), std::vector{none}); },
      [&] { any(none); },
      [&] { logsumexp(none); },
      [&] { norm(none); },
      [&] { stddev(none); },
      [&] { clamp(none, 0, 1); },
      [&] { sign(none); },
      [&] { isNan(none); },
      [&] { isInf(none); },
      [&] { isFinite(none); },
      [&] { lerp(x, none, 1); },
      [&] { log10(none); },
      [&] { erfinv(none); },
      [&] { frac(none); },
      [&] { square(none); },
      [&] { isClose(none, x); },
      [&] { allClose(none, none); },
      [&] { cosineSimilarity(x, none); },
      [&] { bitcast(none, DType::I8); },
      [&] { mish(none); },
      [&] { takeAlongAxis(none, p, 0); },
      [&] { putAlongAxis(x, none, x, 0); },
      [&] { scatter(x, p, none); },
      [&] { indexAdd(x, none, x); },
      [&] { maskedFill(x, none, 0); },
      [&] { maskedFill(x, x > 0, none); },
      [&] { tril(none); },
      [&] { repeat(none, {}); },
      [&] { repeatInterleave(none, 1, 0); },
      [&] { stack(std::vector{x, none}); },
      [&] { split(none, 1); },
      [&] { splitSizes(none, {}); },
      [&] { roll(none, {}, {}); },
      [&] { narrow(none, 0, 0, 0); },
      [&] { diagonal(none); },
      [&] { cumsum(none, 0); },
      [&] { sort(none); },
      [&] { argsort(none); },
      [&] { topk(none, 1); },
      [&] { nonzero(none); },
      [&] { maskedSelect(x, none); },
      [&] { compress(none, x > 0); },
      [&] { unique(none); },
      [&] { convolution(none, x); },
      [&] { maxPool(none, {2}); },
      [&] { avgPool(none, {2}); },
      [&] { slidingWindows(none, {}); },
      [&] { interpolate(none, {2}); },
      [&] { einsum("ij", std::vector{none}); },
      [&] { scaledDotProductAttention(x, x, none); },
      [&] { triangularSolve(x, none); },
      [&] { cholesky(none); },
      [&] { qr(none); },
      [&] { loop(1, std::vector{none}, [](const Tensor &, std::span<const Tensor> c) { return std::vector{c[0]}; }); },
      [&] { loop(1, std::vector{x}, [&](const Tensor &, std::span<const Tensor>) { return std::vector{none}; }); },
      [&] { randomBits(none, {2}); },
      [&] { uniform(none, {2}); },
      [&] { multinomial(seed, none, 1); },
      [&] { dropout(none, x); },
      [&] { dropout(seed, none); },
      [&] { mseLoss(x, none); },
      [&] { nllLoss(x, none); },
      [&] { layerNorm(none, 1); },
      [&] { ctcLoss(none, p, p, p); },
      [&] { zerosLike(none); },
      [&] { copyTo(Context::current(), none); },
      [&] { (void)Parameter(none); },
  };
  for (size_t i = 0; i < calls.size(); ++i)
    EXPECT_THAT(refusal(calls[i]), HasSubstr("invalid argument: ")) << "call " << i;
  EXPECT_THAT(refusal([&] { none.context(); }), HasSubstr("context: there is no tensor in this place"));
  EXPECT_FALSE(none.isRealized());
  EXPECT_THAT(floats(x), Each(1));
}

/// A position that is none gives 0 or drops its update, whoever chose it; the number of a dimension's element that a
/// program says is refused.
TEST_P(BadInputTest, PositionsThatAreNone) {
  const Tensor x = Tensor::from({5.f, 6.f, 7.f});
  for (const DType dtype : {DType::I8, DType::I32, DType::I64}) {
    const Tensor p = Tensor::from({-1, 3, 127, -128, 1}).cast(dtype);
    EXPECT_THAT(floats(take(x, p)), ElementsAre(0, 0, 0, 0, 6));
    EXPECT_THAT(floats(takeAlongAxis(x, p, 0)), ElementsAre(0, 0, 0, 0, 6));
    EXPECT_THAT(floats(scatter(x, p, Tensor::from({1.f, 2.f, 3.f, 4.f, 9.f}))), ElementsAre(5, 9, 7));
    EXPECT_THAT(floats(putAlongAxis(x, p, Tensor::from({1.f, 2.f, 3.f, 4.f, 9.f}), 0, ScatterMode::Add)),
                ElementsAre(5, 15, 7));
    EXPECT_THAT(floats(oneHot(p.slice({{0, 2}}), 3)), Each(0));
  }
  const Tensor far = Tensor::from({INT64_MAX, INT64_MIN, int64_t(1) << 32, int64_t(2)});
  EXPECT_THAT(floats(take(x, far)), ElementsAre(0, 0, 0, 7));
  EXPECT_THAT(floats(takeAlongAxis(x, far, 0)), ElementsAre(0, 0, 0, 7));
  EXPECT_THAT(floats(take(x, Tensor::from({UINT64_MAX, uint64_t(0)}))), ElementsAre(0, 5));
  EXPECT_THAT(floats(gradient(take(x, far).sum(), std::vector{x})[0]), ElementsAre(0, 0, 1));
  EXPECT_THAT(refusal([&] { x.select(0, 3); }), HasSubstr("select: dimension 0 of [3] has no position 3"));
  EXPECT_THAT(refusal([&] { x.select(0, -4); }), HasSubstr("select: dimension 0 of [3] has no position -4"));
  EXPECT_THAT(refusal([&] { take(x, x); }), HasSubstr("gather"));
}

TEST_P(BadInputTest, NumbersThatADtypeDoesNotHold) {
  const Tensor x = Tensor::from({NAN, INFINITY, -INFINITY, 300.f, -300.f, 2.9f, -0.9f});
  EXPECT_THAT(x.cast(DType::U8).toVector<uint8_t>(), ElementsAre(0, 255, 0, 255, 0, 2, 0));
  EXPECT_THAT(x.cast(DType::I8).toVector<int8_t>(), ElementsAre(0, 127, -128, 127, -128, 2, 0));
  EXPECT_THAT(x.cast(DType::I64).toVector<int64_t>(), ElementsAre(0, INT64_MAX, INT64_MIN, 300, -300, 2, 0));
  EXPECT_THAT(x.cast(DType::F16).cast(DType::I32).toVector<int32_t>(),
              ElementsAre(0, INT32_MAX, INT32_MIN, 300, -300, 2, 0));
  // Positions that are NaN are position 0, as NaN is cast to 0.
  EXPECT_THAT(floats(take(Tensor::from({4.f, 5.f}), Tensor::from({NAN, 1.f}).cast(DType::I32))), ElementsAre(4, 5));
  EXPECT_THAT(refusal([] { Tensor::full({2}, NAN, DType::I32); }), HasSubstr("full: no i32 is "));
  EXPECT_THAT(refusal([] { Tensor::from({1}) * NAN; }), HasSubstr("multiply: no i32 is "));
  EXPECT_THAT(refusal([] { Tensor::from({uint8_t(1)}) - (-1); }), HasSubstr("subtract: no u8 is -1"));
}

TEST_P(BadInputTest, ShapesOutOfMemory) {
  EXPECT_THAT(refusal([] { Tensor::ones({int64_t(1) << 40, int64_t(1) << 40}); }), HasSubstr("BadInputTest.cpp:"));
  EXPECT_THAT(refusal([] { Tensor::zeros({-1}); }), HasSubstr("BadInputTest.cpp:"));
  EXPECT_THAT(refusal([] { Tensor::from({1.f}).reshape({-2}); }), HasSubstr("BadInputTest.cpp:"));
  EXPECT_THAT(refusal([] { repeat(Tensor::ones({4}), {INT64_MAX}); }), HasSubstr("BadInputTest.cpp:"));
}

TEST_P(BadInputTest, TensorsKeepTheirContext) {
  Tensor lazy, value;
  {
    const Context ending({.device = GetParam()});
    const ContextScope inside(ending);
    value = Tensor::from({1.f, 2.f}).realize();
    lazy = value * 3;
  }
  EXPECT_THAT(floats(lazy + value), ElementsAre(4, 8));
  EXPECT_THAT(floats(gradient((lazy * lazy).sum(), std::vector{value})[0]), ElementsAre(18, 36));
  const Context theirs = lazy.context();
  lazy = value = Tensor();
  EXPECT_EQ(theirs.counters().liveNodes, 0u);
  // A tape outlives all else of its context.
  std::unique_ptr<Tape> tape;
  {
    const Context ending({.device = GetParam()});
    tape = std::make_unique<Tape>(ending);
  }
  tape.reset();
}

TEST_P(BadInputTest, TapesEndInAnyOrder) {
  std::mt19937 random(7);
  const Tensor x = Tensor::from({2.f, 3.f});
  std::vector<std::unique_ptr<Tape>> tapes;
  for (int i = 0; i < 60; ++i) {
    if (tapes.empty() || random() % 2 == 0) {
      tapes.push_back(std::make_unique<Tape>(context));
    } else {
      std::swap(tapes[random() % tapes.size()], tapes.back());
      tapes.pop_back();
    }
    const Tensor y = (x * x * float(i)).sum();
    y.realize();
    // While a tape lives, what was computed is still made of something.
    if (tapes.empty())
      EXPECT_THAT(refusal([&] { gradient(y, std::vector{x}); }), HasSubstr("has forgotten what it was made of"));
    else
      EXPECT_THAT(floats(gradient(y, std::vector{x})[0]), ElementsAre(4 * float(i), 6 * float(i)));
  }
  tapes.clear();
  EXPECT_EQ(context.counters().liveNodes, 1u);
  // A tensor that was computed under a tape that ended is a leaf under the next one.
  Tensor y;
  {
    const Tape first(context);
    y = x * x;
    y.realize();
  }
  const Tape second(context);
  EXPECT_THAT(refusal([&] { gradient((y * 5).sum(), {x}); }), HasSubstr("has forgotten what it was made of (Tape)"));
  EXPECT_THAT(floats(gradient((y * 5).sum(), std::vector{y})[0]), ElementsAre(5, 5));
}

TEST_P(BadInputTest, ExceptionsOfUsersPassThrough) {
  const Tensor x = Tensor::from({1.f, 2.f});
  const uint64_t live = context.counters().liveNodes;
  int calls = 0;
  const Jit step([&](std::span<const Tensor> in) -> std::vector<Tensor> {
    const Tensor y = in[0] * 2;
    if (++calls == 1)
      throw std::runtime_error("of the user");
    return {y};
  });
  EXPECT_THROW(step({x}), std::runtime_error);
  EXPECT_EQ(step.numCaptures(), 0u);
  EXPECT_EQ(context.counters().liveNodes, live);
  EXPECT_THAT(floats(step({x})[0]), ElementsAre(2, 4));
  EXPECT_EQ(calls, 2);
  EXPECT_THROW(loop(2, std::vector{x},
                    [](const Tensor &, std::span<const Tensor>) -> std::vector<Tensor> {
                      throw std::runtime_error("of the user");
                    }),
               std::runtime_error);
  try {
    const Tape tape(context);
    const ContextScope other(Context({.device = "reference"}));
    const Tensor there = Tensor::ones({2});
    throw std::runtime_error("of the user");
  } catch (const std::runtime_error &) {
  }
  // The scope has ended with the exception, and so has the tape.
  const Tensor y = x + Tensor::ones({2});
  EXPECT_THAT(floats(y), ElementsAre(2, 3));
  EXPECT_THAT(refusal([&] { gradient(y, std::vector{x}); }), HasSubstr("has forgotten what it was made of"));
}

TEST_P(BadInputTest, ThreadsShareTensorsAndContexts) {
  const Tensor x = Tensor::from(std::vector<float>(32, 2), {32}), y = x * 3;
  const Context other({.device = GetParam()});
  std::atomic<int> failures = 0;
  // Each is the first to need something at some time: y's value, a program, a gradient, the end of a handle.
  const auto work = [&](int thread) {
    try {
      for (int i = 0; i < 12; ++i) {
        const ContextScope inside(thread % 2 ? context : other);
        const Tensor own = Tensor::full({32}, thread + 1).detach();
        const Tape tape(own.context());
        const Tensor product = thread % 2 ? own * y : own * 6;
        failures += product.sum().item<float>() != 32.f * 6 * float(thread + 1);
        const Tensor g = gradient((product * product).sum(), std::vector{own})[0];
        failures += floats(g)[i] != 72.f * float(thread + 1);
        const Tensor copy = y;
        failures += copy.context().counters().liveNodes == 0;
        failures += floats(copy)[31] != 6;
        const std::string text = refusal([&] { own + Tensor::ones({31}); });
        failures += text.find("do not broadcast") == std::string::npos;
      }
    } catch (const std::exception &error) {
      ADD_FAILURE() << error.what();
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back(work, thread);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(other.counters().liveNodes, 0u);
}

/// Handles go from thread to thread and end where they are: the last of a context may be one of another thread.
TEST_P(BadInputTest, ThreadsEndWhatOthersMade) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    std::vector<Tensor> made;
    {
      const ContextScope inside(Context({.device = GetParam()}));
      made = {Tensor::from({float(i), 1.f}), Tensor::ones({2})};
      made.push_back(made[0] + made[1]);
    }
    threads.emplace_back([made = std::move(made), i]() mutable {
      const Tensor sum = made[2];
      made.clear();
      EXPECT_THAT(floats(sum), ElementsAre(float(i) + 1, 2));
    });
  }
  for (std::thread &thread : threads)
    thread.join();
}

INSTANTIATE_TEST_SUITE_P(Devices, BadInputTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
