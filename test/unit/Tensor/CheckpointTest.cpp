//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using testing::HasSubstr;
using zyx::test::doubles;
using zyx::test::refusal;

namespace {

using CheckpointTest = test::DeviceTest;
using Scope = std::function<Tensor(const Tensor &)>;

/// Calls it, as a checkpoint or as it is.
Tensor call(const Scope &scope, const Tensor &x, bool isCheckpoint) {
  return isCheckpoint ? checkpoint(scope, x) : scope(x);
}

/// Floats without pattern, in (-1, 1).
Tensor weights(Shape shape, int seed) { return doubles(std::move(shape), seed).cast(DType::F32).detach(); }

/// The loss and the gradients of `build` with checkpoints and without. Sums of gradients are taken in another order
/// where several scopes read a source.
void expectSame(const std::function<Tensor(const std::vector<Tensor> &, bool)> &build,
                const std::vector<Tensor> &sources) {
  std::vector<std::vector<float>> values[2];
  for (bool isCheckpoint : {false, true}) {
    const Tensor loss = build(sources, isCheckpoint);
    std::vector<Tensor> all = gradient(loss, sources);
    all.push_back(loss);
    realize(all);
    for (const Tensor &tensor : all)
      values[isCheckpoint].push_back(tensor.toVector<float>());
  }
  for (size_t i = 0; i < values[0].size(); ++i) {
    float most = 0;
    for (float value : values[0][i])
      most = std::max(most, std::abs(value));
    EXPECT_THAT(values[1][i], testing::Pointwise(testing::FloatNear(2e-6f * (1 + most)), values[0][i])) << i;
    EXPECT_GT(most, 0);
  }
}

} // namespace

TEST_P(CheckpointTest, HasTheSameGradients) {
  const std::vector<Tensor> sources = {weights({8, 16}, 1), weights({16, 16}, 2), weights({16}, 3)};
  expectSame(
      [](const std::vector<Tensor> &s, bool on) {
        Tensor x = s[0];
        for (int layer = 0; layer < 3; ++layer)
          x = call([&](const Tensor &y) { return layerNorm((matmul(y, s[1]) + s[2]).tanh(), 1, s[2], s[2]) + y; }, x,
                   on);
        return (x * x).mean();
      },
      sources);
}

TEST_P(CheckpointTest, DrawsTheSameNumbersAgain) {
  const Tensor x = Tensor::full({64}, 1).detach();
  Generator generator(7);
  const Scope scope = [&](const Tensor &t) { return dropout(generator.next(), (t * t).exp(), 0.5); };
  const Tensor y = checkpoint(scope, x);
  const std::vector<float> slopes = gradient(y.sum(), std::vector{x})[0].toVector<float>(),
                           values = y.toVector<float>();
  int dropped = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    dropped += values[i] == 0;
    EXPECT_NEAR(slopes[i], 2 * values[i], 1e-5) << i;
  }
  EXPECT_GT(dropped, 10);
  EXPECT_LT(dropped, 54);
}

TEST_P(CheckpointTest, LiesInAnother) {
  const std::vector<Tensor> sources = {weights({4, 8}, 1), weights({8, 8}, 2)};
  expectSame(
      [](const std::vector<Tensor> &s, bool on) {
        const Scope inner = [&](const Tensor &x) { return matmul(x, s[1]).tanh(); };
        const Scope outer = [&](const Tensor &x) { return call(inner, call(inner, x, on).exp(), on) * x; };
        return call(outer, s[0], on).sum();
      },
      sources);
}

TEST_P(CheckpointTest, UnderTapes) {
  const Tensor x = weights({6}, 1), w = weights({6}, 2);
  const std::vector<float> expected = gradient((x * w).tanh().exp().sum(), std::vector{x, w})[1].toVector<float>();
  auto outer = std::make_unique<Tape>();
  Tensor y;
  {
    const Tape inner;
    y = checkpoint([&](const Tensor &t) { return (t * w).tanh(); }, x);
    y.realize();
    outer.reset();
    const Tensor z = y.exp();
    z.realize();
    EXPECT_THAT(gradient(z.sum(), std::vector{x, w})[1].toVector<float>(),
                testing::Pointwise(testing::FloatNear(1e-6f), expected));
  }
  // No tape lives, and what is realized has forgotten, until it is made once more.
  EXPECT_THAT(refusal([&] { gradient(y.exp().sum(), {x, w}); }),
              testing::HasSubstr("has forgotten what it was made of (Tape)"));
  const Tensor again = checkpoint([&](const Tensor &t) { return (t * w).tanh(); }, x);
  EXPECT_THAT(gradient(again.exp().sum(), std::vector{x, w})[1].toVector<float>(),
              testing::Pointwise(testing::FloatNear(1e-6f), expected));
}

TEST_P(CheckpointTest, TakesAndReturnsSeveral) {
  const Tensor a = weights({3}, 1), b = weights({3}, 2), c = a * 2;
  const std::vector<Tensor> inputs = {a, b};
  const std::vector<Tensor> results = checkpoint(
      [&](std::span<const Tensor> x) { return std::vector<Tensor>{(x[0] * x[1]).sin(), x[0], c, x[1].exp() * c}; },
      inputs);
  ASSERT_EQ(results.size(), 4u);
  const Tensor loss = (results[0] + results[1] * results[3]).sum();
  const Tensor plain = ((a * b).sin() + a * (b.exp() * c)).sum();
  // What was made before and is held has its gradient, too.
  const std::vector<Tensor> sources = {a, b, c};
  const std::vector<Tensor> found = gradient(loss, sources), expected = gradient(plain, sources);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_THAT(found[i].toVector<float>(),
                testing::Pointwise(testing::FloatNear(1e-6f), expected[i].toVector<float>()));
  EXPECT_NEAR(loss.item<float>(), plain.item<float>(), 1e-6);
  EXPECT_EQ(results[2].toVector<float>(), c.toVector<float>());
}

TEST_P(CheckpointTest, HasSecondDerivatives) {
  const Tensor x = doubles({5}, 1);
  test::expectGradients(
      [](const std::vector<Tensor> &in) {
        const Tensor y = checkpoint([](const Tensor &t) { return (t * t).exp().tanh(); }, in[0]);
        return gradient(y.sum(), in)[0];
      },
      {x}, 1e-5);
}

TEST_P(CheckpointTest, IsOneProgramForAllSteps) {
  Tensor w = weights({4, 4}, 1);
  const uint64_t before = context.counters().hits;
  for (int step = 0; step < 4; ++step) {
    const Tensor x = weights({2, 4}, step);
    const Tensor loss = checkpoint([&](const Tensor &t) { return matmul(t, w).tanh(); }, x).sum();
    w = (w - 0.1 * gradient(loss, std::vector{w})[0]).detach();
  }
  // Of each kind of program, those of `weights` and of the step, the first alone is compiled.
  EXPECT_GE(context.counters().hits - before, 6u);
}

TEST_P(CheckpointTest, RefusesWhatIsNoTensor) {
  EXPECT_THAT(refusal([] { checkpoint([](const Tensor &x) { return x; }, Tensor()); }),
              HasSubstr("CheckpointTest.cpp:"));
  EXPECT_THAT(refusal([] { checkpoint([](const Tensor &x) { return x; }, Tensor()); }),
              HasSubstr("checkpoint: there is no tensor in this place"));
  EXPECT_THAT(refusal([] {
                checkpoint([](std::span<const Tensor>) { return std::vector<Tensor>(); }, std::span<const Tensor>());
              }),
              HasSubstr("checkpoint: there are no inputs"));
  EXPECT_THAT(refusal([] { checkpoint([](const Tensor &) { return Tensor(); }, Tensor::from({1.f})); }),
              HasSubstr("there is no tensor in this place"));
  EXPECT_THAT(refusal([] { checkpoint(std::function<Tensor(const Tensor &)>(), Tensor::from({1.f})); }),
              HasSubstr("checkpoint: there is no function"));
  EXPECT_THAT(refusal([] {
                checkpoint(std::function<std::vector<Tensor>(std::span<const Tensor>)>(), std::span<const Tensor>());
              }),
              HasSubstr("checkpoint: there is no function"));
  EXPECT_THAT(refusal([] {
                checkpoint(
                    [](const Tensor &x) {
                      throwIfError(Status::unsupported("the user's"));
                      return x;
                    },
                    Tensor::from({1.f}));
              }),
              HasSubstr("the user's"));
}

TEST_P(CheckpointTest, LiesOnOneDevice) {
  const Tensor x = Tensor::from({1.f, 2.f}), far = x.to("c");
  EXPECT_THAT(refusal([&] { checkpoint([](const Tensor &t) { return (t + 1).to("c") * 2; }, x); }),
              HasSubstr("checkpoint: the function moves f32[2] to another device; a checkpoint lies on one"));
  const std::vector<Tensor> both = {x, far};
  EXPECT_THAT(refusal([&] {
                checkpoint([](std::span<const Tensor> t) { return std::vector<Tensor>{t[0].exp(), t[1].exp()}; }, both);
              }),
              HasSubstr("checkpoint: operands lie on two devices"));
  // What lies there before is read, and so is what was moved there.
  const Tensor twos = Tensor::full({2}, 2).to("c");
  EXPECT_EQ(checkpoint([&](const Tensor &t) { return t * twos; }, far).toVector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(checkpoint([](const Tensor &t) { return t * 2; }, far).toVector<float>(), (std::vector<float>{2, 4}));
}

INSTANTIATE_TEST_SUITE_P(Devices, CheckpointTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

/// Bytes besides values that a step needs at the most: its gradients of 12 weights, 1 KiB each, and what is
/// temporary, of which an activation takes 32 KiB.
static uint64_t peakOf(bool isCheckpoint) {
  const Context context{{.device = "cpu"}};
  const ContextScope scope{context};
  std::vector<Tensor> sources;
  const Tensor x = weights({512, 16}, 1);
  for (int layer = 0; layer < 12; ++layer)
    sources.push_back(weights({16, 16}, layer + 2));
  Tensor y = x;
  for (int segment = 0; segment < 4; ++segment)
    y = call(
        [&](Tensor z) {
          for (int layer = 3 * segment; layer < 3 * segment + 3; ++layer)
            z = matmul(matmul(z, sources[layer]).tanh(), sources[layer]).tanh();
          return z;
        },
        y, isCheckpoint);
  const std::vector<Tensor> gradients = gradient((y * y).mean(), sources);
  const uint64_t values = context.counters().valueBytes;
  realize(gradients);
  context.sync();
  return context.counters().peakBytes - values;
}

// 24 activations, each with the slope of tanh beside it; or 4, and those of a scope of 6 with their slopes.
TEST(CheckpointMemoryTest, FallsToAThird) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  const uint64_t plain = peakOf(false), least = peakOf(true);
  EXPECT_GE(plain, 24 * 32768u);
  EXPECT_LT(3 * least, plain) << least << " of " << plain;
  EXPECT_LT(least, 17 * 32768u);
}
