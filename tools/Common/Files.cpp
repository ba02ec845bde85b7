//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Files.h"

#include "zyx/Base/Processors.h"
#include "zyx/Base/TextLimits.h"
#include "zyx/Session/Session.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace zyx;
using namespace zyx::tools;

namespace {

constexpr const char *standardInput = "-";
/// What a format is known by.
constexpr size_t startBytes = 64 * 1024;

class Descriptor {
public:
  explicit Descriptor(int value) : value(value) {}
  ~Descriptor() {
    if (value >= 0)
      ::close(value);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int release() { return std::exchange(value, -1); }
  operator int() const { return value; }

private:
  int value;
};

Status failed(const std::string &path, const char *action) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::NotFound : ErrorCode::IoError;
  return Status(code, path + ": cannot " + action + ": " + std::strerror(errno));
}

/// A pipe that nobody has opened to write has no end yet; who waits for one is told.
Status waitForBytes(int descriptor, const std::string &path) {
  constexpr int patience = 1000;
  pollfd waited = {descriptor, POLLIN, 0};
  for (bool isFirst = true;; isFirst = false) {
    const int ready = ::poll(&waited, 1, isFirst ? patience : -1);
    if (ready > 0)
      return Status::ok();
    if (ready < 0 && errno != EINTR)
      return failed(path, "read");
    if (ready == 0 && path != standardInput)
      std::fprintf(stderr, "%s: waiting for somebody to write to it\n", path.c_str());
  }
}

/// Bytes that are there; 0 at the end.
Result<size_t> readSome(int descriptor, std::span<std::byte> into, const std::string &path) {
  for (;;) {
    const ssize_t got = ::read(descriptor, into.data(), into.size());
    if (got >= 0)
      return static_cast<size_t>(got);
    if (errno == EAGAIN)
      ZYX_RETURN_IF_ERROR(waitForBytes(descriptor, path));
    else if (errno != EINTR)
      return failed(path, "read");
  }
}

Status writeAll(int descriptor, std::span<const std::byte> bytes, const std::string &path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return Status::outOfMemory(path + ": cannot be kept in memory: " + std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return Status::ok();
}

/// All that comes, in a file without a name.
Result<ReadOnlyFile> readStream(int descriptor, const std::string &path, const StreamLimit &limitOf) {
  Descriptor memory(::memfd_create("zyx-input", MFD_CLOEXEC));
  if (memory < 0)
    return failed(path, "be kept in memory");
  std::vector<std::byte> piece(1 << 20);
  size_t size = 0;
  // The start comes in as many pieces as its writer likes.
  while (size < startBytes) {
    ZYX_ASSIGN_OR_RETURN(const size_t got, readSome(descriptor, std::span(piece).subspan(size), path));
    if (got == 0)
      break;
    size += got;
  }
  const std::span<const std::byte> start = std::span(piece).first(std::min(size, startBytes));
  Result<uint64_t> limit = limitOf(start);
  if (!limit)
    return Status(limit.status().code(), path + ": " + limit.status().message());
  uint64_t total = 0;
  while (size != 0) {
    total += size;
    if (total > *limit)
      return Status::invalidArgument(path + ": gives more than the " + std::to_string(*limit) +
                                     " bytes that are expected");
    ZYX_RETURN_IF_ERROR(writeAll(memory, std::span(piece).first(size), path));
    ZYX_ASSIGN_OR_RETURN(size, readSome(descriptor, piece, path));
  }
  return ReadOnlyFile::adopt(memory.release(), path);
}

/// Where a file is, through all links: as text that is the same for one file. Another name of the same
/// contents is another file.
std::string resolve(std::string path) {
  for (int links = 0; links < 40; ++links) {
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
    if (length <= 0)
      break;
    const std::string to(target, static_cast<size_t>(length));
    path = to[0] == '/' ? to : path.substr(0, path.rfind('/') + 1) + to;
  }
  return path;
}

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string inodeOf(const struct stat &info) { return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino); }

} // namespace

bool tools::isStream(const std::string &path) {
  struct stat info;
  return path == standardInput ||
         (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

uint64_t tools::memoryForStreams() { return usableMemory() / 2; }

Result<ReadOnlyFile> tools::openInput(const std::string &path, const StreamLimit &limit) {
  if (!isStream(path))
    return ReadOnlyFile::open(path);
  if (path == standardInput)
    return readStream(STDIN_FILENO, path, limit);
  // Not blocking, so that who waits for a writer can be told.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor < 0)
    return failed(path, "open");
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return failed(path, "open");
  if (S_ISFIFO(info.st_mode))
    ZYX_RETURN_IF_ERROR(waitForBytes(descriptor, path));
  return readStream(descriptor, path, limit);
}

Result<std::vector<std::byte>> tools::readProgram(const std::string &path) {
  if (!isStream(path))
    return readFile(path, session::Session::maxTextBytes);
  const auto limit = [](std::span<const std::byte>) { return uint64_t(TextLimits().bytes); };
  ZYX_ASSIGN_OR_RETURN(const ReadOnlyFile file, openInput(path, limit));
  std::vector<std::byte> bytes(file.size());
  ZYX_RETURN_IF_ERROR(file.read(0, bytes));
  return bytes;
}

void OutputFiles::protect(const std::string &path, const std::string &what) {
  struct stat info;
  if (path != standardInput && ::stat(path.c_str(), &info) == 0)
    sources.push_back({inodeOf(info), what});
}

Status OutputFiles::claim(const std::string &option, const std::string &path) {
  const auto refuse = [&](const std::string &why) { return Status::invalidArgument(option + ": " + why); };
  const std::string file = resolve(path), folder = folderOf(file);
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return refuse("there is no folder '" + folder + "'");
  const std::string key = inodeOf(info) + "/" + file.substr(file.rfind('/') + 1);
  if (::lstat(file.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    return refuse("its links lead around in a circle");
  if (::stat(file.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      return refuse("is a folder");
    for (const File &source : sources)
      if (source.key == inodeOf(info))
        return refuse("would overwrite " + source.what);
  }
  for (const File &output : outputs)
    if (output.key == key)
      return refuse("is the file of " + output.what + ", too");
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return Status::ioError(option + ": cannot write in the folder '" + folder + "': " + std::strerror(errno));
  outputs.push_back({key, option});
  return Status::ok();
}
