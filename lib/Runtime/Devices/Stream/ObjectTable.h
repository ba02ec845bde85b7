//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_OBJECTTABLE_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_OBJECTTABLE_H

#include "Backend.h"

#include <mutex>
#include <unordered_map>

namespace zyx::runtime {

/// Objects as handles, for drivers and backends that know them by their addresses.
template <typename HandleT, typename T> HandleT handleOf(T *object) {
  return static_cast<HandleT>(reinterpret_cast<uintptr_t>(object));
}
template <typename T, typename HandleT> T *objectOf(HandleT handle) {
  return reinterpret_cast<T *>(static_cast<uintptr_t>(handle));
}

/// Memory of a driver that has objects in the place of addresses, by the handles of MemoryRef. Handles lie as far from
/// each other as if they were addresses, and none is given twice.
template <typename Object> class ObjectTable {
public:
  uint64_t add(Object object, uint64_t bytes) {
    const std::lock_guard lock(mutex);
    const uint64_t handle = next;
    next += (bytes + 63) / 64 * 64;
    objects.emplace(handle, object);
    return handle;
  }
  /// Null for no memory.
  Object find(MemoryRef ref) const {
    const std::lock_guard lock(mutex);
    const auto found = objects.find(ref.handle);
    return found == objects.end() ? Object() : found->second;
  }
  Object take(uint64_t handle) {
    const std::lock_guard lock(mutex);
    const auto found = objects.find(handle);
    const Object object = found->second;
    objects.erase(found);
    return object;
  }
  /// What is left when a device is lost.
  const std::unordered_map<uint64_t, Object> &all() const { return objects; }

private:
  mutable std::mutex mutex;
  std::unordered_map<uint64_t, Object> objects;
  uint64_t next = uint64_t(1) << 20;
};

/// Of a launch, for drivers that bind no byte twice where a kernel may write: which of the buffers that it only reads
/// have bytes of one that it writes, or of one behind them.
inline std::vector<uint32_t> overlapping(const artifact::Kernel &kernel, std::span<const MemoryRef> buffers) {
  std::vector<uint32_t> found;
  const uint32_t numRead = kernel.numBuffers - kernel.numWritten;
  const auto overlap = [&](uint32_t i, uint32_t j) {
    const uint64_t a = buffers[i].address(), b = buffers[j].address();
    return a < b + kernel.bufferBytes[j] && b < a + kernel.bufferBytes[i];
  };
  for (uint32_t i = 0; i < std::min<size_t>(numRead, kernel.bufferBytes.size()); ++i)
    for (uint32_t j = i + 1; j < kernel.numBuffers; ++j)
      if (overlap(i, j) && (found.empty() || found.back() != i))
        found.push_back(i);
  return found;
}

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_OBJECTTABLE_H
