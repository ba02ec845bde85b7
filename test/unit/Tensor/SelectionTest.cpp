//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Constants, pieces, windows, and results of which data says how many there are.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

using SelectionTest = DeviceTest;
using Inputs = std::vector<Tensor>;

TEST_P(SelectionTest, Nonzero) {
  const Tensor x = Tensor::from({0.f, 2.f, 0.f, NAN, -1.f, 0.f}).reshape({2, 3});
  const Padded found = nonzero(x);
  EXPECT_THAT(ints(found.values), ElementsAre(0, 1, 1, 0, 1, 1, -1, -1, -1, -1, -1, -1));
  EXPECT_EQ(found.count.item<int64_t>(), 3);
  EXPECT_THAT(ints(found.trim()), ElementsAre(0, 1, 1, 0, 1, 1));
  EXPECT_EQ(found.trim().shape(), (Shape{3, 2}));
  EXPECT_EQ(nonzero(Tensor::zeros({2, 0})).trim().shape(), (Shape{0, 2}));
  EXPECT_EQ(nonzero(Tensor::scalar(3)).trim().shape(), (Shape{1, 0}));
  EXPECT_THAT(ints(nonzero(Tensor::ones({2, 1, 2}, DType::I8)).trim()),
              ElementsAre(0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1));
}

TEST_P(SelectionTest, Masks) {
  const Tensor x = Tensor::arange(1, 7).reshape({2, 3});
  const Padded above = maskedSelect(x, x > 3);
  EXPECT_THAT(ints(above.values), ElementsAre(4, 5, 6, 0, 0, 0));
  EXPECT_THAT(ints(above.trim()), ElementsAre(4, 5, 6));
  EXPECT_THAT(ints(maskedSelect(x, x.select(0, 0) > 1).trim()), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(ints(maskedSelect(x.select(0, 0), x > 4).trim()), ElementsAre(2, 3));
  const Tensor rows = Tensor::from({0, 1}) > 0, columns = Tensor::from({1, 0, 1}) > 0;
  EXPECT_THAT(ints(compress(x, rows).trim()), ElementsAre(4, 5, 6));
  EXPECT_THAT(ints(compress(x, columns, 1).values), ElementsAre(1, 3, 0, 4, 6, 0));
  EXPECT_THAT(ints(compress(x, columns, -1).trim()), ElementsAre(1, 3, 4, 6));
  EXPECT_EQ(compress(x, rows & rows.logicalNot()).trim().shape(), (Shape{0, 3}));
  EXPECT_EQ(maskedSelect(Tensor::ones({0}), Tensor::zeros({0}, DType::Bool)).trim().shape(), (Shape{0}));
  // The program is the same whatever is selected.
  const uint64_t hits = context.counters().hits;
  EXPECT_EQ(ints(maskedSelect(x, Tensor::from({0, 1, 1, 1, 1, 1}).reshape({2, 3}) > 0).trim()).size(), 5u);
  EXPECT_EQ(ints(maskedSelect(x, Tensor::from({0, 0, 0, 0, 1, 1}).reshape({2, 3}) > 0).trim()).size(), 2u);
  EXPECT_GT(context.counters().hits, hits);
  const Tensor mask = Tensor::from({1, 0, 0, 1, 1, 0}).reshape({2, 3}) > 0;
  expectGradients([&](const Inputs &in) { return maskedSelect(in[0], mask).values; }, {doubles({2, 3})});
  EXPECT_THAT(refusal([&] { maskedSelect(x, x); }),
              HasSubstr("maskedSelect: a mask of type i64[2, 3] is not of bools"));
  EXPECT_THAT(refusal([&] { maskedSelect(x, rows); }),
              HasSubstr("maskedSelect: shapes [2, 3] and [2] do not broadcast"));
  EXPECT_THAT(refusal([&] { compress(x, rows, 1); }),
              HasSubstr("compress: a mask of shape [2] for dimension 1 of [2, 3]"));
  EXPECT_THAT(refusal([] { Padded().trim(); }), HasSubstr("trim: there is no tensor in this place"));
}

TEST_P(SelectionTest, Unique) {
  const std::vector<int> elements = {3, 1, 3, 7, 1, 3};
  const Unique found = unique(Tensor::from(elements, {2, 3}));
  EXPECT_THAT(ints(found.values.trim()), ElementsAre(1, 3, 7));
  EXPECT_THAT(ints(found.values.values), ElementsAre(1, 3, 7, 0, 0, 0));
  EXPECT_THAT(ints(found.inverse), ElementsAre(1, 0, 1, 2, 0, 1));
  EXPECT_EQ(found.inverse.shape(), (Shape{2, 3}));
  EXPECT_THAT(ints(found.counts), ElementsAre(2, 3, 1, 0, 0, 0));
  // What was taken apart is put together again.
  EXPECT_THAT(take(found.values.values, found.inverse).toVector<int>(), ElementsAreArray(elements));
  const Unique floats_ = unique(Tensor::from({NAN, 2.f, 0.f, -0.f, NAN}));
  EXPECT_EQ(floats_.values.count.item<int64_t>(), 4);
  EXPECT_THAT(ints(floats_.counts), ElementsAre(2, 1, 1, 1, 0));
  EXPECT_THAT(ints(unique(Tensor::from({3, 0, 5}) > 0).values.trim()), ElementsAre(0, 1));
  EXPECT_EQ(unique(Tensor::ones({0})).values.trim().shape(), (Shape{0}));
  EXPECT_THAT(ints(unique(Tensor::scalar(4)).values.trim()), ElementsAre(4));
}

TEST_P(SelectionTest, Creation) {
  const Tensor x = Tensor::from({int8_t(3), int8_t(4)});
  EXPECT_THAT(zerosLike(x).toVector<int8_t>(), Each(0));
  EXPECT_THAT(onesLike(x).toVector<int8_t>(), Each(1));
  EXPECT_THAT(fullLike(x, 7).toVector<int8_t>(), Each(7));
  EXPECT_THAT(refusal([&] { fullLike(x, 300); }), HasSubstr("full: no i8 is 300.000000"));
  EXPECT_THAT(refusal([] { onesLike(Tensor()); }), HasSubstr("onesLike: there is no tensor in this place"));
  {
    const ContextScope other(Context({.device = "reference"}));
    EXPECT_THAT((x + onesLike(x)).toVector<int8_t>(), ElementsAre(4, 5));
  }
  EXPECT_THAT(floats(tri(2, 3, 1)), ElementsAre(1, 1, 0, 1, 1, 1));
  EXPECT_THAT(ints(tri(2, 2, -1, DType::I32)), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(floats(linspace(0, 1, 5)), ElementsAre(0, .25, .5, .75, 1));
  EXPECT_THAT(linspace(-1, 0.7, 4, DType::F64).toVector<double>().back(), 0.7);
  EXPECT_THAT(floats(linspace(3, 9, 1)), ElementsAre(3));
  EXPECT_EQ(linspace(3, 9, 0).shape(), (Shape{0}));
  EXPECT_THAT(refusal([] { linspace(0, 1, -1); }), HasSubstr("linspace: there are no -1 numbers"));
  EXPECT_THAT(refusal([] { linspace(0, 1, 2, DType::I32); }),
              HasSubstr("linspace: needs a tensor of floats, not of i32"));
}

TEST_P(SelectionTest, Pieces) {
  const Tensor x = Tensor::arange(0, 12).reshape({3, 4});
  EXPECT_THAT(ints(narrow(x, 1, 1, 2)), ElementsAre(1, 2, 5, 6, 9, 10));
  EXPECT_THAT(ints(narrow(x, 0, -1, 1)), ElementsAre(8, 9, 10, 11));
  EXPECT_EQ(narrow(x, 0, 3, 0).shape(), (Shape{0, 4}));
  EXPECT_THAT(refusal([&] { narrow(x, 1, 3, 2); }),
              HasSubstr("narrow: dimension 1 of [3, 4] has no 2 elements from 3 on"));
  EXPECT_THAT(refusal([&] { narrow(x, 1, -5, 1); }), HasSubstr("has no 1 elements from -5 on"));
  EXPECT_THAT(ints(diagonal(x)), ElementsAre(0, 5, 10));
  EXPECT_THAT(ints(diagonal(x, 1)), ElementsAre(1, 6, 11));
  EXPECT_THAT(ints(diagonal(x, 3)), ElementsAre(3));
  EXPECT_THAT(ints(diagonal(x, -2)), ElementsAre(8));
  EXPECT_THAT(ints(diagonal(x, 1, 1, 0)), ElementsAre(4, 9));
  EXPECT_EQ(diagonal(x, 9).shape(), (Shape{0}));
  EXPECT_EQ(diagonal(x, INT64_MIN).shape(), (Shape{0}));
  EXPECT_EQ(diagonal(Tensor::ones({2, 5, 3}), 0, 0, 2).shape(), (Shape{5, 2}));
  EXPECT_THAT(refusal([&] { diagonal(x, 0, 1, -1); }), HasSubstr("diagonal: dimension 1 is named twice"));
  expectGradients([](const Inputs &in) { return diagonal(in[0], -1); }, {doubles({3, 4})});
  const std::vector<Tensor> pieces = splitSizes(x, {1, 0, 3}, 1);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_THAT(ints(pieces[0]), ElementsAre(0, 4, 8));
  EXPECT_EQ(pieces[1].shape(), (Shape{3, 0}));
  EXPECT_THAT(ints(pieces[2]), ElementsAre(1, 2, 3, 5, 6, 7, 9, 10, 11));
  EXPECT_THAT(refusal([&] { splitSizes(x, {1, 2}, 1); }),
              HasSubstr("splitSizes: pieces of extents [1, 2] do not fill dimension 1 of [3, 4]"));
  for (const Dims &sizes : {Dims{5}, Dims{-1, 5}})
    EXPECT_THAT(refusal([&] { splitSizes(x, sizes, 1); }), HasSubstr("do not fill dimension 1 of [3, 4]"));
}

TEST_P(SelectionTest, Borders) {
  const Tensor x = Tensor::from({1, 2, 3}), m = Tensor::from({1, 2, 3, 4}).reshape({2, 2});
  EXPECT_THAT(ints(pad(x, {2}, {1}, PadMode::Reflect)), ElementsAre(3, 2, 1, 2, 3, 2));
  EXPECT_THAT(ints(pad(x, {2}, {1}, PadMode::Replicate)), ElementsAre(1, 1, 1, 2, 3, 3));
  EXPECT_THAT(ints(pad(x, {3}, {1}, PadMode::Circular)), ElementsAre(1, 2, 3, 1, 2, 3, 1));
  EXPECT_THAT(ints(pad(m, {0, 1}, {1, 0}, PadMode::Reflect)), ElementsAre(2, 1, 2, 4, 3, 4, 2, 1, 2));
  EXPECT_EQ(pad(Tensor::ones({0, 2}), {0, 1}, {0, 0}, PadMode::Replicate).shape(), (Shape{0, 3}));
  for (const PadMode mode : {PadMode::Reflect, PadMode::Replicate, PadMode::Circular})
    expectGradients([&](const Inputs &in) { return pad(in[0], {1, 2}, {0, 1}, mode); }, {doubles({2, 3})});
  EXPECT_THAT(refusal([&] { pad(x, {3}, {0}, PadMode::Reflect); }),
              HasSubstr("pad: dimension 0 of [3] does not show 3 and 0 elements around it"));
  EXPECT_THAT(refusal([&] { pad(x, {0}, {4}, PadMode::Circular); }), HasSubstr("does not show 0 and 4 elements"));
  EXPECT_THAT(refusal([&] { pad(x, {-1}, {0}, PadMode::Replicate); }), HasSubstr("does not show -1 and 0 elements"));
  EXPECT_THAT(refusal([&] { pad(m, {1}, {1}, PadMode::Reflect); }),
              HasSubstr("pad: 1 and 1 amounts for a tensor of rank 2"));
}

TEST_P(SelectionTest, Windows) {
  const Tensor x = Tensor::arange(0, 6);
  EXPECT_THAT(ints(slidingWindows(x, {3}, {2})), ElementsAre(0, 1, 2, 2, 3, 4));
  EXPECT_THAT(ints(slidingWindows(x, {2}, {1}, {3})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(slidingWindows(Tensor::ones({2, 4, 5}), {2, 3}).shape(), (Shape{2, 3, 3, 2, 3}));
  EXPECT_EQ(slidingWindows(x, {7}).shape(), (Shape{0, 7}));
  EXPECT_EQ(slidingWindows(x, {}).shape(), (Shape{6}));
  EXPECT_THAT(refusal([&] { slidingWindows(x, {2, 2}); }),
              HasSubstr("slidingWindows: a window of 2 dimensions for a tensor of rank 1"));
  EXPECT_THAT(refusal([&] { slidingWindows(x, {0}); }), HasSubstr("slidingWindows: window of 0"));
}

TEST_P(SelectionTest, PositionsOfMaxima) {
  const Tensor x = Tensor::from({1.f, 5.f, 5.f, 2.f, NAN, 3.f, 7.f, -INFINITY}).reshape({2, 4});
  const Pooled one = maxPoolWithIndices(x, {2});
  EXPECT_THAT(ints(one.indices), ElementsAre(1, 2, 0, 2));
  EXPECT_THAT(floats(one.values.slice({{0, 1}})), ElementsAre(5, 5));
  const Pooled plane = maxPoolWithIndices(Tensor::arange(0, 16).reshape({1, 4, 4}), {2, 2});
  EXPECT_THAT(ints(plane.indices), ElementsAre(5, 7, 13, 15));
  // Padding is no element.
  const Tensor least = Tensor::full({4}, -INFINITY);
  EXPECT_THAT(ints(maxPoolWithIndices(least, {3}, {.padding = {1}}).indices), ElementsAre(0, 2));
  const Tensor y = doubles({2, 3, 5, 6});
  const WindowOptions options{.stride = {2, 1}, .padding = {1}, .dilation = {1, 2}};
  const Pooled pooled = maxPoolWithIndices(y, {3, 3}, options);
  EXPECT_EQ(pooled.values.toVector<double>(), maxPool(y, {3, 3}, options).toVector<double>());
  EXPECT_EQ(takeAlongAxis(y.flatten(2), pooled.indices.flatten(2), 2).toVector<double>(),
            pooled.values.toVector<double>());
}

TEST_P(SelectionTest, FirstValuesOfWeights) {
  Generator generator(9);
  const auto largest = [](const Tensor &x) { return x.abs().max().item<float>(); };
  const Tensor he = kaimingUniform(generator.next(), {40, 25, 2}), glorot = glorotUniform(generator.next(), {30, 70});
  EXPECT_LE(largest(he), std::sqrt(6.f / 50));
  EXPECT_GT(largest(he), 0.98f * std::sqrt(6.f / 50));
  EXPECT_LE(largest(kaimingUniform(generator.next(), {40, 50}, std::sqrt(5.0))), 0.1414214f);
  EXPECT_LE(largest(glorot), std::sqrt(0.06f));
  EXPECT_GT(largest(glorot), 0.98f * std::sqrt(0.06f));
  EXPECT_THAT(refusal([&] { kaimingUniform(generator.next(), {3}); }),
              HasSubstr("kaimingUniform: weights of shape [3] are not [out, in, window...]"));
}

INSTANTIATE_TEST_SUITE_P(Devices, SelectionTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
