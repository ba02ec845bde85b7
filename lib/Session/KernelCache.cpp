//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "KernelCache.h"

#include "Toolchain.h"

using namespace zyx;
using namespace zyx::session;

KernelStore KernelCache::User::store() {
  return {[this](const std::string &key) { return cache.find(toolchain + "kernel " + key); },
          [this](const std::string &key, std::span<const std::byte> bytes) {
            const std::string whole = toolchain + "kernel " + key;
            std::vector<std::byte> copy(bytes.begin(), bytes.end());
            if (cache.disk) {
              CacheEntry &entry = entries.emplace_back();
              entry.key = whole;
              entry.kernel = copy;
            }
            cache.insert(whole, std::move(copy));
          }};
}

Status KernelCache::User::keep() {
  if (entries.empty())
    return Status::ok();
  const std::vector<Tool> tools = loadedTools();
  for (CacheEntry &entry : entries)
    entry.tools = tools;
  return cache.disk->insert(entries);
}

std::optional<std::vector<std::byte>> KernelCache::find(const std::string &key) {
  {
    std::lock_guard lock(mutex);
    if (const auto found = kernels.find(key); found != kernels.end()) {
      order.splice(order.begin(), order, found->second);
      ++counts.foundInMemory;
      return found->second->bytes;
    }
  }
  std::optional<CacheEntry> entry = disk ? disk->find(key) : std::nullopt;
  if (!entry || !entry->kernel)
    return std::nullopt;
  insert(key, *entry->kernel);
  std::lock_guard lock(mutex);
  ++counts.foundOnDisk;
  return std::move(entry->kernel);
}

void KernelCache::insert(const std::string &key, std::vector<std::byte> bytes) {
  std::lock_guard lock(mutex);
  if (bytes.size() > memoryBytes)
    return;
  if (const auto found = kernels.find(key); found != kernels.end()) {
    keptBytes -= found->second->bytes.size();
    order.erase(found->second);
    kernels.erase(found);
  }
  const uint64_t size = bytes.size();
  order.push_front({key, std::move(bytes)});
  kernels.emplace(key, order.begin());
  keptBytes += size;
  while (keptBytes > memoryBytes) {
    keptBytes -= order.back().bytes.size();
    kernels.erase(order.back().key);
    order.pop_back();
  }
}

void KernelCache::note(size_t numCompiled) {
  std::lock_guard lock(mutex);
  counts.compiled += numCompiled;
}

KernelStatistics KernelCache::statistics() const {
  std::lock_guard lock(mutex);
  return counts;
}
