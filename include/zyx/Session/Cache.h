//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_CACHE_H
#define ZYX_SESSION_CACHE_H

#include "zyx/Base/Config.h"
#include "zyx/Session/Compiler.h"

#include <optional>
#include <set>
#include <span>

namespace zyx {
class PrivateFolder;
}

namespace zyx::session {

/// A file that a compilation was made with, and what it was then.
struct Tool {
  std::string path, identity;
  bool operator==(const Tool &) const = default;
};

/// What a file is, for keys: the build id that its linker wrote into it, or its size, inode and time
/// of change where it has none. Empty where it cannot be read.
std::string fileIdentity(const std::string &path);

/// What one entry of the cache holds.
struct CacheEntry {
  /// All that tells this compilation from another one.
  std::string key;
  /// Without these as they were, the entry is stale.
  std::vector<Tool> tools;
  size_t numKernels = 0;
  std::string remarks;
  /// The keys of the program's kernels that have several schedules, in an entry that has nothing else.
  std::optional<std::vector<std::string>> kernels = std::nullopt;
  std::vector<std::byte> artifact;
  /// What these bytes hold, of an entry that was read: so that they are not read twice.
  std::shared_ptr<const artifact::Artifact> program = nullptr;
  /// A kernel's bytes of the compiler, in an entry that has nothing else.
  std::optional<std::vector<std::byte>> kernel = std::nullopt;

  /// Of all that the bytes hold.
  bool operator==(const CacheEntry &other) const;
  /// The versioned, checksummed byte form.
  std::vector<std::byte> serialize() const;
  /// Refuses what is cut, corrupt, of another version, or holds neither an artifact that verifies nor a list of
  /// kernels nor a kernel.
  static Result<CacheEntry> deserialize(std::span<const std::byte> bytes);
};

/// Artifacts in a folder, for later processes. Any number of processes may use it at once; each
/// sees an entry whole or not at all. An entry that is damaged, stale or of another key is removed,
/// and is a miss.
///
/// The code of a hit is run, so nothing is read that another user may have written (PrivateFolder). A
/// folder that is not trusted for that reason is said once on the standard error, with what mends it; an
/// entry that is not, or is no file, gives way to the next one.
class ArtifactCache {
public:
  static constexpr uint64_t defaultMaxBytes = uint64_t(1) << 30;

  /// Of all entries together at most `maxBytes`.
  explicit ArtifactCache(std::string folder, uint64_t maxBytes = defaultMaxBytes)
      : folder(std::move(folder)), maxBytes(maxBytes) {}

  /// The configuration's `cacheDir`; without it "zyx" in XDG_CACHE_HOME or in ~/.cache. Nothing where
  /// that is empty or "off", or where none of them is set.
  static std::optional<std::string> defaultFolder(const Config &config);

  /// The entry of that key; nothing for whatever reason there is none.
  std::optional<CacheEntry> find(const std::string &key) const;
  /// Keeps an entry, and removes the least recently used ones beyond `maxBytes`. On a failure (a
  /// full disk, a folder that cannot be written) nothing is kept.
  Status insert(const CacheEntry &entry) const { return insert(std::span(&entry, 1)); }
  /// Several at once; none of them is removed for another one.
  Status insert(std::span<const CacheEntry> entries) const;
  /// The file of a key, whether it is there or not.
  std::string path(const std::string &key) const;
  /// Says on the standard error why a folder of the user's is not trusted, once.
  static void warnOfFolder(const Status &status);

private:
  /// Removes old entries, but not the files `keep`: times on a disk are too coarse to say which of two
  /// files is the newer one.
  void evict(const PrivateFolder &from, const std::set<std::string> &keep) const;
  std::string folder;
  uint64_t maxBytes;
};

} // namespace zyx::session

#endif // ZYX_SESSION_CACHE_H
