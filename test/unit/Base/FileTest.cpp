//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/File.h"

#include "zyx/Base/Leftover.h"
#include "zyx/Base/TempFolder.h"

#include "../Children.h"
#include "../TestFiles.h"

#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace zyx;
using testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

constexpr uid_t nobody = 65534;

/// Once with files that have no name while they are written, once with files that have one.
class AtomicFileTest : public testing::TestWithParam<bool> {
protected:
  TempFolder temporary = *TempFolder::create();
  const std::string path = temporary.file("out.npy");

  Status write(const std::string &to, const std::string &text, Durability durability = Durability::Sync) const {
    ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(to, GetParam()));
    ZYX_RETURN_IF_ERROR(file.write(asBytes(text)));
    return file.commit(durability);
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const fs::directory_entry &entry : fs::directory_iterator(temporary.file("")))
      found.insert(entry.path().filename().string());
    return found;
  }
  static struct stat statusOf(const std::string &path) {
    struct stat info = {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info;
  }
};

INSTANTIATE_TEST_SUITE_P(Names, AtomicFileTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "WithName" : "WithoutName"; });

} // namespace

TEST_P(AtomicFileTest, IsThereWholeOrAsItWas) {
  for (Durability durability : {Durability::Sync, Durability::None}) {
    ASSERT_TRUE(write(path, "first", durability).isOk());
    EXPECT_EQ(readBytes(path), "first");
    {
      AtomicFile file = *AtomicFile::create(path, GetParam());
      ASSERT_TRUE(file.write(asBytes("second")).isOk());
      EXPECT_EQ(readBytes(path), "first");
      AtomicFile moved = std::move(file);
    }
    EXPECT_EQ(readBytes(path), "first");
    EXPECT_EQ(names(), std::set<std::string>{"out.npy"});
    ASSERT_TRUE(write(path, "second", durability).isOk());
    EXPECT_EQ(readBytes(path), "second");
    EXPECT_EQ(names(), std::set<std::string>{"out.npy"});
    fs::remove(path);
  }
}

TEST_P(AtomicFileTest, KeepsModeOwnerAndGroup) {
  const mode_t before = umask(022);
  ASSERT_TRUE(write(path, "new").isOk());
  EXPECT_EQ(statusOf(path).st_mode & 07777, 0644u);
  for (mode_t mode : {0600, 0640, 0755, 0666}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(write(path, "again").isOk());
    EXPECT_EQ(statusOf(path).st_mode & 07777, mode);
  }
  umask(before);
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(chown(path.c_str(), nobody, 100), 0);
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(write(path, "of another").isOk());
  EXPECT_EQ(statusOf(path).st_uid, nobody);
  EXPECT_EQ(statusOf(path).st_gid, 100u);
  EXPECT_EQ(statusOf(path).st_mode & 07777, 0640u);
}

TEST_P(AtomicFileTest, FollowsLinksToWhatTheyLeadTo) {
  fs::create_directory(temporary.file("data"));
  const std::string real = temporary.file("data") + "/real.npy", link = temporary.file("link.npy"),
                    chain = temporary.file("chain.npy");
  writeBytes(real, "old");
  ASSERT_EQ(chmod(real.c_str(), 0600), 0);
  fs::create_symlink("data/real.npy", link);
  fs::create_symlink(link, chain);
  ASSERT_TRUE(write(chain, "new").isOk());
  EXPECT_EQ(readBytes(real), "new");
  EXPECT_TRUE(S_ISLNK(statusOf(chain).st_mode) && S_ISLNK(statusOf(link).st_mode));
  EXPECT_EQ(statusOf(real).st_mode & 07777, 0600u);
  // A link to nothing makes what it names.
  fs::remove(real);
  ASSERT_TRUE(write(link, "newer").isOk());
  EXPECT_EQ(readBytes(real), "newer");
  EXPECT_TRUE(S_ISLNK(statusOf(link).st_mode));
  // One that leads to itself leads nowhere.
  fs::create_symlink("loop", temporary.file("loop"));
  EXPECT_THAT(write(temporary.file("loop"), "x").message(),
              HasSubstr("cannot write: Too many levels of symbolic links"));
  // Another name of the same file is another file afterwards, as the documentation says.
  fs::create_hard_link(real, temporary.file("hard"));
  ASSERT_TRUE(write(real, "newest").isOk());
  EXPECT_EQ(readBytes(temporary.file("hard")), "newer");
}

TEST_P(AtomicFileTest, RefusesWhatOpeningForWritingWould) {
  EXPECT_THAT(write("", "x").message(), HasSubstr("cannot write: the name is empty"));
  EXPECT_THAT(write(temporary.file("data/"), "x").message(), HasSubstr("cannot write: Is a directory"));
  EXPECT_THAT(write(temporary.file("no/file"), "x").message(),
              HasSubstr("no/file: cannot write: No such file or directory"));
  fs::create_directory(temporary.file("folder"));
  EXPECT_THAT(write(temporary.file("folder"), "x").message(), HasSubstr("cannot write: not a regular file"));
  const std::string pipe = temporary.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(write(pipe, "x").message(), HasSubstr("cannot write: not a regular file"));

  writeBytes(path, "kept");
  ASSERT_EQ(chmod(path.c_str(), 0444), 0);
  if (geteuid() != 0) {
    EXPECT_THAT(write(path, "x").message(), HasSubstr("out.npy: cannot write: Permission denied"));
    GTEST_SKIP() << "the rest needs root and a second user";
  }
  // Root may write to it, as to every file.
  ASSERT_EQ(chmod(temporary.file("").c_str(), 0777), 0);
  ASSERT_EQ(chown(path.c_str(), nobody, nobody), 0);
  ASSERT_EQ(seteuid(nobody), 0);
  const Status readOnly = write(path, "x");
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_THAT(readOnly.message(), HasSubstr("out.npy: cannot write: Permission denied"));
  // Everybody may write to this one, but no one but root can make a new one that is root's.
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  ASSERT_EQ(seteuid(nobody), 0);
  const Status foreign = write(path, "x");
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_THAT(
      foreign.message(),
      HasSubstr(
          "it belongs to another user, whom only root can give a new file; remove it first, or write to another name"));
  EXPECT_EQ(readBytes(path), "kept");
  EXPECT_EQ(names(), (std::set<std::string>{"folder", "out.npy", "pipe"}));
}

TEST_P(AtomicFileTest, TakesEveryNameThatAFileMayHave) {
  for (size_t length : {size_t(1), size_t(200), size_t(243), size_t(244), size_t(250), size_t(NAME_MAX)}) {
    const std::string name(length, 'n');
    ASSERT_TRUE(write(temporary.file(name.c_str()), "x").isOk()) << length;
    ASSERT_TRUE(write(temporary.file(name.c_str()), "y").isOk()) << length;
    EXPECT_EQ(readBytes(temporary.file(name.c_str())), "y") << length;
  }
  EXPECT_THAT(write(temporary.file(std::string(NAME_MAX + 1, 'n').c_str()), "x").message(),
              HasSubstr("File name too long"));
  EXPECT_EQ(names().size(), 6u);
}

/// A child that ends in the middle of a file: what it leaves, and what is left once another has written.
TEST_P(AtomicFileTest, LeavesNothingBehindWhereASignalEndsTheProcess) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    endInTheMiddle(
        signal,
        [&](const std::function<void()> &wait) {
          removeLeftoversOnSignals();
          AtomicFile file = *AtomicFile::create(path, GetParam());
          (void)file.write(asBytes("half"));
          wait();
        },
        [&] { EXPECT_EQ(names().size(), GetParam() ? 1u : 0u) << signal; });
    if (signal != SIGKILL || !GetParam())
      EXPECT_EQ(names(), std::set<std::string>()) << signal;
  }
  // Not of one that still writes, but of the one that was killed; a process looks once.
  EXPECT_EQ(inChild([&] {
              AtomicFile other = *AtomicFile::create(path, GetParam());
              const int last = inChild([&] { return write(path, "last").isOk() ? 0 : 1; });
              return last == 0 && other.write(asBytes("own")).isOk() && other.commit().isOk() ? 0 : 1;
            }),
            0);
  EXPECT_EQ(names(), std::set<std::string>{"out.npy"});
  EXPECT_EQ(readBytes(path), "own");
}

/// As big files with holes in them have.
TEST(ReadFileTest, RefusesMoreThanThereIsMemoryFor) {
  const TempFolder folder = *TempFolder::create();
  const std::string path = folder.file("sparse");
  writeBytes(path, "x");
  ASSERT_EQ(truncate(path.c_str(), off_t(1) << 43), 0);
  const Status status = readFile(path).status();
  EXPECT_EQ(status.code(), ErrorCode::OutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr("sparse: needs 8796093022208 bytes, and this process may use "));
}

TEST(LeftoverTest, IgnoredSignalsStayIgnored) {
  EXPECT_EQ(inChild([] {
              std::signal(SIGHUP, SIG_IGN);
              removeLeftoversOnSignals();
              raise(SIGHUP);
              return 7;
            }),
            7);
}

TEST(LeftoverTest, AChildDoesNotRemoveWhatItsParentHas) {
  const TempFolder folder = *TempFolder::create();
  const std::string path = folder.file("x");
  writeBytes(path, "x");
  const Leftover noted = Leftover::file(path);
  EXPECT_EQ(inChild([] {
              std::signal(SIGTERM, SIG_DFL);
              removeLeftoversOnSignals();
              raise(SIGTERM);
              return 0;
            }),
            1000 + SIGTERM);
  EXPECT_EQ(readBytes(path), "x");
}
