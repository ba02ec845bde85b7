//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TempFolder.h"

#include "../Children.h"
#include "zyx/Base/File.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

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

/// TMPDIR as `value`, or none where that is null, for as long as it lives.
class TemporaryParent {
public:
  explicit TemporaryParent(const char *value) {
    if (const char *now = std::getenv("TMPDIR"))
      before = now;
    value ? setenv("TMPDIR", value, 1) : unsetenv("TMPDIR");
  }
  ~TemporaryParent() { before ? setenv("TMPDIR", before->c_str(), 1) : unsetenv("TMPDIR"); }

private:
  std::optional<std::string> before;
};

static bool startsWith(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

TEST(TempFolder, IsInMemoryWhereThatHasRoom) {
  const TempFolder parent = *TempFolder::create();
  {
    TemporaryParent named(parent.file("").c_str());
    EXPECT_TRUE(startsWith(TempFolder::createInMemory(1)->file("x"), parent.file("") + "/zyx-"));
  }
  TemporaryParent none(nullptr);
  // No machine has that much.
  EXPECT_TRUE(startsWith(TempFolder::createInMemory(uint64_t(1) << 60)->file("x"), "/tmp/zyx-"));
  if (access("/dev/shm", W_OK) != 0 || std::filesystem::space("/dev/shm").available < (64u << 20))
    GTEST_SKIP() << "/dev/shm has no room here";
  EXPECT_TRUE(startsWith(TempFolder::createInMemory(1)->file("x"), "/dev/shm/zyx-"));
}

/// A child that ends in the middle: what it leaves, and what is left once another has made a folder.
TEST(TempFolder, StaysWithNoDeadProcess) {
  const TempFolder parent = *TempFolder::create();
  TemporaryParent named(parent.file("").c_str());
  auto count = [&] {
    return std::distance(std::filesystem::directory_iterator(parent.file("")), std::filesystem::directory_iterator());
  };
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    endInTheMiddle(
        signal,
        [](const std::function<void()> &wait) {
          removeLeftoversOnSignals();
          const TempFolder folder = *TempFolder::create();
          std::byte one[1] = {};
          (void)folder.write("kernels.c", one);
          (void)folder.write("kernels.so", one);
          wait();
        },
        [&] { EXPECT_EQ(count(), 1); });
    EXPECT_EQ(count(), signal == SIGKILL ? 1 : 0);
  }
  // Another's, that is no folder of ours.
  std::filesystem::create_directory(parent.file("zyx-tmp"));
  const TempFolder one = *TempFolder::create();
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(inChild([&] {
              // Nor does it take away what lives.
              const TempFolder two = *TempFolder::create();
              return count() == 3 ? 0 : 1;
            }),
            0);
}

TEST(TempFolder, MissingParentIsAnError) {
  TemporaryParent missing("/no/such/folder");
  Status failure = TempFolder::create().status();
  EXPECT_EQ(failure.code(), ErrorCode::IoError);
  EXPECT_NE(failure.message().find("cannot make a temporary folder /no/such/folder/zyx-"), std::string::npos);
}
