//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TensorFixture.h"

using namespace zyx;
using namespace zyx::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

using CustomTest = DeviceTest;

namespace {

const CustomMeaning doubling = [](std::span<const Tensor> in) { return std::vector{in[0] + in[0]}; };

/// For vectors of four floats, and for the processor.
Implementation inC(std::string text) {
  const TensorType type{DType::F32, {4}};
  return {.language = Language::C,
          .target = "cpu",
          .entry = "f",
          .text = std::move(text),
          .operands = {type},
          .results = {type}};
}

/// What no meaning says, so that it shows who computes.
const char *wrong = "void f(const float *x, float *y) { for (int i = 0; i < 4; ++i) y[i] = x[i] + 100; }";

std::string messageOf(const Implementation &implementation) {
  return refusal([&] {
    custom("own", std::vector{Tensor::from({1.f, 2.f, 3.f, 4.f})}, doubling, {implementation})[0].toVector<float>();
  });
}

} // namespace

TEST_P(CustomTest, RunsTheKernelOfItsMachine) {
  const bool isCompiled = std::string(GetParam()) == "cpu";
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f});
  const Tensor y = custom("own", std::vector{x}, doubling, {inC(wrong)})[0];
  if (isCompiled)
    EXPECT_THAT(floats(y), ElementsAre(101, 102, 103, 104));
  else
    EXPECT_THAT(floats(y), ElementsAre(2, 4, 6, 8));
  // One for another machine leaves the meaning.
  Implementation other = inC(wrong);
  other.target = "sm_90a";
  EXPECT_THAT(floats(custom("own", std::vector{x}, doubling, {other})[0]), ElementsAre(2, 4, 6, 8));
  // In the middle of a program.
  EXPECT_THAT(floats(custom("own", std::vector{x * 0}, doubling, {inC(wrong)})[0] * 2), Each(isCompiled ? 200 : 0));
}

TEST_P(CustomTest, TheGradientIsThatOfTheMeaning) {
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f});
  const Tensor y = custom("own", std::vector{x}, [](std::span<const Tensor> in) { return std::vector{in[0] * in[0]}; },
                          {inC(wrong)})[0];
  EXPECT_THAT(floats(gradient(y.sum(), std::vector{x})[0]), ElementsAre(2, 4, 6, 8));
}

TEST_P(CustomTest, HasSeveralOperandsAndResults) {
  const Tensor x = Tensor::from({1.f, 2.f}), n = Tensor::from({5, 6, 7});
  const Implementation own{.language = Language::C,
                           .target = "cpu",
                           .entry = "both",
                           .text = "void both(const float *x, const int32_t *n, int32_t *sum, double *wide) {\n"
                                   "  *sum = n[0] + n[1] + n[2];\n"
                                   "  for (int i = 0; i < 2; ++i) wide[i] = x[i];\n"
                                   "}",
                           .operands = {{DType::F32, {2}}, {DType::I32, {3}}},
                           .results = {{DType::I32, {}}, {DType::F64, {2}}}};
  const std::vector<Tensor> found =
      custom("both", std::vector{x, n},
             [](std::span<const Tensor> in) { return std::vector{in[1].sum(), in[0].cast(DType::F64)}; }, {own});
  EXPECT_EQ(found[0].item<int32_t>(), 18);
  EXPECT_THAT(found[1].toVector<double>(), ElementsAre(1, 2));
}

TEST_P(CustomTest, ThreadsShareGroups) {
  constexpr int64_t rows = 4096, columns = 64;
  const TensorType type{DType::F32, {rows, columns}};
  Implementation own{.language = Language::C,
                     .target = "cpu",
                     .entry = "increment",
                     .text = "void increment(const float *x, float *y, int64_t begin, int64_t end) {\n"
                             "  for (int64_t i = begin * 64; i < end * 64; ++i) y[i] = x[i] + 1;\n"
                             "}",
                     .operands = {type},
                     .results = {type},
                     .groups = rows};
  const Tensor x = Tensor::full({rows, columns}, 2, DType::F32);
  EXPECT_THAT(floats(custom("increment", std::vector{x},
                            [](std::span<const Tensor> in) { return std::vector{in[0] + 1}; }, {own})[0]),
              Each(3));
}

TEST_P(CustomTest, RefusesWhatIsNoKernel) {
  Implementation other = inC(wrong);
  other.operands[0].shape = {5};
  EXPECT_THAT(messageOf(other), HasSubstr("custom own: the implementation for 'cpu' is for f32[5] as operand 0"));
  const Tensor x = Tensor::from({1.f, 2.f, 3.f, 4.f}), w = x.exp();
  EXPECT_THAT(refusal([&] {
                custom("own", std::vector{x}, [&](std::span<const Tensor> in) { return std::vector{in[0] + w}; }, {});
              }),
              HasSubstr("custom: the meaning of 'own' reads f32[4], which is none of its inputs"));
  EXPECT_THAT(refusal([&] { custom("own", std::vector{x}, {}, {}); }), HasSubstr("custom: there is no meaning"));
  EXPECT_THAT(refusal([&] { custom("own", std::vector<Tensor>{}, doubling, {}); }),
              HasSubstr("custom: there are no inputs"));
  EXPECT_THAT(refusal([&] { custom("own", std::vector{Tensor()}, doubling, {}); }),
              HasSubstr("custom: there is no tensor in one place of the inputs"));
  EXPECT_THAT(refusal([&] {
                custom("own", std::vector{x}, [](std::span<const Tensor>) { return std::vector<Tensor>{}; }, {});
              }),
              HasSubstr("the meaning of 'own' makes nothing"));
  EXPECT_THAT(refusal([&] {
                custom("own", std::vector{x}, [](std::span<const Tensor>) { return std::vector<Tensor>(1); }, {});
              }),
              HasSubstr("the meaning of 'own' makes no tensor in one place of its results"));
  if (std::string(GetParam()) != "cpu")
    return;
  // The compiler's words, behind the op.
  EXPECT_THAT(
      messageOf(inC("void f(const float *x, float *y) { nonsense; }")),
      testing::AllOf(HasSubstr("of custom 'own' is no function 'f' in C"), HasSubstr("f.c:1:"), HasSubstr("nonsense")));
  EXPECT_THAT(messageOf(inC("void f(const double *x, float *y) {}")), HasSubstr("conflicting types for"));
  EXPECT_THAT(messageOf(inC("void f(const float *x) {}")), HasSubstr("conflicting types for"));
  EXPECT_THAT(messageOf(inC("void g(const float *x, float *y) {}")), HasSubstr("undefined reference to `f'"));
}

INSTANTIATE_TEST_SUITE_P(Devices, CustomTest, testing::Values("reference", "cpu"),
                         [](const auto &info) { return std::string(info.param); });
