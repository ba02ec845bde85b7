//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using testing::HasSubstr;

namespace {

/// The one spelling of a text, or its refusal.
std::string canonical(std::string_view text) {
  const Result<Extent> extent = Extent::parse(text);
  return extent.isOk() ? extent->toString() : "refused: " + extent.status().message();
}

int64_t valueOf(std::string_view text, const Bindings &bindings) { return *Extent::parse(text)->evaluate(bindings); }

} // namespace

TEST(ExtentTest, EqualPolynomialsHaveOneSpelling) {
  EXPECT_EQ(canonical("0"), "0");
  EXPECT_EQ(canonical("n - n"), "0");
  EXPECT_EQ(canonical(" n+ 1 *2"), "n + 2");
  EXPECT_EQ(canonical("m*n - (2 - n*m)"), "2*m*n - 2");
  EXPECT_EQ(canonical("-(n - 1)"), "-n + 1");
  EXPECT_EQ(canonical("(n + 1)*(n - 1)"), "n*n - 1");
  EXPECT_EQ(canonical("(4*n + 6) floordiv 4"), "n + 1");
}

TEST(ExtentTest, QuotientsAreReduced) {
  EXPECT_EQ(canonical("(6*n + 4) floordiv 2"), "3*n + 2");
  EXPECT_EQ(canonical("n floordiv 1"), "n");
  EXPECT_EQ(canonical("3*n floordiv 2"), "(n floordiv 2) + n");
  EXPECT_EQ(canonical("(n - 3) floordiv 2 + 1"), "((n + 1) floordiv 2) - 1");
  EXPECT_EQ(canonical("2*(n floordiv 2)*m"), "2*(n floordiv 2)*m");
  // Each spelling reads back as itself.
  for (std::string_view text : {"((n + 1) floordiv 2) - 1", "2*(n floordiv 2)*m", "((n*n) floordiv 3) + 7",
                                "(((n floordiv 2) + n) floordiv 5)"})
    EXPECT_EQ(canonical(text), text);
}

TEST(ExtentTest, QuotientsRoundDown) {
  for (int64_t n = -7; n <= 7; ++n) {
    const Bindings at{{"n", n}};
    EXPECT_EQ(valueOf("n floordiv 3", at), n >= 0 ? n / 3 : -((-n + 2) / 3)) << n;
    EXPECT_EQ(valueOf("(0 - 5*n + 1) floordiv 3", at), (-5 * n + 1 - (((-5 * n + 1) % 3 + 3) % 3)) / 3) << n;
  }
}

TEST(ExtentTest, Evaluates) {
  EXPECT_EQ(valueOf("2*n*m + n - 3", {{"n", 5}, {"m", 7}}), 72);
  EXPECT_EQ(Extent::parse("n*m")->evaluate({{"n", 1}}).status().message(), "the symbol m has no value");
  EXPECT_THAT(Extent::parse("n*n")->evaluate({{"n", int64_t(1) << 40}}).status().message(),
              HasSubstr("an extent has a number that does not fit in 63 bits"));
  std::set<std::string> symbols;
  Extent::parse("a*(b + (c floordiv 2) floordiv 3) + 1")->collectSymbols(symbols);
  EXPECT_EQ(symbols, (std::set<std::string>{"a", "b", "c"}));
}

TEST(ExtentTest, SolvesForTheOneUnknown) {
  using Solution = std::optional<std::pair<std::string, int64_t>>;
  EXPECT_EQ(Extent::parse("n")->solve(7, {}), Solution({"n", 7}));
  EXPECT_EQ(Extent::parse("2*n + 1")->solve(7, {}), Solution({"n", 3}));
  EXPECT_EQ(Extent::parse("2*n + 1")->solve(8, {}), std::nullopt);
  EXPECT_EQ(Extent::parse("n*m + m")->solve(12, {{"m", 3}}), Solution({"n", 3}));
  EXPECT_EQ(Extent::parse("n*m")->solve(12, {}), std::nullopt);
  EXPECT_EQ(Extent::parse("n*n")->solve(9, {}), std::nullopt);
  EXPECT_EQ(Extent::parse("n + m")->solve(9, {}), std::nullopt);
  EXPECT_EQ(Extent::parse("n floordiv 2")->solve(9, {}), std::nullopt);
  EXPECT_EQ(Extent::parse("n")->solve(7, {{"n", 7}}), std::nullopt);
}

TEST(ExtentTest, RefusesWhatIsNoExtent) {
  EXPECT_THAT(canonical(""), HasSubstr("has no number, symbol or parenthesis at character 0"));
  EXPECT_THAT(canonical("n +"), HasSubstr("has no number, symbol or parenthesis at character 3"));
  EXPECT_THAT(canonical("n 2"), HasSubstr("has no operator at character 2"));
  EXPECT_THAT(canonical("(n"), HasSubstr("has no closing parenthesis"));
  EXPECT_THAT(canonical("n floordiv m"), HasSubstr("has no integer to divide by"));
  EXPECT_THAT(canonical("n floordiv 0"), HasSubstr("an extent is divided by 0, which is not positive"));
  EXPECT_THAT(canonical("2n"), HasSubstr("operator at character 1"));
  EXPECT_THAT(canonical("99999999999999999999"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(canonical("9223372036854775807 + 1"), HasSubstr("does not fit in 63 bits"));
  EXPECT_THAT(canonical(std::string(100, '(') + "n"), HasSubstr("an extent is nested deeper than 32"));
  EXPECT_THAT(canonical(std::string(2000, ' ')), HasSubstr("an extent has more than 1024 characters"));
  EXPECT_THAT(canonical("n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n"),
              HasSubstr("an extent has a product of more than 16 factors"));
  EXPECT_THAT(canonical("(a+b+c+d+e+f)*(a+b+c+d+e+f)*(a+b+c+d+e+f)*(a+b+c+d+e+f)"),
              HasSubstr("an extent has more than 64 terms"));
  EXPECT_EQ(Extent::symbol("2n").status().message(), "'2n' is no name of a symbol");
  EXPECT_EQ(Extent::symbol("floordiv").status().message(), "'floordiv' is no name of a symbol");
}

TEST(ExtentTest, TypesOfSymbols) {
  const TensorType type = symbolicType(DType::F32, {*Extent::parse("2*n"), Extent(3)});
  EXPECT_EQ(toString(type), "f32[2*n, 3]");
  EXPECT_EQ(type.shape, (Shape{symbolicExtent, 3}));
  EXPECT_EQ(toString(type.shape), "[?, 3]");
  EXPECT_THAT(numElements(type.shape).status().message(),
              HasSubstr("shape [?, 3] has an extent that is not known yet"));
  EXPECT_EQ(*specialise(type, {{"n", 2}}), (TensorType{DType::F32, {4, 3}}));
  EXPECT_THAT(specialise(type, {{"n", -2}}).status().message(), HasSubstr("the extent 2*n of f32[2*n, 3] becomes -4"));
  EXPECT_EQ(symbolicType(DType::F32, {Extent(2)}), (TensorType{DType::F32, {2}}));
}
