//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Values that leave a device's memory where it ends. What has left is like a value in a file: who needs it on its
// device brings it back before his programs run (readFiles).
//===----------------------------------------------------------------------===//
#include "State.h"

#include "zyx/Base/Debug.h"

using namespace zyx;
using namespace zyx::detail;
using zyx::runtime::Buffer;

Status State::openSpillPool() {
  if (spillPool)
    return Status::ok();
  if (options.spill == Spill::Host) {
    spillPool = runtime::createHostPool(options.spillLimit);
    return Status::ok();
  }
  ZYX_ASSIGN_OR_RETURN(spillPool, runtime::DiskPool::create(options.spillFolder, options.spillLimit));
  return Status::ok();
}

Result<bool> State::spillOne(uint16_t device) {
  if (options.spill == Spill::None)
    return false;
  const NodeState *oldest = nullptr;
  for (const NodeState &state : states)
    // What a call, a run or an executor has is held by it, too. A value that was computed on another device goes back
    // there, and not here.
    if (state.value && state.at == device && state.device == device && state.value.use_count() == 1 &&
        state.value->size() != 0 && state.value->ownsMemory() && state.value->isReady() &&
        (!oldest || state.lastUse < oldest->lastUse))
      oldest = &state;
  if (!oldest)
    return false;
  ZYX_RETURN_IF_ERROR(openSpillPool());
  const uint64_t size = oldest->value->size();
  ZYX_ASSIGN_OR_RETURN(std::shared_ptr<Buffer> outside, Buffer::allocate(spillPool, size));
  ZYX_RETURN_IF_ERROR(outside->copyFrom(*oldest->value));
  const auto node = static_cast<NodeId>(oldest - states.data());
  const uint64_t lastUse = oldest->lastUse;
  setValue(node, std::move(outside), onDisk);
  states[node].lastUse = lastUse;
  states[node].isSpilled = true;
  ++counted.spills;
  counted.spilledBytes += size;
  ZYX_DEBUG(Memory, "a value of " + std::to_string(size) + " bytes leaves '" + homes[device].name + "' for " +
                        (options.spill == Spill::Host ? "memory of the host" : "a file"));
  return true;
}

void State::noteReturn(NodeId node) {
  if (!states[node].isSpilled)
    return;
  ++counted.spillReturns;
  ZYX_DEBUG(Memory, "a value of " + std::to_string(states[node].value->size()) + " bytes comes back to '" +
                        homes[states[node].device].name + "'");
}
