//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TempFolder.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

Result<TempFolder> TempFolder::createIn(const std::string &parent) {
  std::string path = parent + "/zyx-XXXXXX";
  if (!mkdtemp(path.data()))
    return Status::ioError("cannot make a temporary folder " + path + ": " + std::strerror(errno));
  return TempFolder(std::move(path));
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
}

} // namespace zyx
