//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"
#include "Trajectories.h"

#include "zyx/zyx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace zyx;
using zyx::test::refusal;
using namespace zyx::optim;
using testing::HasSubstr;

namespace {

/// On the interpreter and on machine code.
class OptimTest : public test::DeviceTest {
protected:
  bool compiles() const { return GetParam() != std::string("reference"); }
};

/// Three parameters and what they are drawn to.
struct Problem {
  explicit Problem(DType dtype = DType::F64) {
    add("w", {2, 3}, {0.5, -1.25, 2, 0.125, -0.75, 3}, dtype);
    add("b", {2}, {-2, 0.25}, dtype);
    add("scale", {}, {1.5}, dtype);
  }
  void add(const std::string &name, Shape shape, std::vector<double> first, DType dtype) {
    parameters.push_back({name, Parameter(Tensor::from(first, std::move(shape)).cast(dtype))});
    starts.push_back(std::move(first));
  }
  static double scaleOf(size_t i) { return 0.5 + 0.25 * double(i); }
  static double goalOf(size_t i) { return double(i) - 0.3; }
  Tensor loss() const {
    Tensor total;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor &w = *parameters[i].parameter;
      const Tensor part = (scaleOf(i) / 2 * pow(w - goalOf(i), 2) + 0.1 * w.sin()).sum();
      total = total.isDefined() ? total + part : part;
    }
    return total;
  }
  std::vector<double> values(size_t i) const { return parameters[i].parameter->cast(DType::F64).toVector<double>(); }

  Parameters parameters;
  std::vector<std::vector<double>> starts;
};

struct Case {
  const char *name;
  UpdateRule rule;
};
std::vector<Case> cases() {
  return {
      {"sgd", sgd()},
      {"sgd momentum", sgd({.momentum = 0.9, .dampening = 0.3, .weightDecay = 0.02})},
      {"sgd nesterov", sgd({.momentum = 0.8, .nesterov = true})},
      {"adam", adam({.beta2 = 0.95, .epsilon = 1e-6, .weightDecay = 0.05})},
      {"adamw", adamW({.beta2 = 0.95, .epsilon = 1e-6, .weightDecay = 0.05})},
      {"adam amsgrad", adam({.beta2 = 0.5, .epsilon = 1e-6, .weightDecay = 0.05, .amsgrad = true})},
      {"adamw amsgrad", adamW({.beta2 = 0.5, .epsilon = 1e-6, .weightDecay = 0.05, .amsgrad = true})},
      {"rmsprop", rmsprop({.alpha = 0.9, .epsilon = 1e-4})},
      {"rmsprop centered",
       rmsprop({.alpha = 0.9, .epsilon = 1e-2, .weightDecay = 0.01, .momentum = 0.5, .centered = true})},
      {"lion", lion({.beta2 = 0.8, .weightDecay = 0.1})},
  };
}

std::vector<double> rates(int steps) {
  std::vector<double> rates;
  for (int step = 0; step < steps; ++step)
    rates.push_back(cosineDecay(0.1, step, 20, 0.01));
  return rates;
}

void follow(const Case &of, DType dtype, double tolerance) {
  SCOPED_TRACE(of.name);
  const Problem problem(dtype);
  Optimizer optimizer(problem.parameters, of.rule);
  const std::vector<double> rate = rates(10);
  for (size_t step = 0; step < rate.size(); ++step) {
    optimizer.setLearningRate(rate[step]);
    optimizer.minimize(problem.loss());
    for (size_t i = 0; i < problem.parameters.size(); ++i) {
      const std::vector<double> values = problem.values(i);
      for (size_t k = 0; k < values.size(); ++k) {
        const double expected =
            trajectories::follow(of.name, problem.starts[i][k], Problem::scaleOf(i), Problem::goalOf(i), rate)[step];
        ASSERT_NEAR(values[k], expected, tolerance) << problem.parameters[i].name << " after step " << step;
      }
    }
  }
}

} // namespace

TEST_P(OptimTest, StepsAreThoseOfTheFormulas) {
  for (const Case &of : cases())
    follow(of, DType::F64, 1e-12);
}

TEST_P(OptimTest, AdafactorKeepsRowsAndColumns) {
  const Problem problem;
  Optimizer optimizer(problem.parameters, adafactor({.clip = 0.9, .weightDecay = 0.1}));
  const NamedTensors state = optimizer.state();
  EXPECT_EQ(state.at("w.rows").shape(), (Shape{2, 1}));
  EXPECT_EQ(state.at("w.columns").shape(), (Shape{1, 3}));
  EXPECT_EQ(state.at("b.v").shape(), (Shape{2}));
  std::vector<double> rate = rates(10);
  rate.back() = 0.5;
  for (size_t step = 0; step < rate.size(); ++step) {
    optimizer.setLearningRate(rate[step]);
    optimizer.minimize(problem.loss());
    for (size_t i = 0; i < 3; ++i) {
      const std::vector<double> &start = problem.starts[i], values = problem.values(i);
      const std::vector<double> expected = trajectories::followAdafactor(
          start, i == 0 ? 3 : start.size(), i == 0, Problem::scaleOf(i), Problem::goalOf(i), rate)[step];
      for (size_t k = 0; k < values.size(); ++k)
        ASSERT_NEAR(values[k], expected[k], 1e-12) << problem.parameters[i].name << " after step " << step;
    }
  }
}

TEST_P(OptimTest, StepsInSinglePrecision) {
  const std::vector<Case> all = cases();
  follow(all[2], DType::F32, 2e-6);
  follow(all[4], DType::F32, 2e-6);
  // Computed in f32, kept in bf16: within roundings of each of the steps.
  follow(all[0], DType::BF16, 0.03);
}

TEST_P(OptimTest, AStepIsOneProgramWhateverItsHyperparameters) {
  const Problem problem;
  Optimizer optimizer(problem.parameters, adamW());
  for (int step = 0; step < 5; ++step) {
    optimizer.setLearningRate(0.1 / (step + 1));
    const Tensor loss = problem.loss();
    const uint64_t runs = context.counters().runs;
    optimizer.minimize(loss);
    EXPECT_TRUE(loss.isRealized());
    EXPECT_EQ(context.counters().runs, runs + 1);
  }
  EXPECT_EQ(optimizer.steps(), 5);
  if (compiles())
    EXPECT_GE(context.counters().hits, 4u);
}

TEST_P(OptimTest, ACapturedStepIsTheSameStep) {
  const std::vector<Case> all = cases();
  for (const Case &of : {all[0], all[2], all[4], Case{"adafactor", adafactor()}}) {
    const Problem problem, straight;
    Optimizer optimizer(problem.parameters, of.rule), other(straight.parameters, of.rule);
    auto weighed = [](const Problem &problem, const Tensor &weight) { return problem.loss() * weight; };
    const TrainStep step(optimizer, [&](std::span<const Tensor> batch) {
      return std::vector{weighed(problem, batch[0]), batch[0] + 1};
    });
    for (int i = 0; i < 4; ++i) {
      for (Optimizer *each : {&optimizer, &other})
        each->setLearningRate(0.05 / (i + 1));
      const Tensor weight = Tensor::from(std::vector<double>{0.5 + i}, {});
      const Tensor loss = weighed(straight, weight);
      other.minimize(loss);
      const std::vector<Tensor> found = step(std::vector{weight});
      EXPECT_NEAR(found.at(0).item<double>(), loss.item<double>(), 1e-12) << of.name;
      EXPECT_EQ(found.at(1).item<double>(), 1.5 + i);
      for (size_t p = 0; p < 3; ++p) {
        const std::vector<double> values = problem.values(p), expected = straight.values(p);
        for (size_t k = 0; k < values.size(); ++k)
          EXPECT_NEAR(values[k], expected[k], 1e-12) << of.name << " after step " << i;
      }
    }
    EXPECT_EQ(step.numCaptures(), 1u) << of.name;
    EXPECT_EQ(optimizer.steps(), 4);
    for (const auto &[name, tensor] : optimizer.state())
      EXPECT_EQ(tensor.type(), other.state().at(name).type()) << name;
  }
}

TEST_P(OptimTest, ACapturedStepTakesBuffersAndChangesGradients) {
  const Parameter weight(Tensor::from({1.f, 2.f})), seen(Tensor::from({0.f})), still(Tensor::from({7.f}));
  Optimizer optimizer({{"weight", weight}}, sgd({.learningRate = 1}));
  const TrainStep step(
      optimizer,
      [&](std::span<const Tensor> batch) {
        seen.set(*seen + batch[0]);
        return std::vector{(*weight * *still * batch[0]).sum()};
      },
      {.gradients = [](std::span<const Tensor> gradients) { return clipByGlobalNorm(gradients, 1).gradients; },
       .buffers = {{"seen", seen}, {"still", still}}});
  for (float value : {3.f, 4.f}) {
    const float first = weight->toVector<float>()[0];
    step(std::vector{Tensor::from({value})});
    EXPECT_NEAR(weight->toVector<float>()[0], first - std::sqrt(0.5f), 1e-5);
  }
  EXPECT_EQ(seen->toVector<float>(), (std::vector<float>{7}));
  EXPECT_EQ(still->toVector<float>(), (std::vector<float>{7}));
  // Another type of batch is captured anew; what fails changes nothing.
  EXPECT_EQ(step.numCaptures(), 1u);
  EXPECT_NE(refusal([&] { step(std::vector{Tensor::from({1.f, 2.f, 3.f})}); }), "");
  EXPECT_EQ(seen->toVector<float>(), (std::vector<float>{7}));
  EXPECT_EQ(optimizer.steps(), 2);
  const TrainStep none(optimizer, [](std::span<const Tensor>) { return std::vector<Tensor>{}; });
  EXPECT_THAT(refusal([&] { none(std::vector<Tensor>{}); }), HasSubstr("TrainStep: the function returns no loss"));
}

TEST_P(OptimTest, ACapturedStepTakesTheMemoryOfTheOneBefore) {
  const Problem given, plain;
  const Parameter seen(Tensor::from({0.f})), still(Tensor::from({7.f}));
  Optimizer optimizer(given.parameters, adamW()), other(plain.parameters, adamW());
  const TrainStep step(optimizer,
                       [&](std::span<const Tensor> batch) {
                         seen.set(*seen + 1);
                         return std::vector{given.loss() * batch[0] * still->sum()};
                       },
                       {.buffers = {{"still", still}, {"seen", seen}}, .donates = true});
  const TrainStep straight(other,
                           [&](std::span<const Tensor> batch) { return std::vector{plain.loss() * batch[0] * 7}; });
  // Somebody has a handle of the first value.
  const Tensor first = *given.parameters[0].parameter;
  uint64_t bytes = 0;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Tensor> batch = {Tensor::from(std::vector<double>{0.5 + i}, {})};
    EXPECT_NEAR(step(batch)[0].item<double>(), straight(batch)[0].item<double>(), 1e-12);
    for (size_t p = 0; p < 3; ++p)
      EXPECT_THAT(given.values(p), testing::Pointwise(testing::DoubleNear(1e-12), plain.values(p)));
    // Three parameters with two states each and a buffer; the other buffer is returned as it is.
    EXPECT_EQ(context.counters().taken, i == 0 ? 9u : 10u * (i + 1) - 1);
    EXPECT_EQ(context.counters().notTaken, i == 0 ? 2u : i + 2u);
    if (i == 1)
      bytes = context.counters().valueBytes;
    if (i > 1)
      EXPECT_EQ(context.counters().valueBytes, bytes);
  }
  EXPECT_EQ(first.toVector<double>(), given.starts[0]);
  EXPECT_EQ(seen->item<float>(), 4);
  EXPECT_EQ(still->item<float>(), 7);
  EXPECT_EQ(optimizer.state().at("w.m").toVector<double>(), other.state().at("w.m").toVector<double>());
}

TEST_P(OptimTest, GroupsGoByTheirOwnRules) {
  const Problem problem;
  Optimizer optimizer(
      {Group{{problem.parameters[0]}, sgd({.learningRate = 0.1})},
       Group{{problem.parameters[1], problem.parameters[2]}, lion({.beta2 = 0.8, .weightDecay = 0.1})}});
  optimizer.setLearningRate(1, 0.05);
  EXPECT_EQ(optimizer.learningRate(0), 0.1);
  for (int step = 0; step < 3; ++step)
    optimizer.minimize(problem.loss());
  EXPECT_NEAR(problem.values(0)[1],
              trajectories::follow("sgd", -1.25, Problem::scaleOf(0), Problem::goalOf(0), {.1, .1, .1})[2], 1e-12);
  EXPECT_NEAR(problem.values(1)[0],
              trajectories::follow("lion", -2, Problem::scaleOf(1), Problem::goalOf(1), {.05, .05, .05})[2], 1e-12);
}

TEST_P(OptimTest, WhatIsRestoredGoesOnBitForBit) {
  const UpdateRule rule = adam({.learningRate = 0.03});
  const Problem straight(DType::F32);
  Optimizer first(straight.parameters, rule);
  for (int step = 0; step < 3; ++step)
    first.minimize(straight.loss());
  first.setLearningRate(0.07);
  const NamedTensors state = first.state();
  const Problem resumed(DType::F32);
  for (size_t i = 0; i < 3; ++i)
    resumed.parameters[i].parameter.set(*straight.parameters[i].parameter);
  for (int step = 0; step < 3; ++step)
    first.minimize(straight.loss());

  Optimizer second(resumed.parameters, rule);
  second.load(state);
  EXPECT_EQ(second.steps(), 3);
  for (int step = 0; step < 3; ++step)
    second.minimize(resumed.loss());
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(straight.parameters[i].parameter->bytes(), resumed.parameters[i].parameter->bytes());
  for (const auto &[name, tensor] : first.state())
    EXPECT_EQ(tensor.bytes(), second.state().at(name).bytes()) << name;
}

TEST_P(OptimTest, ClipsByTheGlobalNorm) {
  const Tensor a = Tensor::from({3.f, 0.f}), b = Tensor::from({4.f});
  const Clipped smaller = clipByGlobalNorm(std::vector{a, b}, 1);
  EXPECT_EQ(smaller.norm.item<float>(), 5);
  EXPECT_NEAR(smaller.gradients[0].toVector<float>()[0], 0.6, 1e-6);
  EXPECT_NEAR(smaller.gradients[1].toVector<float>()[0], 0.8, 1e-6);
  const Clipped same = clipByGlobalNorm(std::vector{a, b}, 10);
  EXPECT_EQ(same.gradients[1].toVector<float>()[0], 4);
}

TEST_P(OptimTest, OptionsOfTheirRanges) {
  EXPECT_THAT(
      refusal([] { sgd({.momentum = 0, .nesterov = true}); }),
      testing::AllOf(HasSubstr("OptimTest.cpp:"), HasSubstr("sgd: Nesterov needs a momentum and no dampening")));
  EXPECT_THAT(refusal([] { sgd({.momentum = 0.9, .dampening = 0.1, .nesterov = true}); }),
              HasSubstr("sgd: Nesterov needs"));
  EXPECT_THAT(refusal([] { sgd({.learningRate = -1}); }),
              HasSubstr("sgd: a negative learning rate of -1.000000, or none"));
  EXPECT_THAT(refusal([] { adam({.learningRate = NAN}); }),
              HasSubstr("adam: a negative learning rate of nan, or none"));
  EXPECT_THAT(refusal([] { adamW({.beta2 = 1}); }),
              HasSubstr("adamW: a beta2 of 1.000000 is not from 0 up to but without 1"));
  EXPECT_THAT(refusal([] { rmsprop({.epsilon = -1e-3}); }), HasSubstr("rmsprop: a negative epsilon of -0.001000"));
  EXPECT_THAT(refusal([] { lion({.beta1 = -0.1}); }), HasSubstr("lion: a beta1 of -0.100000"));
  EXPECT_THAT(refusal([] { adafactor({.clip = 0}); }),
              HasSubstr("adafactor: a clip of 0.000000 and a decay of -0.800000 are not above 0 and at most 0"));
}

TEST_P(OptimTest, RulesNeedNoHyperparameters) {
  const Problem problem;
  UpdateRule rule;
  EXPECT_THAT(refusal([&] { Optimizer(problem.parameters, rule); }),
              HasSubstr("optimizer: the rule of group 0 lacks a function"));
  rule.update = [](const Tensor &value, const Tensor &, std::span<Tensor>, std::span<const Tensor>) {
    return value + Tensor::ones({7}, value.dtype());
  };
  Optimizer wrong(problem.parameters, rule);
  EXPECT_THAT(refusal([&] { wrong.minimize(problem.loss()); }),
              testing::AllOf(HasSubstr("OptimTest.cpp:"),
                             HasSubstr("optimizer: 'w': add: shapes [2, 3] and [7] do not broadcast")));
  rule.update = [](const Tensor &value, const Tensor &gradient, std::span<Tensor>, std::span<const Tensor>) {
    return value - 0.1 * gradient;
  };
  Optimizer optimizer(problem.parameters, rule);
  optimizer.minimize(problem.loss());
  EXPECT_NEAR(problem.values(0)[1],
              trajectories::follow("sgd", -1.25, Problem::scaleOf(0), Problem::goalOf(0), {.1})[0], 1e-12);
}

TEST_P(OptimTest, StepsThatAreNotComputedChangeNothing) {
  const Problem problem;
  Optimizer optimizer(problem.parameters, adam());
  optimizer.minimize(problem.loss());
  const std::vector<double> values = problem.values(0);
  const std::vector<double> moments = optimizer.state().at("w.m").toVector<double>();
  // An argument of a function, which has no value.
  Tensor argument;
  Jit([&](std::span<const Tensor> x) {
    argument = x[0] + 1;
    return std::vector{x[0]};
  })({Tensor::from({1.f})});
  const Tensor loss = problem.loss();
  const std::vector<Tensor> gradients = gradient(loss, valuesOf(problem.parameters));
  EXPECT_THAT(refusal([&] { optimizer.step(gradients, std::vector{loss, argument}); }),
              HasSubstr("a value is read that depends on the arguments of a function which is captured"));
  EXPECT_FALSE(loss.isRealized());
  EXPECT_EQ(problem.values(0), values);
  EXPECT_EQ(optimizer.steps(), 1);
  EXPECT_EQ(optimizer.state().at("w.m").toVector<double>(), moments);
  // What was asked for is there to be tried again.
  optimizer.step(gradients, std::vector{loss});
  EXPECT_NE(problem.values(0), values);
  EXPECT_EQ(optimizer.steps(), 2);
}

TEST_P(OptimTest, Refusals) {
  const Problem problem;
  const Parameters &p = problem.parameters;
  EXPECT_THAT(refusal([&] { Optimizer({p[0], p[0]}, sgd()); }),
              HasSubstr("optimizer: 'w' and 'w' are one parameter or of one name"));
  EXPECT_THAT(refusal([&] { Optimizer({{"x", Parameter()}}, sgd()); }),
              HasSubstr("optimizer: there is no parameter in the place of 'x'"));
  EXPECT_THAT(refusal([&] { Optimizer({{"x", Parameter(Tensor::from({1, 2}))}}, sgd()); }),
              HasSubstr("optimizer: 'x' is of type i32[2], not of floats"));
  Optimizer optimizer(p, adam());
  EXPECT_THAT(refusal([&] { optimizer.learningRate(1); }),
              testing::AllOf(HasSubstr("OptimTest.cpp:"), HasSubstr("optimizer: there is no group 1 of 1")));
  EXPECT_THAT(refusal([&] { optimizer.setLearningRate(7, 1); }), HasSubstr("optimizer: there is no group 7 of 1"));
  EXPECT_THAT(refusal([&] { TrainStep(optimizer, nullptr)(std::vector<Tensor>()); }),
              HasSubstr("TrainStep: there is no function of a loss"));
  auto withBuffers = [&](Parameters buffers) {
    return refusal([&] {
      TrainStep(optimizer, [](auto) { return std::vector<Tensor>(); }, {.buffers = buffers})(std::vector<Tensor>());
    });
  };
  const Parameter seen(Tensor::zeros({}));
  EXPECT_THAT(withBuffers({p[1]}), HasSubstr("TrainStep: the buffer 'b' is a parameter that is trained"));
  EXPECT_THAT(withBuffers({{"seen", seen}, {"again", seen}}),
              HasSubstr("TrainStep: the buffer 'again' is named twice"));
  EXPECT_THAT(withBuffers({{"none", Parameter()}}),
              HasSubstr("TrainStep: there is no parameter in the place of 'none'"));
  EXPECT_THAT(refusal([&] { optimizer.step(std::vector{*p[0].parameter}); }),
              HasSubstr("optimizer: 1 gradients for 3 parameters"));
  EXPECT_THAT(refusal([&] { optimizer.step(std::vector{*p[1].parameter, *p[1].parameter, *p[1].parameter}); }),
              HasSubstr("optimizer: the gradient of 'w', f64[2, 3], is of type f64[2]"));
  EXPECT_THAT(refusal([&] { p[0].parameter.set(*p[1].parameter); }),
              HasSubstr("a parameter of type f64[2, 3] does not become one of type f64[2]"));
  EXPECT_THAT(refusal([&] { clipByGlobalNorm({}, 1); }), HasSubstr("clipByGlobalNorm: there are no gradients"));
  NamedTensors state = optimizer.state();
  state.erase("w.m");
  state["b.v"] = Tensor::from({1.f});
  state["more"] = Tensor::from({1.f});
  EXPECT_THAT(refusal([&] { optimizer.load(state); }),
              HasSubstr("the optimizer's state: the tensors do not fit: 'b.v' is f32[1], not f64[2], 'w.m' is missing, "
                        "'more' is superfluous"));
  UpdateRule wrong;
  wrong.hyperparameters = [](double, int64_t) { return std::vector<double>{}; };
  wrong.update = [](const Tensor &value, const Tensor &, std::span<Tensor>, std::span<const Tensor>) {
    return value.sum();
  };
  Optimizer broken(p, wrong);
  EXPECT_THAT(refusal([&] { broken.minimize(problem.loss()); }),
              HasSubstr("optimizer: the rule makes 'w', f64[2, 3], a tensor of shape []"));
  EXPECT_EQ(problem.values(0), problem.starts[0]);
}

TEST(Devices, ParametersTrainWhereTheyLie) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  const ContextScope scope(Context({.device = "cpu"}));
  std::vector<std::vector<double>> results;
  for (const char *device : {"cpu", "reference"}) {
    const Parameters p = {{"here", Parameter(Tensor::from({1., 2.}))},
                          {"there", Parameter(Tensor::from({3., 4.}).to(device))}};
    Optimizer optimizer(p, adam());
    const auto train = [&] {
      for (int i = 0; i < 3; ++i)
        optimizer.minimize(((*p[0].parameter * 2).to(device) * *p[1].parameter).sum());
    };
    train();
    const NamedTensors kept = optimizer.state();
    EXPECT_EQ(kept.at("there.m").device(), device);
    EXPECT_EQ(kept.at("here.m").device(), "cpu");
    optimizer.load(kept);
    train();
    EXPECT_EQ(p[1].parameter->device(), device);
    results.push_back(p[0].parameter->toVector<double>());
    results.push_back(p[1].parameter->toVector<double>());
  }
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(results[1], results[3]);
}

INSTANTIATE_TEST_SUITE_P(Devices, OptimTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Schedules, AreFunctionsOfTheStep) {
  EXPECT_EQ(stepDecay(1, 9, 10, 0.5), 1);
  EXPECT_EQ(stepDecay(1, 20, 10, 0.5), 0.25);
  EXPECT_THAT(refusal([] { stepDecay(1, 1, 0, 0.5); }), HasSubstr("stepDecay: a rate does not change every 0 steps"));
  EXPECT_EQ(exponentialDecay(2, 3, 0.5), 0.25);
  EXPECT_EQ(cosineDecay(1, 0, 10, 0.2), 1);
  EXPECT_NEAR(cosineDecay(1, 5, 10, 0.2), 0.6, 1e-15);
  EXPECT_EQ(cosineDecay(1, 11, 10, 0.2), 0.2);
  EXPECT_EQ(linearWarmup(1, 0, 4), 0.25);
  EXPECT_EQ(linearWarmup(1, 3, 4), 1);
  EXPECT_EQ(linearWarmup(1, 0, 0), 1);
}
