//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Inverse trigonometric and hyperbolic functions and functions of bits, beside the C library's; sources of gradients;
// and memory that others see.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

using InversesTest = DeviceTest;
using Inputs = std::vector<Tensor>;

namespace {

using Unary = Tensor (*)(const Tensor &, Place);
using Binary = Tensor (*)(Operand, Operand);

void expectClose(double found, double expected, double relative, const std::string &at) {
  if (std::isfinite(expected))
    EXPECT_NEAR(found, expected, relative * std::fabs(expected)) << at;
  else
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : found == expected) << found << " at " << at;
}

const std::vector<double> corners = {
    0.,   -0.,  1e-300, 1e-18, 3e-9, 0.03,  0.3,  0.49, 0.5,   0.51, 0.66, 0.67,      1.,          1.01,     2.,
    2.41, 2.42, 30.,    1e4,   1e9,  1e200, -0.3, -1.,  -1e-9, -0.6, -1e9, -0.999999, double(NAN), INFINITY, -INFINITY};

void expectUnary(const char *name, Unary function, double (*expected)(double)) {
  const Tensor x = Tensor::from(corners, {static_cast<int64_t>(corners.size())});
  const std::vector<double> found = function(x, Place::current()).toVector<double>();
  const std::vector<float> narrow = floats(function(x.cast(DType::F32), Place::current()));
  for (size_t i = 0; i < corners.size(); ++i) {
    const std::string at = name + (" at " + std::to_string(corners[i]));
    expectClose(found[i], expected(corners[i]), 4e-16 * 4, at);
    // What f32 has of the argument.
    expectClose(narrow[i], static_cast<float>(expected(static_cast<float>(corners[i]))), 1e-6, at + " in f32");
  }
}

void expectBinary(const char *name, Binary function, double (*expected)(double, double), double relative = 1e-15) {
  std::vector<double> left, right;
  for (const double a : corners)
    for (const double b : corners) {
      left.push_back(a);
      right.push_back(b);
    }
  const auto count = static_cast<int64_t>(left.size());
  const std::vector<double> found =
      function(Tensor::from(left, {count}), Tensor::from(right, {count})).toVector<double>();
  for (size_t i = 0; i < left.size(); ++i)
    expectClose(found[i], expected(left[i], right[i]), relative,
                name + (" at " + std::to_string(left[i]) + ", " + std::to_string(right[i])));
}

} // namespace

TEST_P(InversesTest, AgreeWithTheCLibrary) {
  expectUnary("asin", &asin, [](double x) { return std::asin(x); });
  expectUnary("acos", &acos, [](double x) { return std::acos(x); });
  expectUnary("atan", &atan, [](double x) { return std::atan(x); });
  expectUnary("asinh", &asinh, [](double x) { return std::asinh(x); });
  expectUnary("acosh", &acosh, [](double x) { return std::acosh(x); });
  expectUnary("atanh", &atanh, [](double x) { return std::atanh(x); });
  expectBinary("atan2", &atan2, [](double y, double x) { return std::atan2(y, x); });
  expectBinary("hypot", &hypot, [](double a, double b) { return std::hypot(a, b); });
  expectBinary("copySign", &copySign, [](double a, double b) { return std::copysign(a, b); }, 0);
  expectBinary("nextAfter", &nextAfter, [](double a, double b) { return std::nextafter(a, b); }, 0);
  expectBinary("logAddExp", &logAddExp, [](double a, double b) {
    const double most = std::max(a, b), least = std::min(a, b);
    return std::isnan(a) || std::isnan(b) ? double(NAN)
           : std::isinf(most)             ? most
                                          : most + std::log1p(std::exp(least - most));
  });
  EXPECT_EQ(atan(Tensor::from({1.f}).cast(DType::BF16)).dtype(), DType::BF16);
  EXPECT_EQ(atan2(Tensor::from({1.f}).cast(DType::F16), 2).dtype(), DType::F16);
  EXPECT_THAT(refusal([] { asin(Tensor::from({1})); }), HasSubstr("asin: needs a tensor of floats, not of i32"));
  EXPECT_THAT(refusal([] { hypot(Tensor::from({1}), 2); }), HasSubstr("hypot: needs a tensor of floats, not of i32"));
}

TEST_P(InversesTest, HaveGradients) {
  const Tensor x = doubles({7});
  for (const Unary function : {Unary(&asin), Unary(&acos), Unary(&atan), Unary(&asinh), Unary(&atanh)})
    expectGradients([&](const Inputs &in) { return function(in[0], Place::current()); }, {x}, 1e-5);
  expectGradients([&](const Inputs &in) { return acosh(in[0] + 2.5); }, {x});
  expectGradients([&](const Inputs &in) { return atan(in[0] * 7); }, {x}, 1e-5);
  for (const Binary function : {Binary(&atan2), Binary(&hypot), Binary(&logAddExp)})
    expectGradients([&](const Inputs &in) { return function(in[0], in[1]); }, {x, doubles({7}, 2)}, 1e-5);
  expectGradients([](const Inputs &in) { return copySign(in[0], doubles({7}, 2)); }, {x});
  // Where both are equal, and at 0.
  const Tensor one = Tensor::from({1.}).detach(), other = Tensor::from({1.}).detach();
  EXPECT_THAT(gradient(atan2(one, other).sum(), Inputs{one})[0].toVector<double>(),
              ElementsAre(DoubleNear(0.5, 1e-15)));
  EXPECT_THAT(gradient(hypot(one, other).sum(), Inputs{one})[0].toVector<double>(),
              ElementsAre(DoubleNear(std::sqrt(0.5), 1e-15)));
  const Tensor zero = Tensor::from({0.}).detach();
  for (const Unary function : {Unary(&asin), Unary(&atan), Unary(&asinh), Unary(&atanh)})
    EXPECT_THAT(gradient(function(zero, Place::current()).sum(), Inputs{zero})[0].toVector<double>(), ElementsAre(1));
}

TEST_P(InversesTest, FloorsOfQuotients) {
  const Tensor a = Tensor::from({7, -7, 7, -7, 6, -6}), b = Tensor::from({2, 2, -2, -2, 3, -3});
  EXPECT_THAT(ints(floorDivide(a, b)), ElementsAre(3, -4, -4, 3, 2, 2));
  EXPECT_THAT(ints(floorRemainder(a, b)), ElementsAre(1, 1, -1, -1, 0, 0));
  EXPECT_THAT(floats(floorDivide(Tensor::from({7.5f, -7.5f, 1.f}), 2)), ElementsAre(3, -4, 0));
  EXPECT_THAT(floats(floorRemainder(Tensor::from({7.5f, -7.5f, -1.f}), 2)), ElementsAre(1.5, 0.5, 1));
  EXPECT_THAT(ints(floorDivide(Tensor::from({uint8_t(200)}), 7)), ElementsAre(28));
  EXPECT_THAT(floats(floorRemainder(Tensor::from({-5.f, 5.f}), INFINITY)), ElementsAre(INFINITY, 5));
  EXPECT_THAT(ints(signBit(Tensor::from({-0.f, 0.f, -2.f, 3.f}))), ElementsAre(1, 0, 1, 0));
}

TEST_P(InversesTest, ASourceIsANodeOfItsOwn) {
  const Tensor x = Tensor::from({2.}).detach(), source = asSource(x);
  EXPECT_NE(source.id(), x.id());
  // Of x as it stands elsewhere it knows nothing, and x knows of it.
  const Tensor y = (source * source * x).sum();
  EXPECT_EQ(gradient(y, {source})[0].item<double>(), 8);
  EXPECT_EQ(gradient(y, {x})[0].item<double>(), 12);
  EXPECT_EQ(gradient(gradient(y, {source})[0].sum(), {source})[0].item<double>(), 4);
  const Tensor constant = asSource(Tensor::ones({1}, DType::F64));
  EXPECT_EQ(gradient((constant * 3).sum(), {constant})[0].item<double>(), 3);
  EXPECT_THAT(refusal([] { asSource(Tensor::from({1})); }), HasSubstr("asSource: needs a tensor of floats"));
}

TEST_P(InversesTest, OthersSeeMemory) {
  Tensor x = Tensor::from({1.f, 2.f, 3.f}) + 1;
  HostView view = hostView(x);
  const auto first = [&] {
    float element;
    std::memcpy(&element, view.bytes.data(), sizeof(element));
    return element;
  };
  EXPECT_TRUE(view.isShared);
  EXPECT_EQ(view.bytes.size(), 12u);
  EXPECT_EQ(hostView(x).bytes.data(), view.bytes.data());
  // While it is seen, no result takes it.
  const Jit step([](std::span<const Tensor> in) { return std::vector{in[0] * 2}; }, {.donated = {0}});
  x = x.detach();
  view = hostView(x);
  EXPECT_THAT(floats(step({x})[0]), ElementsAre(4, 6, 8));
  EXPECT_EQ(first(), 2);
  EXPECT_THAT(floats(x), ElementsAre(2, 3, 4));
  // It outlives the tensor.
  x = Tensor();
  EXPECT_EQ(first(), 2);
  EXPECT_EQ(hostView(Tensor::ones({2, 0})).bytes.size(), 0u);
  EXPECT_THAT(refusal([] { hostView(Tensor()); }), HasSubstr("there is no tensor to read"));
}

INSTANTIATE_TEST_SUITE_P(Devices, InversesTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
