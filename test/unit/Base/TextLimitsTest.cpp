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
  EXPECT_TRUE(
      checkTextLimits("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return }").isOk());
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
  EXPECT_THAT(checkTextLimits(repeat("- ", 300)).message(),
              HasSubstr("has more than 256 minus signs in a row"));
  EXPECT_FALSE(checkTextLimits(repeat("-\n", 300)).isOk());
  EXPECT_FALSE(checkTextLimits(repeat("-// x\n", 300)).isOk());
  EXPECT_TRUE(checkTextLimits(repeat("-1, ", 300)).isOk());
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
