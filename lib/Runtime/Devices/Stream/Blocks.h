//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_DEVICES_STREAM_BLOCKS_H
#define ZYX_LIB_RUNTIME_DEVICES_STREAM_BLOCKS_H

#include "zyx/Base/Status.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace zyx::runtime {

/// A few large allocations of a device, out of which smaller ones are given: some drivers have few of the large ones,
/// and each takes long. `Memory` is what the driver has, and gives it back when it ends: its `address` on the device,
/// and where it is `mapped` on the host, if it is. Calls from several threads are safe.
template <typename Memory> class Blocks {
public:
  struct BlockOffset {
    /// Null in no block.
    const Memory *memory = nullptr;
    uint64_t offset = 0;
    std::byte *mapped() const { return memory->mapped + offset; }
    uint64_t address() const { return memory->address + offset; }
  };
  using Make = std::function<Result<std::unique_ptr<Memory>>(uint64_t bytes)>;

  Blocks(uint64_t blockBytes, Make make) : blockBytes(blockBytes), make(std::move(make)) {}
  Blocks(const Blocks &) = delete;

  /// The address on the device.
  Result<uint64_t> allocate(uint64_t wanted) {
    const uint64_t bytes = (wanted + alignment - 1) / alignment * alignment;
    const std::lock_guard lock(mutex);
    for (auto &[address, block] : blocks)
      if (const uint64_t found = take(block, bytes))
        return found;
    uint64_t size = std::max(bytes, blockBytes);
    Result<std::unique_ptr<Memory>> made = make(size);
    if (made.status().code() == ErrorCode::OutOfMemory && bytes < blockBytes)
      made = make(size = bytes);
    ZYX_RETURN_IF_ERROR(made.status());
    const uint64_t address = (*made)->address;
    return take(blocks.emplace(address, Block{std::move(*made), size, {{0, size}}}).first->second, bytes);
  }

  void free(uint64_t address) {
    const std::lock_guard lock(mutex);
    const auto size = sizes.find(address);
    Block &block = std::prev(blocks.upper_bound(address))->second;
    uint64_t begin = address - block.memory->address, end = begin + size->second;
    sizes.erase(size);
    auto next = block.free.lower_bound(begin);
    if (next != block.free.end() && next->first == end) {
      end += next->second;
      next = block.free.erase(next);
    }
    if (next != block.free.begin() && std::prev(next)->first + std::prev(next)->second == begin)
      std::prev(next)->second += end - begin;
    else
      block.free.emplace(begin, end - begin);
  }

  /// Gives blocks of which nobody has anything to the driver.
  void trim() {
    const std::lock_guard lock(mutex);
    std::erase_if(blocks, [&](const auto &each) {
      const Block &block = each.second;
      return block.free.size() == 1 && block.free.begin()->second == block.bytes;
    });
  }

  BlockOffset find(uint64_t address) const {
    const std::lock_guard lock(mutex);
    const auto above = blocks.upper_bound(address);
    if (above == blocks.begin())
      return {};
    const Block &block = std::prev(above)->second;
    const uint64_t offset = address - block.memory->address;
    return offset < block.bytes ? BlockOffset{block.memory.get(), offset} : BlockOffset{};
  }
  /// The same of an address on the host.
  BlockOffset findMapped(const void *address) const {
    const std::lock_guard lock(mutex);
    const auto *byte = static_cast<const std::byte *>(address);
    for (const auto &[itsAddress, block] : blocks)
      if (byte >= block.memory->mapped && byte < block.memory->mapped + block.bytes)
        return {block.memory.get(), static_cast<uint64_t>(byte - block.memory->mapped)};
    return {};
  }

private:
  static constexpr uint64_t alignment = 256;
  struct Block {
    std::unique_ptr<Memory> memory;
    uint64_t bytes = 0;
    /// What nobody has: where it begins in the block, and bytes.
    std::map<uint64_t, uint64_t> free;
  };

  /// 0 where the block has no room.
  uint64_t take(Block &block, uint64_t bytes) {
    const auto hole = std::ranges::find_if(block.free, [&](const auto &each) { return each.second >= bytes; });
    if (hole == block.free.end())
      return 0;
    const auto [offset, size] = *hole;
    block.free.erase(hole);
    if (size > bytes)
      block.free.emplace(offset + bytes, size - bytes);
    sizes.emplace(block.memory->address + offset, bytes);
    return block.memory->address + offset;
  }

  const uint64_t blockBytes;
  const Make make;
  mutable std::mutex mutex;
  /// By their addresses.
  std::map<uint64_t, Block> blocks;
  std::map<uint64_t, uint64_t> sizes;
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_DEVICES_STREAM_BLOCKS_H
