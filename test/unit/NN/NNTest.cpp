//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"
#include "../TestFiles.h"
#include "zyx/IO/Safetensors.h"

#include "zyx/zyx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace zyx;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using zyx::test::expectNear;
using zyx::test::floats;
using zyx::test::refusal;

double trainExample(const Tensor &images, const Tensor &labels, int steps, float &accuracy, const Tensor &testImages,
                    const Tensor &testLabels);

namespace {

/// On the interpreter and on machine code.
using NNTest = test::DeviceTest;
using Training = NNTest;

std::vector<std::string> namesOf(const nn::Module &module) {
  std::vector<std::string> names;
  for (const NamedParameter &named : module.parameters())
    names.push_back(named.name);
  return names;
}

struct Block : nn::Module {
  explicit Block(nn::InitRng &rng)
      : scale(add("scale", Tensor::ones({4}))), norm(add("norm", nn::LayerNorm(4))),
        layers(add("layers", nn::Sequential(
                                 nn::Linear(4, 3, rng), [](const Tensor &x) { return x.relu(); },
                                 nn::Linear(3, 4, rng, false)))) {}
  Tensor operator()(const Tensor &x) const { return layers(norm(x) * *scale); }
  Parameter scale;
  nn::LayerNorm norm;
  nn::Sequential layers;
};

} // namespace

TEST_P(NNTest, ParametersHaveDottedNamesInOrder) {
  nn::InitRng rng(1);
  Block block(rng);
  EXPECT_THAT(namesOf(block),
              ElementsAre("scale", "norm.weight", "norm.bias", "layers.0.weight", "layers.0.bias", "layers.2.weight"));
  EXPECT_EQ(block(Tensor::ones({2, 4})).shape(), (Shape{2, 4}));
  // Copies share parameters and mode.
  const Block copy = block;
  block.parameters()[0].parameter.set(Tensor::full({4}, 2));
  EXPECT_THAT(floats(*copy.scale), ElementsAre(2, 2, 2, 2));
  EXPECT_TRUE(copy.norm.isTraining());
  block.eval();
  EXPECT_FALSE(copy.norm.isTraining());
  EXPECT_FALSE(copy.layers.isTraining());
  block.train();
  EXPECT_TRUE(copy.layers.isTraining());
}

TEST_P(NNTest, DrawsAreThoseOfTheSeed) {
  nn::InitRng rng(42), same(42), other(43);
  const std::vector<float> first = floats(rng.uniform({1000}, -2, 2));
  EXPECT_EQ(first, floats(same.uniform({1000}, -2, 2)));
  EXPECT_NE(first, floats(other.uniform({1000}, -2, 2)));
  double mean = 0;
  for (float x : first) {
    EXPECT_TRUE(x >= -2 && x < 2);
    mean += x / 1000;
  }
  EXPECT_NEAR(mean, 0, 0.15);
  // SplitMix64 of seed 0 begins with 0xe220a8397b1dcdaf, by its authors' program.
  EXPECT_EQ(floats(nn::InitRng(0).uniform({1}, 0, 1))[0], float(0xe220a8) * 0x1p-24f);
  const Tensor normal = rng.normal({4000}, 3, 2);
  EXPECT_NEAR(normal.mean().item<float>(), 3, 0.15);
  EXPECT_NEAR(normal.var().item<float>(), 4, 0.4);
  nn::InitRng forLinear(5);
  const nn::Linear linear(100, 30, forLinear);
  EXPECT_LE(linear.weight->abs().max().item<float>(), 0.1f);
  EXPECT_GT(linear.weight->abs().max().item<float>(), 0.095f);
  EXPECT_LE(linear.bias->abs().max().item<float>(), 0.1f);
}

TEST_P(NNTest, LayersAreTheirFormulas) {
  nn::InitRng rng(1);
  nn::Linear linear(2, 3, rng);
  linear.load({{"weight", Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).reshape({3, 2})},
               {"bias", Tensor::from({.5f, 0.f, -1.f})}});
  EXPECT_THAT(floats(linear(Tensor::from({1.f, -1.f}))), ElementsAre(-.5, -1, -2));
  EXPECT_EQ(linear(Tensor::ones({5, 4, 2})).shape(), (Shape{5, 4, 3}));
  nn::Embedding embedding(3, 2, rng);
  embedding.load({{"weight", Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).reshape({3, 2})}});
  EXPECT_THAT(floats(embedding(Tensor::from({2, 0, 3}))), ElementsAre(5, 6, 1, 2, 0, 0));
  EXPECT_EQ(embedding(Tensor::from({2, 0}).reshape({1, 2})).shape(), (Shape{1, 2, 2}));

  const std::vector<double> row = {1, 2, 4, -3};
  const Tensor x = Tensor::from({1.f, 2.f, 4.f, -3.f}).reshape({1, 4});
  nn::LayerNorm norm(4);
  norm.load({{"weight", Tensor::from({1.f, 2.f, 3.f, 4.f})}, {"bias", Tensor::from({0.f, 1.f, 0.f, 1.f})}});
  nn::RmsNorm rms(4);
  rms.load({{"weight", Tensor::from({1.f, 2.f, 3.f, 4.f})}});
  std::vector<double> normed, scaled;
  for (size_t i = 0; i < 4; ++i) {
    normed.push_back((row[i] - 1) / std::sqrt(6.5 + 1e-5) * double(i + 1) + double(i % 2));
    scaled.push_back(row[i] / std::sqrt(7.5 + 1e-6) * double(i + 1));
  }
  expectNear(floats(norm(x)), normed);
  expectNear(floats(rms(x)), scaled);
  EXPECT_EQ(norm(x.cast(DType::BF16)).dtype(), DType::BF16);
  EXPECT_EQ(nn::Mlp(4, 16, rng)(x).shape(), (Shape{1, 4}));
}

TEST_P(NNTest, HeadsShareGroups) {
  nn::InitRng rng(4);
  const nn::MultiheadAttention module(8, {.heads = 4, .kvHeads = 2, .causal = true}, rng);
  EXPECT_EQ(module.key.weight->shape(), (Shape{4, 8}));
  const Tensor x = rng.uniform({2, 3, 8}, -1, 1);
  const Tensor y = module(x);
  ASSERT_EQ(y.shape(), (Shape{2, 3, 8}));
  // Head by head: heads 0 and 1 read group 0, heads 2 and 3 group 1.
  const Tensor second = x.select(0, 1);
  std::vector<Tensor> heads;
  for (int64_t head = 0; head < 4; ++head) {
    auto part = [&](const Tensor &all, int64_t at) { return all.slice({{}, {2 * at, 2 * at + 2}}); };
    heads.push_back(scaledDotProductAttention(part(module.query(second), head), part(module.key(second), head / 2),
                                              part(module.value(second), head / 2), {.causal = true}));
  }
  const std::vector<float> whole = floats(y.select(0, 1)), parts = floats(module.output(concat(heads, 1)));
  expectNear(whole, test::wide(parts));
  // Who looks at one row alone gets its value.
  const nn::MultiheadAttention free(8, {.heads = 2}, rng);
  const Tensor mask = Tensor::from({0, 0, 1}) > 0;
  const std::vector<float> all = floats(free(x, x, mask)),
                           last = floats(free.output(free.value(x.slice({{}, {2}})).expand({2, 3, 8})));
  expectNear(all, test::wide(last));
  EXPECT_THAT(refusal([&] { nn::MultiheadAttention(8, {.heads = 4, .kvHeads = 3}, rng); }),
              HasSubstr("MultiheadAttention: a width of 8, 4 heads and 3 kvHeads do not divide"));
}

TEST_P(NNTest, FilesHoldTheParameters) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / (std::string("nn-") + GetParam() + ".safetensors")).string();
  nn::InitRng rng(1), others(2);
  const Block saved(rng);
  Block loaded(others);
  saved.save(path);
  const Tensor x = Tensor::from({1.f, -2.f, 3.f, 0.f}).reshape({1, 4});
  EXPECT_NE(floats(saved(x)), floats(loaded(x)));
  loaded.load(path);
  EXPECT_EQ(floats(saved(x)), floats(loaded(x)));
  // A value that was taken is no longer that of the source.
  saved.scale.set(Tensor::zeros({4}));
  EXPECT_THAT(floats(*loaded.scale), ElementsAre(1, 1, 1, 1));
  NamedTensors state = nn::loadTensors(path);
  state.erase("norm.bias");
  state["norm.weight"] = Tensor::ones({5});
  state["tail"] = Tensor::ones({5});
  EXPECT_THAT(refusal([&] { loaded.load(state); }), HasSubstr("NNTest.cpp:"));
  EXPECT_THAT(
      refusal([&] { loaded.load(state); }),
      HasSubstr("the module's state: the tensors do not fit: 'norm.bias' is missing, 'norm.weight' is f32[5], not "
                "f32[4], 'tail' is superfluous"));
  // Nothing is left out silently.
  const std::string header = R"({"x": {"dtype": "C64", "shape": [1], "data_offsets": [0, 8]}})";
  std::ofstream(path, std::ios::binary) << char(header.size()) << std::string(7, '\0') << header << "12345678";
  EXPECT_THAT(refusal([&] { nn::loadTensors(path); }), HasSubstr("tensor 'x' has the unsupported dtype 'C64'"));
  EXPECT_THAT(refusal([&] { nn::mapTensors(path); }), HasSubstr("tensor 'x' has the unsupported dtype 'C64'"));
  std::filesystem::remove(path);
  EXPECT_THAT(refusal([&] { loaded.load(path); }), HasSubstr(path));
}

TEST_P(NNTest, MappedFilesAreReadWhereTheyLie) {
  const TemporaryPath path("mapped.safetensors");
  const NamedTensors given = {{"a", Tensor::from({1.f, 2.f})},
                              {"b", Tensor::from({int8_t(3)})},
                              {"c", Tensor::from({1, 2, 3}) > 1},
                              {"d", Tensor::zeros({0, 2})}};
  nn::saveTensors(path.path, given);
  NamedTensors mapped = nn::mapTensors(path.path);
  EXPECT_EQ(mapped.size(), given.size());
  for (const auto &[name, tensor] : given) {
    EXPECT_EQ(mapped.at(name).type(), tensor.type()) << name;
    EXPECT_EQ(mapped.at(name).bytes(), tensor.bytes()) << name;
  }
  // The file may lose its name, and all of it goes with the last tensor.
  std::filesystem::remove(path.path);
  const Tensor a = mapped.at("a");
  mapped.clear();
  EXPECT_THAT(floats(a * 2 + a), ElementsAre(3, 6));
  EXPECT_THAT(refusal([&] { nn::mapTensors(path.path); }), HasSubstr(path.path));

  // Elements that lie in memory: those that are not aligned are copied; bytes of other sizes are refused.
  const auto memory = std::make_shared<std::vector<std::byte>>(12, std::byte(0));
  const std::span<const std::byte> bytes(*memory);
  const Tensor aligned = Tensor::borrow({DType::F32, {2}}, bytes.first(8), memory);
  const Tensor copied = Tensor::borrow({DType::F32, {2}}, bytes.subspan(1, 8), memory);
  EXPECT_EQ(memory.use_count(), 2);
  const float one = 1;
  std::memcpy(memory->data() + 4, &one, sizeof one);
  EXPECT_THAT(floats(aligned), ElementsAre(0, 1));
  EXPECT_THAT(floats(copied), ElementsAre(0, 0));
  EXPECT_THAT(refusal([&] { Tensor::borrow({DType::F32, {2}}, bytes, memory); }),
              HasSubstr("a tensor of type f32[2] has 8 bytes, not 12"));
}

TEST_P(NNTest, MappedFilesThatGetShorterAreErrorsAndNoSignals) {
  const TemporaryPath path("short.safetensors");
  nn::saveTensors(path.path, {{"first", Tensor::ones({4})}, {"last", Tensor::ones({100'000})}});
  const uint64_t before = Context::current().counters().valueBytes;
  const NamedTensors mapped = nn::mapTensors(path.path);
  // Nothing of it is in memory before a program needs it, and then that alone.
  EXPECT_EQ(Context::current().counters().valueBytes, before);
  const Tensor sum = mapped.at("last").sum();
  EXPECT_THAT(floats(mapped.at("first") * 2), ElementsAre(2, 2, 2, 2));
  EXPECT_LT(Context::current().counters().valueBytes, before + 1000);
  std::filesystem::resize_file(path.path, 8192);
  for (const auto &read :
       std::vector<std::function<void()>>{[&] { sum.realize(); }, [&] { mapped.at("last").bytes(); }}) {
    const std::string reason = refusal(read);
    EXPECT_THAT(reason, HasSubstr("tensor 'last'"));
    EXPECT_THAT(reason, HasSubstr(path.path));
    EXPECT_THAT(reason, HasSubstr("ends at byte 8192"));
  }
}

/// Of a file there is one descriptor, however many tensors it has.
TEST_P(NNTest, MappedFilesAreOpenOnce) {
  const TemporaryPath path("many.safetensors");
  NamedTensors given;
  for (int i = 0; i < 50; ++i)
    given[std::to_string(i)] = Tensor::full({3}, i);
  nn::saveTensors(path.path, given);
  const auto countOpen = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = countOpen();
  NamedTensors mapped = nn::mapTensors(path.path);
  EXPECT_EQ(countOpen(), before + 1);
  // Another file of the name is not what was mapped.
  nn::saveTensors(path.path, {{"0", Tensor::zeros({3})}});
  EXPECT_THAT(floats(mapped.at("49")), ElementsAre(49, 49, 49));
  mapped.clear();
  EXPECT_EQ(countOpen(), before);
}

TEST_P(NNTest, SharedChildrenAreListedOnce) {
  struct Tied : nn::Module {
    explicit Tied(nn::InitRng &rng) : first(add("first", nn::Linear(2, 2, rng))), second(add("second", first)) {}
    Tensor operator()(const Tensor &x) const { return second(first(x)); }
    nn::Linear first, second;
  };
  nn::InitRng rng(3);
  Tied model(rng);
  EXPECT_THAT(namesOf(model), ElementsAre("first.weight", "first.bias"));
  EXPECT_EQ(model.state().size(), 2u);
  model.load(
      {{"first.weight", Tensor::from({2.f, 0.f, 0.f, 2.f}).reshape({2, 2})}, {"first.bias", Tensor::from({1.f, 0.f})}});
  EXPECT_THAT(floats(model(Tensor::from({1.f, 1.f}))), ElementsAre(7, 4));
  optim::Optimizer optimizer(model.parameters(), optim::sgd({.learningRate = 1}));
  optimizer.minimize(model(Tensor::from({1.f, 1.f})).sum());
  // Both uses: (w (w x + b) + b) by b is w^T 1 + 1.
  EXPECT_THAT(floats(*model.second.bias), ElementsAre(1 - 3, 0 - 3));
}

TEST_P(NNTest, NamesAreRefused) {
  struct Twice : nn::Module {
    explicit Twice(const char *name) {
      add("a", Tensor::ones({1}));
      add(name, nn::LayerNorm(2));
    }
  };
  EXPECT_THAT(refusal([] { Twice("a"); }), HasSubstr("module: there are two parameters or children of the name 'a'"));
  struct Open : nn::Module {
    using nn::Module::add;
    using nn::Module::put;
    using nn::Module::putPlace;
    using nn::Module::remove;
    std::vector<std::string> all() const {
      std::vector<std::string> names;
      for (const NamedParameter &each : parameters())
        names.push_back(each.name);
      return names;
    }
  } above, below;
  above.add("below", below);
  EXPECT_THAT(
      refusal([&] { below.add("above", above); }),
      HasSubstr("module: the child 'above' is the module itself or has it below, so that names would have no end"));
  EXPECT_THAT(refusal([&] { below.put("above", above); }), HasSubstr("is the module itself or has it below"));
  EXPECT_TRUE(above.parameters().empty());
  // What has the name gives its place.
  above.put("scale", Tensor::ones({1}));
  above.put("shift", Tensor::ones({1}));
  above.put("below", nn::LayerNorm(2));
  above.put("scale", Tensor::ones({2}));
  EXPECT_THAT(above.all(), ElementsAre("scale", "shift", "below.weight", "below.bias"));
  EXPECT_EQ(above.types()["scale"].shape, Shape{2});
  above.put("shift", below);
  above.put("below", Tensor::ones({3}));
  EXPECT_THAT(above.all(), ElementsAre("scale", "below"));
  EXPECT_THAT(refusal([&] { above.put("a.b", Tensor::ones({1})); }), HasSubstr("is no name"));
  above.remove("below");
  above.remove("nothing");
  EXPECT_THAT(above.all(), ElementsAre("scale"));
  // A place of two modules is one parameter.
  Open third;
  const Parameter place = third.add("scale", Tensor::ones({1}));
  above.putPlace("shared", place, false);
  above.putPlace("seen", Parameter(Tensor::ones({1})), true);
  above.add("third", third);
  EXPECT_THAT(above.names(), ElementsAre("scale", "shared", "seen", "shift", "third"));
  EXPECT_THAT(above.all(), ElementsAre("scale", "shared"));
  EXPECT_TRUE(above.parameters()[1].parameter == place);
  EXPECT_THAT(refusal([&] { above.putPlace("none", Parameter(), false); }),
              HasSubstr("module: there is no parameter in the place of 'none'"));
  EXPECT_THAT(refusal([] { Twice("b.c"); }), HasSubstr("module: 'b.c' is no name: it is empty or has a dot"));
  EXPECT_THAT(refusal([] { Twice(""); }), HasSubstr("module: '' is no name"));
}

TEST_P(NNTest, TheGradientReachesEveryParameter) {
  nn::InitRng rng(8);
  const nn::MultiheadAttention module(4, {.heads = 2, .causal = true}, rng);
  const nn::Mlp mlp(4, 8, rng);
  const nn::Embedding embedding(6, 4, rng);
  Parameters all = module.parameters();
  for (const nn::Module *more : {static_cast<const nn::Module *>(&mlp), static_cast<const nn::Module *>(&embedding)})
    for (const NamedParameter &named : more->parameters())
      all.push_back(named);
  const Tensor y = pow(mlp(module(embedding(Tensor::from({1, 5, 2})))), 2).sum();
  std::vector<Tensor> sizes;
  for (const Tensor &g : gradient(y, valuesOf(all)))
    sizes.push_back(g.abs().sum());
  realize(sizes);
  for (size_t i = 0; i < all.size(); ++i) {
    // Softmax does not see what all scores of a row have in common.
    if (all[i].name == "key.bias")
      EXPECT_NEAR(sizes[i].item<float>(), 0, 1e-5);
    else
      EXPECT_GT(sizes[i].item<float>(), 1e-4) << all[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, NNTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

//===----------------------------------------------------------------------===//
// The program of docs/nn.md on the digits
//===----------------------------------------------------------------------===//

static std::string textOf(const std::string &file) {
  std::ifstream stream(std::string(ZYX_TEST_SOURCES) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST_P(Training, LearnsDigits) {
  const NamedTensors digits = nn::loadTensors(std::string(ZYX_TEST_SOURCES) + "/examples/digits.safetensors");
  const Tensor images = (digits.at("images").reshape({-1, 64}).cast(DType::F32) / 16).realize();
  const Tensor &labels = digits.at("labels");
  const Tensor train = images.slice({{0, 1000}}).detach(), target = labels.slice({{0, 1000}}).detach();
  const uint64_t before = context.counters().runs, hits = context.counters().hits,
                 launches = context.counters().launches;
  float accuracy = 0, again = 0;
  const int steps = 100;
  const double loss = trainExample(train, target, steps, accuracy, images.slice({{1000}}), labels.slice({{1000}}));
  EXPECT_LT(loss, 0.15);
  EXPECT_GT(accuracy, 0.88f);
  // One program for all steps, and one that classifies.
  const ContextCounters counters = context.counters();
  EXPECT_EQ(counters.runs - before, uint64_t(steps) + 1);
  EXPECT_EQ(counters.hits - hits, uint64_t(steps) - 1);
  RecordProperty("launches_per_step", std::to_string((counters.launches - launches) / steps));
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_EQ(trainExample(train, target, steps, again, images.slice({{1000}}), labels.slice({{1000}})), loss);
  EXPECT_EQ(again, accuracy);
}

TEST(Manual, HoldsTheProgram) {
  const std::string example = textOf("test/unit/NN/Example.cpp"), ruler = "//===---";
  const size_t begin = example.find("#include"), end = example.find(ruler, begin);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
  EXPECT_THAT(textOf("docs/nn.md"), HasSubstr(example.substr(begin, end - begin)));
}

INSTANTIATE_TEST_SUITE_P(Devices, Training, testing::Values("cpu"),
                         [](const auto &info) { return std::string(info.param); });
