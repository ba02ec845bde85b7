//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "HostInputs.h"

#include <cstring>

using namespace zyx;
using namespace zyx::runtime;
using artifact::BufferKind;

static constexpr const char *action = "take an input of the host along";

HostInputs::HostInputs(StreamContext &context, const artifact::Artifact &artifact)
    : context(context), stream(context.stream()) {
  for (uint32_t i = 0; i < artifact.buffers.size(); ++i)
    if (artifact.buffers[i].kind == BufferKind::Input && artifact.buffers[i].size <= largestHostInput)
      bound.push_back({i});
}

HostInputs::~HostInputs() {
  if (!memory)
    return;
  const EnteredContext inside(context);
  (void)context.backend().free(stream, *memory);
}

Status HostInputs::take(std::span<const HostInput> inputs, Replay &replay, std::optional<StreamGate> &gate) {
  if (inputs.empty())
    return Status::ok();
  if (!memory) {
    const Result<uint64_t> made = context.backend().allocate(stream, bound.size() * artifact::alignment);
    ZYX_RETURN_IF_ERROR(context.check(made.status(), action));
    memory = *made;
  }
  size_t number = 0;
  for (const HostInput &input : inputs) {
    while (bound[number].buffer != input.buffer)
      ++number;
    MemoryRef to{*memory, number * artifact::alignment};
    replay.bind(input.buffer, to.handle, to.offset);
    std::array<uint32_t, largestHostInput / 4> words = {};
    std::memcpy(words.data(), input.data, input.size);
    for (size_t i = 0; 4 * i < input.size; ++i, to.offset += 4) {
      std::optional<uint32_t> &last = bound[number].words[i];
      if (last == words[i])
        continue;
      if (gate)
        gate->count(1);
      last.reset();
      ZYX_RETURN_IF_ERROR(context.check(context.backend().fill(stream, {to, 4, words[i], 4}), action));
      last = words[i];
    }
  }
  return Status::ok();
}
