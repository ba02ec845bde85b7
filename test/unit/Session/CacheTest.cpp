//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Cache.h"
#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"

#include "../TestFiles.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace zyx;
using namespace zyx::session;
using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

/// An artifact without inputs, whose constants are `size` bytes of that value.
std::vector<std::byte> artifactOf(size_t size, int value) {
  artifact::Artifact artifact;
  artifact.entry = "f";
  artifact.target = "cpu";
  artifact.constants.assign(size, static_cast<std::byte>(value));
  return artifact.serialize();
}

CacheEntry entryOf(const std::string &key, size_t size = 100, int value = 7) {
  return {key, {}, 3, "a remark\n", std::nullopt, artifactOf(size, value)};
}

size_t countFiles(const std::string &folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

constexpr uid_t nobody = 65534;

/// For root: as whom files are asked for while it lives.
class AsUser {
public:
  explicit AsUser(uid_t user) : before(geteuid()) { EXPECT_EQ(seteuid(user), 0); }
  ~AsUser() { EXPECT_EQ(seteuid(before), 0); }

private:
  uid_t before;
};

void giveTo(uid_t user, const std::vector<std::string> &paths) {
  for (const std::string &path : paths)
    EXPECT_EQ(chown(path.c_str(), user, user), 0) << path;
}

/// A folder of its own for each test; the cache is in one below it, which does not exist yet.
class CacheTest : public testing::Test {
protected:
  TempFolder temporary = *TempFolder::create();
  std::string folder = temporary.file("cache");
  ArtifactCache cache{folder};
};

} // namespace

TEST_F(CacheTest, KeepsEntriesForALaterProcess) {
  EXPECT_FALSE(cache.find("key"));
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  const std::optional<CacheEntry> found = ArtifactCache(folder).find("key");
  EXPECT_EQ(found, entryOf("key"));
  EXPECT_EQ(*found->program, *artifact::Artifact::deserialize(found->artifact));
  EXPECT_FALSE(cache.find("another key"));
  // The newest of a key is kept.
  ASSERT_TRUE(cache.insert(entryOf("key", 200)).isOk());
  EXPECT_EQ(cache.find("key"), entryOf("key", 200));
  EXPECT_EQ(countFiles(folder), 1u);
  struct stat info;
  ASSERT_EQ(stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, AnEntryThatIsCutAnywhereIsAMissAndRemoved) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  const std::string path = cache.path("key"), whole = readBytes(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    writeBytes(path, whole.substr(0, size));
    ASSERT_FALSE(cache.find("key")) << size;
    ASSERT_FALSE(fs::exists(path)) << size;
  }
  writeBytes(path, whole + "x");
  EXPECT_FALSE(cache.find("key"));
  writeBytes(path, whole);
  EXPECT_EQ(cache.find("key"), entryOf("key"));
}

TEST_F(CacheTest, AFlipOfAnyBitIsAMissAndRemoved) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  const std::string path = cache.path("key"), whole = readBytes(path);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    writeBytes(path, flipped);
    ASSERT_FALSE(cache.find("key")) << bit;
    ASSERT_FALSE(fs::exists(path)) << bit;
  }
}

TEST_F(CacheTest, AnEntryThatIsWholeAndOfNoUseIsAMissAndRemoved) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  // Of another key, as after a collision of hashes.
  fs::copy_file(cache.path("key"), cache.path("other"));
  EXPECT_FALSE(cache.find("other"));
  EXPECT_FALSE(fs::exists(cache.path("other")));

  CacheEntry noArtifact = entryOf("key");
  noArtifact.artifact.pop_back();
  ASSERT_TRUE(cache.insert(noArtifact).isOk());
  EXPECT_FALSE(cache.find("key"));
  EXPECT_FALSE(fs::exists(cache.path("key")));

  // Made with a tool that has changed since.
  const std::string tool = temporary.file("tool");
  writeBytes(tool, "one");
  CacheEntry made = entryOf("key");
  made.tools = {{tool, fileIdentity(tool)}};
  ASSERT_TRUE(cache.insert(made).isOk());
  EXPECT_EQ(cache.find("key"), made);
  writeBytes(tool, "three");
  EXPECT_FALSE(cache.find("key"));
  EXPECT_FALSE(fs::exists(cache.path("key")));
}

TEST(CacheEntryTest, SaysWhatIsWrong) {
  std::vector<std::byte> bytes = entryOf("key").serialize();
  auto message = [](std::vector<std::byte> bytes) { return CacheEntry::deserialize(bytes).status().message(); };
  EXPECT_THAT(message({}), HasSubstr("cache entry: is none, or is cut"));
  std::vector<std::byte> other = bytes;
  other[8] = static_cast<std::byte>(99);
  EXPECT_THAT(message(other), HasSubstr("is of another format version"));
  other = bytes;
  other.back() ^= static_cast<std::byte>(1);
  EXPECT_THAT(message(other), HasSubstr("the checksum does not match"));
  // Right checksums over wrong contents.
  auto sealed = [](std::vector<std::byte> bytes) {
    const Hash128 hash = hashBytes(std::span<const std::byte>(bytes).subspan(28));
    std::memcpy(&bytes[12], &hash.high, 8);
    std::memcpy(&bytes[20], &hash.low, 8);
    return bytes;
  };
  // The kind stands in front of the artifact and its length.
  other = bytes;
  other[bytes.size() - entryOf("key").artifact.size() - 9] = static_cast<std::byte>(99);
  EXPECT_THAT(message(sealed(other)), HasSubstr("is of an unknown kind"));
  bytes.push_back({});
  EXPECT_THAT(message(sealed(bytes)), HasSubstr("1 bytes follow it"));
}

TEST_F(CacheTest, TheLeastRecentlyUsedGoFirst) {
  const size_t size = entryOf("key0").serialize().size();
  ArtifactCache small(folder, size * 4);
  auto use = [&](int i) { return small.find("key" + std::to_string(i)).has_value(); };
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(small.insert(entryOf("key" + std::to_string(i))).isOk());
  // An hour apart; key0 is used again, so that key1 is the oldest.
  for (int i = 0; i < 4; ++i)
    fs::last_write_time(small.path("key" + std::to_string(i)),
                        fs::file_time_type::clock::now() - std::chrono::hours(10 - i));
  EXPECT_TRUE(use(0));
  ASSERT_TRUE(small.insert(entryOf("key4")).isOk());
  EXPECT_FALSE(use(1));
  EXPECT_TRUE(use(0) && use(3) && use(4));
  EXPECT_THAT(small.insert(entryOf("big", size * 5)).message(), HasSubstr("bytes is larger than the cache of"));
  EXPECT_TRUE(use(0) && use(3) && use(4));
}

TEST_F(CacheTest, RemovesWhatProcessesLeftBehindAndNothingElse) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  const std::string old = cache.path("key") + ".tmp.1.2", fresh = cache.path("key") + ".tmp.1.3";
  const std::string foreign = folder + "/notes.txt";
  for (const std::string &path : {old, fresh, foreign})
    writeBytes(path, "x");
  for (const std::string &path : {old, foreign})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(ArtifactCache(folder, 10).insert(entryOf("key")).code() == ErrorCode::OutOfMemory);
  ASSERT_TRUE(cache.insert(entryOf("key2")).isOk());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh) && fs::exists(foreign));
}

TEST_F(CacheTest, AFullDiskKeepsWhatIsThere) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto *handler = std::signal(SIGXFSZ, SIG_IGN);
  // Each write stops within the entry.
  for (rlim_t room : {0, 1, 50, 130}) {
    const rlimit full = {room, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
    EXPECT_EQ(cache.insert(entryOf("key", 300)).code(), ErrorCode::IoError) << room;
    EXPECT_EQ(cache.insert(entryOf("another")).code(), ErrorCode::IoError) << room;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(countFiles(folder), 1u) << room;
    EXPECT_EQ(cache.find("key"), entryOf("key")) << room;
  }
  std::signal(SIGXFSZ, handler);
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenStillHits) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  ASSERT_TRUE(cache.insert(entryOf("bad")).isOk());
  writeBytes(cache.path("bad"), "bad");
  ASSERT_EQ(chmod(temporary.file("").c_str(), 0755), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  // Permissions do not bind root.
  if (geteuid() == 0)
    giveTo(nobody, {folder, cache.path("key"), cache.path("bad")});
  {
    const AsUser other(geteuid() == 0 ? nobody : geteuid());
    EXPECT_EQ(cache.find("key"), entryOf("key"));
    EXPECT_FALSE(cache.find("bad"));
    EXPECT_EQ(cache.insert(entryOf("new")).code(), ErrorCode::IoError);
  }
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  EXPECT_EQ(countFiles(folder), 2u);
  // A folder that cannot be made.
  writeBytes(temporary.file("file"), "");
  ArtifactCache nowhere(temporary.file("file") + "/cache");
  EXPECT_FALSE(nowhere.find("key"));
  EXPECT_THAT(nowhere.insert(entryOf("key")).message(), HasSubstr("/cache: cannot open: "));
  EXPECT_THAT(ArtifactCache(temporary.file("file")).insert(entryOf("key")).message(), HasSubstr("/file: is no folder"));
}

TEST_F(CacheTest, ReadsNothingFromAFolderThatAnotherUserMayWriteTo) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  // What the folder's group may do is as bad: its members are other users.
  for (mode_t mode : {0770, 02775, 0720, 0702, 0777, 01777}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_FALSE(cache.find("key")) << std::oct << mode;
    EXPECT_THAT(cache.insert(entryOf("key")).message(),
                AllOf(HasSubstr("may write to it (mode "), HasSubstr("'chmod go-w " + folder + "' mends that")))
        << std::oct << mode;
  }
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_TRUE(cache.find("key"));
  // The path is no way round.
  const std::string link = temporary.file("link");
  fs::create_symlink(folder, link);
  EXPECT_FALSE(ArtifactCache(link).find("key"));
  EXPECT_THAT(ArtifactCache(link).insert(entryOf("key")).message(),
              HasSubstr("is a symbolic link; name the folder that it leads to"));
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to another user";
  giveTo(nobody, {folder});
  EXPECT_FALSE(cache.find("key"));
  EXPECT_THAT(cache.insert(entryOf("key")).message(), HasSubstr("belongs to another user (65534)"));
  // Nor does another user run what root has made.
  giveTo(0, {folder});
  ASSERT_EQ(chmod(temporary.file("").c_str(), 0755), 0);
  const AsUser other(nobody);
  EXPECT_FALSE(cache.find("key"));
}

TEST_F(CacheTest, SaysOnceWhyAFolderIsNotTrusted) {
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  ASSERT_EQ(chmod(folder.c_str(), 0770), 0);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(cache.find("key"));
    EXPECT_FALSE(cache.insert(entryOf("key")).isOk());
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("zyx: warning: the cache is not used, because its entries are run as code: " + folder +
                              ": its group may write to it (mode 0770); 'chmod go-w " + folder + "' mends that."));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(CacheTest, AnEntryOfAnotherUserIsAMissAndReplaced) {
  const mode_t before = umask(0);
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  umask(before);
  const std::string path = cache.path("key"), whole = readBytes(path);
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  auto isReplaced = [&](const char *what) {
    EXPECT_FALSE(cache.find("key")) << what;
    EXPECT_TRUE(cache.insert(entryOf("key")).isOk()) << what;
    EXPECT_EQ(cache.find("key"), entryOf("key")) << what;
    ASSERT_EQ(lstat(path.c_str(), &info), 0) << what;
    EXPECT_TRUE(S_ISREG(info.st_mode)) << what;
    EXPECT_EQ(info.st_mode & 07777, 0600u) << what;
  };
  for (mode_t mode : {0620, 0602, 0666}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    isReplaced("others may write to it");
  }
  // A whole one, but behind a link.
  const std::string elsewhere = temporary.file("elsewhere");
  writeBytes(elsewhere, whole);
  fs::remove(path);
  fs::create_symlink(elsewhere, path);
  isReplaced("a link");
  EXPECT_EQ(readBytes(elsewhere), whole);
  fs::remove(path);
  fs::create_symlink(temporary.file("nowhere"), path);
  isReplaced("a link to nothing");
  EXPECT_FALSE(fs::exists(temporary.file("nowhere")));
  // None of these blocks.
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  isReplaced("a pipe");
  fs::remove(path);
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  isReplaced("a folder");
  fs::remove(path);
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  writeBytes(path + "/notes", "x");
  isReplaced("a folder that holds something");
  EXPECT_EQ(readBytes(path + ".replaced/notes"), "x");
  // Once: what was moved is not lost.
  fs::remove(path);
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  writeBytes(path + "/more", "x");
  EXPECT_FALSE(cache.find("key"));
  EXPECT_THAT(cache.insert(entryOf("key")).message(), HasSubstr("cannot write: a folder has its name: "));
  fs::remove_all(path);
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give an entry to another user";
  giveTo(nobody, {path});
  isReplaced("another user's");
  // Entries of root are another user's for everybody else.
  giveTo(nobody, {folder});
  ASSERT_EQ(chmod(temporary.file("").c_str(), 0755), 0);
  const AsUser other(nobody);
  isReplaced("root's");
}

/// Another user tries what he can in a folder that he shares with this one.
TEST_F(CacheTest, AnotherUserGetsNoEntryIn) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs a second user";
  const gid_t group = 100;
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  ASSERT_EQ(chmod(temporary.file("").c_str(), 0755), 0);
  ASSERT_EQ(chown(folder.c_str(), 0, group), 0);
  ASSERT_EQ(chmod(folder.c_str(), 02775), 0);
  const std::string path = cache.path("key");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (setgroups(1, &group) != 0 || setgid(group) != 0 || setuid(nobody) != 0)
      _exit(2);
    // What his library would do.
    std::error_code error;
    fs::remove(path, error);
    const std::vector<std::byte> bytes = entryOf("key", 100, 66).serialize();
    writeBytes(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    _exit(chmod(path.c_str(), 0600) == 0 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_FALSE(cache.find("key"));
  // Nor once the folder is mended: what he left there is still his.
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_FALSE(cache.find("key"));
  ASSERT_TRUE(cache.insert(entryOf("key")).isOk());
  EXPECT_EQ(cache.find("key"), entryOf("key"));
}

/// Several processes write and read the same keys, and some are killed in the middle: whoever finds
/// an entry finds it whole.
TEST_F(CacheTest, ProcessesThatWriteAtOnceAndDie) {
  constexpr int keys = 4, writers = 4;
  auto whole = [](const CacheEntry &entry, const std::string &key) {
    for (int value = 0; value < writers; ++value)
      if (entry == entryOf(key, 20000, value))
        return true;
    return false;
  };
  // Entries go while others come.
  ArtifactCache shared(folder, entryOf("key0", 20000).serialize().size() * 3);
  auto work = [&](int number, int rounds) {
    for (int i = 0; rounds == 0 || i < rounds; ++i) {
      const std::string key = "key" + std::to_string(i % keys);
      if (!shared.insert(entryOf(key, 20000, number)).isOk())
        return 1;
      std::optional<CacheEntry> found = shared.find("key" + std::to_string((i + number) % keys));
      if (found && !whole(*found, found->key))
        return 2;
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int number = 0; number < writers; ++number) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    // Half of them end by a signal.
    if (child == 0)
      _exit(work(number, number < writers / 2 ? 100 : 0));
    children.push_back(child);
  }
  for (int number = 0; number < writers; ++number) {
    if (number >= writers / 2)
      kill(children[number], SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(children[number], &status, 0), children[number]);
    if (number < writers / 2)
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  for (int i = 0; i < keys; ++i) {
    const std::string key = "key" + std::to_string(i);
    if (std::optional<CacheEntry> found = shared.find(key))
      EXPECT_TRUE(whole(*found, key));
  }
  ASSERT_TRUE(shared.insert(entryOf("last")).isOk());
  EXPECT_TRUE(shared.find("last"));
}

TEST(CacheFolderTest, ComesFromTheEnvironment) {
  struct Saved {
    explicit Saved(const char *name) : name(name), value(getenv(name) ? getenv(name) : "") {
      present = getenv(name) != nullptr;
    }
    ~Saved() { present ? setenv(name, value.c_str(), 1) : unsetenv(name); }
    const char *name;
    std::string value;
    bool present;
  };
  Saved named("ZYX_CACHE_DIR"), xdg("XDG_CACHE_HOME"), home("HOME");
  setenv("ZYX_CACHE_DIR", "/a", 1);
  setenv("XDG_CACHE_HOME", "/b", 1);
  setenv("HOME", "/c", 1);
  auto folder = [] { return ArtifactCache::defaultFolder(loadConfig()->config); };
  EXPECT_EQ(folder(), "/a");
  for (const char *off : {"off", ""}) {
    setenv("ZYX_CACHE_DIR", off, 1);
    EXPECT_EQ(folder(), std::nullopt);
  }
  unsetenv("ZYX_CACHE_DIR");
  EXPECT_EQ(folder(), "/b/zyx");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(folder(), "/c/.cache/zyx");
  unsetenv("HOME");
  EXPECT_EQ(folder(), std::nullopt);
}

TEST(FileIdentityTest, IsTheBuildIdWhereThereIsOne) {
  EXPECT_EQ(fileIdentity("/no/such/file"), "");
  TemporaryPath path("identity");
  writeBytes(path, "text");
  EXPECT_THAT(fileIdentity(path), HasSubstr("file 4 "));
#ifdef ZYX_TEST_COMPILER
  EXPECT_THAT(fileIdentity(ZYX_TEST_COMPILER), testing::MatchesRegex("build [0-9a-f]{40}"));
  // A copy is the same; one that is cut has none.
  fs::copy_file(ZYX_TEST_COMPILER, path.path, fs::copy_options::overwrite_existing);
  EXPECT_EQ(fileIdentity(path), fileIdentity(ZYX_TEST_COMPILER));
  fs::resize_file(path.path, 80);
  EXPECT_THAT(fileIdentity(path), HasSubstr("file 80 "));
#endif
}
