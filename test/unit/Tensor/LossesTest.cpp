//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Losses and normalizations against closed forms and loops.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

using LossesTest = DeviceTest;

TEST_P(LossesTest, OfDistances) {
  const Tensor x = Tensor::from({1.f, 2.f, -3.f}), t = Tensor::from({1.5f, 0.f, -3.f});
  EXPECT_THAT(floats(mseLoss(x, t, Reduction::None)), ElementsAre(0.25, 4, 0));
  EXPECT_FLOAT_EQ(mseLoss(x, t).item<float>(), 4.25f / 3);
  EXPECT_FLOAT_EQ(mseLoss(x, t, Reduction::Sum).item<float>(), 4.25f);
  EXPECT_FLOAT_EQ(l1Loss(x, t).item<float>(), 2.5f / 3);
  EXPECT_THAT(floats(huberLoss(x, t, 1, Reduction::None)), ElementsAre(0.125, 1.5, 0));
  EXPECT_THAT(floats(huberLoss(x, t, 0.5, Reduction::None)), ElementsAre(0.125, 0.875, 0));
  EXPECT_THAT(floats(smoothL1Loss(x, t, 0.5, Reduction::None)), ElementsAre(0.25, 1.75, 0));
  // In f16 the squares would be infinite, but not their mean.
  const Tensor half = Tensor::from({300.f, 0.f, 0.f, 0.f}).cast(DType::F16);
  EXPECT_EQ(mseLoss(half, half * 0).cast(DType::F32).item<float>(), 22496);
}

TEST_P(LossesTest, OfProbabilities) {
  const Tensor x = Tensor::from({-200.f, 0.f, 2.f, 200.f}), t = Tensor::from({0.f, 0.5f, 1.f, 0.f});
  EXPECT_THAT(floats(bceWithLogits(x, t, Reduction::None)),
              ElementsAre(0, FloatNear(0.6931472f, 1e-6), FloatNear(0.1269280f, 1e-6), 200));
  const Tensor p = Tensor::from({0.f, 0.25f, 0.75f}), q = Tensor::from({0.5f, 0.25f, 0.25f});
  EXPECT_THAT(floats(klDivergence(q.log(), p, Reduction::None)),
              ElementsAre(0, FloatNear(0, 1e-6), FloatNear(0.75f * std::log(3.f), 1e-6)));
  const Tensor logits = Tensor::from({1.f, 2.f, 3.f, 0.f, 0.f, 5.f}).reshape({2, 3}), rows = Tensor::from({2, 0});
  EXPECT_FLOAT_EQ(nllLoss(logits.logSoftmax(1), rows).item<float>(), crossEntropy(logits, rows).item<float>());
  EXPECT_THAT(floats(nllLoss(logits, Tensor::from({1, -1}), Reduction::None)), ElementsAre(-2, testing::IsNan()));
}

/// As PyTorch: rows of -100, or of what is said, count for nothing.
TEST_P(LossesTest, IgnoredTargetsDoNotCount) {
  const Tensor logits = doubles({4, 3}), one = logits[1].unsqueeze(0);
  const Tensor targets = Tensor::from({-100, 2, -100, -100});
  const double alone = crossEntropy(one, Tensor::from({2})).item<double>();
  EXPECT_NEAR(crossEntropy(logits, targets).item<double>(), alone, 1e-12);
  EXPECT_NEAR(nllLoss(logits.logSoftmax(1), targets).item<double>(), alone, 1e-12);
  EXPECT_NEAR(crossEntropy(logits, targets, {.reduction = Reduction::Sum}).item<double>(), alone, 1e-12);
  EXPECT_THAT(crossEntropy(logits, targets, {.reduction = Reduction::None}).toVector<double>(),
              ElementsAre(0, DoubleNear(alone, 1e-12), 0, 0));
  EXPECT_NEAR(crossEntropy(logits, Tensor::from({0, 2, 0, 0}), {.ignoreIndex = 0}).item<double>(), alone, 1e-12);
  const Tensor bytes = Tensor::from({uint8_t(255), uint8_t(2), uint8_t(255), uint8_t(255)});
  EXPECT_NEAR(crossEntropy(logits, bytes, {.ignoreIndex = 255}).item<double>(), alone, 1e-12);
  // Others that are no class are mistakes.
  for (const int wrong : {-1, 3, 100})
    EXPECT_TRUE(std::isnan(crossEntropy(logits, Tensor::from({0, wrong, 1, 2})).item<double>())) << wrong;
  EXPECT_TRUE(std::isnan(crossEntropy(logits, bytes).item<double>()));
  EXPECT_TRUE(std::isnan(crossEntropy(logits, Tensor::from({-100, -100, -100, -100})).item<double>()));
  expectGradients([&](const std::vector<Tensor> &in) { return crossEntropy(in[0], targets); }, {logits});
  const std::vector<double> g = gradient(crossEntropy(logits, targets), {logits})[0].toVector<double>();
  for (size_t i = 0; i < g.size(); ++i)
    EXPECT_EQ(g[i] != 0, i / 3 == 1) << i;
}

TEST_P(LossesTest, OfProbabilitiesThemselves) {
  const Tensor p = Tensor::from({0.25f, 1.f, 0.f, 0.f}), t = Tensor::from({1.f, 1.f, 0.f, 1.f});
  EXPECT_THAT(floats(bceLoss(p, t, Reduction::None)), ElementsAre(FloatNear(1.3862944f, 1e-6), 0, 0, 100));
  EXPECT_THAT(floats(bceLoss(Tensor::from({0.3f}), Tensor::from({0.6f}))), ElementsAre(FloatNear(0.8650535f, 1e-6)));
  const Tensor ends = p.detach();
  EXPECT_THAT(floats(gradient(bceLoss(ends, t, Reduction::Sum), std::vector{ends})[0]), ElementsAre(-4, -1, 1, 0));
  expectGradients(
      [](const std::vector<Tensor> &in) { return bceLoss(in[0].sigmoid(), in[1].sigmoid(), Reduction::None); },
      {doubles({5}), doubles({5}, 1)});
  const Tensor logits = doubles({3, 4}), classes = Tensor::from({2, 0, 3});
  EXPECT_NEAR(softCrossEntropy(logits, oneHot(classes, 4, DType::F64)).item<double>(),
              crossEntropy(logits, classes).item<double>(), 1e-12);
  expectGradients(
      [](const std::vector<Tensor> &in) { return softCrossEntropy(in[0], in[1].softmax(), Reduction::None); },
      {logits, doubles({3, 4}, 1)});
  EXPECT_THAT(refusal([&] { softCrossEntropy(doubles({3}), doubles({3})); }),
              HasSubstr("softCrossEntropy: logits of shape [3] are not [rows, classes]"));
  EXPECT_THAT(refusal([&] { bceLoss(p, logits); }),
              HasSubstr("bceLoss: predictions of type f32[4] and targets of type f64[3, 4]"));
}

TEST_P(LossesTest, OfTriplets) {
  const Tensor a = Tensor::from({0., 0., 1., 1.}).reshape({2, 2}), p = Tensor::from({3., 4., 1., 1.}).reshape({2, 2});
  const Tensor n = Tensor::from({0., 2., 9., 1.}).reshape({2, 2});
  EXPECT_THAT(tripletMarginLoss(a, p, n, {.epsilon = 0, .reduction = Reduction::None}).toVector<double>(),
              ElementsAre(4, 0));
  EXPECT_THAT(
      tripletMarginLoss(a, p, n, {.margin = 2, .p = 1, .epsilon = 0, .reduction = Reduction::None}).toVector<double>(),
      ElementsAre(7, 0));
  // From the positive the negative is sqrt(13) away, from the anchor 2.
  EXPECT_THAT(tripletMarginLoss(p, a, n, {.epsilon = 0, .reduction = Reduction::None}).toVector<double>(),
              ElementsAre(DoubleNear(6 - std::sqrt(13), 1e-12), 0));
  EXPECT_THAT(tripletMarginLoss(p, a, n, {.epsilon = 0, .swap = true, .reduction = Reduction::None}).toVector<double>(),
              ElementsAre(4, 0));
  EXPECT_THAT(tripletMarginLoss(a, p, n).item<double>(), DoubleNear(2, 1e-5));
  expectGradients(
      [](const std::vector<Tensor> &in) {
        return tripletMarginLoss(in[0], in[1], in[2],
                                 {.margin = 3, .p = 3, .swap = true, .reduction = Reduction::None});
      },
      {doubles({2, 3}), doubles({2, 3}, 1), doubles({2, 3}, 2)});
  EXPECT_THAT(refusal([&] { tripletMarginLoss(a, p, doubles({2})); }),
              HasSubstr("tripletMarginLoss: predictions of type f64[2, 2] and targets of type f64[2]"));
}

/// The probability that steps read as a target: the sum over all ways to choose a class at each step.
static double readNaively(const std::vector<double> &logs, int64_t steps, int64_t classes,
                          const std::vector<int64_t> &target, int64_t blank) {
  double sum = 0;
  std::vector<int64_t> path(steps, 0);
  for (;;) {
    std::vector<int64_t> read;
    double log = 0;
    for (int64_t t = 0; t < steps; ++t) {
      log += logs[t * classes + path[t]];
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1]))
        read.push_back(path[t]);
    }
    if (read == target)
      sum += std::exp(log);
    int64_t t = 0;
    while (t < steps && ++path[t] == classes)
      path[t++] = 0;
    if (t == steps)
      return sum;
  }
}

TEST_P(LossesTest, OfSequences) {
  const Tensor logits = doubles({5, 4, 3}) * 2, x = logits.logSoftmax();
  const std::vector<double> all = x.toVector<double>();
  const std::vector<std::vector<int64_t>> targets = {{1, 2}, {2, 2}, {1}, {}};
  const std::vector<int64_t> steps = {5, 4, 3, 2};
  const Tensor labels = Tensor::from({1, 2, 2, 2, 1, 0, 0, 0}).reshape({4, 2}), lengths = Tensor::from({2, 2, 1, 0});
  const Tensor counts = Tensor::from(steps, {4});
  std::vector<double> expected;
  for (size_t i = 0; i < 4; ++i) {
    std::vector<double> own;
    for (int64_t t = 0; t < steps[i]; ++t)
      own.insert(own.end(), all.begin() + (t * 4 + int64_t(i)) * 3, all.begin() + (t * 4 + int64_t(i)) * 3 + 3);
    expected.push_back(-std::log(readNaively(own, steps[i], 3, targets[i], 0)));
  }
  EXPECT_THAT(ctcLoss(x, labels, counts, lengths, {.reduction = Reduction::None}).toVector<double>(),
              Pointwise(DoubleNear(1e-12), expected));
  EXPECT_NEAR(ctcLoss(x, labels, counts, lengths).item<double>(),
              (expected[0] / 2 + expected[1] / 2 + expected[2] + expected[3]) / 4, 1e-12);
  EXPECT_NEAR(ctcLoss(x, labels, counts, lengths, {.reduction = Reduction::Sum}).item<double>(),
              expected[0] + expected[1] + expected[2] + expected[3], 1e-12);
  // Another blank.
  const Tensor one = x.slice({{0, 3}, {0, 1}});
  EXPECT_NEAR(ctcLoss(one, Tensor::from({0, 1}).reshape({1, 2}), Tensor::from({3}), Tensor::from({2}),
                      {.blank = 2, .reduction = Reduction::Sum})
                  .item<double>(),
              -std::log(readNaively(one.toVector<double>(), 3, 3, {0, 1}, 2)), 1e-12);
  expectGradients(
      [&](const std::vector<Tensor> &in) {
        return ctcLoss(in[0].logSoftmax(), labels, counts, lengths, {.reduction = Reduction::None});
      },
      {logits});
  EXPECT_NEAR(ctcLoss(x.cast(DType::F32), labels, counts, lengths, {.reduction = Reduction::Sum}).item<float>(),
              expected[0] + expected[1] + expected[2] + expected[3], 1e-5);
}

TEST_P(LossesTest, SequencesThatCannotBeRead) {
  // Two equal labels need a blank between them; a label that is no class cannot be read at all.
  const Tensor x = doubles({2, 2, 3}).logSoftmax().detach(), labels = Tensor::from({1, 1, 7, 0}).reshape({2, 2});
  const Tensor steps = Tensor::from({2, 2}), lengths = Tensor::from({2, 1});
  EXPECT_THAT(ctcLoss(x, labels, steps, lengths, {.reduction = Reduction::None}).toVector<double>(),
              ElementsAre(INFINITY, INFINITY));
  const Tensor loss = ctcLoss(x, labels, steps, lengths, {.zeroInfinity = true, .reduction = Reduction::Sum});
  EXPECT_THAT(gradient(loss, std::vector{x})[0].toVector<double>(), testing::Each(0));
  EXPECT_EQ(loss.item<double>(), 0);
  // Classes that are impossible do not make it NaN.
  const Tensor hard = Tensor::from({0., double(-INFINITY), double(-INFINITY), 0.}).reshape({2, 1, 2});
  EXPECT_EQ(ctcLoss(hard, Tensor::from({1}).reshape({1, 1}), Tensor::from({2}), Tensor::from({1})).item<double>(), 0);
  EXPECT_THAT(
      refusal([&] { ctcLoss(x, labels, steps, Tensor::from({1})); }),
      HasSubstr(
          "ctcLoss: logarithms of shape [2, 2, 3], targets of shape [2, 2] and lengths of shapes [2] and [1] are not "
          "[steps, batch, classes], [batch, length], [batch] and [batch]"));
  EXPECT_THAT(refusal([&] { ctcLoss(x, x, steps, lengths); }),
              HasSubstr("ctcLoss: targets or lengths are of dtype f64, which is no integer"));
  EXPECT_THAT(refusal([&] { ctcLoss(x, labels, steps, lengths, {.blank = 3}); }),
              HasSubstr("ctcLoss: of 3 classes none is the blank 3"));
}

TEST_P(LossesTest, NormalizationsAgreeWithLoops) {
  const Tensor x = doubles({2, 4, 3}), weight = doubles({4}, 1), bias = doubles({4}, 2);
  const std::vector<double> e = x.toVector<double>(), w = weight.toVector<double>(), b = bias.toVector<double>();
  // Of runs of `size` elements: all normalizations below but that of batches have such.
  const auto normalized = [&](size_t size, bool centred) {
    std::vector<double> result(e.size());
    for (size_t from = 0; from < e.size(); from += size) {
      double mean = 0, variance = 0;
      for (size_t i = from; centred && i < from + size; ++i)
        mean += e[i] / static_cast<double>(size);
      for (size_t i = from; i < from + size; ++i)
        variance += (e[i] - mean) * (e[i] - mean) / static_cast<double>(size);
      for (size_t i = from; i < from + size; ++i)
        result[i] = (e[i] - mean) / std::sqrt(variance + 1e-5);
    }
    return result;
  };
  const auto near = [](const std::vector<double> &values) { return Pointwise(DoubleNear(1e-12), values); };
  const auto perChannel = [&](std::vector<double> values) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = values[i] * w[i / 3 % 4] + b[i / 3 % 4];
    return values;
  };
  EXPECT_THAT(layerNorm(x, 1).toVector<double>(), near(normalized(3, true)));
  EXPECT_THAT(layerNorm(x, 2).toVector<double>(), near(normalized(12, true)));
  EXPECT_THAT(rmsNorm(x, 1).toVector<double>(), near(normalized(3, false)));
  EXPECT_THAT(groupNorm(x, 2).toVector<double>(), near(normalized(6, true)));
  EXPECT_THAT(groupNorm(x, 2, weight, bias).toVector<double>(), near(perChannel(normalized(6, true))));
  const Tensor row = doubles({3}, 4), both = layerNorm(x, 1, row, row);
  EXPECT_THAT(both.toVector<double>(), near((layerNorm(x, 1) * row + row).toVector<double>()));
  EXPECT_THAT(rmsNorm(x, 1, row).toVector<double>(), near((rmsNorm(x, 1) * row).toVector<double>()));
  std::vector<double> batch(e.size());
  for (size_t i = 0; i < e.size(); ++i)
    batch[i] = (e[i] - b[i / 3 % 4]) / std::sqrt(w[i / 3 % 4] * w[i / 3 % 4] + 1e-5);
  EXPECT_THAT(batchNorm(x, bias, weight * weight).toVector<double>(), near(batch));
  EXPECT_THAT(batchNorm(x, bias, weight * weight, weight, bias).toVector<double>(), near(perChannel(batch)));
  EXPECT_EQ(layerNorm(x.cast(DType::BF16), 1, row.cast(DType::F32)).dtype(), DType::BF16);
}

TEST_P(LossesTest, GradientsAgreeWithDifferences) {
  using Inputs = std::vector<Tensor>;
  const Tensor x = doubles({2, 4}), t = doubles({2, 4}, 1), row = doubles({4}, 2);
  expectGradients([](const Inputs &in) { return huberLoss(in[0], in[1], 0.3); }, {x, t});
  expectGradients([](const Inputs &in) { return bceWithLogits(in[0], in[1], Reduction::None); }, {x, t});
  expectGradients([](const Inputs &in) { return layerNorm(in[0], 1, in[1], in[1]); }, {x, row});
  const Tensor zero = Tensor::from({0.0, 0.5});
  EXPECT_THAT(gradient(klDivergence(zero, zero, Reduction::Sum), std::vector{zero})[0].toVector<double>(),
              ElementsAre(0, DoubleNear(std::log(0.5) + 1 - 0.5 - 0.5, 1e-12)));
}

TEST_P(LossesTest, Refusals) {
  const Tensor x = Tensor::ones({2, 3}), row = Tensor::ones({3});
  EXPECT_THAT(refusal([&] { mseLoss(x, row); }),
              HasSubstr("mseLoss: predictions of type f32[2, 3] and targets of type f32[3]"));
  EXPECT_THAT(refusal([&] { huberLoss(x, x, 0); }), HasSubstr("huberLoss: a threshold of 0.000000 is not positive"));
  EXPECT_THAT(
      refusal([&] { nllLoss(x, row); }),
      HasSubstr("nllLoss: logarithms of shape [2, 3] and targets of shape [3] are not [rows, classes] and [rows]"));
  EXPECT_THAT(refusal([&] { layerNorm(x, 3); }), HasSubstr("layerNorm: a tensor of rank 2 has no last 3 dimensions"));
  EXPECT_THAT(refusal([&] { layerNorm(x, 1, Tensor::ones({2})); }),
              HasSubstr("layerNorm: a weight of type f32[2], not floats of shape [3]"));
  EXPECT_THAT(refusal([&] { groupNorm(row, 1); }), HasSubstr("groupNorm: a tensor of rank 1 has no channels"));
  EXPECT_THAT(refusal([&] { groupNorm(x, 2); }), HasSubstr("groupNorm: 3 channels do not fall into 2 groups"));
  EXPECT_THAT(refusal([&] { batchNorm(x, row, {}); }),
              HasSubstr("batchNorm: a variance of type none, not floats of shape [3]"));
}

INSTANTIATE_TEST_SUITE_P(Devices, LossesTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
