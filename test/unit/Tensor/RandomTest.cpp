//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Random numbers: known bits, moments and frequencies of fixed seeds.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include <algorithm>
#include <numeric>

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using RandomTest = DeviceTest;

Tensor seedOf(uint64_t seed) { return Tensor::from(std::vector<uint64_t>{seed}, {}); }

/// Mean and variance.
std::pair<double, double> momentsOf(const Tensor &x) {
  const Tensor wide = x.cast(DType::F64);
  return {wide.mean().item<double>(), wide.var().item<double>()};
}

} // namespace

TEST_P(RandomTest, BitsAreThoseOfPhilox) {
  // The authors' known answers of philox4x32-10, for zero keys and counters.
  EXPECT_THAT(randomBits(seedOf(0), {4}).toVector<uint32_t>(),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(floats(uniform(seedOf(0), {2})), ElementsAre(0x6627e8p-24f, 0xe169c5p-24f));
  EXPECT_EQ(uniform(seedOf(0), {1}, 0, 1, DType::F64).item<double>(), std::ldexp(0x6627e8d5e169c58d >> 11, -53));
}

TEST_P(RandomTest, AnotherDrawIsNoOtherProgram) {
  Generator generator(7), same(7), other(8);
  const auto draw = [](Generator &from) { return floats(normal(from.next(), {100})); };
  const std::vector<float> first = draw(generator), second = draw(generator);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, draw(same));
  EXPECT_EQ(second, draw(same));
  EXPECT_NE(first, draw(other));
  EXPECT_EQ(context.counters().hits, 4u);
}

TEST_P(RandomTest, HasTheMomentsOfItsDistribution) {
  Generator generator(1);
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    const Tensor u = uniform(generator.next(), {4000}, -1, 3, dtype), n = normal(generator.next(), {4000}, 5, 2, dtype);
    EXPECT_EQ(u.dtype(), dtype);
    EXPECT_EQ(n.dtype(), dtype);
    const auto [mean, variance] = momentsOf(u);
    EXPECT_NEAR(mean, 1, 0.08);
    EXPECT_NEAR(variance, 16 / 12.0, 0.08);
    const auto [center, spread] = momentsOf(n);
    EXPECT_NEAR(center, 5, 0.13);
    EXPECT_NEAR(spread, 4, 0.4);
    const Tensor outside = any((u.cast(DType::F32) < -1) | (u.cast(DType::F32) > 3));
    EXPECT_THAT(ints(outside), ElementsAre(0));
  }
  EXPECT_EQ(uniform(generator.next(), {0, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(normal(generator.next(), {}).rank(), 0);
}

TEST_P(RandomTest, Integers) {
  Generator generator(2);
  std::vector<int> counts(5);
  for (const int64_t i : ints(randint(generator.next(), {5000}, -2, 3, DType::I8)))
    ++counts.at(i + 2);
  EXPECT_THAT(counts, Each(testing::AllOf(testing::Gt(900), testing::Lt(1100))));
  EXPECT_THAT(ints(randint(generator.next(), {3}, 255, 256, DType::U8)), Each(255));
  // Of 62 bits.
  EXPECT_GT(randint(generator.next(), {64}, 0, int64_t(1) << 62).max().item<int64_t>(), int64_t(1) << 61);
  std::vector<int64_t> order = ints(permutation(generator.next(), 100)), sorted(100);
  std::iota(sorted.begin(), sorted.end(), 0);
  EXPECT_NE(order, sorted);
  std::ranges::sort(order);
  EXPECT_EQ(order, sorted);
  EXPECT_EQ(permutation(generator.next(), 0).shape(), (Shape{0}));
  const double share = bernoulli(generator.next(), {5000}, 0.25).cast(DType::F32).mean().item<float>();
  EXPECT_NEAR(share, 0.25, 0.03);
  EXPECT_THAT(ints(bernoulli(generator.next(), {50}, 0)), Each(0));
  EXPECT_THAT(ints(bernoulli(generator.next(), {50}, 1)), Each(1));
}

TEST_P(RandomTest, Multinomial) {
  Generator generator(3);
  const Tensor weights = Tensor::from({1.f, 0.f, 3.f, -1.f});
  std::vector<int> counts(4);
  for (const int64_t i : ints(multinomial(generator.next(), weights, 4000, true)))
    ++counts.at(i);
  EXPECT_EQ(counts[1] + counts[3], 0);
  EXPECT_NEAR(counts[0], 1000, 100);
  // The first of two without replacement has the same probabilities.
  const Tensor rows = weights.unsqueeze(0).expand({2000, 4});
  const Tensor both = multinomial(generator.next(), rows, 2);
  EXPECT_EQ(both.shape(), (Shape{2000, 2}));
  const Tensor first = both.select(1, 0), second = both.select(1, 1);
  EXPECT_NEAR((first == 2).sum().item<int32_t>(), 1500, 80);
  EXPECT_EQ((first + second == 2).sum().item<int32_t>(), 2000);
  EXPECT_THAT(ints(multinomial(generator.next(), Tensor::zeros({2}), 3, true)), Each(0));
}

TEST_P(RandomTest, Dropout) {
  Generator generator(4);
  const Tensor x = Tensor::from(std::vector<float>(2000, 3), {2000}), seed = generator.next();
  const Tensor y = dropout(seed, x, 0.25);
  const double kept = double((y == 4).sum().item<int32_t>());
  EXPECT_NEAR(kept, 1500, 80);
  EXPECT_EQ((y == 0).sum().item<int32_t>(), 2000 - kept);
  // What is dropped has no gradient.
  EXPECT_EQ(floats(gradient(dropout(seed, x, 0.25).sum(), std::vector{x})[0] * 3), floats(y));
  EXPECT_THAT(floats(dropout(seed, x.slice({{0, 9}}), 1)), Each(0));
  EXPECT_THAT(floats(dropout(seed, x.slice({{0, 9}}), 0)), Each(3));
}

TEST_P(RandomTest, Refusals) {
  const Tensor seed = seedOf(1), x = Tensor::ones({2});
  EXPECT_THAT(refusal([&] { uniform(seed, {2}, 0, 1, DType::I32); }),
              HasSubstr("uniform: needs a dtype of floats, not i32"));
  EXPECT_THAT(refusal([&] { uniform(x, {2}); }), HasSubstr("random_bits of the seed f32[2]"));
  EXPECT_THAT(refusal([&] { randint(seed, {2}, 3, 3); }), HasSubstr("randint: [3, 3) is empty or not within i64"));
  EXPECT_THAT(refusal([&] { randint(seed, {2}, 0, 129, DType::I8); }),
              HasSubstr("randint: [0, 129) is empty or not within i8"));
  EXPECT_THAT(refusal([&] { randint(seed, {2}, INT64_MIN, INT64_MAX); }), HasSubstr("is empty or not within i64"));
  EXPECT_THAT(refusal([&] { randint(seed, {2}, 0, 2, DType::F32); }),
              HasSubstr("randint: f32 is no dtype of integers"));
  EXPECT_THAT(refusal([&] { bernoulli(seed, {2}, 1.5); }), HasSubstr("bernoulli: 1.500000 is no probability"));
  EXPECT_THAT(refusal([&] { dropout(seed, x, NAN); }), HasSubstr("is no probability"));
  EXPECT_THAT(refusal([&] { permutation(seed, -1); }), HasSubstr("permutation: there are no -1 positions"));
  EXPECT_THAT(refusal([&] { multinomial(seed, x, 3); }), HasSubstr("multinomial: 3 positions of 2"));
}

INSTANTIATE_TEST_SUITE_P(Devices, RandomTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
