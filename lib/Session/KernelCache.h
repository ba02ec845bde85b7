//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SESSION_KERNELCACHE_H
#define ZYX_LIB_SESSION_KERNELCACHE_H

#include "zyx/Session/Cache.h"
#include "zyx/Session/Session.h"

#include <list>
#include <mutex>
#include <unordered_map>

namespace zyx::session {

/// Kernels that the compiler has made, each by itself: in memory, and in the folder of the artifacts where there is
/// one. Any number of threads may use it at once, and any number of processes the folder.
class KernelCache {
public:
  /// `disk` may be null. In memory are at most so many bytes; those used last stay.
  KernelCache(const ArtifactCache *disk, uint64_t memoryBytes) : disk(disk), memoryBytes(memoryBytes) {}
  bool isOn() const { return disk || memoryBytes != 0; }

  /// One compilation's view of it.
  class User {
  public:
    /// `toolchain` is what code depends on beside what the compiler's keys say: which build of it, and its tools.
    User(KernelCache &cache, std::string toolchain) : cache(cache), toolchain(std::move(toolchain)) {}
    /// As the compiler calls it.
    KernelStore store();
    /// Writes what was stored to the disk, with the tools that are loaded by now.
    Status keep();

  private:
    KernelCache &cache;
    const std::string toolchain;
    std::vector<CacheEntry> entries;
  };

  void note(size_t numCompiled);
  KernelStatistics statistics() const;

private:
  std::optional<std::vector<std::byte>> find(const std::string &key);
  void insert(const std::string &key, std::vector<std::byte> bytes);

  const ArtifactCache *const disk;
  const uint64_t memoryBytes;
  mutable std::mutex mutex;
  struct Entry {
    std::string key;
    std::vector<std::byte> bytes;
  };
  /// The one used last first.
  std::list<Entry> order;
  std::unordered_map<std::string, std::list<Entry>::iterator> kernels;
  uint64_t keptBytes = 0;
  KernelStatistics counts;
};

} // namespace zyx::session

#endif // ZYX_LIB_SESSION_KERNELCACHE_H
