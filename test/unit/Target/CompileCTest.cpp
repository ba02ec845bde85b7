//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SharedObject.h"

#include "zyx/Base/TempFolder.h"
#include "zyx/Target/Text/C.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

using namespace zyx;
using namespace zyx::target;

TEST(CompileC, CompilesAndLeavesNothingBehind) {
  // A folder of its own: other tests make temporary files at the same time.
  auto parent = TempFolder::create();
  ASSERT_TRUE(parent) << parent.status().toString();
  const std::string folder = std::filesystem::path(parent->file("x")).parent_path();
  const char *before = std::getenv("TMPDIR");
  const std::string restored = before ? before : "";
  setenv("TMPDIR", folder.c_str(), 1);
  auto bytes = compileC("int answer(void) { return 42; }\n");
  setenv("TMPDIR", restored.c_str(), 1);
  ASSERT_TRUE(bytes) << bytes.status().toString();
  SharedObject object(*bytes);
  auto *answer = object.find<int (*)()>("answer");
  ASSERT_TRUE(answer) << object.error();
  EXPECT_EQ(answer(), 42);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(CompileC, RefusedTextGivesTheCompilersMessage) {
  Status failure = compileC("int answer(void) { return forty_two; }\n").status();
  EXPECT_EQ(failure.code(), ErrorCode::CompileFailed);
  EXPECT_NE(failure.message().find("the C compiler 'cc' refused the kernels: "), std::string::npos);
  EXPECT_NE(failure.message().find("forty_two"), std::string::npos) << failure.message();
}

TEST(CompileC, LongMessagesAreCut) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "int f" + std::to_string(i) + "(void) { return unknown" + std::to_string(i) + "; }\n";
  Status failure = compileC(text).status();
  EXPECT_EQ(failure.code(), ErrorCode::CompileFailed);
  EXPECT_LT(failure.message().size(), 5000u);
}

TEST(CompileC, MissingCompilerIsNotFound) {
  Status failure = compileC("", {"no-such-compiler", {}, {}}).status();
  EXPECT_EQ(failure.code(), ErrorCode::NotFound);
  EXPECT_NE(failure.message().find("cannot run no-such-compiler: "), std::string::npos);
}

TEST(CompileC, CompilerThatTakesTooLongIsEnded) {
  COptions options;
  options.limits.time = std::chrono::milliseconds(0);
  Status failure = compileC("int answer(void) { return 42; }\n", options).status();
  EXPECT_EQ(failure.code(), ErrorCode::CompileFailed);
  EXPECT_NE(failure.message().find("the C compiler 'cc' takes too long over the kernels: "), std::string::npos)
      << failure.message();
}

TEST(CompileC, CompilesWhereTheProcessReapsItsChildren) {
  auto before = std::signal(SIGCHLD, SIG_IGN);
  const Status status = compileC("int answer(void) { return 42; }\n").status();
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(status.isOk()) << status.message();
}
