//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_COMMANDS_H
#define ZYX_ARTIFACT_COMMANDS_H

#include "zyx/Artifact/Artifact.h"

#include <concepts>
#include <span>
#include <utility>
#include <vector>

namespace zyx::artifact {

/// Calls with all buffers that a command names: those of a launch in the order of its kernel's parameters, the source
/// of a copy before its destination, the count of a loop before its index.
template <typename C, typename F>
  requires std::same_as<std::remove_const_t<C>, Command>
void forEachRef(C &command, F &&visit) {
  if (auto *launch = std::get_if<Launch>(&command.action)) {
    for (auto &ref : launch->buffers)
      visit(ref);
  } else if (auto *copy = std::get_if<Copy>(&command.action)) {
    visit(copy->source);
    visit(copy->destination);
  } else if (auto *loop = std::get_if<Loop>(&command.action)) {
    for (auto *ref : {&loop->count, &loop->index})
      if (*ref)
        visit(**ref);
  } else {
    visit(std::get<Fill>(command.action).destination);
  }
}

/// Where the steps of the init end; none where there is no init.
inline std::vector<size_t> endsOfInitSteps(const Artifact &artifact) {
  std::vector<size_t> ends;
  for (size_t end = 0; const InitStep &step : artifact.initSteps)
    ends.push_back(end += step.numCommands);
  if (ends.empty() && artifact.numInitCommands != 0)
    ends.push_back(artifact.numInitCommands);
  return ends;
}

/// Where the bodies of a loop end, which is command `number`; the first one begins behind it.
inline std::vector<size_t> endsOfBodies(const Loop &loop, size_t number) {
  if (loop.bodies.empty())
    return {number + 1 + loop.body};
  std::vector<size_t> ends;
  for (size_t end = number + 1; uint32_t body : loop.bodies)
    ends.push_back(end += body);
  return ends;
}

/// The commands [begin, end) of the body that a pass runs.
inline std::pair<size_t, size_t> bodyOf(std::span<const size_t> ends, size_t number, int64_t pass) {
  const size_t body = static_cast<uint64_t>(pass) % ends.size();
  return {body == 0 ? number + 1 : ends[body - 1], ends[body]};
}

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_COMMANDS_H
