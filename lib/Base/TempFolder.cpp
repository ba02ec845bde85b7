//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TempFolder.h"

#include "zyx/Base/ProcessMutex.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <string_view>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

namespace zyx {

static const char *namedParent() {
  const char *parent = std::getenv("TMPDIR");
  return parent && *parent ? parent : nullptr;
}

Result<TempFolder> TempFolder::create() {
  const char *parent = namedParent();
  return createIn(parent ? parent : "/tmp");
}

Result<TempFolder> TempFolder::createInMemory(uint64_t bytes) {
  constexpr const char *memory = "/dev/shm";
  // A container's may be small, and others need some of it.
  constexpr uint64_t least = uint64_t(16) << 20;
  struct statvfs room;
  if (!namedParent() && ::access(memory, W_OK) == 0 && ::statvfs(memory, &room) == 0 &&
      uint64_t(room.f_bavail) * room.f_frsize / 8 >= std::max(bytes, least / 8))
    if (Result<TempFolder> folder = createIn(memory))
      return folder;
  return create();
}

static constexpr std::string_view prefix = "zyx-tmp-";

/// Removes the folders of processes that are dead: one that lives holds a lock on its folder.
static void removeStale(const std::string &parent) {
  {
    // A process need not look twice.
    constexpr size_t mostParents = 64;
    static constinit ProcessMutex mutex;
    static std::set<std::string> seen;
    const ProcessMutex::Guard lock(mutex);
    if (!lock || seen.size() >= mostParents || !seen.insert(parent).second)
      return;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().native().starts_with(prefix))
      continue;
    const std::string path = it->path();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    std::error_code ignored;
    if (descriptor >= 0 && ::fstat(descriptor, &info) == 0 && info.st_uid == ::geteuid() &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      std::filesystem::remove_all(path, ignored);
    if (descriptor >= 0)
      ::close(descriptor);
  }
}

Result<TempFolder> TempFolder::createIn(const std::string &parent) {
  removeStale(parent);
  for (;;) {
    uint64_t random = 0;
    (void)!::getrandom(&random, sizeof(random), 0);
    char number[32];
    std::snprintf(number, sizeof(number), "%016llx", static_cast<unsigned long long>(random));
    std::string path = parent + "/" + std::string(prefix) + number;
    Leftover leftover = Leftover::folder(path);
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST)
        continue;
      return Status::ioError("cannot make a temporary folder " + path + ": " + std::strerror(errno));
    }
    leftover.made();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
      const int error = errno;
      // Whoever removes stale folders has been between the two.
      if (error == ENOENT && ::access(parent.c_str(), F_OK) == 0)
        continue;
      ::rmdir(path.c_str());
      return Status::ioError("cannot make a temporary folder " + path + ": " + std::strerror(error));
    }
    // Or he comes before the lock; this one is his then.
    // Some file systems have no locks, and nobody takes a folder away there.
    const bool isLocked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    struct stat info;
    if (isLocked ? ::fstat(descriptor, &info) == 0 && info.st_nlink != 0 : errno != EWOULDBLOCK)
      return TempFolder(std::move(path), descriptor, std::move(leftover));
    ::close(descriptor);
  }
}

Result<std::string> TempFolder::write(const char *name, std::span<const std::byte> bytes) const {
  std::string path = file(name);
  std::FILE *stream = std::fopen(path.c_str(), "wbx");
  bool written = stream && std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size();
  if (stream && std::fclose(stream) != 0)
    written = false;
  if (!written)
    return Status::ioError("cannot write the temporary file " + path + ": " + std::strerror(errno));
  return path;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
  if (descriptor >= 0)
    ::close(descriptor);
}

} // namespace zyx
