//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TempFolder.h"

#include "zyx/Base/File.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>

using namespace zyx;

TEST(TempFolder, GoesWithItsFiles) {
  std::string path;
  {
    Result<TempFolder> folder = TempFolder::create();
    ASSERT_TRUE(folder) << folder.status().toString();
    path = folder->file("x");
    std::byte one[1] = {};
    ASSERT_TRUE(writeFileAtomically(path, one));
    EXPECT_TRUE(std::filesystem::exists(path));
    TempFolder moved = std::move(*folder);
    EXPECT_EQ(moved.file("x"), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempFolder, MissingParentIsAnError) {
  const char *before = std::getenv("TMPDIR");
  std::string saved = before ? before : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  Status failure = TempFolder::create().status();
  before ? setenv("TMPDIR", saved.c_str(), 1) : unsetenv("TMPDIR");
  EXPECT_EQ(failure.code(), ErrorCode::IoError);
  EXPECT_NE(failure.message().find("cannot make a temporary folder /no/such/folder/zyx-"), std::string::npos);
}
