//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TextLimits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using testing::HasSubstr;

static std::string repeat(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST(TextLimits, acceptsOrdinaryText) {
  EXPECT_TRUE(checkTextLimits("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return }").isOk());
  EXPECT_TRUE(checkTextLimits("").isOk());
}

TEST(TextLimits, refusesLongText) {
  Status status = checkTextLimits("12345", {.bytes = 4});
  EXPECT_THAT(status.message(), HasSubstr("the text has 5 bytes, more than 4"));
}

TEST(TextLimits, refusesDeepNesting) {
  for (std::string_view bracket : {"(", "[", "{", "<", "<[({"}) {
    Status status = checkTextLimits("\n" + repeat(bracket, 257));
    EXPECT_THAT(status.message(), HasSubstr("line 2 nests deeper than 256 brackets"));
  }
  EXPECT_TRUE(checkTextLimits(repeat("(", 256)).isOk());
  EXPECT_TRUE(checkTextLimits(repeat("()", 10000)).isOk());
}

TEST(TextLimits, arrowsAndComparisonsCloseNothing) {
  EXPECT_FALSE(checkTextLimits(repeat("<->", 300)).isOk());
  EXPECT_FALSE(checkTextLimits(repeat("<>=", 300)).isOk());
}

TEST(TextLimits, bracketsInStringsAndCommentsAreText) {
  EXPECT_TRUE(checkTextLimits('"' + repeat("(", 300) + "\\\"(\"").isOk());
  EXPECT_TRUE(checkTextLimits("// " + repeat("(", 300) + "\n").isOk());
  // A string ends at the end of its line at the latest.
  EXPECT_FALSE(checkTextLimits("\"\n" + repeat("(", 300)).isOk());
}

TEST(TextLimits, refusesManyMinusSigns) {
  EXPECT_THAT(checkTextLimits(repeat("- ", 300)).message(), HasSubstr("has more than 256 minus signs in a row"));
  EXPECT_FALSE(checkTextLimits(repeat("-\n", 300)).isOk());
  EXPECT_FALSE(checkTextLimits(repeat("-// x\n", 300)).isOk());
  EXPECT_TRUE(checkTextLimits(repeat("-1, ", 300)).isOk());
}

TEST(TextLimits, refusesFarAlignmentsOfResources) {
  const std::string before = "{-# dialect_resources: { builtin: {\n a: \"0x04000000AB\", b: \"0x";
  EXPECT_THAT(checkTextLimits(before + "01200000\" } } #-}").message(),
              HasSubstr("line 2 has a resource that is aligned to 8193 bytes, more than 4096"));
  EXPECT_THAT(checkTextLimits(before + "00000080\" } } #-}").message(), HasSubstr("aligned to 2147483648 bytes"));
  EXPECT_TRUE(checkTextLimits(before + "00100000\" } } #-}").isOk());
  // What is no number is the parser's to refuse, and so is what is no resource.
  for (const char *other : {"000000", "0000008z\"", "", "\"", "\n\""})
    EXPECT_TRUE(checkTextLimits(before + other).isOk());
  EXPECT_TRUE(checkTextLimits("\"0x00000080\"").isOk());
}

TEST(TextLimits, refusesManyAliases) {
  EXPECT_THAT(checkTextLimits(repeat("#a = [#a]\n", 4097)).message(),
              HasSubstr("line 4097 defines more than 4096 aliases"));
  EXPECT_FALSE(checkTextLimits(repeat("!a\n = i32 ", 4097)).isOk());
  EXPECT_TRUE(checkTextLimits(repeat("#a = 1\n", 4096)).isOk());
}

TEST(TextLimits, refusesBytecode) {
  EXPECT_THAT(checkTextLimits("ML\xefR...").message(), HasSubstr("the input is MLIR bytecode"));
}

TEST(TextLimits, refusesZeroBytes) {
  EXPECT_THAT(checkTextLimits(std::string_view("a\nb\0c", 5)).message(), HasSubstr("line 2 has a zero byte"));
}

TEST(TextLimits, refusesLongNumbers) {
  EXPECT_THAT(checkTextLimits("\n1." + repeat("3", 1099)).message(),
              HasSubstr("line 2 has a number of 1101 characters, more than 1100"));
  EXPECT_TRUE(checkTextLimits("1." + repeat("3", 1098)).isOk());
  EXPECT_FALSE(checkTextLimits("1.0e+" + repeat("0", 1100)).isOk());
  EXPECT_THAT(checkTextLimits(repeat("0", 65)).message(), HasSubstr("has a number of 65 characters, more than 64"));
  EXPECT_FALSE(checkTextLimits("0x" + repeat("f", 63)).isOk());
  // What is a name is no number.
  EXPECT_TRUE(checkTextLimits("%" + repeat("1", 5000) + " @a" + repeat("1", 5000) + " f" + repeat("3", 5000)).isOk());
  EXPECT_TRUE(checkTextLimits('"' + repeat("1", 5000) + "\" // " + repeat("1", 5000)).isOk());
}

TEST(TextLimits, refusesLongExpressions) {
  for (std::string_view term : {" + d0", " * 2", " mod 3", " floordiv 2", "\n ceildiv 2", " - 1", "+d0 mod 2"}) {
    const std::string map = "affine_map<(d0) -> (d0";
    EXPECT_THAT(checkTextLimits(map + repeat(term, 1025) + ")>").message(),
                HasSubstr("has an expression of more than 1024 operators"))
        << term;
    EXPECT_TRUE(checkTextLimits(map + repeat(term, 500) + ")>").isOk()) << term;
  }
  // Brackets inside of an expression begin no other one, but each map and each result does.
  EXPECT_FALSE(checkTextLimits("affine_map<(d0) -> (d0" + repeat(" + (d0) * 2", 600) + ")>").isOk());
  EXPECT_TRUE(checkTextLimits(repeat("affine_map<(d0) -> (d0 + 1)>\n", 2000)).isOk());
  EXPECT_TRUE(checkTextLimits(repeat("d0 + 1, ", 2000)).isOk());
  EXPECT_TRUE(checkTextLimits(repeat("a -> b ", 2000)).isOk());
}

TEST(TextLimits, refusesTypesOfHighRank) {
  for (std::string_view extent : {"1x", "1 x", "?x", "? x ", "1x\n", "0x"})
    EXPECT_THAT(checkTextLimits("tensor<" + repeat(extent, 65) + "f32>").message(),
                HasSubstr("has a type of more than 64 extents"))
        << extent;
  EXPECT_FALSE(checkTextLimits("vector<" + repeat("[1]x", 65) + "f32>").isOk());
  EXPECT_TRUE(checkTextLimits("tensor<" + repeat("1x", 64) + "f32>").isOk());
  EXPECT_TRUE(checkTextLimits(repeat("tensor<1x2xf32> ", 100)).isOk());
}

TEST(TextLimits, refusesIntegersThatWouldWrap) {
  const auto message = [](std::string_view text) { return checkTextLimits(text).message(); };
  EXPECT_THAT(message("\n dense<200> : tensor<4xi8>"),
              HasSubstr("line 2 has the number 200, which does not fit in the signed type i8"));
  EXPECT_THAT(message("dense<[1, 3000000000, 2]> : tensor<4xi32>"), HasSubstr("3000000000, which does not fit"));
  EXPECT_THAT(message("dense<[[1], [32768]]> : tensor<2x1xi16>"), HasSubstr("32768"));
  EXPECT_THAT(message("dense<9223372036854775808> : tensor<i64>"), HasSubstr("9223372036854775808"));
  EXPECT_THAT(message("dense<0xFF> : tensor<? x i8, #e>"), HasSubstr("0xFF"));
  EXPECT_THAT(message("dense < 200 > // a type\n : tensor < 4 x i8 >"), HasSubstr("200"));
  // The type may be an alias, of another one, that stands behind.
  EXPECT_THAT(message("dense<200> : !a\n !a = !b\n !b = tensor<4xi8>"), HasSubstr("200"));
  EXPECT_TRUE(checkTextLimits("dense<200> : !a\n !a = !a").isOk());
  for (std::string_view fits :
       {"dense<127> : tensor<4xi8>", "dense<-128> : tensor<4xi8>", "dense<255> : tensor<4xui8>",
        "dense<[-1, - 2147483648]> : tensor<2xi32>", "dense<1> : tensor<4xi1>", "dense<300> : tensor<300xi16>",
        "dense<0x7FC00000> : tensor<4xf32>", "dense<18446744073709551615> : tensor<ui64>",
        "dense<\"0xFFFFFFFF\"> : tensor<4xi8>", "dense<200> : tensor<2xindex>", "dense<300> : !unknown"})
    EXPECT_TRUE(checkTextLimits(fits).isOk()) << fits;
  for (std::string_view wraps :
       {"dim = 9223372036854775808 : tensor<4xf32>", "low = [18446744073709551615]", "array<i64: 9223372036854775808>",
        "trips = 0x8000000000000000 : i64", "to 9223372036854775808)"})
    EXPECT_THAT(message(wraps), HasSubstr("which does not fit in the signed type i64")) << wraps;
  for (std::string_view fits : {"9223372036854775807", "-9223372036854775808", "18446744073709551615 : ui64",
                                "9223372036854775808 : i128", "0xFFF8000000000000 : f64"})
    EXPECT_TRUE(checkTextLimits(fits).isOk()) << fits;
}

TEST(TextLimits, refusesFloatsThatWouldBeInfinite) {
  for (std::string_view text :
       {"dense<1.0e400> : tensor<4xf64>", "dense<1.0e39> : tensor<4xf32>", "dense<[0.0, -65520.0]> : tensor<2xf16>",
        "dense<3.4e38> : tensor<4xbf16>", "dense<464.0> : tensor<f8E4M3FN>", "dense<61440.0> : tensor<f8E5M2>"})
    EXPECT_THAT(checkTextLimits(text).message(), HasSubstr("which does not fit in")) << text;
  for (std::string_view text :
       {"dense<1.7976931348623157e308> : tensor<4xf64>", "dense<3.4028235e38> : tensor<4xf32>",
        "dense<65519.0> : tensor<2xf16>", "dense<3.38e38> : tensor<4xbf16>", "dense<448.0> : tensor<f8E4M3FN>",
        "dense<57344.0> : tensor<f8E5M2>", "dense<1.0e-400> : tensor<f32>", "dense<1.0e39> : tensor<4xf80>"})
    EXPECT_TRUE(checkTextLimits(text).isOk()) << text;
}
