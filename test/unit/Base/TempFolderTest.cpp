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
    std::byte one[1] = {std::byte(7)};
    path = *folder->write("x", one);
    EXPECT_EQ(path, folder->file("x"));
    EXPECT_EQ(*readFile(path), std::vector<std::byte>(1, std::byte(7)));
    Status again = folder->write("x", one).status();
    EXPECT_EQ(again.code(), ErrorCode::IoError);
    EXPECT_NE(again.message().find("cannot write the temporary file " + path), std::string::npos);
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
