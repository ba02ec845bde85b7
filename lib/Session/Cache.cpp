//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Cache.h"

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Envelope.h"
#include "zyx/Base/Hash.h"
#include "zyx/Base/PrivateFolder.h"
#include "zyx/Base/ProcessMutex.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <tuple>

using namespace zyx;
using namespace zyx::session;

namespace {

// The byte form of an entry:
//   magic, u32 version, XXH3-128 of all that follows,
//   key, tools with a u64 count before them, u64 kernels, remarks, u8 kind, and by that the artifact, keys of kernels
//   with a u64 count before them, or the bytes of a kernel.
constexpr Envelope envelope{"\x7fZYXKEEP", 3, Envelope::Checksum::Bits128};
enum class Kind : uint8_t { Artifact = 0, Keys = 1, Kernel = 2 };

constexpr const char *suffix = ".zyxc";
/// What versions up to 0.1 left behind where a process ended in the middle.
constexpr const char *temporaryMark = ".zyxc.tmp.";
/// No process takes this long to write one entry.
constexpr auto staleAfter = std::chrono::hours(1);

Status corrupt(std::string reason) { return Status::dataCorruption("cache entry: " + std::move(reason)); }

} // namespace

bool CacheEntry::operator==(const CacheEntry &other) const {
  const auto all = [](const CacheEntry &entry) {
    return std::tie(entry.key, entry.tools, entry.numKernels, entry.remarks, entry.kernels, entry.kernel,
                    entry.artifact);
  };
  return all(*this) == all(other);
}

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
  checked.u8(static_cast<uint8_t>(kernel ? Kind::Kernel : kernels ? Kind::Keys : Kind::Artifact));
  if (kernel) {
    checked.blob(*kernel);
  } else if (kernels) {
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
  const auto kind = static_cast<Kind>(from.u8("kind"));
  std::span<const std::byte> blob;
  if (kind == Kind::Keys) {
    for (std::string &kernel : entry.kernels.emplace(from.count("keys of kernels", 8)))
      kernel = from.string("key of a kernel");
  } else if (kind == Kind::Kernel) {
    const std::span<const std::byte> kernel = from.blob("kernel");
    entry.kernel.emplace(kernel.begin(), kernel.end());
  } else if (kind == Kind::Artifact) {
    blob = from.blob("artifact");
  } else {
    return corrupt("is of an unknown kind");
  }
  if (!from.status())
    return corrupt(from.status().message());
  if (from.remaining() != 0)
    return corrupt(std::to_string(from.remaining()) + " bytes follow it");
  if (kind != Kind::Artifact)
    return entry;
  ZYX_ASSIGN_OR_RETURN(artifact::Artifact program, artifact::Artifact::deserialize(blob, "cache entry"));
  entry.program = std::make_shared<const artifact::Artifact>(std::move(program));
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

/// The name of a key's entry in the folder.
static std::string nameOf(const std::string &key) { return hashBytes(std::string_view(key)).toHex() + suffix; }

std::string ArtifactCache::path(const std::string &key) const { return folder + "/" + nameOf(key); }

void ArtifactCache::warnOfFolder(const Status &status) {
  if (status.code() != ErrorCode::InvalidArgument)
    return;
  // Each reason of each folder once in a process.
  static constinit ProcessMutex mutex;
  static std::set<std::string> told;
  const ProcessMutex::Guard lock(mutex);
  if (!lock || told.insert(status.message()).second)
    std::fprintf(stderr,
                 "zyx: warning: the cache is not used, because its entries are run as code: %s. ZYX_CACHE_DIR names "
                 "another folder, or none by 'off'\n",
                 status.message().c_str());
}

std::optional<CacheEntry> ArtifactCache::find(const std::string &key) const {
  const Result<PrivateFolder> open = PrivateFolder::open(folder);
  if (!open) {
    warnOfFolder(open.status());
    return std::nullopt;
  }
  const std::string name = nameOf(key);
  Result<std::vector<std::byte>> bytes = open->read(name, maxBytes);
  if (!bytes) {
    // What is no file, is too large for this cache, or may be another user's is not looked at again and
    // again. A folder is left until there is an entry for its place.
    if (bytes.status().code() == ErrorCode::InvalidArgument)
      open->remove(name);
    return std::nullopt;
  }
  Result<CacheEntry> entry = CacheEntry::deserialize(*bytes);
  bool good = entry && entry->key == key && std::all_of(entry->tools.begin(), entry->tools.end(), [](const Tool &tool) {
                return fileIdentity(tool.path) == tool.identity;
              });
  if (!good) {
    // Another process may have put a good one there since; it is made again.
    open->remove(name);
    return std::nullopt;
  }
  // Its age counts from the latest use. In a folder that cannot be written it stays as it is.
  open->renew(name);
  return std::move(*entry);
}

Status ArtifactCache::insert(std::span<const CacheEntry> entries) const {
  const Result<PrivateFolder> made = PrivateFolder::make(folder);
  if (!made) {
    warnOfFolder(made.status());
    return made.status();
  }
  std::set<std::string> names;
  for (const CacheEntry &entry : entries) {
    const std::vector<std::byte> bytes = entry.serialize();
    if (bytes.size() > maxBytes)
      return Status::outOfMemory("an entry of " + std::to_string(bytes.size()) + " bytes is larger than the cache of " +
                                 std::to_string(maxBytes));
    const std::string name = nameOf(entry.key);
    // Not forced to the disk: what a crash of the machine leaves of it has another checksum.
    ZYX_RETURN_IF_ERROR(made->write(name, bytes, Durability::None));
    names.insert(name);
  }
  evict(*made, names);
  return Status::ok();
}

void ArtifactCache::evict(const PrivateFolder &from, const std::set<std::string> &keep) const {
  std::vector<PrivateFolder::File> files;
  uint64_t total = 0;
  // Files come and go meanwhile.
  for (PrivateFolder::File &file : from.files()) {
    if (file.name.find(temporaryMark) != std::string::npos) {
      if (std::chrono::system_clock::now() - file.changed > staleAfter)
        from.remove(file.name);
    } else if (file.name.ends_with(suffix)) {
      total += file.size;
      if (!keep.contains(file.name))
        files.push_back(std::move(file));
    }
  }
  if (total <= maxBytes)
    return;
  std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) { return a.changed < b.changed; });
  // Some more than needed, so that not every insertion has to.
  for (const PrivateFolder::File &file : files) {
    if (total <= maxBytes - maxBytes / 10)
      return;
    if (from.remove(file.name))
      total -= file.size;
  }
}
