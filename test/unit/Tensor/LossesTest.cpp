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
  EXPECT_THAT(floats(nllLoss(logits, Tensor::from({1, -1}), Reduction::None)), ElementsAre(-2, 0));
}

TEST_P(LossesTest, NormalizationsAgreeWithLoops) {
  const Tensor x = doubles({2, 4, 3}), weight = doubles({4}, 1), bias = doubles({4}, 2);
  const std::vector<double> e = x.to<double>(), w = weight.to<double>(), b = bias.to<double>();
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
  EXPECT_THAT(layerNorm(x, 1).to<double>(), near(normalized(3, true)));
  EXPECT_THAT(layerNorm(x, 2).to<double>(), near(normalized(12, true)));
  EXPECT_THAT(rmsNorm(x, 1).to<double>(), near(normalized(3, false)));
  EXPECT_THAT(groupNorm(x, 2).to<double>(), near(normalized(6, true)));
  EXPECT_THAT(groupNorm(x, 2, weight, bias).to<double>(), near(perChannel(normalized(6, true))));
  const Tensor row = doubles({3}, 4), both = layerNorm(x, 1, row, row);
  EXPECT_THAT(both.to<double>(), near((layerNorm(x, 1) * row + row).to<double>()));
  EXPECT_THAT(rmsNorm(x, 1, row).to<double>(), near((rmsNorm(x, 1) * row).to<double>()));
  std::vector<double> batch(e.size());
  for (size_t i = 0; i < e.size(); ++i)
    batch[i] = (e[i] - b[i / 3 % 4]) / std::sqrt(w[i / 3 % 4] * w[i / 3 % 4] + 1e-5);
  EXPECT_THAT(batchNorm(x, bias, weight * weight).to<double>(), near(batch));
  EXPECT_THAT(batchNorm(x, bias, weight * weight, weight, bias).to<double>(), near(perChannel(batch)));
  EXPECT_EQ(layerNorm(x.cast(DType::BF16), 1, row.cast(DType::F32)).dtype(), DType::BF16);
}

TEST_P(LossesTest, GradientsAgreeWithDifferences) {
  using Inputs = std::vector<Tensor>;
  const Tensor x = doubles({2, 4}), t = doubles({2, 4}, 1), row = doubles({4}, 2);
  expectGradients([](const Inputs &in) { return huberLoss(in[0], in[1], 0.3); }, {x, t});
  expectGradients([](const Inputs &in) { return bceWithLogits(in[0], in[1], Reduction::None); }, {x, t});
  expectGradients([](const Inputs &in) { return layerNorm(in[0], 1, in[1], in[1]); }, {x, row});
  const Tensor zero = Tensor::from({0.0, 0.5});
  EXPECT_THAT(gradient(klDivergence(zero, zero, Reduction::Sum), std::vector{zero})[0].to<double>(),
              ElementsAre(0, DoubleNear(std::log(0.5) + 1 - 0.5 - 0.5, 1e-12)));
}

TEST_P(LossesTest, Refusals) {
  const Tensor x = Tensor::ones({2, 3}), row = Tensor::ones({3});
  EXPECT_THAT(refusal([&] { mseLoss(x, row); }),
              HasSubstr("mseLoss: predictions of type f32[2, 3] and targets of type f32[3]"));
  EXPECT_THAT(refusal([&] { huberLoss(x, x, 0); }), HasSubstr("huberLoss: a threshold of 0.000000 is not positive"));
  EXPECT_THAT(refusal([&] { nllLoss(x, row); }),
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
