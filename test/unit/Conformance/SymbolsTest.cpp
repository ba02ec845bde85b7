//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "conformance/Symbols.h"

#include "zyx/Base/File.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace zyx;
using namespace zyx::conformance;
using testing::UnorderedElementsAre;

static std::vector<std::byte> callsLibm() { return *readFile(ZYX_TEST_CALLS_LIBM); }

TEST(SymbolsTest, NamesWhatCodeTakesFromElsewhere) {
  EXPECT_THAT(*undefinedSymbols(callsLibm()), UnorderedElementsAre("expf", "sin", "memcpy"));
}

TEST(SymbolsTest, CodeThatCallsLibmFails) {
  artifact::Artifact artifact;
  artifact.target = "cpu";
  EXPECT_TRUE(checkSymbols(artifact).isOk());
  artifact.code.push_back({"elf-so", callsLibm()});
  const Status status = checkSymbols(artifact);
  // One that the suite counts as wrong.
  EXPECT_EQ(status.code(), ErrorCode::Internal);
  EXPECT_THAT(status.message(), testing::StartsWith("the kernels' code calls "));
  EXPECT_THAT(status.message(), testing::HasSubstr("expf"));
  EXPECT_THAT(status.message(), testing::HasSubstr("sin"));
  EXPECT_THAT(status.message(), testing::Not(testing::HasSubstr("memcpy")));
  // What a C compiler makes may.
  artifact.target = "c";
  EXPECT_TRUE(checkSymbols(artifact).isOk());
}

TEST(SymbolsTest, CodeThatCannotBeReadFails) {
  const std::vector<std::byte> whole = callsLibm();
  // The table of sections is at the end.
  for (size_t size : {size_t(0), size_t(10), size_t(64), whole.size() / 2, whole.size() - 1})
    EXPECT_EQ(undefinedSymbols(std::span(whole).first(size)).status().message(),
              "the code is no whole ELF64 shared object");
  artifact::Artifact artifact;
  artifact.target = "cpu";
  artifact.code.push_back({"elf-so", {whole.begin(), whole.begin() + 64}});
  EXPECT_EQ(checkSymbols(artifact).code(), ErrorCode::Internal);
}
