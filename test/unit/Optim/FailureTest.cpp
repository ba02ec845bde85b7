//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Steps that fail, at once or in flight, on a simulated device that fails when it is told to.
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

#include "zyx/Runtime/Simulation.h"

using namespace zyx;
using namespace zyx::test;
using runtime::Simulation;
using testing::HasSubstr;

namespace {

constexpr int64_t extent = 160;

/// Two parameters and a buffer; enough work to be handed to a queue.
struct Model {
  Parameter weight{Tensor::from(sines(extent * extent, 0.3f), {extent, extent})};
  Parameter bias{Tensor::zeros({extent}).detach()};
  Parameter seen{Tensor::zeros({}).detach()};
  const Parameters trained = {{"weight", weight}, {"bias", bias}}, buffers = {{"seen", seen}};

  static std::vector<float> sines(int64_t count, float scale) {
    std::vector<float> elements(count);
    for (int64_t i = 0; i < count; ++i)
      elements[i] = scale * std::sin(0.37f * float(i));
    return elements;
  }
  static Tensor batch(int64_t rows, int number) {
    return Tensor::from(sines(rows * extent, 1.f + float(number)), {rows, extent});
  }
  std::vector<Tensor> loss(std::span<const Tensor> batch) const {
    seen.setLater(*seen + float(batch[0].shape()[0]));
    const Tensor off = (matmul(batch[0], *weight) + *bias).tanh() - 0.25f;
    return {(off * off).mean()};
  }
};

/// A model with its optimizer, trained by TrainStep or Optimizer::minimize.
struct Trainee {
  explicit Trainee(bool isCaptured = true) : isCaptured(isCaptured) {}
  /// Of four steps in a row each is a program of its own: one program has one run in flight.
  Tensor step(int number) {
    const std::vector<Tensor> batch = {Model::batch(64 + 16 * (number % 4), number)};
    if (isCaptured)
      return captured(batch)[0];
    const Tensor loss = model.loss(batch)[0];
    optimizer.minimize(loss, model.buffers);
    return loss;
  }
  /// All that the next step depends on.
  std::vector<float> state() const {
    std::vector<float> all = floats(*model.weight);
    for (const Tensor &more : {*model.bias, model.seen->reshape({1}), optimizer.state().at("weight.m"),
                               optimizer.state().at("weight.v").flatten(), optimizer.state().at("bias.m")}) {
      const std::vector<float> elements = floats(more);
      all.insert(all.end(), elements.begin(), elements.end());
    }
    all.push_back(float(optimizer.steps()));
    return all;
  }

  static std::vector<float> weightOf(const std::vector<float> &state) {
    return {state.begin(), state.begin() + extent * extent};
  }

  const bool isCaptured;
  Model model;
  optim::Optimizer optimizer{model.trained, optim::adam({.learningRate = 0.01})};
  const optim::TrainStep captured{
      optimizer, [this](std::span<const Tensor> batch) { return model.loss(batch); }, {.buffers = model.buffers}};
};

class FailureTest : public testing::TestWithParam<bool> {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  void TearDown() override {
    if (simulation)
      EXPECT_TRUE(simulation->races().empty()) << simulation->races().front().toString();
  }
  /// What a model is after so many steps of which none fails.
  std::vector<float> after(int steps) {
    Trainee twin(GetParam());
    for (int i = 0; i < steps; ++i)
      twin.step(i);
    return twin.state();
  }
  /// Pieces of work of one step.
  uint64_t piecesOf(Trainee &trainee, int number) {
    const uint64_t before = simulation->counts().submitted;
    trainee.step(number);
    context.sync();
    return simulation->counts().submitted - before;
  }

  std::unique_ptr<Simulation> simulation = *Simulation::create({.seed = 5});
  Context context{{.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}}};
  ContextScope scope{context};
};

constexpr const char *undone = "the run that began at ";

} // namespace

TEST_P(FailureTest, AStepThatFailedInFlightIsUndone) {
  Trainee trainee(GetParam());
  trainee.step(0);
  ASSERT_EQ(trainee.state(), after(1));
  simulation->failWork(0, 1);
  const Tensor loss = trainee.step(1);
  EXPECT_THAT(refusal([&] { loss.bytes(); }), HasSubstr(undone));
  // Whoever read the loss was told.
  if (GetParam())
    EXPECT_EQ(trainee.state(), after(1));
  EXPECT_EQ(trainee.optimizer.steps(), 1);
  trainee.step(1);
  if (GetParam())
    EXPECT_EQ(trainee.state(), after(2));
  EXPECT_EQ(floats(*trainee.model.weight), Trainee::weightOf(after(2)));
}

TEST_P(FailureTest, SeveralInFlightGoBackToTheLastGoodOne) {
  Trainee trainee(GetParam());
  trainee.step(0);
  const uint64_t pieces = piecesOf(trainee, 1);
  const std::vector<float> good = after(3), next = after(4);
  ASSERT_EQ(trainee.state(), after(2));
  for (const char *const teller : {"loss", "sync", "weight", "step"}) {
    SCOPED_TRACE(teller);
    Trainee again(GetParam());
    for (int i = 0; i < 2; ++i)
      again.step(i);
    context.sync();
    simulation->hold();
    simulation->failWork(0, pieces + 1);
    std::vector<Tensor> losses;
    for (int i = 2; i < 6; ++i)
      losses.push_back(again.step(i));
    EXPECT_EQ(again.optimizer.steps(), 6);
    simulation->release();
    simulation->waitIdle();
    const auto tell = [&] {
      if (teller == std::string("loss"))
        losses.back().bytes();
      else if (teller == std::string("sync"))
        context.sync();
      else if (teller == std::string("weight"))
        again.model.weight.value();
      else
        again.step(6);
    };
    EXPECT_THAT(refusal(tell), HasSubstr(undone));
    EXPECT_EQ(again.optimizer.steps(), 3);
    EXPECT_EQ(floats(*again.model.weight), Trainee::weightOf(good));
    EXPECT_GT(losses[0].item<float>(), 0);
    refusal([&] { context.sync(); });
    if (GetParam()) {
      // Results of a Jit are no expressions.
      EXPECT_THAT(refusal([&] { losses[1].bytes(); }), HasSubstr(undone));
      EXPECT_EQ(again.state(), good);
    }
    again.step(3);
    EXPECT_EQ(floats(*again.model.weight), Trainee::weightOf(next));
    if (GetParam())
      EXPECT_EQ(again.state(), next);
  }
}

TEST_P(FailureTest, AFailureIsToldOnce) {
  Trainee trainee(GetParam());
  trainee.step(0);
  context.sync();
  simulation->failWork(0, 1);
  trainee.step(1);
  simulation->waitIdle();
  const int line = __LINE__ + 1;
  const std::string text = refusal([&] { trainee.optimizer.steps(); });
  EXPECT_THAT(text, HasSubstr("FailureTest.cpp:" + std::to_string(line) + ": "));
  EXPECT_THAT(text, HasSubstr(undone));
  EXPECT_EQ(trainee.optimizer.steps(), 1);
  trainee.step(1);
  EXPECT_EQ(trainee.optimizer.steps(), 2);
}

TEST_P(FailureTest, WhereMemoryEndsNothingHasChanged) {
  Trainee trainee(GetParam());
  trainee.step(0);
  const std::vector<float> good = trainee.state();
  const Tensor batch = Model::batch(96, 1);
  simulation->failAllocations(0, 1);
  EXPECT_THAT(refusal([&] {
                if (GetParam())
                  trainee.captured(std::vector<Tensor>{batch});
                else
                  trainee.optimizer.minimize(trainee.model.loss(std::vector<Tensor>{batch})[0]);
              }),
              HasSubstr("the largest of them f32[160, 160] of 102400 bytes"));
  simulation->failAllocations(0, 0);
  if (GetParam())
    EXPECT_EQ(trainee.state(), good);
  EXPECT_EQ(trainee.optimizer.steps(), 1);
  // A smaller step.
  EXPECT_GT(trainee.step(1).item<float>(), 0);
}

TEST_P(FailureTest, WhatWasReplacedIsFreedAsSoonAsTheRunIsGood) {
  Trainee trainee(GetParam());
  for (int i = 0; i < 4; ++i)
    trainee.step(i);
  context.sync();
  const uint64_t values = context.counters().valueBytes, held = simulation->device()->pool()->usage().inUse;
  for (int round = 0; round < 2; ++round) {
    simulation->hold();
    for (int i = 4; i < 7; ++i)
      trainee.step(i);
    simulation->release();
    context.sync();
    // Before anybody looks at a parameter.
    EXPECT_EQ(context.counters().valueBytes, values);
    EXPECT_EQ(simulation->device()->pool()->usage().inUse, held);
  }
}

TEST_P(FailureTest, EverythingMayEndWithAStepInFlight) {
  Parameter kept;
  {
    Trainee trainee(GetParam());
    trainee.step(0);
    context.sync();
    simulation->failWork(0, 1);
    trainee.step(1);
    kept = trainee.model.weight;
  }
  simulation->waitIdle();
  EXPECT_THAT(refusal([&] { kept.value(); }), HasSubstr(undone));
  EXPECT_EQ(floats(*kept), Trainee::weightOf(after(1)));
  {
    const Context own({.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}});
    const ContextScope inner(own);
    Trainee trainee(GetParam());
    trainee.step(0);
    simulation->hold();
    trainee.step(1);
    simulation->release();
  }
}

TEST_P(FailureTest, ALossOfWhatWentBackIsRefused) {
  Trainee trainee(GetParam());
  trainee.step(0);
  context.sync();
  for (const bool isRead : {true, false}) {
    SCOPED_TRACE(isRead);
    simulation->hold();
    simulation->failWork(0, 1);
    trainee.step(1);
    const Tensor held = *trainee.model.weight;
    const int line = __LINE__ + 1;
    const Tensor loss = (matmul(Model::batch(64, 7), held) + *trainee.model.bias).tanh().sum();
    simulation->release();
    simulation->waitIdle();
    if (isRead)
      EXPECT_THAT(refusal([&] { loss.bytes(); }), HasSubstr(undone));
    else
      EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr(undone));
    EXPECT_EQ(trainee.optimizer.steps(), 1);
    for (const std::string &text : {refusal([&] { gradient(loss, std::vector{*trainee.model.weight}); }),
                                    refusal([&] { trainee.optimizer.minimize(loss); })}) {
      EXPECT_THAT(text, HasSubstr("gradient: the target, f32[] of 'reduce add dims [0, 1]' from "));
      EXPECT_THAT(text, HasSubstr("FailureTest.cpp:" + std::to_string(line) + ", depends on f32[160"));
      EXPECT_THAT(text, HasSubstr(", whose value is not there any more; it is to be built anew"));
      EXPECT_THAT(text, HasSubstr(undone));
      EXPECT_THAT(text, HasSubstr("the work was told to fail"));
    }
    EXPECT_EQ(trainee.optimizer.steps(), 1);
    // By itself it is an expression, where it is one.
    const std::string bySource = refusal([&] { gradient((held * held).sum(), std::vector{held}); });
    if (GetParam())
      EXPECT_THAT(bySource, HasSubstr(undone));
    else
      EXPECT_EQ(bySource, "");
    refusal([&] { context.sync(); });
  }
  trainee.step(1);
  EXPECT_EQ(floats(*trainee.model.weight), Trainee::weightOf(after(2)));
}

TEST_P(FailureTest, TheSameLossMayBeTriedAgain) {
  Trainee trainee(false);
  trainee.step(0);
  const Tensor loss = trainee.model.loss(std::vector{Model::batch(80, 1)})[0];
  context.sync();
  simulation->failWork(0, 1);
  trainee.optimizer.minimize(loss, trainee.model.buffers);
  EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr(undone));
  EXPECT_EQ(trainee.optimizer.steps(), 1);
  // Read, it tells once more, and then takes part in another step.
  EXPECT_THAT(refusal([&] { loss.bytes(); }), HasSubstr(undone));
  refusal([&] { trainee.model.seen->bytes(); });
  trainee.optimizer.minimize(loss, trainee.model.buffers);
  EXPECT_EQ(trainee.optimizer.steps(), 2);
  if (!GetParam())
    EXPECT_EQ(floats(*trainee.model.weight), Trainee::weightOf(after(2)));
}

TEST_P(FailureTest, WhatIsPutThereByHandStays) {
  Trainee trainee(GetParam());
  trainee.step(0);
  context.sync();
  const std::vector<float> good = floats(*trainee.model.weight);
  simulation->hold();
  simulation->failWork(0, 1);
  trainee.step(1);
  trainee.model.bias.set(Tensor::from(std::vector<float>(extent, 0.5f), {extent}));
  simulation->release();
  EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr(undone));
  EXPECT_THAT(floats(*trainee.model.bias), testing::Each(0.5f));
  EXPECT_EQ(floats(*trainee.model.weight), good);
}

INSTANTIATE_TEST_SUITE_P(Steps, FailureTest, testing::Values(true, false),
                         [](const auto &info) { return info.param ? "captured" : "realized"; });
