//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Corners: what is made twice, what was realized, numbers at the ends of their ranges, nothing at all.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <filesystem>
#include <thread>

using namespace zyx;
using namespace zyx::test;
using testing::ElementsAre;
using testing::HasSubstr;

using CornersTest = DeviceTest;

//===----------------------------------------------------------------------===//
// Histories
//===----------------------------------------------------------------------===//

TEST_P(CornersTest, WhatIsMadeAgainHasItsHistory) {
  const Tensor x = Tensor::from({2.f}), a = x * x;
  a.realize();
  // The same node as `a`, which has forgotten x.
  const Tensor b = x * x;
  EXPECT_THAT(floats(gradient(b.sum(), std::vector{x})[0]), ElementsAre(4));
  EXPECT_THAT(floats(gradient(b * 3, std::vector{x})[0]), ElementsAre(12));
  (x * 4).realize();
  EXPECT_THAT(floats(gradient(x * 4, std::vector{x})[0]), ElementsAre(4));
  const Tensor logits = x * 5;
  logits.realize();
  EXPECT_THAT(floats(gradient(pow(x * 5, 2).sum(), std::vector{x})[0]), ElementsAre(100));
  // What the loss is made of alone is as it was asked for: a leaf.
  const Tensor leaf = x * 7;
  leaf.realize();
  EXPECT_THAT(floats(gradient((leaf * x).sum(), std::vector{x})[0]), ElementsAre(14));
  // A constant had nothing to forget.
  const Tensor one = Tensor::ones({1});
  one.realize();
  EXPECT_THAT(floats(gradient(one, {x}, {.allowUnused = true})[0]), ElementsAre(0));
}

TEST_P(CornersTest, TapesKeepWhatIsMadeAgain) {
  const Tensor x = Tensor::from({3.f}), a = x * x;
  a.realize();
  Tensor b;
  {
    const Tape tape(context);
    b = x * x;
    b.realize();
    EXPECT_THAT(floats(gradient(b, std::vector{x})[0]), ElementsAre(6));
  }
  EXPECT_THAT(refusal([&] { gradient(b, std::vector{x}); }), HasSubstr("has forgotten"));
}

TEST_P(CornersTest, GradientsThatWereThereHaveTheirHistory) {
  const Tensor x = Tensor::from({3.f}), first = gradient(x * x, std::vector{x})[0];
  first.realize();
  // The same node, whose own gradient does not end at the value that was read.
  const Tensor second = gradient(x * x, std::vector{x})[0];
  EXPECT_THAT(floats(gradient(second, std::vector{x})[0]), ElementsAre(2));
}

TEST_P(CornersTest, RefusedGradientsLeaveTheGraphWhole) {
  std::vector<Tensor> kept;
  const Tensor x = Tensor::from({1.f, 2.f});
  for (int i = 0; i < 600; ++i) {
    const Tensor y = (x + i) * 2;
    if (i % 4 == 0)
      kept.push_back(y);
  }
  const Tensor updates = Tensor::from({3.f});
  const Tensor product = scatter(x, Tensor::from({1}), updates, 0, ScatterMode::Mul);
  EXPECT_THAT(refusal([&] { gradient(pow(product, 2).exp().sum(), std::vector{updates}); }),
              HasSubstr("no rule for its updates"));
  kept[1].realize();
  EXPECT_THAT(floats(kept[1]), ElementsAre(10, 12));
  EXPECT_THAT(floats(product), ElementsAre(1, 6));
}

TEST_P(CornersTest, RealizedViewsAreLeaves) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).reshape({2, 3});
  x.realize();
  EXPECT_THAT(floats(gradient(x.prod(), std::vector{x})[0]), ElementsAre(720, 360, 240, 180, 144, 120));
  const Tensor seed = Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).reshape({3, 2});
  seed.realize();
  EXPECT_THAT(floats(gradient(x.reshape({3, 2}), std::vector{x}, seed)[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  const Tensor positions = Tensor::from({1, 0, 1, 1}).reshape({2, 2}), updates = Tensor::ones({2, 2}).detach();
  positions.realize();
  const Tensor target = Tensor::zeros({2}).detach();
  EXPECT_THAT(floats(gradient(scatter(target, positions, updates), std::vector{updates})[0]), ElementsAre(0, 1, 0, 1));
}

//===----------------------------------------------------------------------===//
// Contexts and data
//===----------------------------------------------------------------------===//

TEST_P(CornersTest, BoolsAreZeroOrOne) {
  const std::byte bytes[] = {std::byte{0}, std::byte{1}, std::byte{255}};
  EXPECT_THAT(ints(Tensor::fromBytes({DType::Bool, {2}}, std::span(bytes).first(2))), ElementsAre(0, 1));
  EXPECT_THAT(refusal([&] { Tensor::fromBytes({DType::Bool, {3}}, bytes); }),
              HasSubstr("element 2 of bools is the byte 255, not 0 or 1"));
}

static size_t numThreads() {
  size_t count = 0;
  for ([[maybe_unused]] const auto &task : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

/// Alone in its process: nothing has asked for the default context before.
TEST(ContextScopes, OpenNoOtherDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const size_t before = numThreads();
        const ContextScope scope(Context({.device = "reference"}));
        const float sum = (Tensor::ones({4}) + 1).sum().item<float>();
        std::exit(sum == 8 && numThreads() == before ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

//===----------------------------------------------------------------------===//
// Numbers and nothing
//===----------------------------------------------------------------------===//

TEST_P(CornersTest, NumbersOfCppKeepTheirSign) {
  const uint64_t large = uint64_t(1) << 63;
  EXPECT_EQ((Tensor::scalar(1.f) * large).item<float>(), 0x1p63f);
  EXPECT_EQ((Tensor::scalar(uint64_t(0)) ^ 0x9e3779b97f4a7c15u).item<uint64_t>(), 0x9e3779b97f4a7c15u);
  EXPECT_EQ((Tensor::scalar(int64_t(0)) + INT64_MIN).item<int64_t>(), INT64_MIN);
  EXPECT_EQ((Tensor::scalar(int8_t(0)) + -128).item<int8_t>(), -128);
  EXPECT_THAT(refusal([] { Tensor::scalar(int64_t(0)) + UINT64_MAX; }),
              HasSubstr("add: no i64 is 18446744073709551615"));
  EXPECT_THAT(refusal([] { Tensor::scalar(int8_t(0)) + 128; }), HasSubstr("add: no i8 is 128"));
  EXPECT_THAT(refusal([] { Tensor::scalar(int8_t(0)) + -129; }), HasSubstr("add: no i8 is -129"));
  EXPECT_THAT(refusal([] { Tensor::scalar(uint64_t(0)) + -1; }), HasSubstr("add: no u64 is -1"));
  EXPECT_THAT(refusal([] { Tensor::scalar(true) & 2; }), HasSubstr("and: no bool is 2"));
}

TEST_P(CornersTest, FiniteNumbersStayFinite) {
  const Tensor half = Tensor::ones({1}, DType::F16);
  EXPECT_EQ((half * 65519).cast(DType::F32).item<float>(), 65504);
  EXPECT_THAT(refusal([&] { half + 70000; }), HasSubstr("add: no f16 is 70000"));
  EXPECT_THAT(refusal([&] { Tensor::ones({1}) * 1e39; }), HasSubstr("multiply: no f32 is 99999999"));
  EXPECT_THAT(refusal([] { Tensor::full({1}, 1e300); }), HasSubstr("full: no f32 is 1"));
  EXPECT_THAT(refusal([] { Tensor::full({1}, 3.4e38, DType::BF16); }), HasSubstr("full: no bf16 is 3"));
  EXPECT_EQ(Tensor::full({1}, 449, DType::F8E4M3FN).cast(DType::F32).item<float>(), 448);
  EXPECT_THAT(refusal([] { Tensor::full({1}, 500, DType::F8E4M3FN); }), HasSubstr("full: no f8e4m3fn is 500"));
  EXPECT_THAT(refusal([] { Tensor::full({1}, 70000, DType::F8E5M2); }), HasSubstr("full: no f8e5m2 is 70000"));
  EXPECT_EQ((Tensor::ones({1}) * INFINITY).item<float>(), INFINITY);
  EXPECT_EQ((Tensor::ones({1}) * 3.4028235e38).item<float>(), 3.4028235e38f);
  const Tensor x = Tensor::from({int8_t(1)});
  EXPECT_THAT(ints(x.pad({1}, {1}, -128)), ElementsAre(-128, 1, -128));
  EXPECT_THAT(refusal([&] { x.pad({1}, {1}, 300); }), HasSubstr("pad: no i8 is 300"));
  EXPECT_THAT(refusal([&] { x.pad({1}, {1}, 0.5); }), HasSubstr("pad: no i8 is 0.5"));
  EXPECT_THAT(refusal([&] { x.pad({1}, {1}, NAN); }), HasSubstr("pad: no i8 is "));
  EXPECT_THAT(refusal([&] { x.cast(DType::U8).pad({1}, {1}, -1); }), HasSubstr("pad: no u8 is -1"));
}

TEST_P(CornersTest, NoTensorIsNoNumber) {
  const Tensor x = Tensor::from({1.f, 2.f}), none;
  EXPECT_THAT(refusal([&] { x + none; }), HasSubstr("add: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { none *x; }), HasSubstr("multiply: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { (void)none.id(); }), HasSubstr("id: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { clamp(x, none, 1); }), HasSubstr("maximum: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { maskedFill(x, x > 1, none); }), HasSubstr("where: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { oneHot(none, 3); }), HasSubstr("oneHot: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { none.context(); }),
              testing::AllOf(HasSubstr("CornersTest.cpp:"), HasSubstr("context: there is no tensor in this place")));
  EXPECT_THAT(refusal([] { Context({.device = "abacus"}); }), HasSubstr("CornersTest.cpp:"));
  EXPECT_THAT(refusal([] { *Parameter(); }), HasSubstr("there is no parameter in this place"));
  EXPECT_THAT(refusal([] { Parameter()->shape(); }), HasSubstr("there is no parameter in this place"));
  EXPECT_THAT(refusal([&] { Parameter().set(x); }), HasSubstr("there is no parameter in this place"));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

TEST_P(CornersTest, SigmoidsOfSmallNumbersKeepTheirDigits) {
  const std::vector<float> given = {-80, -20, -17, -10, -0.f, 0, 3, 20, 200, -200, INFINITY, -INFINITY};
  const Tensor x = Tensor::from(given, {12});
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  const std::vector<float> found = floats(x.sigmoid()), products = floats(x.silu());
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(found[i], sigmoid(given[i]), 1e-6 * sigmoid(given[i])) << given[i];
    EXPECT_NEAR(products[i], given[i] * sigmoid(given[i]), 1e-6 * std::abs(given[i]) * sigmoid(given[i])) << given[i];
  }
  EXPECT_THAT(std::vector(found.begin() + 8, found.end()), ElementsAre(1, 0, 1, 0));
  EXPECT_TRUE(std::isnan(Tensor::scalar(NAN).sigmoid().item<float>()));
  // Of the logarithm, where the sigmoid is nearly nothing; and where its formula changes.
  const Tensor y = Tensor::from({-50.f, -0.f, 0.f, 30.f});
  EXPECT_THAT(floats(gradient(y.sigmoid().log(), std::vector{y})[0]),
              ElementsAre(testing::FloatEq(1), 0.5, 0.5, testing::FloatNear(9.357623e-14f, 1e-18f)));
  EXPECT_THAT(floats(gradient(y.sigmoid(), std::vector{y})[0])[2], 0.25);
  const Tensor narrow = Tensor::from({-6.f, -8.f}).cast(DType::BF16);
  EXPECT_THAT(floats(narrow.sigmoid().cast(DType::F32)),
              ElementsAre(testing::FloatNear(0.00247262f, 1e-5f), testing::FloatNear(3.3535e-4f, 1e-6f)));
  const Tensor tail = Tensor::from({-2.5f}).cast(DType::BF16);
  EXPECT_NEAR(tail.gelu().cast(DType::F32).item<float>(), -0.015524, 6e-5);
  EXPECT_THAT(refusal([] { Tensor::from({1}).sigmoid(); }), HasSubstr("sigmoid: needs a tensor of floats, not of i32"));
  EXPECT_THAT(refusal([] { Tensor::from({1}).gelu(); }), HasSubstr("gelu: needs a tensor of floats, not of i32"));
  EXPECT_THAT(refusal([] { Tensor::from({1}).silu(); }), HasSubstr("silu: needs a tensor of floats, not of i32"));
}

TEST_P(CornersTest, LogitsOfZeroHaveASlope) {
  const Tensor x = Tensor::from({0.f, -0.f, 0.f}), t = Tensor::from({0.f, 1.f, 0.25f});
  EXPECT_THAT(floats(gradient(bceWithLogits(x, t, Reduction::Sum), std::vector{x})[0]), ElementsAre(0.5, -0.5, 0.25));
  const Tensor sure = Tensor::from({20.f, -20.f, 5.f}), right = Tensor::from({1.f, 0.f, 1.f});
  EXPECT_THAT(floats(bceWithLogits(sure, right, Reduction::None)),
              ElementsAre(testing::FloatNear(2.0611537e-9f, 1e-15f), testing::FloatNear(2.0611537e-9f, 1e-15f),
                          testing::FloatNear(0.0067153485f, 1e-9f)));
  EXPECT_THAT(floats(gradient(bceWithLogits(sure, right, Reduction::Sum), std::vector{sure})[0]),
              ElementsAre(testing::FloatNear(0, 1e-8f), testing::FloatNear(2.0611537e-9f, 1e-15f),
                          testing::FloatNear(-0.0066928509f, 1e-7f)));
}

TEST_P(CornersTest, LossesAtZeros) {
  const Tensor x = Tensor::from({0.f, -0.f}), t = Tensor::from({-0.f, 0.f});
  for (const auto &loss : {mseLoss(x, t), l1Loss(x, t), huberLoss(x, t), smoothL1Loss(x, t)}) {
    EXPECT_EQ(loss.item<float>(), 0);
  }
  for (const auto &loss : {mseLoss(x + 0, t), l1Loss(x + 0, t), huberLoss(x + 0, t), smoothL1Loss(x + 0, t)})
    EXPECT_THAT(floats(gradient(loss, std::vector{x})[0]), ElementsAre(0, 0));
}

TEST_P(CornersTest, CrossEntropyIsItsFormula) {
  const std::vector<float> logits = {1, 2, 3, 0, 0, 5, -1, 4, 2};
  double expected = 0;
  const int targets[] = {2, 0, 1};
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int k = 0; k < 3; ++k)
      sum += std::exp(logits[row * 3 + k]);
    expected += (std::log(sum) - logits[row * 3 + targets[row]]) / 3;
  }
  const Tensor x = Tensor::from(logits, {3, 3}), rows = Tensor::from({2, 0, 1});
  EXPECT_NEAR(crossEntropy(x, rows).item<float>(), expected, 1e-6);
  EXPECT_NEAR(crossEntropy(x.cast(DType::F16), rows).cast(DType::F32).item<float>(), expected, 1e-3);
  // What is no class is a mistake.
  EXPECT_TRUE(std::isnan(crossEntropy(x, Tensor::from({2, 3, -1})).item<float>()));
  // f16 logits of which each row's loss is rounded but not added up in f16.
  const Tensor many = Tensor::zeros({4096, 2}, DType::F16);
  EXPECT_NEAR(crossEntropy(many, Tensor::zeros({4096}, DType::U8)).cast(DType::F32).item<float>(), std::log(2.0), 3e-4);
}

TEST_P(CornersTest, ClassesMayBeMoreThanPositionsCount) {
  const Tensor rows = Tensor::from({uint8_t(255), uint8_t(3)});
  const Tensor chosen = oneHot(rows, 300);
  EXPECT_EQ(chosen.shape(), (Shape{2, 300}));
  EXPECT_THAT(ints(chosen.argmax(1)), ElementsAre(255, 3));
  EXPECT_THAT(ints(oneHot(Tensor::from({int8_t(-1), int8_t(127)}), 200).sum({1})), ElementsAre(0, 1));
  EXPECT_NEAR(crossEntropy(Tensor::zeros({2, 300}), rows).item<float>(), std::log(300.0), 1e-5);
  EXPECT_EQ(oneHot(rows, 0).shape(), (Shape{2, 0}));
  EXPECT_THAT(refusal([] { oneHot(Tensor::from({1.f}), 3); }),
              HasSubstr("oneHot: positions are of dtype f32, which is no integer"));
}

TEST_P(CornersTest, PositionsOfOtherRanksAreRefused) {
  const Tensor x = Tensor::zeros({3}), m = Tensor::zeros({3, 4}), one = Tensor::from({1});
  EXPECT_THAT(refusal([&] { putAlongAxis(x, Tensor::scalar(0), Tensor::scalar(1.f), 0); }),
              HasSubstr("putAlongAxis: positions of shape [] and updates of shape [] along dimension 0 of [3]"));
  EXPECT_THAT(refusal([&] { putAlongAxis(m, one, Tensor::ones({1}), 1); }),
              HasSubstr("putAlongAxis: positions of shape [1] and updates of shape [1] along dimension 1 of [3, 4]"));
  EXPECT_THAT(floats(putAlongAxis(x, one, Tensor::scalar(5.f), 0)), ElementsAre(0, 5, 0));
}

TEST_P(CornersTest, DiagonalsMayBeFarAway) {
  const Tensor x = Tensor::arange(1, 5).reshape({2, 2});
  EXPECT_THAT(ints(tril(x, INT64_MAX)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ints(triu(x, INT64_MAX)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(ints(tril(x, INT64_MIN)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(ints(triu(x, INT64_MIN)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ints(triu(Tensor::ones({2, 4}), 3)), ElementsAre(0, 0, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(ints(tril(Tensor::ones({3, 1}), -2)), ElementsAre(0, 0, 1));
}

TEST_P(CornersTest, VariancesOfTooFewAreNotNegative) {
  EXPECT_EQ(Tensor::from({1.f, 2.f}).var({}, false, 3).item<float>(), INFINITY);
  EXPECT_TRUE(std::isnan(Tensor::from({1.f}).var().item<float>()));
}

TEST_P(CornersTest, MasksAreBoolsOrFloats) {
  const Tensor x = Tensor::ones({2, 4});
  EXPECT_THAT(refusal([&] { scaledDotProductAttention(x, x, x, {.mask = Tensor::from({0, 1})}); }),
              HasSubstr("scaledDotProductAttention: a mask of dtype i32, which is neither bool nor float"));
}

INSTANTIATE_TEST_SUITE_P(Devices, CornersTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
