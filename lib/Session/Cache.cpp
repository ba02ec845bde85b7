//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Cache.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Envelope.h"
#include "zyx/Base/File.h"
#include "zyx/Base/Hash.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace zyx;
using namespace zyx::session;

namespace fs = std::filesystem;

namespace {

// The byte form of an entry:
//   magic, u32 version, XXH3-128 of all that follows,
//   key, tools with a u64 count before them, u64 kernels, remarks, u8 whether there are keys of kernels, these with a
//   u64 count before them, or else the artifact.
constexpr Envelope envelope{"\x7fZYXKEEP", 2, Envelope::Checksum::Bits128};

constexpr const char *suffix = ".zyxc";
/// What writeFileAtomically leaves behind where a process ends in the middle.
constexpr const char *temporaryMark = ".zyxc.tmp.";
/// No process takes this long to write one entry.
constexpr auto staleAfter = std::chrono::hours(1);

Status corrupt(std::string reason) {
  return Status::dataCorruption("cache entry: " + std::move(reason));
}

} // namespace

std::vector<std::byte> CacheEntry::serialize() const {
  ByteWriter checked;
  checked.string(key);
  checked.u64(tools.size());
  for (const Tool &tool : tools) {
    checked.string(tool.path);
    checked.string(tool.identity);
  }
  checked.u64(numKernels);
  checked.string(remarks);
  checked.u8(kernels.has_value());
  if (kernels) {
    checked.u64(kernels->size());
    for (const std::string &kernel : *kernels)
      checked.string(kernel);
  } else {
    checked.blob(artifact);
  }
  return envelope.seal(checked.view());
}

Result<CacheEntry> CacheEntry::deserialize(std::span<const std::byte> bytes) {
  const Envelope::Opened opened = envelope.open(bytes);
  switch (opened.state) {
  case Envelope::State::Whole:
    break;
  case Envelope::State::Cut:
  case Envelope::State::OtherMark:
    return corrupt("is none, or is cut");
  case Envelope::State::OtherVersion:
    return corrupt("is of another format version");
  case Envelope::State::Damaged:
    return corrupt("the checksum does not match");
  }
  ByteReader from(opened.contents);
  CacheEntry entry;
  entry.key = from.string("key");
  // A path and an identity have a length each.
  entry.tools.resize(from.count("tools", 16));
  for (Tool &tool : entry.tools) {
    tool.path = from.string("path of a tool");
    tool.identity = from.string("identity of a tool");
  }
  entry.numKernels = from.u64("kernels");
  entry.remarks = from.string("remarks");
  const bool isList = from.u8("kind") != 0;
  if (isList)
    for (std::string &kernel : entry.kernels.emplace(from.count("keys of kernels", 8)))
      kernel = from.string("key of a kernel");
  std::span<const std::byte> blob = isList ? std::span<const std::byte>() : from.blob("artifact");
  if (!from.status())
    return corrupt(from.status().message());
  if (from.remaining() != 0)
    return corrupt(std::to_string(from.remaining()) + " bytes follow it");
  if (isList)
    return entry;
  ZYX_RETURN_IF_ERROR(artifact::Artifact::deserialize(blob, "cache entry").status());
  entry.artifact.assign(blob.begin(), blob.end());
  return entry;
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

std::optional<std::string> ArtifactCache::defaultFolder(const Config &config) {
  if (config.cacheDir && (config.cacheDir->empty() || *config.cacheDir == "off"))
    return std::nullopt;
  if (config.cacheDir)
    return config.cacheDir;
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  if (const char *home = std::getenv("XDG_CACHE_HOME"); home && *home == '/')
    return std::string(home) + "/zyx";
  if (const char *home = std::getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/zyx";
  return std::nullopt;
}

std::string ArtifactCache::path(const std::string &key) const {
  return folder + "/" + hashBytes(std::string_view(key)).toHex() + suffix;
}

Status ArtifactCache::checkFolder(const std::string &folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0)
    return Status::ioError(folder + ": cannot open: " + std::strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return Status::ioError(folder + ": is no folder");
  if ((info.st_uid != ::geteuid() && info.st_uid != 0) || (info.st_mode & S_IWOTH))
    return Status::ioError(folder + ": another user may write to it");
  return Status::ok();
}

std::optional<CacheEntry> ArtifactCache::find(const std::string &key) const {
  if (!checkFolder(folder))
    return std::nullopt;
  const std::string file = path(key);
  Result<std::vector<std::byte>> bytes = readFile(file, maxBytes);
  if (!bytes) {
    // One that is too large for this cache is not read again and again; the others are not there.
    if (bytes.status().code() == ErrorCode::InvalidArgument)
      ::unlink(file.c_str());
    return std::nullopt;
  }
  Result<CacheEntry> entry = CacheEntry::deserialize(*bytes);
  bool good = entry && entry->key == key &&
              std::all_of(entry->tools.begin(), entry->tools.end(), [](const Tool &tool) {
                return fileIdentity(tool.path) == tool.identity;
              });
  if (!good) {
    // Another process may have put a good one there since; it is made again.
    ::unlink(file.c_str());
    return std::nullopt;
  }
  // Its age counts from the latest use. In a folder that cannot be written it stays as it is.
  (void)::utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return std::move(*entry);
}

Status ArtifactCache::makeFolder(const std::string &folder) {
  std::error_code error;
  fs::path parent = fs::path(folder).parent_path();
  if (!parent.empty())
    fs::create_directories(parent, error);
  (void)::mkdir(folder.c_str(), 0700);
  return checkFolder(folder);
}

Status ArtifactCache::insert(const CacheEntry &entry) const {
  std::vector<std::byte> bytes = entry.serialize();
  if (bytes.size() > maxBytes)
    return Status::outOfMemory("an entry of " + std::to_string(bytes.size()) +
                               " bytes is larger than the cache of " + std::to_string(maxBytes));
  ZYX_RETURN_IF_ERROR(makeFolder(folder));
  // Not forced to the disk: what a crash of the machine leaves of it has another checksum.
  ZYX_RETURN_IF_ERROR(writeFileAtomically(path(entry.key), bytes, Durability::None));
  evict(path(entry.key));
  return Status::ok();
}

void ArtifactCache::evict(const std::string &keep) const {
  struct File {
    fs::path path;
    uint64_t size;
    fs::file_time_type used;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  // Files come and go meanwhile; those that cannot be asked are left alone.
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    File file = {it->path(), it->file_size(gone), {}};
    if (!gone)
      file.used = it->last_write_time(gone);
    if (gone)
      continue;
    const std::string name = file.path.filename().string();
    if (name.find(temporaryMark) != std::string::npos) {
      if (fs::file_time_type::clock::now() - file.used > staleAfter)
        fs::remove(file.path, gone);
    } else if (name.ends_with(suffix)) {
      total += file.size;
      if (file.path != keep)
        files.push_back(std::move(file));
    }
  }
  if (total <= maxBytes)
    return;
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.used < b.used; });
  // Some more than needed, so that not every insertion has to.
  for (const File &file : files) {
    if (total <= maxBytes - maxBytes / 10)
      return;
    if (fs::remove(file.path, error))
      total -= file.size;
  }
}
