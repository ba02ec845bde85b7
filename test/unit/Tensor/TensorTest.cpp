//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

#include "zyx/zyx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <thread>

using namespace zyx;
using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::HasSubstr;
using zyx::test::floats;
using zyx::test::refusal;

namespace {

/// On the interpreter and on machine code.
using TensorTest = test::DeviceTest;

} // namespace

TEST_P(TensorTest, ArithmeticBroadcasts) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).reshape({2, 3});
  const Tensor row = Tensor::from({10.f, 20.f, 30.f}), column = Tensor::from({1.f, 2.f}).reshape({2, 1});
  EXPECT_THAT(floats(x + row), ElementsAre(11, 22, 33, 14, 25, 36));
  EXPECT_THAT(floats(x * column - 1), ElementsAre(0, 1, 2, 7, 9, 11));
  EXPECT_THAT(floats(1 / x), ElementsAre(1.f, .5f, 1 / 3.f, .25f, .2f, 1 / 6.f));
  EXPECT_EQ((row + column).shape(), (Shape{2, 3}));
  EXPECT_THAT((x > 3).cast(DType::I32).toVector<int32_t>(), ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(floats(where(x > 3, x, -x)), ElementsAre(-1, -2, -3, 4, 5, 6));
  EXPECT_THAT((Tensor::from({7, -7}) / 2).toVector<int>(), ElementsAre(3, -3));
}

TEST_P(TensorTest, DtypesPromoteWithoutLoss) {
  auto dtypeOf = [](DType a, DType b) { return (Tensor::ones({2}, a) + Tensor::ones({2}, b)).dtype(); };
  EXPECT_EQ(dtypeOf(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(dtypeOf(DType::U32, DType::I8), DType::I64);
  EXPECT_EQ(dtypeOf(DType::I16, DType::I64), DType::I64);
  EXPECT_EQ(dtypeOf(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(dtypeOf(DType::F32, DType::F64), DType::F64);
  EXPECT_THAT(refusal([&] { dtypeOf(DType::U64, DType::I8); }),
              HasSubstr("add: operands are of dtypes u64 and i8; cast"));
  EXPECT_THAT(refusal([&] { dtypeOf(DType::I32, DType::F32); }), HasSubstr("add: operands are of dtypes i32 and f32"));
  EXPECT_THAT(refusal([] { Tensor::ones({2}, DType::I32) + 0.5; }), HasSubstr("add: no i32 is 0.500000"));
  EXPECT_THAT(refusal([] { Tensor::ones({2}, DType::U8) * 256; }), HasSubstr("multiply: no u8 is 256"));
  EXPECT_EQ((Tensor::ones({2}, DType::U8) * 255).dtype(), DType::U8);
  ContextScope strict(Context({.device = GetParam(), .promote = false}));
  EXPECT_THAT(refusal([&] { dtypeOf(DType::U8, DType::I8); }), HasSubstr("add: operands are of dtypes u8 and i8"));
}

TEST_P(TensorTest, RefusalsNameTheCallAndBothShapes) {
  const Tensor x = Tensor::ones({2, 3}), y = Tensor::ones({4});
  const int line = __LINE__ + 1;
  const std::string text = refusal([&] { x + y; });
  EXPECT_THAT(text, HasSubstr("TensorTest.cpp:" + std::to_string(line) + ": "));
  EXPECT_THAT(text, HasSubstr("add: shapes [2, 3] and [4] do not broadcast"));
  EXPECT_THAT(refusal([&] { matmul(x, y); }),
              HasSubstr("matmul: shapes [2, 3] and [4] do not multiply: 3 columns meet 4 rows"));
  EXPECT_THAT(refusal([&] { matmul(x, Tensor::scalar(1.f)); }), HasSubstr("a scalar is no matrix"));
  EXPECT_THAT(refusal([&] { matmul(Tensor::ones({2, 3, 4}), Tensor::ones({3, 4, 5})); }),
              HasSubstr("the dimensions before the matrices do not broadcast"));
  EXPECT_THAT(refusal([&] { x.sum({2}); }), HasSubstr("sum: a tensor of rank 2 has no dimension 2"));
  EXPECT_THAT(refusal([&] { x.sum({0, -2}); }), HasSubstr("sum: dimension 0 is named twice"));
  EXPECT_THAT(refusal([&] { x.reshape({-1, -1}); }),
              HasSubstr("reshape: only one extent may be -1, not those of [-1, -1]"));
  EXPECT_THAT(refusal([&] { x.reshape({4, -1}); }), HasSubstr("reshape: the elements of [2, 3] do not fill [4, -1]"));
  EXPECT_THAT(refusal([&] { x.expand({3}); }), HasSubstr("expand: [2, 3] has more dimensions than [3]"));
  EXPECT_THAT(refusal([&] { x.expand({4, 3}); }), HasSubstr("expand: [2, 3] does not expand to [4, 3]"));
  EXPECT_THAT(refusal([&] { x.permute({0}); }), HasSubstr("permute: an order of 1 dimensions for a tensor of rank 2"));
  EXPECT_THAT(refusal([&] { x.squeeze(Dims{0}); }), HasSubstr("squeeze: dimension 0 of [2, 3] is not of extent 1"));
  EXPECT_THAT(refusal([&] { x.flatten(1, 0); }), HasSubstr("flatten: dimension 1 stands behind 0"));
  EXPECT_THAT(refusal([&] { x.pad({1}, {1}); }), HasSubstr("pad: 1 and 1 amounts for a tensor of rank 2"));
  EXPECT_THAT(refusal([&] { x.slice({{}, {}, {}}); }), HasSubstr("slice: 3 slices of a tensor of rank 2"));
  EXPECT_THAT(refusal([&] { x.slice({{.step = 0}}); }), HasSubstr("slice: a step of 0 goes nowhere"));
  EXPECT_THAT(refusal([&] { x.select(1, 3); }), HasSubstr("select: dimension 1 of [2, 3] has no position 3"));
  EXPECT_THAT(refusal([&] { x.item<float>(); }), HasSubstr("item: a tensor of shape [2, 3] has not one element"));
  EXPECT_THAT(refusal([&] { x.toVector<int>(); }), HasSubstr("a tensor of f32 is read as i32; cast it"));
  EXPECT_THAT(refusal([&] { where(x, x, x); }), HasSubstr("where: the condition is of dtype f32, not bool"));
  EXPECT_THAT(refusal([&] { where(y > 0, x, x); }), HasSubstr("where: shapes [4] and [2, 3] do not broadcast"));
  EXPECT_THAT(refusal([&] { Tensor::ones({2}, DType::I32).mean(); }),
              HasSubstr("mean: needs a tensor of floats, not of i32"));
  EXPECT_THAT(refusal([&] { Tensor::ones({0}).argmax(0); }), HasSubstr("argmax: dimension 0 of [0] is empty"));
  EXPECT_THAT(
      refusal([&] { crossEntropy(x, x); }),
      HasSubstr("crossEntropy: logits of shape [2, 3] and targets of shape [2, 3] are not [rows, classes] and [rows]"));
  EXPECT_THAT(refusal([&] { oneHot(y, -1); }), HasSubstr("oneHot: there are no -1 classes"));
  EXPECT_THAT(refusal([&] { Tensor::arange(0, 1, 0); }), HasSubstr("arange: a step of 0 goes nowhere"));
  EXPECT_THAT(refusal([&] { Tensor::full({2}, 0.5, DType::I8); }), HasSubstr("full: no i8 is 0.500000"));
  EXPECT_THAT(refusal([&] { Tensor::from(std::vector<float>{1}, {2}); }),
              HasSubstr("a tensor of type f32[2] has 8 bytes, not 4"));
  EXPECT_THAT(refusal([&] { Tensor() + 1; }), HasSubstr("add: neither operand is a tensor"));
  EXPECT_THAT(refusal([&] { Tensor().exp(); }), HasSubstr("unary: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { Tensor().realize(); }), HasSubstr("realize: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { Tensor().bytes(); }), HasSubstr("there is no tensor to read"));
  EXPECT_THAT(refusal([&] { Tensor().sum(); }), HasSubstr("sum: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { Tensor().argmin(0); }), HasSubstr("argmin: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { Tensor().pad({}, {}); }), HasSubstr("pad: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { concat({}); }), HasSubstr("concat: there is no tensor in the first place"));
  EXPECT_THAT(refusal([&] { gradient(Tensor(), std::vector{x}); }),
              HasSubstr("gradient: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { Context({.device = "abacus"}); }), HasSubstr("abacus"));
  // Nothing is lost.
  EXPECT_THAT(floats(y), ElementsAre(1, 1, 1, 1));
}

TEST_P(TensorTest, Movement) {
  const Tensor x = Tensor::arange(0, 12).reshape({3, 4});
  auto ints = [](const Tensor &t) { return t.toVector<int64_t>(); };
  EXPECT_THAT(ints(x.transpose().slice({{1, 3}, {0, 2}})), ElementsAre(1, 5, 2, 6));
  EXPECT_THAT(ints(x.slice({{-1}, {.step = -1}})), ElementsAre(11, 10, 9, 8));
  EXPECT_THAT(ints(x.slice({{.step = 2}, {1, std::nullopt, 2}})), ElementsAre(1, 3, 9, 11));
  EXPECT_THAT(ints(x.slice({{0, 1}, {3, 0, -2}})), ElementsAre(3, 1));
  EXPECT_THAT(ints(x.slice({{0, 1}, {-100, 100, 100}})), ElementsAre(0));
  EXPECT_EQ(x.slice({{2, 1}}).shape(), (Shape{0, 4}));
  EXPECT_EQ(x.slice({{100, 200, -1}}).shape(), (Shape{0, 4}));
  EXPECT_THAT(ints(x.select(0, -2)), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(ints(x.slice({{0, 1}, {0, 2}}).pad({0, 1}, {1, -1}, 9)), ElementsAre(9, 0, 9, 9));
  EXPECT_THAT(ints(x.flip({0}).select(1, 0)), ElementsAre(8, 4, 0));
  EXPECT_EQ(x.unsqueeze(1).expand({-1, 2, -1}).flatten(1).shape(), (Shape{3, 8}));
  EXPECT_EQ(Tensor::ones({1, 2, 1}).squeeze().shape(), (Shape{2}));
  EXPECT_EQ(Tensor::ones({1, 2, 1}).squeeze(Dims{}).shape(), (Shape{1, 2, 1}));
  const std::vector parts = {x.select(0, 0), x.select(0, 2)};
  EXPECT_THAT(ints(concat(parts)), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(ints(take(x.select(0, 1), Tensor::from({int64_t(3), int64_t(0), int64_t(9)}))), ElementsAre(7, 4, 0));
  EXPECT_THAT(Tensor::eye(2).toVector<float>(), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(ints(Tensor::arange(5, 0, -2)), ElementsAre(5, 3, 1));
}

TEST_P(TensorTest, Reductions) {
  const Tensor x = Tensor::from({3.f, 1.f, 2.f, -1.f, 5.f, 5.f}).reshape({2, 3});
  EXPECT_EQ(x.sum().item<float>(), 15);
  EXPECT_THAT(floats(x.sum({0})), ElementsAre(2, 6, 7));
  EXPECT_EQ(x.max({1}, true).shape(), (Shape{2, 1}));
  EXPECT_THAT(floats(x.min({-1})), ElementsAre(1, -1));
  EXPECT_THAT(floats(x.prod({1})), ElementsAre(6, -25));
  EXPECT_THAT(floats(x.mean({1})), ElementsAre(2, 3));
  EXPECT_THAT(floats(x.var({1})), ElementsAre(1, 12));
  EXPECT_THAT(floats(x.var({1}, false, 0)), ElementsAre(FloatEq(2 / 3.f), 8));
  EXPECT_THAT(x.argmax(1).toVector<int64_t>(), ElementsAre(0, 1));
  EXPECT_THAT(x.argmin(1).toVector<int64_t>(), ElementsAre(1, 0));
  EXPECT_THAT(Tensor::from({1.f, NAN, NAN}).argmax(0).item<int64_t>(), 1);
  EXPECT_EQ(Tensor::full({300}, 1, DType::I8).sum().item<int32_t>(), 300);
  EXPECT_EQ(Tensor::ones({300}, DType::U8).sum().dtype(), DType::U32);
  EXPECT_EQ((x > 0).sum().item<int32_t>(), 5);
  // In f16 the sum would be infinite.
  EXPECT_EQ(Tensor::full({200}, 1000, DType::F16).mean().cast(DType::F32).item<float>(), 1000);
  EXPECT_EQ(Tensor::scalar(2.f).sum().item<float>(), 2);
  EXPECT_EQ(Tensor::ones({0, 3}).sum().item<float>(), 0);
  const std::vector<float> p = floats(x.softmax());
  EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-6);
  EXPECT_NEAR(std::log(p[1]), floats(x.logSoftmax())[1], 1e-6);
}

TEST_P(TensorTest, ProductsOfMatrices) {
  const Tensor a = Tensor::from({1.f, 2.f, 3.f, 4.f}).reshape({2, 2}), v = Tensor::from({1.f, -1.f});
  EXPECT_THAT(floats(matmul(a, a)), ElementsAre(7, 10, 15, 22));
  EXPECT_THAT(floats(matmul(a, v)), ElementsAre(-1, -1));
  EXPECT_THAT(floats(matmul(v, a)), ElementsAre(-2, -2));
  EXPECT_EQ(matmul(v, v).item<float>(), 2);
  EXPECT_EQ(matmul(Tensor::ones({5, 1, 2, 2}), Tensor::ones({3, 2, 4})).shape(), (Shape{5, 3, 2, 4}));
  EXPECT_EQ(matmul(Tensor::ones({1, 300}, DType::I8), Tensor::ones({300, 1}, DType::I8)).item<int32_t>(), 300);
  EXPECT_EQ(matmul(Tensor::ones({2, 2}, DType::BF16), Tensor::ones({2, 2}, DType::BF16)).dtype(), DType::BF16);
}

TEST_P(TensorTest, Activations) {
  const Tensor x = Tensor::from({-2.f, 0.f, 3.f, 200.f, NAN});
  EXPECT_THAT(floats(x.relu().slice({{0, 4}})), ElementsAre(0, 0, 3, 200));
  EXPECT_TRUE(std::isnan(floats(x.relu())[4]));
  EXPECT_THAT(floats((-x).sigmoid().slice({{0, 4}})),
              ElementsAre(FloatNear(0.8807971f, 1e-6), 0.5f, FloatNear(0.04742587f, 1e-6), 0));
  EXPECT_THAT(floats(x.gelu().slice({{0, 3}})),
              ElementsAre(FloatNear(-0.04550026f, 1e-6), 0, FloatNear(2.9959507f, 1e-6)));
  EXPECT_NEAR(floats(x.silu())[2], 3 * 0.95257413, 1e-6);
}

TEST_P(TensorTest, ProgramsAreCompiledOnce) {
  for (int i = 0; i < 3; ++i) {
    const Tensor x = Tensor::from({float(i), 1.f});
    EXPECT_THAT(floats(x * 2 + 1), ElementsAre(2 * i + 1, 3));
  }
  const ContextCounters counters = context.counters();
  EXPECT_EQ(counters.runs, 3u);
  EXPECT_EQ(counters.hits, 2u);
}

TEST_P(TensorTest, SeveralValuesComeFromOneProgram) {
  const Tensor x = Tensor::from({1.f, 2.f});
  const std::vector values = {x + 1, x * 3, x};
  realize(values);
  EXPECT_EQ(context.counters().runs, 1u);
  EXPECT_TRUE(values[0].isRealized() && values[1].isRealized());
  EXPECT_THAT(floats(values[1]), ElementsAre(3, 6));
  EXPECT_EQ(context.counters().runs, 1u);
}

TEST_P(TensorTest, MemoryGoesWithTheLastHandle) {
  EXPECT_EQ(context.counters().valueBytes, 0u);
  Tensor y;
  {
    const Tensor x = Tensor::from(std::vector<float>(1000, 1), {1000});
    y = x + 1;
    EXPECT_EQ(context.counters().valueBytes, 4000u);
  }
  // What is not computed yet needs it.
  EXPECT_EQ(context.counters().valueBytes, 4000u);
  EXPECT_EQ(y.realize().sum().item<float>(), 2000);
  EXPECT_EQ(context.counters().valueBytes, 4000u);
  y = Tensor();
  EXPECT_EQ(context.counters().valueBytes, 0u);
  EXPECT_EQ(context.counters().liveNodes, 0u);
}

TEST_P(TensorTest, GraphsAreRebuiltWithoutWhatIsDead) {
  Tensor x = Tensor::from({1.f, 2.f}), kept = x + 0.5;
  const Tensor lazy = x * 4;
  for (int i = 0; i < 1200; ++i) {
    x = x + 1;
    if (i % 100 == 99)
      x.realize();
  }
  EXPECT_LT(context.counters().nodes, 1500u);
  EXPECT_THAT(floats(x), ElementsAre(1201, 1202));
  EXPECT_THAT(floats(kept), ElementsAre(1.5, 2.5));
  EXPECT_THAT(floats(lazy), ElementsAre(4, 8));
}

TEST_P(TensorTest, ContextsDoNotMix) {
  const Tensor here = Tensor::ones({2});
  ContextScope scope(Context({.device = "reference"}));
  const Tensor there = Tensor::ones({2});
  EXPECT_THAT(refusal([&] { here + there; }),
              HasSubstr("tensors of two contexts meet; values go from one to the other by bytes()"));
  EXPECT_THAT(floats(here + 1), ElementsAre(2, 2));
}

TEST_P(TensorTest, ThreadsShareHandles) {
  const Tensor x = Tensor::from(std::vector<float>(64, 1), {64});
  std::vector<std::thread> threads;
  std::vector<float> sums(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const Tensor copy = x;
        sums[t] += (copy * float(i % 3)).sum().item<float>();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(sums, testing::Each(64 * (0 * 7 + 1 * 7 + 2 * 6)));
}

TEST_P(TensorTest, Gradients) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f}), w = Tensor::from({0.5f, -1.f, 2.f}), other = Tensor::from({1.f, 1.f});
  const Tensor y = (x * x * w).sum();
  const std::vector<Tensor> g = gradient(y, {x, w, other}, {.allowUnused = true});
  // Of the gradient, in turn.
  EXPECT_THAT(floats(gradient(g[0].sum(), std::vector{x})[0]), ElementsAre(1, -2, 4));
  EXPECT_THAT(floats(g[0]), ElementsAre(1, -4, 12));
  EXPECT_THAT(floats(g[1]), ElementsAre(1, 4, 9));
  EXPECT_THAT(floats(g[2]), ElementsAre(0, 0));
  EXPECT_THAT(floats(gradient(x * 2, std::vector{x}, w)[0]), ElementsAre(1, -2, 4));
  EXPECT_THAT(floats(gradient(x.relu().sum(), std::vector{x})[0]), ElementsAre(1, 1, 1));
  const Tensor zero = Tensor::zeros({1}).detach();
  // y0 (1 - y0), -y0 y1, where the largest element is there twice; and again.
  const Tensor twice = Tensor::from({2.f, 2.f}), first = twice.softmax().slice({{0, 1}}).sum();
  const Tensor slope = gradient(first, std::vector{twice})[0];
  const Tensor curvature = gradient(slope.slice({{0, 1}}).sum(), std::vector{twice})[0];
  EXPECT_THAT(floats(slope), ElementsAre(0.25, -0.25));
  EXPECT_THAT(floats(curvature), ElementsAre(0, 0));
  EXPECT_THAT(floats(gradient(twice.logSoftmax().slice({{0, 1}}).sum(), std::vector{twice})[0]),
              ElementsAre(0.5, -0.5));
  EXPECT_THAT(floats(gradient(zero.relu().sum(), std::vector{zero})[0]), ElementsAre(0));
  EXPECT_THAT(refusal([&] { gradient(zero, std::vector{x, Tensor::zeros({1}).realize() + 1}); }),
              HasSubstr("gradient: source 1, f32[1], is a constant, which is not told from others of the same "
                        "elements; detach() makes a leaf of it"));
  EXPECT_THAT(refusal([&] { Tensor().detach(); }), HasSubstr("detach: there is no tensor in this place"));
}

TEST_P(TensorTest, LeavesOfOneValueAreTwo) {
  const Tensor a = Tensor::ones({2}).detach(), b = Tensor::ones({2}).detach();
  const std::vector<Tensor> g = gradient((a * 3 + b * 5).sum(), std::vector{a, b});
  EXPECT_THAT(floats(g[0]), ElementsAre(3, 3));
  EXPECT_THAT(floats(g[1]), ElementsAre(5, 5));
}

TEST_P(TensorTest, TapesKeepTheHistoryOfRealizedTensors) {
  const Tensor x = Tensor::from({2.f});
  {
    const Tensor y = x * x;
    y.realize();
    EXPECT_THAT(refusal([&] { gradient(y, std::vector{x}); }),
                HasSubstr("gradient: the target, f32[1], was realized and has forgotten what it was made of; take its "
                          "gradient before its value is read, or realize it while a Tape lives"));
    EXPECT_THAT(floats(gradient(y, {y, x}, {.allowUnused = true})[0]), ElementsAre(1));
  }
  Tensor y;
  {
    auto outer = std::make_unique<Tape>(context);
    const Tape inner(context);
    y = x * x * x;
    y.realize();
    outer.reset();
    EXPECT_THAT(floats(gradient(y, std::vector{x})[0]), ElementsAre(12));
  }
  EXPECT_THAT(refusal([&] { gradient(y, std::vector{x}); }), HasSubstr("has forgotten"));
  EXPECT_THAT(floats(y), ElementsAre(8));
}

TEST_P(TensorTest, TrainsALine) {
  std::vector<float> xs, ys;
  for (int i = 0; i < 32; ++i) {
    xs.push_back(float(i) / 16 - 1);
    ys.push_back(3 * xs.back() - 0.5f);
  }
  const Tensor x = Tensor::from(xs, {32}), y = Tensor::from(ys, {32});
  Tensor a = Tensor::from({0.f}), b = Tensor::from({0.f});
  for (int step = 0; step < 60; ++step) {
    const Tensor loss = pow(a * x + b - y, 2).mean();
    const std::vector<Tensor> g = gradient(loss, std::vector{a, b});
    a = a - 0.5 * g[0];
    b = b - 0.5 * g[1];
    realize(std::vector{a, b});
  }
  EXPECT_NEAR(a.item<float>(), 3, 1e-3);
  EXPECT_NEAR(b.item<float>(), -0.5, 1e-3);
  EXPECT_EQ(context.counters().hits, 59u);
}

TEST_P(TensorTest, CapturedFunctionsAreBuiltOnce) {
  int calls = 0;
  const Tensor offset = Tensor::from({100.f, 200.f});
  const Jit step([&](std::span<const Tensor> x) {
    ++calls;
    return std::vector{x[0] * 2 + x[1] + offset, gradient((x[0] * x[0]).sum(), x.first(1))[0]};
  });
  Tensor x = Tensor::from({1.f, 2.f});
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> results = step({x, Tensor::from({float(i), 0.f})});
    EXPECT_THAT(floats(results[0]), ElementsAre(2 * floats(x)[0] + i + 100, 2 * floats(x)[1] + 200));
    EXPECT_THAT(floats(results[1]), ElementsAre(2 * floats(x)[0], 2 * floats(x)[1]));
    x = results[1];
  }
  EXPECT_EQ(calls, 1);
  // Other types are another program.
  EXPECT_EQ(step({Tensor::from({1.f}).expand({3, 2}), x})[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(step.numCaptures(), 2u);
  // An argument that is returned, and one that is not used.
  const Jit second([](std::span<const Tensor> x) { return std::vector{x[1]}; });
  EXPECT_THAT(floats(second({x, offset})[0]), ElementsAre(100, 200));
}

TEST_P(TensorTest, CapturedFunctionsReadNoValues) {
  const Jit reads([](std::span<const Tensor> x) { return std::vector{x[0] * (x[0] + 1).item<float>()}; });
  const Tensor x = Tensor::from({1.f});
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(
        refusal([&] { reads({x}); }),
        HasSubstr("a value is read that depends on the arguments of a function which is captured; it has none yet"));
  EXPECT_EQ(reads.numCaptures(), 0u);
  EXPECT_THAT(refusal([&] { reads({Tensor()}); }), HasSubstr("jit: there is no tensor in this place"));
  EXPECT_THAT(refusal([&] { Jit(nullptr)({x}); }), HasSubstr("jit: there is no function"));
  const Jit returnsNone([](std::span<const Tensor>) { return std::vector{Tensor()}; });
  EXPECT_THAT(refusal([&] { returnsNone({x}); }), HasSubstr("jit: the function returns no tensor in one place"));
  // Other values may be read.
  const Jit branches([&](std::span<const Tensor> a) { return std::vector{x.item<float>() > 0 ? a[0] : -a[0]}; });
  EXPECT_THAT(floats(branches({x})[0]), ElementsAre(1));
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
