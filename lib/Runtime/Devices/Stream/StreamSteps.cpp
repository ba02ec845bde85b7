//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "StreamSteps.h"

using namespace zyx;
using namespace zyx::runtime;
using artifact::BufferRef;

void StreamSteps::giveNumbers(const artifact::Artifact &artifact) {
  for (size_t loop = 0; loop < steps.size(); ++loop)
    for (size_t body = 0; body < steps[loop].ends.size(); ++body) {
      const auto [from, to] = artifact::bodyOf(steps[loop].ends, loop, static_cast<int64_t>(body));
      for (size_t i = from; i < to; i = next(i)) {
        steps[i].around = loop;
        steps[i].body = body;
      }
    }
  for (size_t loop = 0; loop < steps.size(); ++loop) {
    if (steps[loop].kind != Step::Loop || !steps[loop].hasIndex || isWalked(loop))
      continue;
    const BufferRef index = *std::get<artifact::Loop>(artifact.commands[loop].action).index;
    const auto endOf = [&](const BufferRef &ref) {
      return artifact.buffers[ref.buffer].position + artifact.buffers[ref.buffer].size;
    };
    const auto beginOf = [&](const BufferRef &ref) { return artifact.buffers[ref.buffer].position + ref.offset; };
    const auto isInArena = [&](const BufferRef &ref) {
      return artifact.buffers[ref.buffer].kind == artifact::BufferKind::Arena;
    };
    // Who calls may have a look at what is his; what is longer has something else behind it.
    bool isGiven = isInArena(index) && endOf(index) - beginOf(index) == sizeof(int64_t);
    std::vector<std::pair<size_t, size_t>> found;
    for (size_t i = loop + 1; i < steps[loop].end && isGiven; ++i) {
      size_t number = 0;
      artifact::forEachRef(artifact.commands[i], [&](const BufferRef &ref) {
        if (ref == index && steps[i].kind == Step::Launch && number < steps[i].numRead)
          found.emplace_back(i, steps[i].slot + number);
        else if (isInArena(ref) && beginOf(ref) < endOf(index) && beginOf(index) < endOf(ref))
          isGiven = false;
        ++number;
      });
    }
    steps[loop].isNumberGiven = isGiven;
    for (const auto &[launch, slot] : found)
      if (isGiven)
        steps[launch].numbers.emplace_back(slot, loop);
  }
}

int64_t StreamSteps::tripOf(size_t step, size_t loop, size_t node) const {
  for (auto left = static_cast<int64_t>(node);; step = steps[step].around) {
    // A body of several has each trip of so many.
    const Step &around = steps[steps[step].around];
    const auto numBodies = static_cast<int64_t>(around.ends.size()), body = static_cast<int64_t>(steps[step].body);
    const int64_t times = (around.trips - body + numBodies - 1) / numBodies;
    if (steps[step].around == loop)
      return left % times * numBodies + body;
    left /= times;
  }
}
