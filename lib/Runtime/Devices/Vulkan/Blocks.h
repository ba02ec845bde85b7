//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_VULKAN_BLOCKS_H
#define ZYX_LIB_RUNTIME_DEVICES_VULKAN_BLOCKS_H

#include "Driver.h"

#include <map>
#include <mutex>

namespace zyx::runtime::vulkan {

/// A few large allocations of a device, each with a buffer over all of it, out of which smaller ones are given: a
/// driver has few of the large ones, and each takes long. Calls from several threads are safe.
class Blocks {
public:
  struct Block {
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    /// On the device, and on the host where it reaches the memory.
    uint64_t address = 0;
    std::byte *mapped = nullptr;
    uint64_t bytes = 0;
    /// What nobody has: where it begins in the block, and bytes.
    std::map<uint64_t, uint64_t> free;
  };
  struct BlockOffset {
    const Block *block = nullptr;
    uint64_t offset = 0;
  };

  /// The first of the kinds of memory that the device has is taken.
  Blocks(const Driver &driver, VkDevice device, const VkPhysicalDeviceMemoryProperties &memory,
         std::vector<VkMemoryPropertyFlags> kinds, uint64_t blockBytes)
      : driver(driver), device(device), properties(memory), kinds(std::move(kinds)), blockBytes(blockBytes) {}
  ~Blocks();
  Blocks(const Blocks &) = delete;

  /// The address on the device.
  Result<uint64_t> allocate(uint64_t bytes);
  void free(uint64_t address);
  /// Gives blocks of which nobody has anything to the driver.
  void trim();
  /// Where an address lies; null in no block.
  BlockOffset find(uint64_t address) const;
  /// The same of an address on the host.
  BlockOffset findMapped(const void *address) const;

private:
  static constexpr uint64_t alignment = 256;
  Result<Block> make(uint64_t bytes);
  void destroy(const Block &block);

  const Driver &driver;
  const VkDevice device;
  const VkPhysicalDeviceMemoryProperties properties;
  const std::vector<VkMemoryPropertyFlags> kinds;
  const uint64_t blockBytes;
  mutable std::mutex mutex;
  /// By their addresses.
  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, uint64_t> sizes;
};

} // namespace zyx::runtime::vulkan

#endif // ZYX_LIB_RUNTIME_DEVICES_VULKAN_BLOCKS_H
