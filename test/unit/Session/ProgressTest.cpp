//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace zyx::session;

namespace {

constexpr uint64_t anHour = uint64_t(3600) * 1'000'000'000;

/// What a line writes that is told of a stage and of a kernel.
std::string written(ProgressMode mode, bool isTerminal, uint64_t silent) {
  char *text = nullptr;
  size_t size = 0;
  std::FILE *stream = open_memstream(&text, &size);
  {
    ProgressLine line(mode, stream, isTerminal, silent);
    if (const auto show = line.callback()) {
      show("graph", 0, 0);
      show("generate", 1, 4);
    }
  }
  std::fclose(stream);
  std::string result(text, size);
  std::free(text);
  return result;
}

} // namespace

TEST(ProgressTest, WritesOverItsLineAndWipesIt) {
  EXPECT_EQ(written(ProgressMode::Always, true, anHour),
            "\rcompiling: graph\x1b[K\rcompiling: generate, 1 of 4 kernels [#####...............]\x1b[K\r\x1b[K");
}

TEST(ProgressTest, WritesLinesWhereThatIsNoTerminal) {
  EXPECT_EQ(written(ProgressMode::Always, false, anHour), "compiling: graph\ncompiling: generate, 1 of 4 kernels\n");
}

TEST(ProgressTest, IsSilentAtFirst) {
  EXPECT_EQ(written(ProgressMode::Auto, true, anHour), "");
  EXPECT_EQ(written(ProgressMode::Auto, true, 0).find("\rcompiling: graph\x1b[K"), 0u);
}

TEST(ProgressTest, NobodyIsToldWhereThatIsNotWanted) {
  EXPECT_EQ(written(ProgressMode::Auto, false, 0), "");
  EXPECT_EQ(written(ProgressMode::Never, true, 0), "");
  EXPECT_EQ(ProgressLine(ProgressMode::Never, stderr, true).callback(), nullptr);
  EXPECT_EQ(ProgressLine(ProgressMode::Auto, stderr, false).callback(), nullptr);
  EXPECT_NE(ProgressLine(ProgressMode::Auto, stderr, true).callback(), nullptr);
}
