//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Einstein's notation and attention, against loops and other spellings.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

using LinalgTest = DeviceTest;

static Tensor einsumOf(std::string_view notation, std::vector<Tensor> operands) { return einsum(notation, operands); }

static void expectEqual(const Tensor &found, const Tensor &expected) {
  ASSERT_EQ(found.type(), expected.type());
  EXPECT_THAT(found.toVector<double>(), Pointwise(DoubleNear(1e-12), expected.toVector<double>()));
}

TEST_P(LinalgTest, EinsumOfOneOperand) {
  const Tensor x = Tensor::arange(0, 9).reshape({3, 3});
  EXPECT_THAT(ints(einsumOf("ii", {x})), ElementsAre(12));
  EXPECT_THAT(ints(einsumOf("ii->i", {x})), ElementsAre(0, 4, 8));
  EXPECT_THAT(ints(einsumOf("ij->j", {x})), ElementsAre(9, 12, 15));
  EXPECT_THAT(ints(einsumOf("ba", {x})), ElementsAre(0, 3, 6, 1, 4, 7, 2, 5, 8));
  EXPECT_THAT(ints(einsumOf("i j -> ", {x})), ElementsAre(36));
  EXPECT_THAT(ints(einsumOf("...j->...", {x})), ElementsAre(3, 12, 21));
  EXPECT_THAT(ints(einsumOf("...j->j", {x})), ElementsAre(9, 12, 15));
  EXPECT_EQ(einsumOf("iji->ij", {Tensor::ones({2, 0, 2})}).shape(), (Shape{2, 0}));
  EXPECT_THAT(ints(einsumOf("iii->i", {Tensor::arange(0, 8).reshape({2, 2, 2})})), ElementsAre(0, 7));
  EXPECT_THAT(ints(einsumOf("", {Tensor::scalar(5)})), ElementsAre(5));
  // What is beside a diagonal takes no part.
  EXPECT_THAT(floats(einsumOf("ii", {Tensor::from({1.f, NAN, INFINITY, 2.f}).reshape({2, 2})})), ElementsAre(3));
}

TEST_P(LinalgTest, EinsumOfSeveralOperands) {
  const Tensor a = doubles({2, 3, 4}), b = doubles({2, 4, 5}, 1), m = doubles({4, 3}, 2), v = doubles({3}, 3);
  expectEqual(einsumOf("bij,bjk->bik", {a, b}), matmul(a, b));
  expectEqual(einsumOf("bij,bjk", {a, b}), matmul(a, b).sum({0}));
  expectEqual(einsumOf("...ij,...jk", {a, b}), matmul(a, b));
  expectEqual(einsumOf("...ij,jk->k...i", {a, m}), matmul(a, m).permute({2, 0, 1}));
  expectEqual(einsumOf("ji,i", {m, v}), matmul(m, v));
  expectEqual(einsumOf("i,j->ji", {v, doubles({2})}), doubles({2}).unsqueeze(1) * v);
  expectEqual(einsumOf("i,i->i", {v, v}), v * v);
  expectEqual(einsumOf("ij,kl->", {m, m}), m.sum() * m.sum());
  expectEqual(einsumOf("bij,bjk,i->bk", {a, b, v}), (matmul(a, b) * v.unsqueeze(1)).sum({1}));
  expectEqual(einsumOf("...,...", {doubles({3, 1}), v}), doubles({3, 1}) * v);
  const Tensor bytes = Tensor::full({200}, 100, DType::I8);
  EXPECT_EQ(einsumOf("i,i", {bytes, bytes}).item<int32_t>(), 2000000);
  EXPECT_EQ(einsumOf("i,i", {Tensor::ones({2}, DType::BF16), Tensor::ones({2}, DType::F16)}).dtype(), DType::F32);
  EXPECT_EQ(einsumOf("i,i->i", {Tensor::ones({0}), Tensor::ones({0})}).shape(), (Shape{0}));
  expectGradients([](const std::vector<Tensor> &in) { return einsum("bij,jk,ii->kb", in); },
                  {doubles({2, 3, 4}), doubles({4, 2}, 1), doubles({3, 3}, 2)});
}

TEST_P(LinalgTest, EinsumRefuses) {
  const Tensor m = Tensor::ones({2, 3});
  EXPECT_THAT(refusal([&] { einsumOf("ij,jk", {m}); }), HasSubstr("einsum: 'ij,jk' names 2 operands, not 1"));
  EXPECT_THAT(refusal([&] { einsumOf("i1", {m}); }), HasSubstr("einsum: 'i1' has '1' where a letter is expected"));
  EXPECT_THAT(refusal([&] { einsumOf("......", {m}); }), HasSubstr("has '.' where a letter is expected"));
  EXPECT_THAT(refusal([&] { einsumOf("i", {m}); }),
              HasSubstr("einsum: 'i' does not name the dimensions of operand 0, [2, 3]"));
  EXPECT_THAT(refusal([&] { einsumOf("ii", {m}); }), HasSubstr("einsum: 'ii' has extents 2 and 3 for 'i'"));
  EXPECT_THAT(refusal([&] { einsumOf("...,...", {m, Tensor::ones({2})}); }),
              HasSubstr("has extents 3 and 2 for a dimension of '...'"));
  EXPECT_THAT(refusal([&] { einsumOf("ij->ik", {m}); }), HasSubstr("einsum: 'ij->ik' has no operand with 'k'"));
  EXPECT_THAT(refusal([&] { einsumOf("ij->ii", {m}); }), HasSubstr("einsum: 'ij->ii' has 'i' twice in the result"));
  EXPECT_THAT(refusal([&] { einsumOf("ij,ij", {m, m.cast(DType::I32)}); }),
              HasSubstr("einsum: operands are of dtypes f32 and i32"));
}

/// Query by query.
static std::vector<double> attendNaively(const Tensor &q, const Tensor &k, const Tensor &v, double scale,
                                         const std::function<double(int64_t, int64_t)> &bias) {
  const int64_t n = q.shape()[0], m = k.shape()[0], width = q.shape()[1], out = v.shape()[1];
  const std::vector<double> a = q.toVector<double>(), b = k.toVector<double>(), c = v.toVector<double>();
  std::vector<double> result(n * out);
  for (int64_t i = 0; i < n; ++i) {
    double total = 0;
    for (int64_t j = 0; j < m; ++j) {
      double score = 0;
      for (int64_t d = 0; d < width; ++d)
        score += a[i * width + d] * b[j * width + d];
      const double weight = std::exp(score * scale + bias(i, j));
      total += weight;
      for (int64_t d = 0; d < out; ++d)
        result[i * out + d] += weight * c[j * out + d];
    }
    for (int64_t d = 0; d < out; ++d)
      result[i * out + d] /= total;
  }
  return result;
}

TEST_P(LinalgTest, Attention) {
  const Tensor q = doubles({4, 3}), k = doubles({5, 3}, 1), v = doubles({5, 2}, 2), mask = doubles({4, 5}, 3);
  const auto none = [](int64_t, int64_t) { return 0.0; };
  const auto near = [](const std::vector<double> &values) { return Pointwise(DoubleNear(1e-12), values); };
  EXPECT_THAT(scaledDotProductAttention(q, k, v).toVector<double>(),
              near(attendNaively(q, k, v, 1 / std::sqrt(3.0), none)));
  EXPECT_THAT(scaledDotProductAttention(q, k, v, {.scale = 2}).toVector<double>(),
              near(attendNaively(q, k, v, 2, none)));
  EXPECT_THAT(scaledDotProductAttention(q, k, v, {.causal = true, .scale = 1}).toVector<double>(),
              near(attendNaively(q, k, v, 1, [](int64_t i, int64_t j) { return j <= i + 1 ? 0 : -INFINITY; })));
  const std::vector<double> biases = mask.toVector<double>();
  EXPECT_THAT(scaledDotProductAttention(q, k, v, {.mask = mask, .scale = 1}).toVector<double>(),
              near(attendNaively(q, k, v, 1, [&](int64_t i, int64_t j) { return biases[i * 5 + j]; })));
  const Tensor seen = Tensor::from({1, 0, 1, 1, 0}) > 0;
  EXPECT_THAT(scaledDotProductAttention(q, k, v, {.mask = seen, .scale = 1}).toVector<double>(),
              near(attendNaively(q, k, v, 1, [](int64_t, int64_t j) { return j % 3 == 1 ? -INFINITY : 0; })));
  expectGradients(
      [](const std::vector<Tensor> &in) { return scaledDotProductAttention(in[0], in[1], in[2], {.causal = true}); },
      {q, k, v});
  const Tensor half = Tensor::ones({2, 4, 8}, DType::BF16);
  EXPECT_EQ(scaledDotProductAttention(half, half, half).dtype(), DType::BF16);
  EXPECT_THAT(refusal([&] { scaledDotProductAttention(q, k, half); }),
              HasSubstr("scaledDotProductAttention: queries, keys and values of types f64[4, 3], f64[5, 3] and "
                        "bf16[2, 4, 8] are not matrices of one dtype"));
  EXPECT_THAT(refusal([&] { scaledDotProductAttention(q, k, v, {.mask = Tensor::ones({5, 5})}); }),
              HasSubstr("scaledDotProductAttention: a mask of shape [5, 5] does not expand to [4, 5]"));
}

TEST_P(LinalgTest, ContractionsAndAttentionAreOneKernel) {
  const uint64_t one = GetParam() == std::string("reference") ? 0 : 1;
  const auto leaf = [](Shape shape) { return doubles(std::move(shape)).cast(DType::F32).detach(); };
  const Tensor q = leaf({2, 3, 40, 16}), k = leaf({2, 3, 50, 16}), v = leaf({2, 3, 50, 8});
  const auto launches = [&](const Tensor &x) {
    const uint64_t before = context.counters().launches;
    x.realize();
    return context.counters().launches - before;
  };
  EXPECT_EQ(launches(einsumOf("bhij,bhkj->bhik", {q, k})), one);
  EXPECT_EQ(launches(scaledDotProductAttention(q, k, v)), one);
  EXPECT_EQ(launches(scaledDotProductAttention(q, k, v, {.causal = true})), one);
  EXPECT_EQ(launches(scaledDotProductAttention(q.cast(DType::BF16), k.cast(DType::BF16), v.cast(DType::BF16))), one);
}

INSTANTIATE_TEST_SUITE_P(Devices, LinalgTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
