//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Scans, orders, indexing, and functions of elements.
//===----------------------------------------------------------------------===//
#include "../TestFiles.h"
#include "TensorFixture.h"

#include <regex>

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::HasSubstr;

using FunctionsTest = DeviceTest;

TEST_P(FunctionsTest, Scans) {
  const Tensor x = Tensor::from({1.f, 3.f, 2.f, -1.f, 5.f, 4.f}).reshape({2, 3});
  EXPECT_THAT(floats(cumsum(x, 1)), ElementsAre(1, 4, 6, -1, 4, 8));
  EXPECT_THAT(floats(cumsum(x, -1, {.exclusive = true})), ElementsAre(0, 1, 4, 0, -1, 4));
  EXPECT_THAT(floats(cumsum(x, 1, {.reverse = true})), ElementsAre(6, 5, 2, 8, 9, 4));
  EXPECT_THAT(floats(cumprod(x, 0)), ElementsAre(1, 3, 2, -1, 15, 8));
  EXPECT_THAT(floats(cummax(x, 1)), ElementsAre(1, 3, 3, -1, 5, 5));
  EXPECT_THAT(floats(cummin(x, 1)), ElementsAre(1, 1, 1, -1, -1, -1));
  EXPECT_EQ(ints(cumsum(Tensor::full({200}, 1, DType::I8), 0)).back(), 200);
  EXPECT_EQ(cumsum(Tensor::ones({2}, DType::U8), 0).dtype(), DType::U32);
  EXPECT_EQ(ints(cumprod(x > 0, 1)), (std::vector<int64_t>{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(cumsum(Tensor::ones({0, 3}), 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(floats(cumsum(Tensor::ones({0, 3}), 1)).size(), 0u);
  EXPECT_THAT(refusal([&] { cumsum(Tensor::scalar(1.f), 0); }),
              HasSubstr("cumsum: a tensor of rank 0 has no dimension 0"));
  EXPECT_THAT(refusal([&] { cummax(Tensor(), 0); }), HasSubstr("cummax: there is no tensor in this place"));
}

TEST_P(FunctionsTest, Orders) {
  const Tensor x = Tensor::from({3.f, NAN, 1.f, 2.f, 1.f});
  EXPECT_THAT(floats(sort(x).slice({{0, 4}})), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(ints(argsort(x)), ElementsAre(2, 4, 3, 0, 1));
  EXPECT_THAT(ints(argsort(x, 0, true)), ElementsAre(0, 3, 2, 4, 1));
  const Tensor y = Tensor::from({4, 1, 3, 2, 9, 7}).reshape({2, 3});
  EXPECT_THAT(ints(sort(y, 0)), ElementsAre(2, 1, 3, 4, 9, 7));
  const Ranked best = topk(y, 2), least = topk(y, 1, 0, false);
  EXPECT_THAT(ints(best.values), ElementsAre(4, 3, 9, 7));
  EXPECT_THAT(ints(best.indices), ElementsAre(0, 2, 1, 2));
  EXPECT_EQ(best.indices.dtype(), DType::I64);
  EXPECT_THAT(ints(least.values), ElementsAre(2, 1, 3));
  EXPECT_THAT(ints(least.indices), ElementsAre(1, 0, 0));
  EXPECT_EQ(topk(y, 0).values.shape(), (Shape{2, 0}));
  EXPECT_EQ(floats(sort(Tensor::ones({2, 0}))).size(), 0u);
  EXPECT_THAT(refusal([&] { topk(y, 4); }), HasSubstr("topk: dimension 1 of [2, 3] has no 4 best elements"));
}

TEST_P(FunctionsTest, ElementsAtPositions) {
  const Tensor x = Tensor::arange(0, 12).reshape({3, 4}), zeros = Tensor::zeros({3, 4}, DType::I64);
  const Tensor p = Tensor::from({3, 0, 1, 1, -1, 4}).reshape({3, 2});
  EXPECT_THAT(ints(takeAlongAxis(x, p, 1)), ElementsAre(3, 0, 5, 5, 0, 0));
  EXPECT_THAT(ints(takeAlongAxis(x, Tensor::from({2, 1}).reshape({2, 1}), 0)), ElementsAre(8, 9, 10, 11, 4, 5, 6, 7));
  EXPECT_EQ(takeAlongAxis(x, Tensor::zeros({3, 0}, DType::I32), 1).shape(), (Shape{3, 0}));
  EXPECT_THAT(ints(takeAlongAxis(Tensor::ones({2, 0}), Tensor::zeros({2, 1}, DType::I32), 1)), ElementsAre(0, 0));
  const Tensor u = Tensor::arange(1, 7).reshape({3, 2});
  EXPECT_THAT(ints(putAlongAxis(zeros, p, u, 1)), ElementsAre(2, 0, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(ints(putAlongAxis(zeros, p, u, 1, ScatterMode::Add)), ElementsAre(2, 0, 0, 1, 0, 7, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(ints(putAlongAxis(x, p, Tensor::full({1, 1}, 5, DType::I64), 1, ScatterMode::Max).select(0, 0)),
              ElementsAre(5, 1, 2, 5));
  const Tensor rows = Tensor::from({2, 0, 2, 3});
  EXPECT_THAT(ints(indexAdd(zeros, rows, Tensor::ones({4, 4}, DType::I64))),
              ElementsAre(1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 2, 2));
  EXPECT_THAT(
      ints(scatter(x, Tensor::from({1}), Tensor::full({3, 1}, 9, DType::I64), 1, ScatterMode::Min).select(1, 1)),
      ElementsAre(1, 5, 9));
  EXPECT_THAT(
      ints(scatter(x, Tensor::from({1, 1}), Tensor::full({3, 2}, 2, DType::I64), 1, ScatterMode::Mul).select(1, 1)),
      ElementsAre(4, 20, 36));
  EXPECT_THAT(refusal([&] { takeAlongAxis(x, Tensor::ones({3, 2}), 1); }),
              HasSubstr("takeAlongAxis: positions are of dtype f32, which is no integer"));
  EXPECT_THAT(refusal([&] { takeAlongAxis(x, rows, 1); }),
              HasSubstr("takeAlongAxis: positions of shape [4] along dimension 1 of [3, 4]"));
  EXPECT_THAT(
      refusal([&] { putAlongAxis(x, p, x, 1); }),
      HasSubstr("putAlongAxis: positions of shape [3, 2] and updates of shape [3, 4] along dimension 1 of [3, 4]"));
  EXPECT_THAT(refusal([&] { putAlongAxis(x, rows, x, 1); }), HasSubstr("putAlongAxis: positions of shape [4] and"));
}

TEST_P(FunctionsTest, Masks) {
  const Tensor x = Tensor::arange(1, 7).reshape({2, 3});
  EXPECT_THAT(ints(maskedFill(x, x.select(0, 0) > 1, 0)), ElementsAre(1, 0, 0, 4, 0, 0));
  EXPECT_THAT(ints(tril(x)), ElementsAre(1, 0, 0, 4, 5, 0));
  EXPECT_THAT(ints(tril(x, 1)), ElementsAre(1, 2, 0, 4, 5, 6));
  EXPECT_THAT(ints(triu(x.unsqueeze(0), -1)), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(ints(triu(x)), ElementsAre(1, 2, 3, 0, 5, 6));
  // What is cut off takes no part.
  EXPECT_THAT(floats(tril(Tensor::full({2, 2}, INFINITY), -1)), ElementsAre(0, 0, INFINITY, 0));
  EXPECT_THAT(refusal([&] { tril(x.select(0, 0)); }), HasSubstr("tril: a tensor of rank 1 has no matrices"));
  EXPECT_THAT(refusal([&] { maskedFill(x.select(0, 0), x > 1, 0); }),
              HasSubstr("maskedFill: a mask of shape [2, 3] does not expand to [3]"));
}

TEST_P(FunctionsTest, CopiesAndPieces) {
  const Tensor x = Tensor::from({1, 2, 3}), m = Tensor::arange(1, 5).reshape({2, 2});
  EXPECT_THAT(ints(repeat(x, {2})), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(ints(repeat(m, {1, 2})), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT_EQ(repeat(x, {2, 1, 0}).shape(), (Shape{2, 1, 0}));
  EXPECT_THAT(ints(repeat(Tensor::scalar(7), {3})), ElementsAre(7, 7, 7));
  EXPECT_THAT(ints(repeatInterleave(m, 2, 0)), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
  EXPECT_THAT(ints(repeatInterleave(m, 2, 1)), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(ints(stack(std::vector{x, x + 3}, -1)), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(stack(std::vector{Tensor::scalar(1), Tensor::scalar(2)}).shape(), (Shape{2}));
  const std::vector<Tensor> pieces = split(Tensor::arange(0, 5), 2);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_THAT(ints(pieces[1]), ElementsAre(2, 3));
  EXPECT_THAT(ints(pieces[2]), ElementsAre(4));
  EXPECT_EQ(split(m, INT64_MAX, 1).size(), 1u);
  EXPECT_THAT(ints(roll(x, {1}, {0})), ElementsAre(3, 1, 2));
  EXPECT_THAT(ints(roll(x, {-4}, {0})), ElementsAre(2, 3, 1));
  EXPECT_THAT(ints(roll(m, {1, 1}, {0, 1})), ElementsAre(4, 3, 2, 1));
  EXPECT_EQ(roll(Tensor::ones({0}), {1}, {0}).shape(), (Shape{0}));
  EXPECT_THAT(refusal([&] { repeat(m, {2}); }), HasSubstr("repeat: 1 counts for a tensor of rank 2"));
  EXPECT_THAT(refusal([&] { repeat(m, {2, -1}); }), HasSubstr("repeat: there are no -1 copies"));
  EXPECT_THAT(refusal([&] { stack(std::vector{x, m}); }), HasSubstr("stack: shapes [3] and [2, 2] differ"));
  EXPECT_THAT(refusal([&] { stack({}); }), HasSubstr("stack: there are no tensors"));
  EXPECT_THAT(refusal([&] { split(x, 0); }), HasSubstr("split: pieces of 0 elements"));
  EXPECT_THAT(refusal([&] { roll(x, {1, 2}, {0}); }), HasSubstr("roll: 2 shifts of 1 dimensions"));
}

TEST_P(FunctionsTest, Summaries) {
  const Tensor x = Tensor::from({0.f, 3.f, 0.f, -4.f, NAN, 0.f}).reshape({3, 2});
  EXPECT_THAT(ints(any(x, {1})), ElementsAre(1, 1, 1));
  EXPECT_THAT(ints(all(x, {0}, true)), ElementsAre(0, 0));
  EXPECT_EQ(all(x, {0}, true).shape(), (Shape{1, 2}));
  EXPECT_EQ(any(x).dtype(), DType::Bool);
  EXPECT_THAT(ints(any(Tensor::ones({0}))), ElementsAre(0));
  EXPECT_THAT(ints(all(Tensor::ones({0}))), ElementsAre(1));
  EXPECT_THAT(ints(any(Tensor::scalar(2))), ElementsAre(1));
  const Tensor y = Tensor::from({1000.f, 1000.f, -INFINITY, -INFINITY, INFINITY, 1.f}).reshape({3, 2});
  EXPECT_THAT(floats(logsumexp(y, {1})), ElementsAre(FloatEq(1000.6931f), -INFINITY, INFINITY));
  EXPECT_EQ(logsumexp(y, {1}, true).shape(), (Shape{3, 1}));
  EXPECT_EQ(logsumexp(Tensor::ones({0})).item<float>(), -INFINITY);
  const Tensor v = Tensor::from({3.f, 0.f, -4.f});
  EXPECT_FLOAT_EQ(norm(v).item<float>(), 5);
  EXPECT_FLOAT_EQ(norm(v, 1).item<float>(), 7);
  EXPECT_FLOAT_EQ(norm(v, 0).item<float>(), 2);
  EXPECT_FLOAT_EQ(norm(v, INFINITY).item<float>(), 4);
  EXPECT_FLOAT_EQ(norm(v, -INFINITY).item<float>(), 0);
  EXPECT_FLOAT_EQ(norm(v, 3).item<float>(), std::cbrt(91.f));
  EXPECT_EQ(norm(Tensor::full({400}, 300, DType::F16), 2).cast(DType::F32).item<float>(), 6000);
  EXPECT_FLOAT_EQ(stddev(v).item<float>(), std::sqrt(37 / 3.f));
  EXPECT_FLOAT_EQ(stddev(v, {}, false, 0).item<float>(), std::sqrt(74 / 9.f));
  EXPECT_THAT(refusal([&] { norm(Tensor::ones({2}, DType::I32)); }),
              HasSubstr("norm: needs a tensor of floats, not of i32"));
}

TEST_P(FunctionsTest, Elements) {
  const Tensor x = Tensor::from({-2.f, -0.f, 3.f, INFINITY, NAN});
  EXPECT_THAT(floats(clamp(x, -1, 2).slice({{0, 4}})), ElementsAre(-1, 0, 2, 2));
  EXPECT_TRUE(std::isnan(floats(clamp(x, -1, 2))[4]));
  EXPECT_THAT(ints(clamp(Tensor::from({1, 5}), Tensor::from({2, 2}), 3)), ElementsAre(2, 3));
  EXPECT_THAT(floats(sign(x)), ElementsAre(-1, 0, 1, 1, 0));
  EXPECT_THAT(ints(sign(Tensor::from({uint8_t(0), uint8_t(200)}))), ElementsAre(0, 1));
  EXPECT_THAT(ints(isNan(x)), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(ints(isInf(x)), ElementsAre(0, 0, 0, 1, 0));
  EXPECT_THAT(ints(isFinite(x)), ElementsAre(1, 1, 1, 0, 0));
  EXPECT_THAT(ints(isInf(Tensor::from({1}))), ElementsAre(0));
  EXPECT_THAT(ints(isFinite(Tensor::from({1}))), ElementsAre(1));
  EXPECT_THAT(floats(lerp(Tensor::from({1.f, 2.f}), 5, 0.25)), ElementsAre(2, 2.75));
  EXPECT_THAT(refusal([&] { sign(x > 0); }), HasSubstr("sign: needs numbers, not bools"));
}

TEST_P(FunctionsTest, GradientsOfFunctions) {
  using Inputs = std::vector<Tensor>;
  const Tensor x = doubles({2, 4});
  expectGradients([](const Inputs &in) { return cumsum(in[0], 1, {.reverse = true}); }, {x});
  expectGradients([](const Inputs &in) { return cumprod(in[0], 1); }, {x});
  expectGradients([](const Inputs &in) { return sort(in[0], 1, true); }, {x});
  expectGradients([](const Inputs &in) { return topk(in[0], 2).values; }, {x});
  const Tensor p = Tensor::from({1, 1, 3, 0}).reshape({2, 2});
  expectGradients([&](const Inputs &in) { return takeAlongAxis(in[0], p, 1); }, {x});
  expectGradients([&](const Inputs &in) { return putAlongAxis(in[0], p, in[1], 1, ScatterMode::Add); },
                  {x, doubles({2, 2}, 3)});
  expectGradients([](const Inputs &in) { return logsumexp(in[0], {1}); }, {x});
  expectGradients([](const Inputs &in) { return norm(in[0], 3, {0}); }, {x});
  expectGradients([](const Inputs &in) { return roll(repeat(in[0], {2, 1}), {1}, {1}); }, {x});
}

TEST(FunctionTables, HaveEveryFunction) {
  const std::string tables = readBytes(ZYX_SOURCE "/docs/tensor-functions.md");
  const std::regex declaration("\\n(?:std::)?[A-Za-z][\\w<>]* (\\w+)\\(");
  for (const std::string header : {"Activations", "Convolution", "Creation", "Factorizations", "Functions", "Indexing",
                                   "Linalg", "Loop", "Losses", "Random", "Selection", "Sorting", "Tape"}) {
    const std::string text = readBytes(ZYX_SOURCE "/include/zyx/Tensor/" + header + ".h");
    int count = 0;
    for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end; ++match, ++count)
      EXPECT_THAT(tables, HasSubstr("\n| `" + match->str(1) + "` |")) << "of " << header << ".h";
    EXPECT_GT(count, 0) << header;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FunctionsTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
