//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

#include "zyx/Base/TempFolder.h"
#include "zyx/Runtime/Simulation.h"

using namespace zyx;
using testing::ElementsAre;
using testing::HasSubstr;
using zyx::test::doubles;
using zyx::test::floats;
using zyx::test::refusal;

namespace {

using TrainingTest = test::DeviceTest;

/// Has all kinds of state: parameters, running moments, seeds, and a child with seeds of its own.
struct Network : nn::Module {
  explicit Network(nn::InitRng rng)
      : in(add("in", nn::Linear(4, 8, rng))), norm(add("norm", nn::BatchNorm(8))),
        drop(add("drop", nn::Dropout(0.25, 3))),
        rest(add("rest", nn::Sequential(nn::Dropout(0.5, 4), nn::Linear(8, 2, rng)))) {}
  Tensor operator()(const Tensor &x) const { return rest(drop(norm(in(x)).relu())); }
  nn::Linear in;
  nn::BatchNorm norm;
  nn::Dropout drop;
  nn::Sequential rest;
};

Tensor batch(int step) { return doubles({6, 4}, step).cast(DType::F32); }

void takeSteps(const Network &network, nn::Training &training, int from, int to) {
  for (int step = from; step < to; ++step) {
    training.optimizer().setLearningRate(0.01 * (step + 1));
    const Tensor y = network(batch(step));
    training.minimize((y * y).mean());
  }
}

std::map<std::string, std::vector<std::byte>> bytesOf(const nn::Training &training) {
  std::map<std::string, std::vector<std::byte>> bytes;
  for (const auto &[name, tensor] : training.state())
    bytes[name] = tensor.bytes();
  return bytes;
}

} // namespace

TEST_P(TrainingTest, GoesOnBitForBitFromAFile) {
  const Result<TempFolder> folder = TempFolder::create();
  ASSERT_TRUE(folder.isOk());
  const std::string path = folder->file("training.safetensors");
  const auto groups = [](const Network &network) {
    return std::vector<optim::Group>{{network.in.parameters(), optim::adamW()},
                                     {network.rest.parameters(), optim::sgd({.momentum = 0.9})}};
  };
  // Names of a module's own parameters do not tell whose they are.
  const auto named = [&](const Network &network) {
    std::vector<optim::Group> all = groups(network);
    for (NamedParameter &parameter : all[0].parameters)
      parameter.name = "in." + parameter.name;
    for (NamedParameter &parameter : all[1].parameters)
      parameter.name = "rest." + parameter.name;
    return all;
  };
  const Network first{nn::InitRng(1)};
  nn::Training training(first, named(first));
  takeSteps(first, training, 0, 3);
  training.save(path);
  const auto middle = bytesOf(training);
  takeSteps(first, training, 3, 6);
  const auto end = bytesOf(training);
  ASSERT_NE(end, middle);
  EXPECT_THAT(training.state()["generator.drop.seeds"].toVector<uint64_t>(), ElementsAre(3, 6));
  EXPECT_THAT(training.state()["generator.rest.0.seeds"].toVector<uint64_t>(), ElementsAre(4, 6));

  const Network second{nn::InitRng(2)};
  nn::Training restored(second, named(second));
  takeSteps(second, restored, 0, 1);
  restored.load(path);
  EXPECT_EQ(bytesOf(restored), middle);
  takeSteps(second, restored, 3, 6);
  EXPECT_EQ(bytesOf(restored), end);
}

TEST_P(TrainingTest, ComputesBuffersWithTheStep) {
  const Network network{nn::InitRng(1)};
  nn::Training training(network, optim::sgd());
  const Tensor x = batch(0), before = *network.norm.runningMean;
  x.realize();
  const uint64_t runs = context.counters().runs;
  training.minimize(network(x).sum());
  EXPECT_EQ(context.counters().runs - runs, 1u);
  EXPECT_TRUE(network.norm.runningMean->isRealized());
  EXPECT_TRUE(network.norm.runningVar->isRealized());
  EXPECT_NE(floats(*network.norm.runningMean), floats(before));
  // By gradients, too.
  const Tensor loss = network(batch(1)).sum();
  training.step(gradient(loss, valuesOf(training.optimizer().parameters())), {{loss}});
  EXPECT_TRUE(loss.isRealized());
  EXPECT_TRUE(network.norm.runningMean->isRealized());
  EXPECT_EQ(training.optimizer().steps(), 2);
}

TEST_P(TrainingTest, RefusesAnotherState) {
  const Network network{nn::InitRng(1)};
  nn::Training training(network, optim::adam());
  takeSteps(network, training, 0, 1);
  const auto before = bytesOf(training);
  NamedTensors state = training.state();
  state.erase("generator.drop.seeds");
  state["model.in.bias"] = Tensor::zeros({3});
  state["more"] = Tensor::zeros({1});
  const std::string text = refusal([&] { training.load(state); });
  EXPECT_THAT(text, HasSubstr("TrainingTest.cpp:"));
  EXPECT_THAT(text, HasSubstr("the state of a training: the tensors do not fit: 'generator.drop.seeds' is missing, "
                              "'model.in.bias' is f32[3], not f32[8], 'more' is superfluous"));
  EXPECT_EQ(bytesOf(training), before);
}

/// Steps by a program of Dropouts and BatchNorms are those that are built anew, bit by bit.
TEST_P(TrainingTest, CapturedStepsAreThoseThatAreBuilt) {
  const Network built{nn::InitRng(1)}, captured{nn::InitRng(1)};
  nn::Training first(built, optim::adamW()), second(captured, optim::adamW());
  const optim::TrainStep step(second.optimizer(), [&](std::span<const Tensor> batch) {
    const Tensor y = captured(batch[0]);
    return std::vector{(y * y).mean()};
  });
  for (int i = 0; i < 4; ++i) {
    const Tensor y = built(batch(i)), loss = (y * y).mean();
    first.minimize(loss);
    EXPECT_NEAR(step({batch(i)})[0].item<float>(), loss.item<float>(), 1e-5) << i;
  }
  EXPECT_EQ(step.numCaptures(), 1u);
  const NamedTensors expected = first.state();
  for (const auto &[name, tensor] : second.state())
    if (isFloat(tensor.dtype()))
      test::expectNear(floats(tensor.cast(DType::F32)), test::wide(floats(expected.at(name).cast(DType::F32))), 1e-4);
    else
      EXPECT_EQ(tensor.bytes(), expected.at(name).bytes()) << name;
  EXPECT_NE(floats(*captured.norm.runningMean), std::vector<float>(8, 0));
}

/// What the program draws goes on from a file.
TEST_P(TrainingTest, CapturedStepsGoOnFromAFile) {
  const Result<TempFolder> folder = TempFolder::create();
  ASSERT_TRUE(folder.isOk());
  const std::string path = folder->file("steps.safetensors");
  struct Run {
    explicit Run(uint64_t seed) : network(nn::InitRng(seed)), training(network, optim::adamW()) {}
    Network network;
    nn::Training training;
    optim::TrainStep step{training.optimizer(), [this](std::span<const Tensor> batch) {
                            const Tensor y = network(batch[0]);
                            return std::vector{(y * y).mean()};
                          }};
  };
  Run whole(1);
  for (int i = 0; i < 5; ++i) {
    whole.step({batch(i)});
    if (i == 2)
      whole.training.save(path);
  }
  Run rest(2);
  rest.step({batch(0)});
  rest.training.load(path);
  for (int i = 3; i < 5; ++i)
    rest.step({batch(i)});
  EXPECT_EQ(bytesOf(rest.training), bytesOf(whole.training));
}

TEST_P(TrainingTest, AJitOfANormalizationKeepsItsMoments) {
  nn::BatchNorm norm(4), eager(4);
  const Jit jit([&](std::span<const Tensor> x) { return std::vector{norm(x[0])}; });
  for (int i = 0; i < 3; ++i)
    test::expectNear(floats(jit({batch(i)})[0]), test::wide(floats(eager(batch(i)))), 1e-5);
  test::expectNear(floats(*norm.runningMean), test::wide(floats(*eager.runningMean)));
  test::expectNear(floats(*norm.runningVar), test::wide(floats(*eager.runningVar)));
  // The mode is one of the facts that a program depends on.
  norm.eval();
  eager.eval();
  test::expectNear(floats(jit({batch(5)})[0]), test::wide(floats(eager(batch(5)))), 1e-5);
  EXPECT_EQ(jit.numCaptures(), 2u);
  norm.train();
  jit({batch(6)});
  EXPECT_EQ(jit.numCaptures(), 2u);
  EXPECT_EQ(norm.state().size(), 4u);
}

/// A step for one task leaves the parameters of another one as they are, as in PyTorch.
TEST_P(TrainingTest, ParametersThatALossDoesNotReadStay) {
  const nn::Linear used(4, 2, nn::InitRng(1)), other(4, 2, nn::InitRng(2));
  Parameters all = used.parameters();
  for (NamedParameter named : other.parameters())
    all.push_back({"other." + named.name, named.parameter});
  optim::Optimizer optimizer(all, optim::adamW({.learningRate = 0.1, .weightDecay = 0.5}));
  const std::vector<float> before = floats(*other.weight), trained = floats(*used.weight);
  optimizer.minimize(used(batch(0)).square().sum());
  const optim::TrainStep step(
      optimizer, [&](std::span<const Tensor> x) { return std::vector{used(x[0]).square().sum()}; },
      {.gradients = [](std::span<const Tensor> g) { return optim::clipByGlobalNorm(g, 1).gradients; },
       .donates = true});
  step({batch(1)});
  step({batch(2)});
  EXPECT_EQ(floats(*other.weight), before);
  EXPECT_NE(floats(*used.weight), trained);
  EXPECT_EQ(floats(optimizer.state().at("other.weight.m")), std::vector<float>(8, 0));
  EXPECT_THAT(
      refusal([&] { optimizer.minimize(batch(0).square().sum()); }),
      HasSubstr(
          "optimizer: the loss depends on none of the parameters, so that there is nothing to learn: it reads other "
          "ones, or was computed before"));
}

TEST_P(TrainingTest, OptimizersOfAModelComputeItsBuffers) {
  nn::BatchNorm norm(4);
  optim::Optimizer optimizer(norm, optim::sgd());
  optimizer.minimize(norm(batch(0)).square().sum());
  EXPECT_TRUE(norm.runningMean->isRealized());
}

TEST_P(TrainingTest, GeneratorsHaveNames) {
  struct Twice : nn::Module {
    Twice() {
      addGenerator("seeds", 1);
      addGenerator("seeds", 2);
    }
  };
  EXPECT_THAT(refusal([] { Twice(); }), HasSubstr("there are two parameters or children of the name 'seeds'"));
}

namespace {

/// A layer on a device that fails when it is told to.
struct Trainee {
  Trainee() { step(batch())[0].bytes(); }
  /// Values, of which no run makes anything before the step.
  static std::vector<Tensor> batch() {
    std::vector<float> elements(64 * 160);
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = std::sin(0.37f * static_cast<float>(i));
    return {Tensor::from(elements, {64, 160})};
  }

  nn::InitRng rng{1};
  nn::Linear layer{160, 160, rng};
  nn::Training training{layer, optim::adam({.learningRate = 0.01})};
  optim::TrainStep step{training.optimizer(),
                        [this](std::span<const Tensor> batch) {
                          const Tensor y = layer(batch[0]).tanh();
                          return std::vector{(y * y).mean()};
                        },
                        {.donates = true}};
};

/// Steps that fail, on a device of the context's.
class LostStepTest : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1); }
  void SetUp() override {
    ASSERT_TRUE(folder.isOk());
    trainee.emplace();
    good = bytesOf(trainee->training);
    trainee->training.save(path);
  }
  std::string loseStep() {
    return refusal([&] {
      trainee->step(Trainee::batch());
      context.sync();
    });
  }

  const Result<TempFolder> folder = TempFolder::create();
  const std::string path = folder->file("training");
  const std::unique_ptr<runtime::Simulation> simulation = *runtime::Simulation::create({.seed = 5});
  const Context context{{.device = "cpu:1", .devices = {{"cpu:1", simulation->device()}}}};
  const ContextScope scope{context};
  std::optional<Trainee> trainee;
  std::map<std::string, std::vector<std::byte>> good;
};

} // namespace

TEST_F(LostStepTest, AFileBringsTheModelBack) {
  Trainee twin;
  trainee->layer.save(folder->file("layer"));
  simulation->failWork(0, 1);
  EXPECT_THAT(loseStep(), HasSubstr("the work was told to fail"));
  // What was donated to the step is lost with it.
  for (const std::string &text : {refusal([&] { trainee->layer.state().at("weight").bytes(); }),
                                  refusal([&] { trainee->training.save(folder->file("lost")); }),
                                  refusal([&] { trainee->step(Trainee::batch()); })}) {
    EXPECT_THAT(text, HasSubstr("the tensor was donated to the call at"));
    EXPECT_THAT(text, HasSubstr("the work was told to fail"));
  }
  // The layer alone, then all that the next step depends on.
  trainee->layer.load(folder->file("layer"));
  EXPECT_EQ(trainee->layer.state().at("weight").bytes(), good.at("model.weight"));
  trainee->training.load(path);
  EXPECT_EQ(bytesOf(trainee->training), good);
  trainee->step(Trainee::batch());
  twin.step(Trainee::batch());
  EXPECT_EQ(bytesOf(trainee->training), bytesOf(twin.training));
}

TEST_F(LostStepTest, AFileIsLoadedWhoeverKnowsOfTheFailure) {
  for (const bool isLayer : {true, false}) {
    simulation->failWork(0, 1);
    trainee->step(Trainee::batch());
    simulation->waitIdle();
    // Nobody was told so far, and nobody looks at what was there.
    if (isLayer)
      trainee->layer.load(NamedTensors({{"weight", Tensor::zeros({160, 160})}, {"bias", Tensor::zeros({160})}}));
    trainee->training.load(path);
    EXPECT_EQ(bytesOf(trainee->training), good);
    EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr("the work was told to fail"));
    EXPECT_EQ(bytesOf(trainee->training), good);
  }
}

TEST_F(LostStepTest, AFileBringsTheModelToAnotherDevice) {
  simulation->loseDevice(0, 1);
  EXPECT_THAT(loseStep(), HasSubstr("the device was lost"));
  // New tensors would lie there, too.
  EXPECT_THAT(refusal([&] { trainee->training.load(path); }), HasSubstr("the device was lost"));
  const DeviceScope host("cpu");
  trainee->training.load(path);
  EXPECT_EQ(bytesOf(trainee->training), good);
  for (const NamedParameter &named : trainee->layer.parameters())
    EXPECT_EQ(named.parameter->device(), "cpu");
  trainee->step(Trainee::batch())[0].bytes();
  const ContextScope other(Context({.device = "cpu"}));
  Trainee twin;
  twin.training.load(path);
  twin.step(Trainee::batch());
  EXPECT_EQ(bytesOf(trainee->training), bytesOf(twin.training));
}

TEST_F(LostStepTest, AStepWhoseBatchFailsTakesNothing) {
  Trainee twin;
  const auto widened = [] {
    const Tensor x = Trainee::batch()[0];
    // Long enough to be in flight.
    return matmul(x, matmul(x.transpose(), x)).realize();
  };
  trainee->training.load(path);
  widened().bytes();
  simulation->hold();
  simulation->failWork(0, 1);
  const Tensor batch = widened();
  trainee->step({batch});
  EXPECT_EQ(trainee->training.optimizer().steps(), 2);
  simulation->release();
  EXPECT_THAT(refusal([&] { context.sync(); }), HasSubstr("the work was told to fail"));
  // That was the batch's; the step has one of its own.
  EXPECT_THAT(refusal([&] { trainee->training.optimizer().steps(); }), HasSubstr("the work was told to fail"));
  EXPECT_EQ(trainee->training.optimizer().steps(), 1);
  EXPECT_EQ(bytesOf(trainee->training), good);
  trainee->step(Trainee::batch());
  twin.step(Trainee::batch());
  EXPECT_EQ(bytesOf(trainee->training), bytesOf(twin.training));
}

INSTANTIATE_TEST_SUITE_P(Devices, TrainingTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
