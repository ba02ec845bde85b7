//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/TempFolder.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace zyx {

Result<TempFolder> TempFolder::create() {
  const char *parent = std::getenv("TMPDIR");
  std::string path = std::string(parent && *parent ? parent : "/tmp") + "/zyx-XXXXXX";
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
