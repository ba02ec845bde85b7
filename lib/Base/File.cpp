//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/File.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace zyx;

static std::string lastError() { return std::strerror(errno); }

Result<ReadOnlyFile> ReadOnlyFile::open(const std::string &path) {
  // Not blocking, so that a named pipe is refused instead of waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    ErrorCode code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError;
    return Status(code, path + ": cannot open: " + lastError());
  }
  return adopt(descriptor, path);
}

Result<ReadOnlyFile> ReadOnlyFile::adopt(int descriptor, std::string name) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Status::ioError(name + ": not a regular file");
  }
  return ReadOnlyFile(descriptor, static_cast<uint64_t>(info.st_size), std::move(name));
}

ReadOnlyFile::ReadOnlyFile(ReadOnlyFile &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), bytes(other.bytes),
      name(std::move(other.name)) {}

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
      return Status::ioError(name + ": ends at byte " + std::to_string(offset) + ", " +
                             std::to_string(into.size()) + " bytes too early");
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
    return Status::invalidArgument(path + ": holds " + std::to_string(file.size()) +
                                   " bytes, more than the limit of " + std::to_string(limit));
  std::vector<std::byte> bytes(file.size());
  ZYX_RETURN_IF_ERROR(file.read(0, bytes));
  return bytes;
}

Result<AtomicFile> AtomicFile::create(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return Status::ioError(path + ": cannot write: not a regular file");
  static std::atomic<unsigned> counter = 0;
  std::string temporary;
  int descriptor;
  do {
    temporary = path + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(counter++);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0)
    return Status::ioError(path + ": cannot write: " + lastError());
  return AtomicFile(descriptor, path, std::move(temporary));
}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), path(std::move(other.path)),
      temporary(std::exchange(other.temporary, {})) {}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    ::close(descriptor);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return Status::ioError(path + ": cannot write: " + lastError());
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return Status::ok();
}

Status AtomicFile::commit(Durability durability) {
  // A network's file system may only find at the end that there is no room.
  if ((durability == Durability::Sync && ::fsync(descriptor) != 0) ||
      ::close(std::exchange(descriptor, -1)) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0)
    return Status::ioError(path + ": cannot write: " + lastError());
  temporary.clear();
  return Status::ok();
}

Status zyx::writeFileAtomically(const std::string &path, std::span<const std::byte> bytes,
                                Durability durability) {
  ZYX_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  ZYX_RETURN_IF_ERROR(file.write(bytes));
  return file.commit(durability);
}
