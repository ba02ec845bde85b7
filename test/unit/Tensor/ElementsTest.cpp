//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Functions of each element and activations, beside the C library's.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <limits>

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

using ElementsTest = DeviceTest;
using Inputs = std::vector<Tensor>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Compares with a function of the C library, by the relative error.
void expectFunction(const Tensor &found, const Tensor &x, const std::function<double(double)> &expected,
                    double relative = 1e-14) {
  const std::vector<double> in = x.toVector<double>(), out = found.toVector<double>();
  for (size_t i = 0; i < in.size(); ++i) {
    const double e = expected(in[i]);
    if (std::isfinite(e))
      EXPECT_NEAR(out[i], e, relative * std::fabs(e)) << "at " << in[i];
    else
      EXPECT_TRUE(std::isnan(e) ? std::isnan(out[i]) : out[i] == e) << out[i] << " at " << in[i];
  }
}

/// From what is tiny to what overflows.
Tensor magnitudes() {
  return Tensor::from({0.,   1e-300, 1e-18, 3e-9, 1e-4,  0.03,     0.3,       0.99,
                       1.01, 2.5,    30.,   300., 709.9, 1e4,      -1e-18,    -1e-4,
                       -0.3, -0.99,  -1.01, -30., -300., infinity, -infinity, double(NAN)});
}

} // namespace

TEST_P(ElementsTest, PowersAndLogarithms) {
  const Tensor x = magnitudes(), positive = x.abs();
  expectFunction(log10(positive), positive, [](double v) { return std::log10(v); });
  expectFunction(log1p(positive), positive, [](double v) { return std::log1p(v); });
  const Tensor above = Tensor::from({-0.999, -0.5, -1e-3, -1e-12, -1., -2.});
  expectFunction(log1p(above), above, [](double v) { return std::log1p(v); });
  expectFunction(expm1(x), x, [](double v) { return std::expm1(v); });
  expectFunction(cbrt(x), x, [](double v) { return std::cbrt(v); });
  expectFunction(sinh(x), x, [](double v) { return std::sinh(v); }, 1e-13);
  expectFunction(cosh(x), x, [](double v) { return std::cosh(v); }, 1e-13);
  EXPECT_EQ(expm1(Tensor::from({1e-3f}).cast(DType::BF16)).dtype(), DType::BF16);
  EXPECT_THAT(floats(expm1(Tensor::from({1e-6f}))), ElementsAre(FloatEq(1.0000005e-6f)));
}

TEST_P(ElementsTest, TheInverseOfErf) {
  // erf of what is found is what was asked for, to the digits that it can have.
  const Tensor y = Tensor::from({-3.5, -2., -1e-3, -1e-12, 0., 1e-300, 0.1, 0.7, 1.5, 2.5, 3.9});
  expectFunction(erfinv(y.erf()), y, [](double v) { return v; }, 1e-9);
  const Tensor middle = Tensor::from({0.05, -0.5, 0.9});
  // Of Wolfram's and others' tables.
  EXPECT_THAT(erfinv(middle).toVector<double>(),
              ElementsAre(DoubleNear(0.04434038791000549, 1e-15), DoubleNear(-0.4769362762044699, 1e-15),
                          DoubleNear(1.1630871536766743, 1e-15)));
  EXPECT_THAT(floats(erfinv(Tensor::from({0.5f, -1.f, 1.f}))), ElementsAre(FloatEq(0.47693628f), -INFINITY, INFINITY));
  EXPECT_TRUE(std::isnan(erfinv(Tensor::from({1.5})).item<double>()));
  const Tensor x = doubles({5});
  expectGradients([](const Inputs &in) { return erfinv(in[0]); }, {x});
  expectGradients([](const Inputs &in) { return gradient(erfinv(in[0]).sum(), in)[0]; }, {x}, 1e-4);
  EXPECT_THAT(gradient(erfinv(Tensor::from({0.0, 1.0})).sum(), {Tensor::from({0.0})}, {.allowUnused = true}).size(),
              1u);
}

TEST_P(ElementsTest, Arithmetic) {
  EXPECT_THAT(floats(frac(Tensor::from({1.25f, -1.25f, 3.f}))), ElementsAre(.25, -.25, 0));
  EXPECT_THAT(ints(square(Tensor::from({3, -4}))), ElementsAre(9, 16));
  EXPECT_THAT(floats(deg2rad(Tensor::from({180.f}))), ElementsAre(FloatEq(3.14159265f)));
  EXPECT_THAT(floats(rad2deg(Tensor::from({3.14159265f}))), ElementsAre(FloatEq(180)));
  EXPECT_THAT(ints(~Tensor::from({0, -1, 5})), ElementsAre(-1, 0, -6));
  EXPECT_THAT(ints(~Tensor::from({uint8_t(1)})), ElementsAre(254));
  EXPECT_THAT(ints(~(Tensor::from({0, 5}) > 0)), ElementsAre(1, 0));
  EXPECT_THAT(refusal([] { ~Tensor::from({1.f}); }), HasSubstr("not needs bool or an integer, not f32[1]"));
  EXPECT_THAT(refusal([] { frac(Tensor::from({1})); }), HasSubstr("frac: needs a tensor of floats, not of i32"));
}

TEST_P(ElementsTest, Closeness) {
  const Tensor a = Tensor::from({1.f, 1.f, -1.f, INFINITY, INFINITY, NAN, 0.f});
  const Tensor b = Tensor::from({1.00001f, 1.001f, -1.00001f, INFINITY, -INFINITY, NAN, 1e-9f});
  // The sign of b counts for nothing.
  EXPECT_THAT(ints(isClose(a, b, {.relative = 2e-5})), ElementsAre(1, 0, 1, 1, 0, 0, 1));
  EXPECT_THAT(ints(isClose(a, b, {.relative = 2e-5, .equalNan = true})), ElementsAre(1, 0, 1, 1, 0, 1, 1));
  EXPECT_THAT(ints(isClose(1.f, Tensor::from({INFINITY, 1.f}))), ElementsAre(0, 1));
  EXPECT_TRUE(allClose(a, a, {.equalNan = true}));
  EXPECT_FALSE(allClose(a, a));
  EXPECT_FALSE(allClose(Tensor::ones({2}), Tensor::ones({1, 2})));
  EXPECT_TRUE(allClose(Tensor::ones({0}), Tensor::ones({0})));
  EXPECT_THAT(refusal([] { isClose(Tensor::from({1}), 1); }),
              HasSubstr("isClose: needs a tensor of floats, not of i32"));
  EXPECT_THAT(refusal([] { isClose(Tensor::ones({2}), Tensor::ones({3})); }),
              HasSubstr("isClose: shapes [2] and [3] do not broadcast"));
}

TEST_P(ElementsTest, CosineSimilarity) {
  const Tensor a = Tensor::from({3., 4., 0., 0., 1., 0.}).reshape({3, 2}),
               b = Tensor::from({4., 3., 1., 1., -2., 0.}).reshape({3, 2});
  EXPECT_THAT(cosineSimilarity(a, b).toVector<double>(), ElementsAre(DoubleNear(0.96, 1e-15), 0, -1));
  EXPECT_EQ(cosineSimilarity(a, b, 0).shape(), (Shape{2}));
  EXPECT_EQ(cosineSimilarity(a.unsqueeze(1), b, -1).shape(), (Shape{3, 3}));
  expectGradients([](const Inputs &in) { return cosineSimilarity(in[0], in[1]); },
                  {doubles({2, 3}), doubles({2, 3}, 1)});
  EXPECT_THAT(gradient(cosineSimilarity(a, b).sum(), Inputs{a})[0].toVector<double>(),
              testing::Not(testing::Contains(testing::IsNan())));
  EXPECT_THAT(refusal([&] { cosineSimilarity(a, Tensor::ones({3}, DType::F64)); }),
              HasSubstr("cosineSimilarity: shapes [3, 2] and [3] do not broadcast"));
}

TEST_P(ElementsTest, Bits) {
  const Tensor x = Tensor::from({1.f, -2.f});
  EXPECT_THAT(bitcast(x, DType::U32).toVector<uint32_t>(), ElementsAre(0x3f800000u, 0xc0000000u));
  EXPECT_THAT(bitcast(x, DType::U8).toVector<uint8_t>(), ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0));
  EXPECT_EQ(bitcast(x.reshape({2, 1}), DType::I16).shape(), (Shape{2, 2}));
  EXPECT_THAT(bitcast(x, DType::I16).toVector<int16_t>(), ElementsAre(0, 0x3f80, 0, int16_t(0xc000)));
  EXPECT_THAT(floats(bitcast(bitcast(x, DType::U8), DType::F32)), ElementsAre(1, -2));
  EXPECT_EQ(bitcast(x, DType::U64).item<uint64_t>(), 0xc00000003f800000u);
  EXPECT_EQ(bitcast(bitcast(x, DType::F16), DType::F64).shape(), (Shape{1}));
  EXPECT_THAT(floats(bitcast(bitcast(bitcast(x, DType::F64), DType::BF16), DType::F32)), ElementsAre(1, -2));
  EXPECT_EQ(bitcast(Tensor::ones({2, 0}), DType::U8).shape(), (Shape{2, 0}));
  EXPECT_THAT(refusal([&] { bitcast(Tensor::ones({3}, DType::U8), DType::U16); }),
              HasSubstr("bitcast: the last dimension of u8[3] is no whole number of u16"));
  EXPECT_THAT(refusal([&] { bitcast(Tensor::scalar(1.f), DType::U8); }),
              HasSubstr("bitcast: the last dimension of f32[] is no whole number of u8"));
  EXPECT_THAT(refusal([&] { bitcast(x > 0, DType::U8); }), HasSubstr("bools are no numbers of bits, cast them"));
}

TEST_P(ElementsTest, Activations) {
  const Tensor x = Tensor::from({-400., -3., -0.5, -1e-9, 0., 0.25, 2.9, 800., infinity, double(NAN)});
  const auto softplusOf = [](double v) { return std::fmax(v, 0) + std::log1p(std::exp(-std::fabs(v))); };
  const auto sigmoidOf = [](double v) { return 1 / (1 + std::exp(-v)); };
  expectFunction(leakyRelu(x, 0.1), x, [](double v) { return v > 0 ? v : 0.1 * v; });
  expectFunction(elu(x, 1.5), x, [](double v) { return v > 0 ? v : 1.5 * std::expm1(v); });
  expectFunction(celu(x, 2), x, [](double v) { return v > 0 ? v : 2 * std::expm1(v / 2); });
  expectFunction(selu(x), x,
                 [](double v) { return 1.0507009873554804934 * (v > 0 ? v : 1.6732632423543772848 * std::expm1(v)); });
  const Tensor finite = x.slice({{1, 8}});
  expectFunction(
      geluTanh(finite), finite,
      [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); }, 1e-12);
  expectFunction(quickGelu(finite), finite, [&](double v) { return v * sigmoidOf(1.702 * v); }, 1e-12);
  expectFunction(softplus(x.slice({{0, 9}})), x.slice({{0, 9}}), softplusOf);
  // Where it is linear, its slope is 1 for any beta.
  expectFunction(softplus(finite, 4), finite, [&](double v) { return softplusOf(4 * v) / 4; });
  EXPECT_THAT(floats(softplus(Tensor::from({100.f}), 2)), ElementsAre(100));
  expectFunction(mish(finite), finite, [&](double v) { return v * std::tanh(softplusOf(v)); }, 1e-13);
  expectFunction(hardSigmoid(x), x,
                 [](double v) { return std::isnan(v) ? v : std::fmin(std::fmax(v / 6 + 0.5, 0), 1); });
  EXPECT_EQ(mish(Tensor::ones({2}, DType::F16)).dtype(), DType::F16);
  EXPECT_THAT(refusal([&] { celu(x, 0); }), HasSubstr("celu: an alpha of 0 divides by it"));
  EXPECT_THAT(refusal([&] { softplus(x, -1); }), HasSubstr("softplus: a beta of -1.000000 is not positive"));
  EXPECT_THAT(refusal([] { elu(Tensor::from({1})); }), HasSubstr("elu: needs a tensor of floats, not of i32"));
}

TEST_P(ElementsTest, GradientsAgreeWithDifferences) {
  const Tensor x = doubles({7}) * 2;
  using Function = Tensor (*)(const Tensor &, Place);
  for (const Function function : {Function(&log10), Function(&log1p)})
    expectGradients([&](const Inputs &in) { return function(in[0] * in[0] + 0.1, Place::current()); }, {x});
  for (const Function function :
       {Function(&expm1), Function(&sinh), Function(&cosh), Function(&square), Function(&selu), Function(&geluTanh),
        Function(&quickGelu), Function(&mish), Function(&hardSigmoid)})
    expectGradients([&](const Inputs &in) { return function(in[0], Place::current()); }, {x});
  expectGradients(
      [](const Inputs &in) { return leakyRelu(in[0]) + elu(in[0], 2) + celu(in[0], 3) + softplus(in[0], 2); }, {x});
  // At 0 and where powers overflow.
  const Tensor corners = Tensor::from({0., 750., -750.}).detach();
  const auto slopes = [&](const Tensor &y) { return gradient(y.sum(), Inputs{corners})[0].toVector<double>(); };
  EXPECT_THAT(slopes(softplus(corners)), ElementsAre(0.5, 1, 0));
  EXPECT_THAT(slopes(mish(corners)), ElementsAre(DoubleNear(0.6, 1e-15), 1, 0));
  EXPECT_THAT(slopes(elu(corners, 2)), ElementsAre(2, 1, 0));
  EXPECT_THAT(slopes(bceWithLogits(corners, Tensor::from({1., 0., 0.}), Reduction::Sum)), ElementsAre(-0.5, 1, 0));
}

INSTANTIATE_TEST_SUITE_P(Devices, ElementsTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
