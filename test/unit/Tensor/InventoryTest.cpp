//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Functions that docs/inventory.md names and no other test calls, and what the Rust zyx has wrong.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <sstream>

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

using InventoryTest = DeviceTest;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A function of doubles, element by element.
static std::vector<double> each(const Tensor &x, const std::function<double(double)> &function) {
  std::vector<double> elements = x.toVector<double>();
  for (double &element : elements)
    element = function(element);
  return elements;
}

TEST_P(InventoryTest, Unary) {
  const Tensor x = doubles({3, 7}) * 3, positive = x * x + 0.25;
  const auto near = [](const Tensor &of, double (*function)(double)) {
    return Pointwise(DoubleNear(1e-12), each(of, function));
  };
  EXPECT_THAT(x.exp().toVector<double>(), near(x, std::exp));
  EXPECT_THAT(x.exp2().toVector<double>(), near(x, std::exp2));
  EXPECT_THAT(x.expm1().toVector<double>(), near(x, std::expm1));
  EXPECT_THAT(positive.log().toVector<double>(), near(positive, std::log));
  EXPECT_THAT(positive.log2().toVector<double>(), near(positive, std::log2));
  EXPECT_THAT(positive.sqrt().toVector<double>(), near(positive, std::sqrt));
  EXPECT_THAT(positive.rsqrt().toVector<double>(), near(positive, [](double v) { return 1 / std::sqrt(v); }));
  EXPECT_THAT(positive.reciprocal().toVector<double>(), near(positive, [](double v) { return 1 / v; }));
  EXPECT_THAT(x.sin().toVector<double>(), near(x, std::sin));
  EXPECT_THAT(x.cos().toVector<double>(), near(x, std::cos));
  EXPECT_THAT((x / 3).tan().toVector<double>(), near(x / 3, std::tan));
  EXPECT_THAT(x.tanh().toVector<double>(), near(x, std::tanh));
  EXPECT_THAT(x.erf().toVector<double>(), near(x, std::erf));
  EXPECT_THAT(x.floor().toVector<double>(), near(x, std::floor));
  EXPECT_THAT(x.ceil().toVector<double>(), near(x, std::ceil));
  EXPECT_THAT(x.round().toVector<double>(), near(x, std::nearbyint));
  EXPECT_THAT(x.trunc().toVector<double>(), near(x, std::trunc));
  EXPECT_THAT(x.abs().toVector<double>(), near(x, std::fabs));
  EXPECT_THAT(x.neg().toVector<double>(), near(x, [](double v) { return -v; }));
  EXPECT_THAT(floats(Tensor::from({0.5f, 1.5f, 2.5f, -0.5f}).round()), ElementsAre(0, 2, 2, 0));
  EXPECT_THAT(ints(Tensor::from({0.f, 0.5f, NAN}).logicalNot()), ElementsAre(1, 0, 0));
}

TEST_P(InventoryTest, Binary) {
  const Tensor a = Tensor::from({7, -7, 12, 0}), b = Tensor::from({2, 2, 10, 3});
  EXPECT_THAT(ints(a + b), ElementsAre(9, -5, 22, 3));
  EXPECT_THAT(ints(a - b), ElementsAre(5, -9, 2, -3));
  EXPECT_THAT(ints(a * b), ElementsAre(14, -14, 120, 0));
  EXPECT_THAT(ints(a / b), ElementsAre(3, -3, 1, 0));
  EXPECT_THAT(ints(a % b), ElementsAre(1, -1, 2, 0));
  EXPECT_THAT(ints(a & b), ElementsAre(2, 0, 8, 0));
  EXPECT_THAT(ints(a | b), ElementsAre(7, -5, 14, 3));
  EXPECT_THAT(ints(a ^ b), ElementsAre(5, -5, 6, 3));
  EXPECT_THAT(ints(a << b), ElementsAre(28, -28, 12288, 0));
  EXPECT_THAT(ints(a >> b), ElementsAre(1, -2, 0, 0));
  EXPECT_THAT(ints(a < b), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(ints(a > b), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(ints(a <= 0), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(ints(a >= 0), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(ints(a == 12), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(ints(a != 12), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(ints((a > 0) & (b > 2)), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(ints((a > 0) | (b > 2)), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(ints(maximum(a, b)), ElementsAre(7, 2, 12, 3));
  EXPECT_THAT(ints(minimum(a, b)), ElementsAre(2, -7, 10, 0));
  EXPECT_THAT(ints(pow(a, 2)), ElementsAre(49, 49, 144, 0));
  EXPECT_THAT(floats(pow(Tensor::from({4.f, 9.f}), 0.5)), ElementsAre(FloatEq(2), FloatEq(3)));
  // A number may stand on the left, and integers on both sides of 10 - x.
  EXPECT_THAT(ints(10 - b), ElementsAre(8, 8, 0, 7));
}

TEST_P(InventoryTest, Facts) {
  const Tensor x = Tensor::from(std::vector<int16_t>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x.dtype(), DType::I16);
  EXPECT_EQ(x.bytes().size(), 12u);
  EXPECT_EQ(x.bytes()[2], std::byte(2));
  const Tensor y = x + 1;
  EXPECT_FALSE(y.isRealized());
  EXPECT_TRUE(y.realize().isRealized());
  EXPECT_EQ(y.select(0, 1).select(0, 2).item<int16_t>(), 7);
  EXPECT_EQ(Tensor::zeros({2}).dtype(), DType::F32);
  EXPECT_THAT(floats(Tensor::full({2}, 2.5)), Each(2.5));
  EXPECT_EQ(Tensor::scalar(3.0).item<double>(), 3);
  EXPECT_EQ(DTypeOf<uint16_t>::value, DType::U16);
}

TEST_P(InventoryTest, Failures) {
  try {
    Tensor::ones({2}) + Tensor::ones({3});
    FAIL() << "shapes that do not broadcast";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_EQ(error.status().message(), "add: shapes [2] and [3] do not broadcast");
    EXPECT_THAT(error.where().file_name(), testing::EndsWith("InventoryTest.cpp"));
    EXPECT_THAT(error.what(),
                HasSubstr("InventoryTest.cpp:" + std::to_string(error.where().line()) + ": invalid argument: "));
  }
}

TEST_P(InventoryTest, ValuesGoFromOneContextToAnother) {
  const Tensor x = Tensor::from({1.f, 2.f}) * 2;
  const Context other({.device = "reference"});
  const Tensor there = copyTo(other, x);
  EXPECT_THAT(floats(there + there), ElementsAre(4, 8));
  EXPECT_THAT(floats(x + 1), ElementsAre(3, 5));
}

TEST_P(InventoryTest, Printing) {
  const Tensor x = Tensor::from({1.f, 2.5f, -3.f, 4.f}).reshape({2, 2});
  const std::string text = "f32[2, 2]\n[[ 1.   2.5]\n [-3.   4. ]]";
  EXPECT_EQ(toString(x), text);
  x.realize();
  std::ostringstream stream;
  stream << x << x << Tensor();
  EXPECT_EQ(stream.str(), text + text + "none");
  EXPECT_EQ(toString(Tensor::from({1.23456f}), {.precision = 2}), "f32[1]\n[1.23]");
}

//===----------------------------------------------------------------------===//
// What the Rust zyx has wrong
//===----------------------------------------------------------------------===//

TEST_P(InventoryTest, FunctionsDoNotOverflow) {
  const Tensor x = Tensor::from({-2000.f, -100.f, 100.f, 2000.f});
  EXPECT_THAT(floats(x.tanh()), ElementsAre(-1, -1, 1, 1));
  EXPECT_THAT(floats(x.sigmoid()), ElementsAre(0, FloatNear(0, 1e-7), 1, 1));
}

TEST_P(InventoryTest, WhatIsNotSelectedLeaksNothing) {
  const Tensor bad = Tensor::from({NAN, INFINITY, -INFINITY}), isFirst = Tensor::arange(0, 3) == 0;
  EXPECT_THAT(floats(where(isFirst.logicalNot() & isFirst, bad, 1)), Each(1));
  EXPECT_THAT(floats(maskedFill(bad, isFirst | isFirst.logicalNot(), 2)), Each(2));
  EXPECT_THAT(floats(bad.pad({1}, {1}, 3).flip({0}).slice({{0, 1}})), Each(3));
  EXPECT_THAT(floats(bad.pad({2}, {0}, 3).slice({{0, 2}})), Each(3));
  // Nor does a gradient that is infinite beside.
  const Tensor y = Tensor::from({0.f, 4.f});
  EXPECT_THAT(floats(gradient(where(y > 0, where(y > 0, y, 1).log(), 0).sum(), std::vector{y})[0]),
              ElementsAre(0, .25));
}

TEST_P(InventoryTest, ScansBeginWithTheirFirstElement) {
  EXPECT_THAT(floats(cumprod(Tensor::from({2.f, 3.f, 4.f}), 0)), ElementsAre(2, 6, 24));
  EXPECT_THAT(floats(cummax(Tensor::from({-3.f, -5.f, -2.f}), 0)), ElementsAre(-3, -3, -2));
}

TEST_P(InventoryTest, MeansHaveRoom) {
  EXPECT_EQ(Tensor::full({300}, 1000, DType::F16).mean().cast(DType::F32).item<float>(), 1000);
  EXPECT_EQ(Tensor::full({300}, 300, DType::F16).var().cast(DType::F32).item<float>(), 0);
}

TEST_P(InventoryTest, MinimaAreThoseOfTheDtype) {
  EXPECT_EQ(Tensor::from({int8_t(-128), int8_t(5)}).min().item<int8_t>(), -128);
  EXPECT_EQ(Tensor::from({uint8_t(255), uint8_t(3)}).min().item<uint8_t>(), 3);
  EXPECT_EQ(minimum(Tensor::from({INT64_MIN}), 0).item<int64_t>(), INT64_MIN);
  EXPECT_EQ((Tensor::from({1, 1}) > 0).min().cast(DType::I32).item<int32_t>(), 1);
}

TEST_P(InventoryTest, MaximaKeepNaN) {
  const Tensor x = Tensor::from({1.f, NAN, 3.f});
  EXPECT_TRUE(std::isnan(x.max().item<float>()));
  EXPECT_TRUE(std::isnan(x.min().item<float>()));
  EXPECT_TRUE(std::isnan(floats(maximum(x, 0))[1]));
  EXPECT_TRUE(std::isnan(floats(minimum(0, x))[1]));
}

TEST_P(InventoryTest, CastsBetweenAreNotLost) {
  EXPECT_THAT(ints(Tensor::from({300, -1}).cast(DType::U8).cast(DType::I32)), ElementsAre(44, 255));
  EXPECT_THAT(floats(Tensor::from({1.75f, -1.75f}).cast(DType::I8).cast(DType::F32)), ElementsAre(1, -1));
  EXPECT_EQ(Tensor::from({1.001}).cast(DType::F16).cast(DType::F64).item<double>(), 1.0009765625);
  EXPECT_THAT(ints(Tensor::from({0.5f, 256.f, 0.f, NAN}).cast(DType::Bool)), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(ints(Tensor::from({256, 0}).cast(DType::Bool)), ElementsAre(1, 0));
}

TEST_P(InventoryTest, ConstantsOfIntegersFold) {
  EXPECT_THAT(refusal([] { Tensor::full({2}, 3, DType::I32).floor(); }), HasSubstr("floor"));
  EXPECT_THAT(refusal([] { Tensor::full({2}, 3, DType::I32).reciprocal(); }), HasSubstr("recip"));
  EXPECT_THAT(ints(Tensor::full({2}, 3, DType::I32) / 0), Each(-1));
  EXPECT_THAT(ints(Tensor::full({2}, 3, DType::U8) % 0), Each(3));
  EXPECT_THAT(floats(Tensor::full({2}, 3) / 0), Each(INFINITY));
}

TEST_P(InventoryTest, ManyConstants) {
  Tensor sum = Tensor::zeros({2}, DType::I32).detach();
  for (int i = 1; i <= 200; ++i)
    sum = sum + i;
  EXPECT_THAT(ints(sum), Each(200 * 201 / 2));
}

TEST_P(InventoryTest, GradientsOfTheRulesThatAreWrongThere) {
  using Inputs = std::vector<Tensor>;
  const Tensor x = doubles({2, 4}), y = doubles({2, 4}, 1);
  const auto of = [&](const std::function<Tensor(const Tensor &)> &function) {
    expectGradients([&](const Inputs &in) { return function(in[0]); }, {x});
  };
  of([](const Tensor &t) { return (t * t + 1).reciprocal(); });
  of([](const Tensor &t) { return t.pad({1, 0}, {0, 2}, 3); });
  of([](const Tensor &t) { return t.slice({{}, {1, 3}}); });
  of([](const Tensor &t) { return concat(std::vector{t, t * 2}, 1); });
  of([](const Tensor &t) { return maxPool(t, {2}); });
  of([](const Tensor &t) { return cumsum(t, 1); });
  of([](const Tensor &t) { return (t * t + 1).sqrt(); });
  of([](const Tensor &t) { return t.abs(); });
  of([](const Tensor &t) { return t.prod({1}); });
  expectGradients([](const Inputs &in) { return convolution(in[0].unsqueeze(0), in[1].reshape({2, 2, 2})); }, {x, y});
  expectGradients([](const Inputs &in) { return maximum(in[0], in[1]); }, {x, y});
  const Tensor equal = Tensor::from({1.f, 1.f, 0.f}).detach();
  EXPECT_THAT(floats(gradient(equal.max(), std::vector{equal})[0]), ElementsAre(.5, .5, 0));
  // Of the gradient, and of that one.
  const Tensor t = Tensor::from({0.5, 2.0}).detach();
  const Tensor first = gradient((t * t * t * t).sum(), std::vector{t})[0];
  const Tensor second = gradient(first.sum(), std::vector{t})[0], third = gradient(second.sum(), std::vector{t})[0];
  EXPECT_THAT(third.toVector<double>(), ElementsAre(12, 48));
}

INSTANTIATE_TEST_SUITE_P(Devices, InventoryTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
