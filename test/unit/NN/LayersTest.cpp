//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Norms with buffers, positions, recurrent layers and blocks, beside loops over single numbers.
//===----------------------------------------------------------------------===//
#include "../Tensor/TensorFixture.h"

#include "zyx/zyx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace zyx;
using testing::ElementsAre;
using testing::HasSubstr;
using zyx::test::floats;
using zyx::test::refusal;

namespace {

class LayersTest : public test::DeviceTest {
protected:
  nn::InitRng rng{11};
};

void expectNear(const std::vector<float> &values, const std::vector<double> &expected) {
  test::expectNear(values, expected, 4e-6);
}

/// Mean and variance of the elements of x for which `in` is true.
std::pair<double, double> moments(const std::vector<float> &x, const std::function<bool(size_t)> &in,
                                  double correction) {
  double sum = 0, squares = 0, count = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (in(i))
      sum += x[i], ++count;
  for (size_t i = 0; i < x.size(); ++i)
    if (in(i))
      squares += (x[i] - sum / count) * (x[i] - sum / count);
  return {sum / count, squares / (count - correction)};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

} // namespace

TEST_P(LayersTest, GroupNormIsItsFormula) {
  nn::GroupNorm norm(2, 4);
  norm.load({{"weight", Tensor::from({1.f, 2.f, 3.f, 4.f})}, {"bias", Tensor::from({0.f, 1.f, 0.f, -1.f})}});
  const Tensor given = rng.uniform({2, 4, 3}, -1, 3);
  const std::vector<float> x = floats(given);
  std::vector<double> expected;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto [mean, variance] = moments(x, [&](size_t k) { return k / 6 == i / 6; }, 0);
    const size_t channel = i / 3 % 4;
    const double bias[] = {0, 1, 0, -1};
    expected.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) * double(channel + 1) + bias[channel]);
  }
  expectNear(floats(norm(given)), expected);
  EXPECT_THAT(refusal([] { nn::GroupNorm(3, 4); }), HasSubstr("GroupNorm: 4 channels do not fall into 3 groups"));
  EXPECT_THAT(refusal([&] { norm(Tensor::ones({2, 3})); }),
              HasSubstr("GroupNorm: a tensor of shape [2, 3] is not [batch, 4, positions...]"));
}

TEST_P(LayersTest, BatchNormKeepsRunningMoments) {
  nn::BatchNorm norm(2);
  EXPECT_EQ(norm.parameters().size(), 2u);
  EXPECT_EQ(norm.buffers()[0].name, "running_mean");
  EXPECT_EQ(norm.state().size(), 4u);
  const Tensor given = rng.uniform({3, 2, 2}, -1, 3);
  const std::vector<float> x = floats(given);
  std::vector<double> trained, later;
  double mean[2], variance[2];
  for (size_t channel = 0; channel < 2; ++channel) {
    auto mine = [&](size_t k) { return k / 2 % 2 == channel; };
    mean[channel] = 0.1 * moments(x, mine, 1).first;
    variance[channel] = 0.9 + 0.1 * moments(x, mine, 1).second;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t channel = i / 2 % 2;
    const auto [m, v] = moments(x, [&](size_t k) { return k / 2 % 2 == channel; }, 0);
    trained.push_back((x[i] - m) / std::sqrt(v + 1e-5));
    later.push_back((x[i] - mean[channel]) / std::sqrt(variance[channel] + 1e-5));
  }
  expectNear(floats(norm(given)), trained);
  expectNear(floats(*norm.runningMean), {mean[0], mean[1]});
  expectNear(floats(*norm.runningVar), {variance[0], variance[1]});
  norm.eval();
  expectNear(floats(norm(given)), later);
  expectNear(floats(*norm.runningMean), {mean[0], mean[1]});
  norm.train();
  EXPECT_THAT(
      refusal([&] { norm(Tensor::ones({1, 2})); }),
      HasSubstr(
          "BatchNorm: a tensor of shape [1, 2] has not two elements per channel: there is no variance to train with"));
  EXPECT_THAT(refusal([&] { norm(Tensor::ones({2})); }),
              HasSubstr("BatchNorm: a tensor of shape [2] is not [batch, 2, positions...]"));
}

TEST_P(LayersTest, StepsComputeBuffersInTheSameProgram) {
  const nn::Sequential model(nn::Linear(3, 4, rng), nn::BatchNorm(4), nn::Linear(4, 1, rng));
  optim::Optimizer optimizer(model.parameters(), optim::sgd({.learningRate = 0.1}));
  const Tensor x = rng.uniform({8, 3}, -1, 1);
  for (int step = 0; step < 3; ++step) {
    optimizer.minimize(pow(model(x) - 1, 2).mean(), model.buffers());
    for (const NamedParameter &buffer : model.buffers())
      EXPECT_TRUE(buffer.parameter->isRealized()) << buffer.name;
  }
  EXPECT_EQ(context.counters().runs, 3u);
  EXPECT_EQ(context.counters().hits, 2u);
}

TEST_P(LayersTest, RunningMomentsDoNotHoldAllBatches) {
  nn::BatchNorm read(2), left(2);
  uint64_t most = 0;
  for (int batch = 0; batch < 80; ++batch) {
    const Tensor x = rng.uniform({4, 2}, -1, 3);
    read(x).realize();
    realize(std::vector{*read.runningMean, *read.runningVar});
    left(x).realize();
    most = std::max(most, context.counters().liveNodes);
  }
  // About seventy nodes for each batch that waits.
  EXPECT_LT(most, 1500u);
  expectNear(floats(*left.runningMean), test::wide(floats(*read.runningMean)));
  expectNear(floats(*left.runningVar), test::wide(floats(*read.runningVar)));
}

TEST_P(LayersTest, FailuresNameTheLayerAndTheCall) {
  const nn::Linear linear(64, 32, rng);
  const Tensor x = Tensor::ones({8, 63});
  using testing::AllOf;
  EXPECT_THAT(refusal([&] { linear(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"),
                    HasSubstr("Linear: matmul: shapes [8, 63] and [64, 32] do not multiply: 63 columns meet 64 rows")));
  const nn::Sequential model(nn::LayerNorm(63), linear);
  EXPECT_THAT(refusal([&] { model(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("Sequential 1: Linear: matmul: ")));
  EXPECT_THAT(refusal([&] { nn::Sequential(std::function<Tensor(const Tensor &)>())(x); }),
              HasSubstr("Sequential 0: there is no function in this place"));
  EXPECT_THAT(refusal([&] { nn::Mlp(3, 4, rng)(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("Mlp: Linear: matmul: ")));
  EXPECT_THAT(refusal([&] { nn::MultiheadAttention(8, {.heads = 2}, rng)(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("MultiheadAttention: Linear: matmul: ")));
  EXPECT_THAT(refusal([&] { nn::TransformerBlock(8, {.heads = 2}, rng)(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("TransformerBlock: LayerNorm: layerNorm: ")));
  EXPECT_THAT(refusal([&] { nn::Dropout(0.5, 1)(Tensor()); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("Dropout: context: there is no tensor in this place")));
  EXPECT_THAT(refusal([&] { nn::RmsNorm(4)(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("RmsNorm: rmsNorm: a weight")));
  EXPECT_THAT(refusal([&] { nn::LayerNorm(4)(x); }), HasSubstr("LayerNorm: layerNorm: a weight"));
  EXPECT_THAT(refusal([&] { nn::Embedding(3, 2, rng)(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("Embedding: ")));
  EXPECT_THAT(refusal([&] { nn::Convolution(2, 1, {2}, rng)(x); }), HasSubstr("Convolution: convolution: "));
  EXPECT_THAT(refusal([&] { nn::TransposedConvolution(2, 1, {2}, rng)(x); }),
              HasSubstr("TransposedConvolution: transposedConvolution: "));
  EXPECT_THAT(refusal([&] { nn::Lstm(2, 3, rng)(x); }), HasSubstr("Lstm: a tensor of shape [8, 63]"));
  EXPECT_THAT(refusal([&] { nn::BatchNorm(2)(x); }),
              AllOf(HasSubstr("LayersTest.cpp:"), HasSubstr("BatchNorm: a tensor of shape")));
}

TEST_P(LayersTest, NothingGoesThroughEmptyLayers) {
  const nn::Linear linear(0, 3, rng);
  EXPECT_THAT(floats(linear(Tensor::ones({1, 0}))), ElementsAre(0, 0, 0));
  EXPECT_EQ(nn::BatchNorm(0)(Tensor::ones({4, 0, 3})).shape(), (Shape{4, 0, 3}));
  EXPECT_EQ(nn::Convolution(0, 2, {3}, rng).bias->abs().max().item<float>(), 0);
}

TEST_P(LayersTest, RotaryTurnsPairs) {
  const Tensor x = rng.uniform({2, 3, 4}, -1, 1), positions = Tensor::from({5, 0, 2});
  const std::vector<float> given = floats(x);
  std::vector<double> expected(given.size());
  for (size_t row = 0; row < 6; ++row)
    for (size_t i = 0; i < 2; ++i) {
      const double angle = std::vector<double>{5, 0, 2}[row % 3] * std::pow(100, -2 * double(i) / 4);
      const double a = given[row * 4 + i], b = given[row * 4 + i + 2];
      expected[row * 4 + i] = a * std::cos(angle) - b * std::sin(angle);
      expected[row * 4 + i + 2] = b * std::cos(angle) + a * std::sin(angle);
    }
  expectNear(floats(nn::rotary(x, positions, 100)), expected);
  // Products depend on distances alone.
  auto product = [&](int64_t a, int64_t b) {
    const Tensor q = x.slice({{0, 1}, {0, 1}}), k = x.slice({{1}, {1, 2}});
    return (nn::rotary(q, Tensor::from({a})) * nn::rotary(k, Tensor::from({b}))).sum().item<float>();
  };
  EXPECT_NEAR(product(3, 1), product(9, 7), 1e-6);
  EXPECT_GT(std::abs(product(3, 1) - product(3, 0)), 1e-3);
  EXPECT_THAT(
      refusal([&] { nn::rotary(x, Tensor::from({1, 2})); }),
      HasSubstr(
          "rotary: rows of shape [2, 3, 4] at positions of shape [2] are not [..., rows, even width] and [rows]"));
  // Turned alike, queries and keys see that the order of what they attend to is another one.
  const nn::MultiheadAttention module(4, {.heads = 2, .rotary = true}, rng);
  const Tensor rows = x.select(0, 0);
  const auto difference = [&](const nn::MultiheadAttention &of) {
    return (of(rows).select(0, 1) - of(rows.flip({0})).select(0, 1)).abs().max().item<float>();
  };
  EXPECT_GT(difference(module), 1e-3);
  // Without turning there is none but of roundings.
  EXPECT_LT(difference(nn::MultiheadAttention(4, {.heads = 2}, rng)), 1e-6);
}

TEST_P(LayersTest, Sinusoids) {
  const Tensor table = nn::sinusoids(3, 4);
  expectNear(floats(table.select(0, 2)), {std::sin(2), std::cos(2), std::sin(0.02), std::cos(0.02)});
}

/// Steps of both layers from the formulas of their header, for a batch of 2.
static std::vector<double> recur(bool isLstm, const nn::Recurrent &module, const std::vector<float> &x, int steps,
                                 int in, int hidden) {
  const std::vector<float> wi = floats(*module.inputWeight), wh = floats(*module.hiddenWeight);
  const std::vector<float> bi = floats(*module.inputBias), bh = floats(*module.hiddenBias);
  std::vector<double> h(2 * hidden), c(2 * hidden), result;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> next(2 * hidden);
    for (int b = 0; b < 2; ++b)
      for (int j = 0; j < hidden; ++j) {
        double i[4], f[4];
        for (int k = 0; k < (isLstm ? 4 : 3); ++k) {
          const int row = k * hidden + j;
          i[k] = bi[row];
          f[k] = bh[row];
          for (int e = 0; e < in; ++e)
            i[k] += double(wi[row * in + e]) * x[(step * 2 + b) * in + e];
          for (int e = 0; e < hidden; ++e)
            f[k] += double(wh[row * hidden + e]) * h[b * hidden + e];
        }
        const int at = b * hidden + j;
        if (isLstm) {
          c[at] = sigmoid(i[1] + f[1]) * c[at] + sigmoid(i[0] + f[0]) * std::tanh(i[2] + f[2]);
          next[at] = sigmoid(i[3] + f[3]) * std::tanh(c[at]);
        } else {
          const double z = sigmoid(i[1] + f[1]);
          next[at] = (1 - z) * std::tanh(i[2] + sigmoid(i[0] + f[0]) * f[2]) + z * h[at];
        }
      }
    h = next;
    result.insert(result.end(), h.begin(), h.end());
  }
  return result;
}

TEST_P(LayersTest, RecurrentLayersAreTheirFormulas) {
  const Tensor x = rng.uniform({3, 2, 2}, -2, 2);
  const nn::Gru gru(2, 3, rng);
  const nn::Lstm lstm(2, 3, rng);
  EXPECT_EQ(gru(x).shape(), (Shape{3, 2, 3}));
  expectNear(floats(gru(x)), recur(false, gru, floats(x), 3, 2, 3));
  expectNear(floats(lstm(x)), recur(true, lstm, floats(x), 3, 2, 3));
  EXPECT_THAT(refusal([&] { gru(Tensor::ones({3, 2})); }),
              HasSubstr("Gru: a tensor of shape [3, 2] is not [steps, batch, 2], of at least one step"));
}

/// An LSTM whose steps are written one by one.
static Tensor unrolled(const nn::Lstm &module, const Tensor &x) {
  const int64_t hidden = module.hiddenWeight->shape()[1];
  Tensor h = Tensor::zeros({x.shape()[1], hidden}), c = h;
  std::vector<Tensor> steps;
  for (int64_t step = 0; step < x.shape()[0]; ++step) {
    const Tensor sums = matmul(x.select(0, step), module.inputWeight->transpose()) + *module.inputBias +
                        matmul(h, module.hiddenWeight->transpose()) + *module.hiddenBias;
    auto gate = [&](int64_t i) { return sums.slice({{}, {i * hidden, (i + 1) * hidden}}); };
    c = gate(1).sigmoid() * c + gate(0).sigmoid() * gate(2).tanh();
    h = gate(3).sigmoid() * c.tanh();
    steps.push_back(h);
  }
  return stack(steps);
}

TEST_P(LayersTest, GradientsOfAnLstmAreThoseOfItsSteps) {
  const nn::Lstm lstm(3, 4, rng);
  const Tensor x = rng.uniform({6, 2, 3}, -2, 2), weights = rng.uniform({6, 2, 4}, -1, 1);
  const std::vector sources{x, *lstm.inputWeight, *lstm.hiddenWeight, *lstm.inputBias, *lstm.hiddenBias};
  const std::vector<Tensor> found = gradient((lstm(x) * weights).sum(), sources);
  const std::vector<Tensor> expected = gradient((unrolled(lstm, x) * weights).sum(), sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::vector<float> values = floats(expected[i]);
    test::expectNear(floats(found[i]), std::vector<double>(values.begin(), values.end()), 2e-5);
  }
}

TEST_P(LayersTest, RecurrentLayersAreProgramsOfOneSize) {
  if (std::string_view(GetParam()) == "reference")
    GTEST_SKIP() << "the interpreter makes no programs";
  const nn::Lstm lstm(3, 4, rng);
  auto lines = [&](int64_t steps) {
    const Tensor x = rng.uniform({steps, 2, 3}, -2, 2), y = lstm(x);
    const std::string text =
        programText(gradient((y * y).sum(), std::vector{x, *lstm.inputWeight, *lstm.hiddenWeight}));
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(300), lines(5));
}

TEST_P(LayersTest, PlainRecurrence) {
  nn::Rnn rnn(1, 2, rng);
  rnn.load({{"weight_ih", Tensor::from({1.f, -1.f}).reshape({2, 1})},
            {"weight_hh", Tensor::from({.5f, 0.f, 2.f, 0.f}).reshape({2, 2})},
            {"bias_ih", Tensor::from({.25f, 0.f})},
            {"bias_hh", Tensor::from({0.f, -.5f})}});
  const double a = std::tanh(2 + .25), b = std::tanh(-2 - .5), c = std::tanh(-1 + .5 * a + .25),
               d = std::tanh(1 + 2 * a - .5);
  expectNear(floats(rnn(Tensor::from({2.f, -1.f}).reshape({2, 1, 1}))), {a, b, c, d});
}

TEST_P(LayersTest, BlocksDoNotLookAhead) {
  const nn::TransformerBlock block(8, {.heads = 2, .causal = true, .rotary = true}, rng);
  EXPECT_EQ(block.parameters()[2].name, "attention.query.weight");
  const Tensor x = rng.uniform({4, 8}, -1, 1);
  const Tensor changed = concat(std::vector{x.slice({{0, 3}}), x.slice({{3}}) + 1});
  const std::vector<float> before = floats(block(x)), after = floats(block(changed));
  for (size_t i = 0; i < 24; ++i)
    EXPECT_EQ(before[i], after[i]) << i;
  EXPECT_NE(before[24], after[24]);
}

TEST_P(LayersTest, ConvolutionsHoldTheirFilters) {
  nn::Convolution sums(2, 1, {2}, rng, {{.stride = {2}}});
  EXPECT_EQ(sums.weight->shape(), (Shape{1, 2, 2}));
  sums.load({{"weight", Tensor::from({1.f, 2.f, 3.f, 4.f}).reshape({1, 2, 2})}, {"bias", Tensor::from({.5f})}});
  const Tensor x = Tensor::from({1.f, 0.f, 2.f, 1.f, 0.f, 1.f, 1.f, 1.f}).reshape({1, 2, 4});
  EXPECT_THAT(floats(sums(x)), ElementsAre(1 + 4 + .5f, 2 + 2 + 3 + 4 + .5f));
  const nn::TransposedConvolution wider(2, 3, {2}, rng, {{{.stride = {2}}}}, /*hasBias=*/false);
  EXPECT_EQ(wider.weight->shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(wider.parameters().size(), 1u);
  EXPECT_EQ(wider(x).shape(), (Shape{1, 3, 8}));
  const nn::Convolution large(6, 40, {3, 3}, rng, {{}, 2});
  EXPECT_EQ(large.weight->shape(), (Shape{40, 3, 3, 3}));
  EXPECT_LE(large.weight->abs().max().item<float>(), 0.19245f);
  EXPECT_GT(large.weight->abs().max().item<float>(), 0.18f);
  EXPECT_THAT(refusal([&] { nn::Convolution(3, 4, {3}, rng, {{}, 2}); }),
              HasSubstr("convolution: channels of 4 and 3 do not fall into 2 groups"));
}

TEST_P(LayersTest, DropoutIsForTraining) {
  nn::Dropout layer(0.25, 3);
  const nn::Dropout same(0.25, 3);
  const Tensor x = Tensor::from(std::vector<float>(2000, 3), {2000});
  const std::vector<float> first = floats(layer(x)), second = floats(layer(x));
  EXPECT_NE(first, second);
  EXPECT_EQ(first, floats(same(x)));
  EXPECT_EQ(context.counters().hits, 2u);
  size_t kept = 0;
  for (float value : first) {
    EXPECT_TRUE(value == 0 || value == 4) << value;
    kept += value != 0;
  }
  EXPECT_NEAR(double(kept), 1500, 80);
  layer.eval();
  EXPECT_EQ(floats(layer(x)), floats(x));
  EXPECT_THAT(refusal([] { nn::Dropout(1.5, 0); }), HasSubstr("Dropout: 1.500000 is no probability"));
}

/// Which of two diagonals is bright, by convolution, batch norm and pooling.
TEST_P(LayersTest, ConvolutionsLearn) {
  const int count = 16;
  std::vector<float> pixels;
  std::vector<int64_t> classes;
  for (int image = 0; image < count; ++image) {
    classes.push_back(image % 2);
    for (int i = 0; i < 36; ++i)
      pixels.push_back((image % 2 ? i / 6 == i % 6 : i / 6 == 5 - i % 6) ? 1.f
                                                                         : 0.1f * float((i * 7 + image * 5) % 11));
  }
  const Tensor images = Tensor::from(pixels, {count, 1, 6, 6}), labels = Tensor::from(classes, {count});
  nn::Sequential model(
      nn::Convolution(1, 4, {3, 3}, rng), nn::BatchNorm(4),
      [](const Tensor &x) { return maxPool(x.relu(), {2, 2}).flatten(1); }, nn::Linear(16, 2, rng));
  optim::Optimizer optimizer(model.parameters(), optim::adam({.learningRate = 0.05}));
  const uint64_t hits = context.counters().hits;
  Tensor loss;
  for (int step = 0; step < 15; ++step) {
    loss = crossEntropy(model(images), labels);
    optimizer.minimize(loss, model.buffers());
  }
  EXPECT_EQ(context.counters().hits - hits, 14u);
  EXPECT_LT(loss.item<float>(), 0.1);
  model.eval();
  EXPECT_EQ((model(images).argmax(1) == labels).cast(DType::F32).mean().item<float>(), 1);
}

INSTANTIATE_TEST_SUITE_P(Devices, LayersTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
