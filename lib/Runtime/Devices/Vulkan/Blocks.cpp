//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Blocks.h"

#include <algorithm>

using namespace zyx;
using namespace zyx::runtime::vulkan;

Blocks::~Blocks() {
  for (const auto &[address, block] : blocks)
    destroy(block);
}

void Blocks::destroy(const Block &block) {
  driver.DestroyBuffer(device, block.buffer, nullptr);
  driver.FreeMemory(device, block.memory, nullptr);
}

Result<Blocks::Block> Blocks::make(uint64_t bytes) {
  Block block;
  block.bytes = bytes;
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                            VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  VkResult result = driver.CreateBuffer(device, &info, nullptr, &block.buffer);
  if (result != VK_SUCCESS)
    return Driver::statusOf(result);
  VkMemoryRequirements needs = {};
  driver.GetBufferMemoryRequirements(device, block.buffer, &needs);
  result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (size_t i = 0; i < kinds.size() && result == VK_ERROR_OUT_OF_DEVICE_MEMORY; ++i)
    for (uint32_t type = 0; type < properties.memoryTypeCount && result == VK_ERROR_OUT_OF_DEVICE_MEMORY; ++type) {
      if (!(needs.memoryTypeBits >> type & 1) || (properties.memoryTypes[type].propertyFlags & kinds[i]) != kinds[i])
        continue;
      const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                               .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
      const VkMemoryAllocateInfo wanted = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &flags,
                                           .allocationSize = needs.size,
                                           .memoryTypeIndex = type};
      result = driver.AllocateMemory(device, &wanted, nullptr, &block.memory);
    }
  if (result == VK_SUCCESS)
    result = driver.BindBufferMemory(device, block.buffer, block.memory, 0);
  void *mapped = nullptr;
  if (result == VK_SUCCESS && (kinds[0] & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
    result = driver.MapMemory(device, block.memory, 0, VK_WHOLE_SIZE, 0, &mapped);
  if (result != VK_SUCCESS) {
    destroy(block);
    return Driver::statusOf(result);
  }
  block.mapped = static_cast<std::byte *>(mapped);
  const VkBufferDeviceAddressInfo asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                           .buffer = block.buffer};
  block.address = driver.GetBufferDeviceAddress(device, &asked);
  block.free.emplace(0, bytes);
  return block;
}

Result<uint64_t> Blocks::allocate(uint64_t wanted) {
  const uint64_t bytes = (wanted + alignment - 1) / alignment * alignment;
  const std::lock_guard lock(mutex);
  auto take = [&](Block &block) -> uint64_t {
    const auto hole = std::ranges::find_if(block.free, [&](const auto &each) { return each.second >= bytes; });
    if (hole == block.free.end())
      return 0;
    const auto [offset, size] = *hole;
    block.free.erase(hole);
    if (size > bytes)
      block.free.emplace(offset + bytes, size - bytes);
    sizes.emplace(block.address + offset, bytes);
    return block.address + offset;
  };
  for (auto &[address, block] : blocks)
    if (const uint64_t found = take(block))
      return found;
  Result<Block> made = make(std::max(bytes, blockBytes));
  if (made.status().code() == ErrorCode::OutOfMemory && bytes < blockBytes)
    made = make(bytes);
  ZYX_RETURN_IF_ERROR(made.status());
  const uint64_t address = made->address;
  return take(blocks.emplace(address, std::move(*made)).first->second);
}

void Blocks::free(uint64_t address) {
  const std::lock_guard lock(mutex);
  const auto size = sizes.find(address);
  Block &block = std::prev(blocks.upper_bound(address))->second;
  uint64_t begin = address - block.address, end = begin + size->second;
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

void Blocks::trim() {
  const std::lock_guard lock(mutex);
  std::erase_if(blocks, [&](const auto &each) {
    const Block &block = each.second;
    const bool isUnused = block.free.size() == 1 && block.free.begin()->second == block.bytes;
    if (isUnused)
      destroy(block);
    return isUnused;
  });
}

Blocks::BlockOffset Blocks::find(uint64_t address) const {
  const std::lock_guard lock(mutex);
  const auto above = blocks.upper_bound(address);
  if (above == blocks.begin())
    return {};
  const Block &block = std::prev(above)->second;
  return address - block.address < block.bytes ? BlockOffset{&block, address - block.address} : BlockOffset{};
}

Blocks::BlockOffset Blocks::findMapped(const void *address) const {
  const std::lock_guard lock(mutex);
  const auto *byte = static_cast<const std::byte *>(address);
  for (const auto &[itsAddress, block] : blocks)
    if (byte >= block.mapped && byte < block.mapped + block.bytes)
      return {&block, static_cast<uint64_t>(byte - block.mapped)};
  return {};
}
