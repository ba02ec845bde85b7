//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/PrivateFolder.h"

#include "NewFile.h"
#include "zyx/Base/Allocate.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace zyx;

static std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof(text), "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

/// Why another user may have written to it; empty where none can have.
static std::string whyForeign(const struct stat &info, const std::string &path) {
  if (info.st_uid != ::geteuid())
    return "belongs to another user (" + std::to_string(info.st_uid) + ")";
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return std::string(info.st_mode & S_IWOTH ? "everyone" : "its group") + " may write to it (mode " +
           octal(info.st_mode) + "); 'chmod go-w " + path + "' mends that";
  return "";
}

PrivateFolder::PrivateFolder(PrivateFolder &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), path(std::move(other.path)) {}

PrivateFolder::~PrivateFolder() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Result<PrivateFolder> PrivateFolder::open(const std::string &path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    struct stat info;
    if (error == ENOENT)
      return Status::notFound(path + ": cannot open: " + std::strerror(error));
    // A link gives one of these two, by the system's version.
    if ((error == ELOOP || error == ENOTDIR) && ::lstat(path.c_str(), &info) == 0) {
      if (S_ISLNK(info.st_mode))
        return Status::invalidArgument(path + ": is a symbolic link; name the folder that it leads to");
      return Status::ioError(path + ": is no folder");
    }
    return Status::ioError(path + ": cannot open: " + std::strerror(error));
  }
  PrivateFolder folder(descriptor, path);
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return Status::ioError(path + ": cannot open: " + std::strerror(errno));
  if (const std::string why = whyForeign(info, path); !why.empty())
    return Status::invalidArgument(path + ": " + why);
  return folder;
}

Result<PrivateFolder> PrivateFolder::make(const std::string &path) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty())
    std::filesystem::create_directories(parent, error);
  (void)::mkdir(path.c_str(), 0700);
  return open(path);
}

Result<std::vector<std::byte>> PrivateFolder::read(const std::string &name, uint64_t limit) const {
  const std::string full = path + "/" + name;
  // Not blocking, because it may be a pipe.
  OpenFile file(::openat(descriptor, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT)
      return Status::notFound(full + ": cannot open: " + std::strerror(errno));
    if (errno == ELOOP || errno == ENXIO)
      return Status::invalidArgument(full + ": is no file");
    return Status::ioError(full + ": cannot open: " + std::strerror(errno));
  }
  struct stat info;
  if (::fstat(file.get(), &info) != 0)
    return Status::ioError(full + ": cannot open: " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return Status::invalidArgument(full + ": is no file");
  if (const std::string why = whyForeign(info, full); !why.empty())
    return Status::invalidArgument(full + ": " + why);
  ZYX_ASSIGN_OR_RETURN(const ReadOnlyFile opened, ReadOnlyFile::adopt(file.release(), full));
  if (opened.size() > limit)
    return Status::invalidArgument(full + ": holds " + std::to_string(opened.size()) +
                                   " bytes, more than the limit of " + std::to_string(limit));
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, allocateBytes(opened.size(), full));
  ZYX_RETURN_IF_ERROR(opened.read(0, bytes));
  return bytes;
}

Status PrivateFolder::write(const std::string &name, std::span<const std::byte> bytes, Durability durability) const {
  auto fail = [&](const std::string &why) { return Status::ioError(path + "/" + name + ": cannot write: " + why); };
  OpenFile folder(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (folder.get() < 0)
    return fail(std::strerror(errno));
  Result<NewFile> file = NewFile::createAt(std::move(folder), path, 0600);
  if (!file)
    return fail(file.status().message());
  if (Status status = file->write(bytes); !status.isOk())
    return fail(status.message());
  // A name is taken from whatever else has it, but a file cannot take that of a folder.
  struct stat info;
  if (::fstatat(descriptor, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) && !remove(name) &&
      ::renameat(descriptor, name.c_str(), descriptor, (name + ".replaced").c_str()) != 0)
    return fail(std::string("a folder has its name: ") + std::strerror(errno));
  if (Status status = file->place(name, durability); !status.isOk())
    return fail(status.message());
  return Status::ok();
}

bool PrivateFolder::remove(const std::string &name) const {
  return ::unlinkat(descriptor, name.c_str(), 0) == 0 || ::unlinkat(descriptor, name.c_str(), AT_REMOVEDIR) == 0;
}

void PrivateFolder::renew(const std::string &name) const {
  (void)::utimensat(descriptor, name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<PrivateFolder::File> PrivateFolder::files() const {
  std::vector<File> found;
  // A stream of its own, because reading moves the descriptor.
  OpenFile copy(::openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR *const entries = copy.get() < 0 ? nullptr : ::fdopendir(copy.get());
  if (!entries)
    return found;
  (void)copy.release();
  const std::unique_ptr<DIR, int (*)(DIR *)> closed(entries, ::closedir);
  while (const dirent *entry = ::readdir(entries)) {
    struct stat info;
    if (::fstatat(descriptor, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
      continue;
    const auto since = std::chrono::seconds(info.st_mtim.tv_sec) + std::chrono::nanoseconds(info.st_mtim.tv_nsec);
    found.push_back(
        {entry->d_name, static_cast<uint64_t>(info.st_size), Time(std::chrono::duration_cast<Time::duration>(since))});
  }
  return found;
}

PrivateFolder::Lock::Lock(Lock &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}

PrivateFolder::Lock::~Lock() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Result<PrivateFolder::Lock> PrivateFolder::lock(const std::string &name, std::chrono::milliseconds most) const {
  const std::string full = path + "/" + name;
  const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Lock held(::openat(descriptor, name.c_str(), flags, 0600));
  // A link or a pipe is nobody's lock.
  struct stat info;
  if (held.descriptor < 0 || ::fstat(held.descriptor, &info) != 0 || !S_ISREG(info.st_mode) ||
      !whyForeign(info, full).empty()) {
    if (held.descriptor >= 0)
      ::close(held.descriptor);
    held.descriptor = remove(name) ? ::openat(descriptor, name.c_str(), flags | O_EXCL, 0600) : -1;
    if (held.descriptor < 0)
      return Status::ioError(full + ": cannot open: " + std::strerror(errno));
  }
  const auto deadline = std::chrono::steady_clock::now() + most;
  for (bool isTold = false; ::flock(held.descriptor, LOCK_EX | LOCK_NB) != 0;) {
    // Some file systems have no locks, and nobody waits there.
    if (errno != EWOULDBLOCK && errno != EINTR)
      break;
    if (std::chrono::steady_clock::now() >= deadline)
      return Status(ErrorCode::Timeout,
                    full + ": another process holds the lock for longer than " + std::to_string(most.count()) + " ms");
    if (!std::exchange(isTold, true))
      std::fprintf(stderr, "zyx: waits for another process that holds %s\n", full.c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return held;
}
