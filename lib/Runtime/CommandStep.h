//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_RUNTIME_COMMANDSTEP_H
#define ZYX_LIB_RUNTIME_COMMANDSTEP_H

#include "zyx/Artifact/Commands.h"
#include "zyx/Base/Status.h"

#include <utility>
#include <vector>

namespace zyx::runtime {

/// What every replay has of a command. Addresses of its buffers lie in slots, one behind the other in the order of
/// artifact::forEachRef.
struct CommandStep {
  enum Kind { Launch, Copy, Fill, Loop } kind = Launch;
  /// The first of its slots.
  size_t slot = 0;
  // Copy, Fill.
  uint64_t size = 0;
  uint64_t pattern = 0;
  uint8_t patternSize = 1;
  // Loop: the steps [this + 1, end) are its bodies, which end where `ends` says; the slots of its count, then of its
  // index.
  size_t end = 0;
  std::vector<size_t> ends;
  int64_t trips = 0;
  bool hasCount = false, hasIndex = false;
  bool isWhile() const { return trips == artifact::tripsAreWhile; }
  /// Whether its count is read before a trip.
  bool isReadBefore(int64_t trip) const { return isWhile() || (hasCount && trip == 0); }
  uint64_t countSize() const { return isWhile() ? 1 : sizeof(int64_t); }
  /// How often it runs, of what was read where its count is; before that there is always one trip more.
  int64_t tripsOf(int64_t word) const { return !isWhile() ? word : (word & 0xff) != 0 ? INT64_MAX : 0; }
  int64_t tripsAhead() const { return hasCount ? INT64_MAX : trips; }

  /// Of the command with this number, whose slots begin there.
  CommandStep(const artifact::Command &command, size_t number, size_t slot) : slot(slot) {
    if (const auto *copy = std::get_if<artifact::Copy>(&command.action)) {
      kind = Copy;
      size = copy->size;
    } else if (const auto *fill = std::get_if<artifact::Fill>(&command.action)) {
      kind = Fill;
      size = fill->size;
      pattern = fill->pattern;
      patternSize = fill->patternSize;
    } else if (const auto *loop = std::get_if<artifact::Loop>(&command.action)) {
      kind = Loop;
      end = number + 1 + loop->body;
      ends = artifact::endsOfBodies(*loop, number);
      trips = loop->trips;
      hasCount = loop->count.has_value();
      hasIndex = loop->index.has_value();
    }
  }
};

/// The commands of an artifact as steps, and their slots.
template <typename StepT, typename SlotT> struct CommandSteps {
  std::vector<StepT> steps;
  /// Of all steps, one behind the other.
  std::vector<SlotT> slots;
  /// For each buffer of the artifact, the slots that hold its address, and the byte offsets there.
  std::vector<std::vector<std::pair<size_t, uint64_t>>> uses;

  /// Makes a step of each command. `complete(step, command)` does what is left, and may add slots behind those of the
  /// step's buffers.
  template <typename F> void makeSteps(const artifact::Artifact &artifact, F &&complete) {
    uses.resize(artifact.buffers.size());
    for (const artifact::Command &command : artifact.commands) {
      StepT step(command, steps.size(), slots.size());
      artifact::forEachRef(command, [this](const artifact::BufferRef &ref) {
        uses[ref.buffer].emplace_back(slots.size(), ref.offset);
        slots.emplace_back();
      });
      complete(step, command);
      steps.push_back(std::move(step));
    }
  }

  /// The step behind one; behind all bodies of a loop.
  size_t next(size_t step) const { return steps[step].kind == CommandStep::Loop ? steps[step].end : step + 1; }

  /// Calls `run(trip, begin, end)` for each trip of a loop, with the steps of its body; ends with the first failure.
  /// `run` may change `trips`.
  template <typename F> Status forEachTrip(size_t loop, const int64_t &trips, F &&run) const {
    for (int64_t trip = 0; trip < trips; ++trip) {
      const auto [begin, end] = artifact::bodyOf(steps[loop].ends, loop, trip);
      ZYX_RETURN_IF_ERROR(run(trip, begin, end));
    }
    return Status::ok();
  }
};

} // namespace zyx::runtime

#endif // ZYX_LIB_RUNTIME_COMMANDSTEP_H
