//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The model of examples/gpt2.h, narrow.
//===----------------------------------------------------------------------===//
#include "../../../examples/gpt2.h"

#include "../Tensor/TensorFixture.h"

#include <set>

using namespace zyx;
using namespace zyx::test;
using testing::HasSubstr;

namespace {

/// Two layers of two heads of eight numbers, for 37 tokens and 24 positions.
NamedTensors weights() {
  constexpr int64_t width = 16;
  nn::InitRng rng(3);
  NamedTensors all;
  auto add = [&](const std::string &name, Shape shape, double mean, double deviation = 0.2) {
    all[name] = rng.normal(std::move(shape), mean, deviation);
  };
  auto linear = [&](const std::string &name, int64_t in, int64_t out) {
    add(name + ".weight", {in, out}, 0, 0.4);
    add(name + ".bias", {out}, 0);
  };
  auto norm = [&](const std::string &name) {
    add(name + ".weight", {width}, 1);
    add(name + ".bias", {width}, 0);
  };
  add("wte.weight", {37, width}, 0);
  add("wpe.weight", {24, width}, 0, 1);
  for (const std::string block : {"h.0.", "h.1."}) {
    norm(block + "ln_1");
    linear(block + "attn.c_attn", width, 3 * width);
    linear(block + "attn.c_proj", width, width);
    norm(block + "ln_2");
    linear(block + "mlp.c_fc", width, 4 * width);
    linear(block + "mlp.c_proj", 4 * width, width);
  }
  norm("ln_f");
  return all;
}

class Gpt2Test : public DeviceTest {};

const std::vector<int64_t> prompt = {3, 36, 0, 11, 3};

} // namespace

TEST_P(Gpt2Test, DecodesWithACacheWhatItDecodesAnew) {
  const gpt2::Model model(weights(), 2);
  EXPECT_EQ(model.layers, 2);
  constexpr int64_t count = 12;
  std::vector<int64_t> tokens = prompt;
  const Jit next([&](std::span<const Tensor> a) { return std::vector{take(model.logits(a[0]), a[1])}; });
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> window = tokens;
    window.resize(prompt.size() + count);
    const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
    tokens.push_back(
        next({Tensor::from(window, {int64_t(window.size())}), Tensor::from({last})})[0].argmax(1).item<int64_t>());
  }
  const std::vector<int64_t> decoded =
      model.decode(Tensor::from(prompt, {int64_t(prompt.size())}), count).toVector<int64_t>();
  EXPECT_EQ(decoded, std::vector<int64_t>(tokens.begin() + prompt.size(), tokens.end()));
  // Not one token again and again.
  EXPECT_GT(std::set<int64_t>(decoded.begin(), decoded.end()).size(), 2u);
  EXPECT_EQ(model.decode(Tensor::from(prompt, {int64_t(prompt.size())}), 1).toVector<int64_t>(),
            std::vector<int64_t>{decoded[0]});
}

INSTANTIATE_TEST_SUITE_P(Devices, Gpt2Test, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Gpt2, LogitsAreThoseOfTheInterpreter) {
  setenv("ZYX_COMPILER", ZYX_TEST_COMPILER, 1);
  std::vector<std::vector<float>> found;
  for (const char *device : {"reference", "cpu"}) {
    const ContextScope scope(Context({.device = device}));
    found.push_back(floats(gpt2::Model(weights(), 2).logits(Tensor::from(prompt, {int64_t(prompt.size())}))));
  }
  ASSERT_EQ(found[0].size(), 5u * 37);
  for (size_t i = 0; i < found[0].size(); ++i)
    EXPECT_NEAR(found[0][i], found[1][i], 5e-5) << i;
}

TEST(Gpt2, WeightsAreRefusedWhereOneIsMissing) {
  const ContextScope scope(Context({.device = "reference"}));
  NamedTensors some = weights();
  some.erase("wpe.weight");
  EXPECT_THAT(refusal([&] { gpt2::Model model(some, 2); }), HasSubstr("GPT-2: there is no tensor 'wpe.weight'"));
}
