//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

#include "zyx/Base/TempFolder.h"

using namespace zyx;
using zyx::test::doubles;
using zyx::test::floats;
using zyx::test::refusal;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using TrainingTest = test::DeviceTest;

/// Has all kinds of state: parameters, running moments, seeds, and a child with seeds of its own.
struct Network : nn::Module {
  explicit Network(nn::Draws draws)
      : in(add("in", nn::Linear(4, 8, draws))), norm(add("norm", nn::BatchNorm(8))), drop(add("drop", nn::Dropout(0.25, 3))),
        rest(add("rest", nn::Sequential(nn::Dropout(0.5, 4), nn::Linear(8, 2, draws)))) {}
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
  const Network first{nn::Draws(1)};
  nn::Training training(first, named(first));
  takeSteps(first, training, 0, 3);
  training.save(path);
  const auto middle = bytesOf(training);
  takeSteps(first, training, 3, 6);
  const auto end = bytesOf(training);
  ASSERT_NE(end, middle);
  EXPECT_THAT(training.state()["generator.drop.seeds"].to<uint64_t>(), ElementsAre(3, 6));
  EXPECT_THAT(training.state()["generator.rest.0.seeds"].to<uint64_t>(), ElementsAre(4, 6));

  const Network second{nn::Draws(2)};
  nn::Training restored(second, named(second));
  takeSteps(second, restored, 0, 1);
  restored.load(path);
  EXPECT_EQ(bytesOf(restored), middle);
  takeSteps(second, restored, 3, 6);
  EXPECT_EQ(bytesOf(restored), end);
}

TEST_P(TrainingTest, ComputesBuffersWithTheStep) {
  const Network network{nn::Draws(1)};
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
  const Network network{nn::Draws(1)};
  nn::Training training(network, optim::adam());
  takeSteps(network, training, 0, 1);
  const auto before = bytesOf(training);
  NamedTensors state = training.state();
  state.erase("generator.drop.seeds");
  state["model.in.bias"] = Tensor::zeros({3});
  state["more"] = Tensor::zeros({1});
  const std::string text = refusal([&] { training.restore(state); });
  EXPECT_THAT(text, HasSubstr("TrainingTest.cpp:"));
  EXPECT_THAT(text, HasSubstr("the state of a training: the tensors do not fit: 'generator.drop.seeds' is missing, "
                              "'model.in.bias' is f32[3], not f32[8], 'more' is superfluous"));
  EXPECT_EQ(bytesOf(training), before);
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

INSTANTIATE_TEST_SUITE_P(Devices, TrainingTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
