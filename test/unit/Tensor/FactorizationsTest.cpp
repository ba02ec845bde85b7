//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Products of factors are what was factorized.
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::Pointwise;

using FactorizationsTest = DeviceTest;
using Inputs = std::vector<Tensor>;

namespace {

auto near(const Tensor &x, double tolerance = 1e-12) { return Pointwise(DoubleNear(tolerance), x.toVector<double>()); }

/// Symmetric, with eigenvalues above 1.
Tensor positive(const Shape &shape, int seed = 0) {
  const Tensor x = doubles(shape, seed);
  return matmul(x, x.transpose()) + Tensor::eye(shape.back(), DType::F64);
}

} // namespace

TEST_P(FactorizationsTest, TriangularSolve) {
  const Tensor a = doubles({2, 1, 4, 4}) + 2 * Tensor::eye(4, DType::F64), b = doubles({3, 4, 2}, 1);
  for (const bool upper : {false, true}) {
    const Tensor triangle = upper ? triu(a) : tril(a);
    const Tensor x = triangularSolve(a, b, {.upper = upper});
    ASSERT_EQ(x.shape(), (Shape{2, 3, 4, 2}));
    EXPECT_THAT(matmul(triangle, x).toVector<double>(), near(b.expand({2, 3, 4, 2})));
    const Tensor unit = maskedFill(triangle, Tensor::eye(4, DType::Bool), 1);
    EXPECT_THAT(matmul(unit, triangularSolve(a, b, {.upper = upper, .unitDiagonal = true})).toVector<double>(),
                near(b.expand({2, 3, 4, 2})));
    expectGradients([&](const Inputs &in) { return triangularSolve(in[0], in[1], {.upper = upper}); },
                    {a.select(0, 0).select(0, 0), doubles({4, 2}, 1)});
  }
  // What lies in the other triangle is not looked at.
  const Tensor other = Tensor::from({2., double(NAN), 1., 4.}).reshape({2, 2});
  EXPECT_THAT(triangularSolve(other, Tensor::from({2., 9.}).reshape({2, 1})).toVector<double>(), ElementsAre(1, 2));
  EXPECT_EQ(triangularSolve(Tensor::ones({0, 0}), Tensor::ones({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(triangularSolve(Tensor::ones({1, 1}, DType::BF16), Tensor::ones({1, 1}, DType::BF16)).dtype(), DType::BF16);
}

TEST_P(FactorizationsTest, Cholesky) {
  const Tensor a = positive({2, 5, 5}), l = cholesky(a);
  EXPECT_THAT(matmul(l, l.transpose()).toVector<double>(), near(a));
  EXPECT_THAT(triu(l, 1).toVector<double>(), Each(0));
  const Tensor known = Tensor::from({4., 12., -16., 12., 37., -43., -16., -43., 98.}).reshape({3, 3});
  EXPECT_THAT(cholesky(known).toVector<double>(),
              Pointwise(DoubleNear(1e-12), std::vector<double>{2, 0, 0, 6, 1, 0, -8, 5, 3}));
  EXPECT_THAT(cholesky(maskedFill(known, tril(Tensor::ones({3, 3})) == 0, NAN)).toVector<double>(),
              near(cholesky(known)));
  EXPECT_THAT(cholesky(Tensor::from({-1.0}).reshape({1, 1})).toVector<double>(), ElementsAre(IsNan()));
  expectGradients([](const Inputs &in) { return cholesky(in[0]); }, {positive({3, 3}, 2)});
  const Tensor hidden = maskedFill(known, tril(Tensor::ones({3, 3})) == 0, NAN).detach();
  EXPECT_THAT(gradient(cholesky(hidden).sum(), Inputs{hidden})[0].toVector<double>(),
              near(gradient(cholesky(known).sum(), Inputs{known})[0]));
}

TEST_P(FactorizationsTest, QR) {
  for (const Shape &shape : {Shape{2, 5, 3}, Shape{3, 3}, Shape{2, 4}}) {
    const Tensor a = doubles(shape);
    const auto [q, r] = qr(a);
    const int64_t k = std::min(shape.back(), shape[shape.size() - 2]);
    EXPECT_THAT(matmul(q, r).toVector<double>(), near(a));
    const Tensor products = matmul(q.transpose(), q);
    EXPECT_THAT(products.toVector<double>(), near(Tensor::eye(k, DType::F64).expand(products.shape())));
    EXPECT_THAT(tril(r, -1).toVector<double>(), Each(DoubleNear(0, 0)));
    EXPECT_THAT(diagonal(r, 0, -2, -1).toVector<double>(), Each(testing::Gt(0)));
  }
  // Columns that are nearly parallel.
  const Tensor steep = Tensor::from({1., 1., 1e-7, 0., 0., 1e-7}).reshape({3, 2}), q = qr(steep).q;
  EXPECT_THAT(matmul(q.transpose(), q).toVector<double>(), near(Tensor::eye(2, DType::F64), 1e-14));
  expectGradients([](const Inputs &in) { return qr(in[0]).q; }, {doubles({4, 2})});
  expectGradients([](const Inputs &in) { return qr(in[0]).r; }, {doubles({2, 3})});
}

TEST_P(FactorizationsTest, Refusals) {
  const Tensor a = doubles({3, 3});
  EXPECT_THAT(refusal([&] { cholesky(doubles({2, 3})); }),
              HasSubstr("cholesky: a tensor of shape [2, 3] is no square matrix, and no stack of such"));
  EXPECT_THAT(refusal([&] { qr(doubles({2})); }), HasSubstr("qr: a tensor of shape [2] has no matrices"));
  EXPECT_THAT(refusal([&] { triangularSolve(a, doubles({2, 3})); }),
              HasSubstr("triangularSolve: matrices of types f64[3, 3] and f64[2, 3] do not fit"));
  EXPECT_THAT(refusal([&] { triangularSolve(doubles({2, 3, 3}), doubles({3, 3, 1})); }),
              HasSubstr("triangularSolve: matrices of types f64[2, 3, 3] and f64[3, 3, 1] do not fit"));
  EXPECT_THAT(refusal([&] { qr(Tensor::ones({2, 2}, DType::I32)); }),
              HasSubstr("qr: needs a tensor of floats, not of i32"));
  const int line = __LINE__ + 2;
  // Outside the macro: within it each line is the last one of its arguments.
  const std::string text = refusal([&] { cholesky(doubles({2, 3})); });
  EXPECT_THAT(text, HasSubstr("FactorizationsTest.cpp:" + std::to_string(line) + ": "));
}

INSTANTIATE_TEST_SUITE_P(Devices, FactorizationsTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
