//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "NewFile.h"

#include "zyx/Base/ProcessMutex.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <set>
#include <sys/file.h>
#include <tuple>
#include <unistd.h>

using namespace zyx;

static Status lastFailure() { return Status::ioError(std::strerror(errno)); }

void OpenFile::close() {
  if (number >= 0)
    ::close(std::exchange(number, -1));
}

std::string zyx::folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

static constexpr std::string_view prefix = ".zyx-", suffix = ".tmp";

/// Removes what processes that are dead have left in a folder. One that writes holds a lock on its file,
/// which the system gives back at its end, on whatever machine it runs.
static void removeStale(int folder) {
  struct stat info;
  if (::fstat(folder, &info) != 0)
    return;
  {
    // A process need not look twice.
    constexpr size_t mostFolders = 1024;
    static constinit ProcessMutex mutex;
    static std::set<std::tuple<pid_t, dev_t, ino_t>> seen;
    const ProcessMutex::Guard lock(mutex);
    if (!lock || seen.size() >= mostFolders || !seen.emplace(::getpid(), info.st_dev, info.st_ino).second)
      return;
  }
  // A stream of its own, because reading moves the descriptor.
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *const entries = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!entries) {
    if (copy >= 0)
      ::close(copy);
    return;
  }
  while (const dirent *entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
      continue;
    const OpenFile file(::openat(folder, entry->d_name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() >= 0 && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::flock(file.get(), LOCK_EX | LOCK_NB) == 0)
      ::unlinkat(folder, entry->d_name, 0);
  }
  ::closedir(entries);
}

Result<NewFile> NewFile::create(const std::string &folder, mode_t mode, bool hasName) {
  OpenFile open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // One may write in a folder that one may not list.
  if (open.get() < 0 && errno == EACCES)
    open = OpenFile(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (open.get() < 0)
    return lastFailure();
  return createAt(std::move(open), folder, mode, hasName);
}

Result<NewFile> NewFile::createAt(OpenFile folder, const std::string &path, mode_t mode, bool hasName) {
  removeStale(folder.get());
  NewFile result;
  result.folder = std::move(folder);
  result.path = path;
  if (!hasName) {
    result.file = OpenFile(::openat(result.folder.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    // Its name will be made of this one.
    const std::string link = "/proc/self/fd/" + std::to_string(result.file.get());
    if (result.file.get() >= 0 && ::access(link.c_str(), F_OK) != 0)
      result.file.close();
  }
  if (result.file.get() < 0)
    ZYX_RETURN_IF_ERROR(result.openNamed(mode));
  else
    (void)::flock(result.file.get(), LOCK_EX | LOCK_NB);
  return result;
}

void NewFile::nextName() {
  static std::atomic<unsigned> counter = 0;
  temporary = std::string(prefix) + std::to_string(::getpid()) + "-" + std::to_string(counter++) + std::string(suffix);
  leftover = Leftover::file(path + "/" + temporary);
}

Status NewFile::openNamed(mode_t mode) {
  for (;;) {
    nextName();
    file = OpenFile(::openat(folder.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.get() < 0) {
      const int error = errno;
      leftover.forget();
      temporary.clear();
      if (error == EEXIST)
        continue;
      return Status::ioError(std::strerror(error));
    }
    leftover.made();
    // Whoever removes stale files may have taken it before the lock was there.
    struct stat info;
    (void)::flock(file.get(), LOCK_EX | LOCK_NB);
    if (::fstat(file.get(), &info) != 0 || info.st_nlink != 0)
      return Status::ok();
  }
}

NewFile &NewFile::operator=(NewFile &&other) noexcept {
  std::swap(folder, other.folder);
  std::swap(file, other.file);
  std::swap(path, other.path);
  std::swap(temporary, other.temporary);
  std::swap(leftover, other.leftover);
  return *this;
}

NewFile::~NewFile() {
  if (!temporary.empty() && folder.get() >= 0)
    ::unlinkat(folder.get(), temporary.c_str(), 0);
}

Status NewFile::write(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return lastFailure();
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return Status::ok();
}

Status NewFile::place(const std::string &name, Durability durability) {
  if (durability == Durability::Sync && ::fsync(file.get()) != 0)
    return lastFailure();
  // A network's file system may only find at the end that there is no room, which closing any descriptor
  // of the file tells. The lock stays until it has its name.
  const int copy = ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || ::close(copy) != 0)
    return lastFailure();
  bool isPlaced = false;
  if (temporary.empty()) {
    const std::string link = "/proc/self/fd/" + std::to_string(file.get());
    // Where there is no such file yet, nothing has to be replaced.
    isPlaced = ::linkat(AT_FDCWD, link.c_str(), folder.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
    while (!isPlaced) {
      if (errno != EEXIST) {
        const Status failure = lastFailure();
        temporary.clear();
        return failure;
      }
      nextName();
      if (::linkat(AT_FDCWD, link.c_str(), folder.get(), temporary.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        leftover.made();
        break;
      }
    }
  }
  if (!isPlaced) {
    if (::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0)
      return lastFailure();
    temporary.clear();
    leftover.forget();
  }
  // The name is in the folder, which is written by itself. Some file systems cannot be asked to.
  if (durability == Durability::Sync && ::fsync(folder.get()) != 0 && errno != EINVAL && errno != EBADF)
    return lastFailure();
  file.close();
  return Status::ok();
}
