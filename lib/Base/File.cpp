//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/File.h"

#include "NewFile.h"
#include "zyx/Base/Allocate.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

using namespace zyx;

static std::string lastError() { return std::strerror(errno); }

Result<ReadOnlyFile> ReadOnlyFile::open(const std::string &path) {
  // Before the descriptor, which nobody else would close where memory ends.
  std::string name = path;
  // Not blocking, so that a named pipe is refused instead of waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    ErrorCode code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError;
    return Status(code, path + ": cannot open: " + lastError());
  }
  return adopt(descriptor, std::move(name));
}

Result<ReadOnlyFile> ReadOnlyFile::adopt(int descriptor, std::string path) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Status::ioError(path + ": not a regular file");
  }
  return ReadOnlyFile(descriptor, static_cast<uint64_t>(info.st_size), std::move(path));
}

ReadOnlyFile::ReadOnlyFile(ReadOnlyFile &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), bytes(other.bytes), name(std::move(other.name)) {}

ReadOnlyFile &ReadOnlyFile::operator=(ReadOnlyFile &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  std::swap(bytes, other.bytes);
  std::swap(name, other.name);
  return *this;
}

ReadOnlyFile::~ReadOnlyFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status ReadOnlyFile::read(uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    ssize_t got = ::pread(descriptor, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return Status::ioError(name + ": cannot read: " + lastError());
    if (got == 0)
      return Status::ioError(name + ": ends at byte " + std::to_string(offset) + ", " + std::to_string(into.size()) +
                             " bytes too early");
    into = into.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return Status::ok();
}

Result<std::shared_ptr<const FileMapping>> ReadOnlyFile::map() const {
  std::span<const std::byte> contents;
  // There is no mapping of nothing.
  if (bytes != 0) {
    void *address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED)
      return Status::ioError(name + ": cannot map: " + lastError());
    contents = {static_cast<const std::byte *>(address), bytes};
  }
  return std::shared_ptr<const FileMapping>(new FileMapping(contents));
}

FileMapping::~FileMapping() {
  if (!contents.empty())
    ::munmap(const_cast<std::byte *>(contents.data()), contents.size());
}

Result<std::vector<std::byte>> zyx::readFile(const std::string &path, uint64_t limit) {
  ZYX_ASSIGN_OR_RETURN(ReadOnlyFile file, ReadOnlyFile::open(path));
  if (file.size() > limit)
    return Status::invalidArgument(path + ": holds " + std::to_string(file.size()) + " bytes, more than the limit of " +
                                   std::to_string(limit));
  ZYX_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, allocateBytes(file.size(), path));
  ZYX_RETURN_IF_ERROR(file.read(0, bytes));
  return bytes;
}

//===----------------------------------------------------------------------===//
// AtomicFile
//===----------------------------------------------------------------------===//

struct AtomicFile::Target {
  /// As the caller wrote it, for messages.
  std::string path;
  NewFile file;
  /// In the folder of `file`.
  std::string name;
  bool isThere = false;
  /// Of the file that is there.
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  std::vector<std::byte> accessList;

  Status fail(const std::string &why) const { return Status::ioError(path + ": cannot write: " + why); }
  Status keepRights() const;
};

/// The name that a path leads to over symbolic links, whether there is a file of it or not.
static Result<std::string> followLinks(const std::string &path) {
  // As many as the system follows.
  constexpr int mostLinks = 40;
  std::string at = path;
  for (int i = 0; i < mostLinks; ++i) {
    std::string link(PATH_MAX, '\0');
    const ssize_t size = ::readlink(at.c_str(), link.data(), link.size());
    if (size < 0)
      return at;
    link.resize(static_cast<size_t>(size));
    at = link.starts_with('/') ? link : folderOf(at) + "/" + link;
  }
  return Status::ioError(path + ": cannot write: " + std::strerror(ELOOP));
}

/// Of POSIX, as Linux keeps it: without it the mode's bits of the group would say something else.
static constexpr const char *accessListName = "system.posix_acl_access";

Result<AtomicFile> AtomicFile::create(const std::string &path, bool hasName) {
  ZYX_ASSIGN_OR_RETURN(const std::string real, followLinks(path));
  auto target = std::make_unique<Target>();
  target->path = path;
  const size_t slash = real.rfind('/');
  target->name = slash == std::string::npos ? real : real.substr(slash + 1);
  if (target->name.empty())
    return target->fail(path.empty() ? "the name is empty" : std::strerror(EISDIR));
  const std::string folder = folderOf(real);
  struct stat info;
  if (::lstat(real.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode))
      return target->fail("not a regular file");
    // The system decides who may write: modes, access lists, flags, what is mounted for reading only.
    const int old = ::open(real.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (old < 0)
      return target->fail(lastError());
    target->isThere = true;
    target->mode = info.st_mode & 07777;
    target->owner = info.st_uid;
    target->group = info.st_gid;
    if (const ssize_t size = ::fgetxattr(old, accessListName, nullptr, 0); size > 0) {
      target->accessList.resize(static_cast<size_t>(size));
      if (::fgetxattr(old, accessListName, target->accessList.data(), target->accessList.size()) != size)
        target->accessList.clear();
    }
    ::close(old);
  } else if (errno != ENOENT) {
    return target->fail(lastError());
  }
  // Nobody reads what is not there yet with rights that the file will not give.
  Result<NewFile> file = NewFile::create(folder, target->isThere ? 0600 : 0666, hasName);
  if (!file)
    return target->fail(file.status().message());
  target->file = std::move(*file);
  if (target->isThere) {
    if (Status status = target->keepRights(); !status.isOk())
      return status;
  }
  return AtomicFile(std::move(target));
}

Status AtomicFile::Target::keepRights() const {
  const int descriptor = file.descriptor();
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return fail(lastError());
  if (info.st_uid != owner && ::fchown(descriptor, owner, static_cast<gid_t>(-1)) != 0)
    return fail(
        "it belongs to another user, whom only root can give a new file; remove it first, or write to another name");
  // A group that this user is not in: the file is his alone then.
  mode_t rights = mode;
  if (info.st_gid != group && ::fchown(descriptor, static_cast<uid_t>(-1), group) != 0)
    rights &= ~static_cast<mode_t>(070);
  else if (!accessList.empty())
    (void)::fsetxattr(descriptor, accessListName, accessList.data(), accessList.size(), 0);
  if (::fchmod(descriptor, rights) != 0)
    return fail(lastError());
  return Status::ok();
}

AtomicFile::AtomicFile(std::unique_ptr<Target> target) : target(std::move(target)) {}
AtomicFile::AtomicFile(AtomicFile &&other) noexcept = default;
AtomicFile::~AtomicFile() = default;

Status AtomicFile::write(std::span<const std::byte> bytes) {
  const Status status = target->file.write(bytes);
  return status.isOk() ? status : target->fail(status.message());
}

Status AtomicFile::commit(Durability durability) {
  const Status status = target->file.place(target->name, durability);
  return status.isOk() ? status : target->fail(status.message());
}

Status zyx::writeFileAtomically(const std::string &path, std::span<const std::byte> bytes, Durability durability) {
  ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  ZYX_RETURN_IF_ERROR(file.write(bytes));
  return file.commit(durability);
}
