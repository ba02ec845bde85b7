//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "BoundMemory.h"

#include "zyx/Artifact/Commands.h"

#include <algorithm>
#include <numeric>

using namespace zyx;
using namespace zyx::runtime;
using artifact::BufferKind;

BoundMemory::BoundMemory(const artifact::Artifact &artifact) {
  // The arena is the first.
  buffers.push_back({0, artifact.arenaSize, true});
  for (const artifact::Buffer &buffer : artifact.buffers) {
    const bool isInArena = buffer.kind == BufferKind::Arena;
    owners.push_back(isInArena ? 0 : buffers.size());
    places.push_back(isInArena ? buffer.position : 0);
    if (!isInArena)
      buffers.push_back({0, buffer.size, false});
  }
  const auto write = [&](const artifact::BufferRef &ref) { buffers[owners[ref.buffer]].isWritten = true; };
  for (const artifact::Command &command : artifact.commands)
    if (const auto *launch = std::get_if<artifact::Launch>(&command.action)) {
      for (const artifact::BufferRef &ref :
           std::span(launch->buffers).last(artifact.kernels[launch->kernel].numWritten))
        write(ref);
    } else if (const auto *copy = std::get_if<artifact::Copy>(&command.action)) {
      write(copy->destination);
    } else if (const auto *fill = std::get_if<artifact::Fill>(&command.action)) {
      write(fill->destination);
    } else if (const auto *loop = std::get_if<artifact::Loop>(&command.action); loop->index) {
      write(*loop->index);
    }
}

std::vector<Overlap> BoundMemory::overlaps() const {
  const auto endOf = [&](size_t i) { return buffers[i].begin + buffers[i].size; };
  std::vector<size_t> order;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].size != 0)
      order.push_back(i);
  std::ranges::sort(order, {}, [&](size_t i) { return buffers[i].begin; });
  // Up to each of them, where the last one ends.
  std::vector<uint64_t> ends(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    ends[i] = std::max(i == 0 ? 0 : ends[i - 1], endOf(order[i]));
  std::vector<Overlap> found;
  const auto add = [&](size_t i, size_t k) {
    const auto [first, second] = std::minmax(i, k);
    found.push_back({first, second, buffers[second].begin - buffers[first].begin});
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const Bound &written = buffers[order[i]];
    if (!written.isWritten)
      continue;
    for (size_t k = i + 1; k < order.size() && buffers[order[k]].begin < endOf(order[i]); ++k)
      add(order[i], order[k]);
    for (size_t k = i; k-- > 0 && ends[k] > written.begin;)
      if (endOf(order[k]) > written.begin)
        add(order[i], order[k]);
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}
