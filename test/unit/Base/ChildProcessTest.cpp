//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/ChildProcess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>

using namespace zyx;

namespace {

std::string textOf(const ChildResult &result) {
  return std::string(reinterpret_cast<const char *>(result.output.data()), result.output.size());
}

/// Ends the process with the refusal as its last words, which EXPECT_EXIT compares.
[[noreturn]] void exitWith(const Result<ChildResult> &result) {
  std::fputs(result.isOk() ? "it ran" : result.status().message().c_str(), stderr);
  std::_Exit(1);
}

} // namespace

TEST(ChildProcessTest, GivesWhatTheChildWrites) {
  const std::string_view text = "some bytes";
  const Result<ChildResult> echo = runChild({"/bin/cat"}, std::as_bytes(std::span(text)));
  ASSERT_TRUE(echo.isOk()) << echo.status().message();
  EXPECT_EQ(textOf(*echo), text);
  EXPECT_EQ(echo->exitCode, 0);
  const Result<ChildResult> failing = runChild({"/bin/sh", "-c", "echo no >&2; exit 3"}, {});
  ASSERT_TRUE(failing.isOk());
  EXPECT_EQ(failing->exitCode, 3);
  EXPECT_EQ(failing->messages, "no\n");
}

TEST(ChildProcessTest, EndsChildrenThatTakeOrWriteTooMuch) {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(50);
  const Result<ChildResult> sleeping = runChild({"/bin/sleep", "60"}, {}, limits);
  ASSERT_TRUE(sleeping.isOk());
  EXPECT_TRUE(sleeping->timedOut);
  limits.time = std::chrono::minutes(1);
  limits.outputBytes = 100;
  const Result<ChildResult> writing = runChild({"/bin/cat", "/dev/zero"}, {}, limits);
  ASSERT_TRUE(writing.isOk());
  EXPECT_TRUE(writing->tooMuchOutput);
}

TEST(ChildProcessTest, SaysWhyNothingCouldBeRun) {
  EXPECT_FALSE(runChild({"/no/such/program"}, {}).isOk());
  EXPECT_EXIT(
      {
        rlimit none;
        none.rlim_cur = none.rlim_max = 3;
        setrlimit(RLIMIT_NOFILE, &none);
        exitWith(runChild({"/bin/true"}, {}));
      },
      testing::ExitedWithCode(1), "cannot connect a child process: ");
  // Nobody can wait for a child whose end the system reports to nobody.
  EXPECT_EXIT(
      {
        std::signal(SIGCHLD, SIG_IGN);
        exitWith(runChild({"/bin/true"}, {}));
      },
      testing::ExitedWithCode(1), "cannot wait for a child process: ");
}
