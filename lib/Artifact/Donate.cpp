//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Artifact/Donate.h"

#include "zyx/Artifact/Commands.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

using namespace zyx;
using namespace zyx::artifact;

namespace {

/// When something happens in a run: command n outside of loops, a loop with its body being one, at 2 n, and what is
/// copied behind it at 2 n + 1.
using Time = size_t;

class Donor {
public:
  explicit Donor(Artifact of) : artifact(std::move(of)) {}

  Result<Artifact> run(std::span<const Donation> donations) {
    ZYX_RETURN_IF_ERROR(check(donations));
    findUses();
    for (const Donation &donation : donations)
      donate(donation);
    placeAll();
    rebuild();
    ZYX_RETURN_IF_ERROR(artifact.verify());
    return std::move(artifact);
  }

private:
  Status check(std::span<const Donation> donations) const;
  void findUses();
  bool isCopy(const Donation &donation, Time time) const;
  void donate(const Donation &donation);
  void placeAll();
  void rebuild();

  /// When any of the buffers of an argument are used, in order.
  std::vector<Time> usesOf(BufferKind kind, uint32_t position) const {
    std::set<Time> times;
    for (uint32_t i = 0; i < artifact.buffers.size(); ++i)
      if (artifact.buffers[i].kind == kind && artifact.buffers[i].position == position)
        times.insert(uses[i].begin(), uses[i].end());
    return {times.begin(), times.end()};
  }
  /// Of all these, later ones wait for earlier ones.
  void order(const std::vector<Time> &some, const std::vector<Time> &others) {
    for (Time a : some)
      for (Time b : others)
        if (a != b)
          waits[std::max(a, b)].insert(std::min(a, b));
  }

  Artifact artifact;
  /// The first commands of those outside of loops, those of the init excepted.
  std::vector<size_t> begins;
  /// By buffer, when it is used in a run, in order.
  std::vector<std::vector<Time>> uses;
  /// What is copied, by its time.
  std::map<Time, std::vector<Copy>> copies;
  /// Buffers that need a place in the arena.
  std::vector<uint32_t> made;
  std::map<Time, std::set<Time>> waits;
};

} // namespace

Status Donor::check(std::span<const Donation> donations) const {
  std::set<uint32_t> inputs, outputs;
  for (const auto &[input, output] : donations) {
    auto refuse = [&, input = input, output = output](const std::string &reason) {
      return Status::invalidArgument("input " + std::to_string(input) + " is not donated to output " +
                                     std::to_string(output) + ": " + reason);
    };
    if (input >= artifact.inputs.size() || output >= artifact.outputs.size())
      return refuse("there are " + std::to_string(artifact.inputs.size()) + " and " +
                    std::to_string(artifact.outputs.size()));
    if (artifact.inputs[input].isWeight)
      return refuse("it is a weight");
    if (!inputs.insert(input).second || !outputs.insert(output).second)
      return refuse("one of them is named twice");
    if (*byteSize(artifact.inputs[input].type) != *byteSize(artifact.outputs[output].type))
      return refuse("they have different sizes");
  }
  return Status::ok();
}

void Donor::findUses() {
  uses.resize(artifact.buffers.size());
  size_t end = artifact.numInitCommands;
  for (size_t i = artifact.numInitCommands; i < artifact.commands.size(); ++i) {
    if (i == end) {
      begins.push_back(i);
      const auto *loop = std::get_if<Loop>(&artifact.commands[i].action);
      end = i + 1 + (loop ? loop->body : 0);
    }
    const Time now = 2 * (begins.size() - 1);
    forEachRef(artifact.commands[i], [&](BufferRef &ref) {
      if (std::vector<Time> &of = uses[ref.buffer]; of.empty() || of.back() != now)
        of.push_back(now);
    });
  }
}

/// Whether what happens then is that the output becomes a copy of the whole input.
bool Donor::isCopy(const Donation &donation, Time time) const {
  const auto *copy = std::get_if<Copy>(&artifact.commands[begins[time / 2]].action);
  if (!copy)
    return false;
  const Buffer &from = artifact.buffers[copy->source.buffer], &to = artifact.buffers[copy->destination.buffer];
  return from.kind == BufferKind::Input && from.position == donation.input && to.kind == BufferKind::Output &&
         to.position == donation.output && copy->source.offset == 0 && copy->destination.offset == 0 &&
         copy->size == static_cast<uint64_t>(*byteSize(artifact.outputs[donation.output].type));
}

void Donor::donate(const Donation &donation) {
  const std::vector<Time> reads = usesOf(BufferKind::Input, donation.input);
  const std::vector<Time> writes = usesOf(BufferKind::Output, donation.output);
  if (reads.empty() || writes.empty())
    return;
  // A copy of all of it, as an update begins with, is none where both are the same.
  if (reads.back() < writes.front() || (reads.back() == writes.front() && isCopy(donation, reads.back())))
    return order(reads, writes);
  const auto temporary = static_cast<uint32_t>(artifact.buffers.size());
  const auto size = static_cast<uint64_t>(*byteSize(artifact.outputs[donation.output].type));
  std::set<uint32_t> replaced;
  for (uint32_t i = 0; i < temporary; ++i)
    if (artifact.buffers[i].kind == BufferKind::Output && artifact.buffers[i].position == donation.output)
      replaced.insert(i);
  for (Command &command : artifact.commands)
    forEachRef(command, [&](BufferRef &ref) {
      if (replaced.contains(ref.buffer))
        ref.buffer = temporary;
    });
  artifact.buffers.push_back({BufferKind::Arena, 0, size});
  made.push_back(temporary);
  const Time now = std::max(reads.back(), writes.back()) + 1;
  copies[now].push_back({{temporary, 0}, {*replaced.begin(), 0}, size});
  for (uint32_t output : replaced)
    uses[output].clear();
  uses.push_back(writes);
  uses.back().push_back(now);
  order(reads, {now});
  order(writes, {now});
}

/// Each in the smallest gap that is there while it is used, the largest ones first; behind all others where there
/// is none. Nothing moves that has a place.
void Donor::placeAll() {
  std::sort(made.begin(), made.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(artifact.buffers[b].size, a) < std::pair(artifact.buffers[a].size, b);
  });
  auto aligned = [](uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
  std::set<uint32_t> pending(made.begin(), made.end());
  for (uint32_t own : made) {
    Buffer &buffer = artifact.buffers[own];
    auto isOther = [&](uint32_t i) {
      return artifact.buffers[i].kind == BufferKind::Arena && !pending.contains(i) && !uses[i].empty();
    };
    auto meets = [&](uint32_t i) { return uses[i].front() <= uses[own].back() && uses[own].front() <= uses[i].back(); };
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (uint32_t i = 0; i < artifact.buffers.size(); ++i)
      if (isOther(i) && meets(i))
        taken.emplace_back(artifact.buffers[i].position,
                           artifact.buffers[i].position + aligned(artifact.buffers[i].size));
    std::sort(taken.begin(), taken.end());
    // What lies behind the last one that is taken is a gap, too, but of the arena as it is.
    taken.emplace_back(std::max(artifact.arenaSize, taken.empty() ? 0 : taken.back().second), UINT64_MAX);
    uint64_t end = 0, best = UINT64_MAX, bestSize = UINT64_MAX;
    for (const auto &[begin, takenEnd] : taken) {
      if (const uint64_t gap = begin > end ? begin - end : 0; gap >= buffer.size && gap < bestSize) {
        best = end;
        bestSize = gap;
      }
      if (takenEnd != UINT64_MAX)
        end = std::max(end, takenEnd);
    }
    buffer.position = best == UINT64_MAX ? end : best;
    artifact.arenaSize = std::max(artifact.arenaSize, aligned(buffer.position + buffer.size));
    // Who uses these bytes before and behind.
    for (uint32_t i = 0; i < artifact.buffers.size(); ++i)
      if (isOther(i) && artifact.buffers[i].position < buffer.position + buffer.size &&
          buffer.position < artifact.buffers[i].position + artifact.buffers[i].size)
        order(uses[own], uses[i]);
    pending.erase(own);
  }
}

void Donor::rebuild() {
  std::vector<Command> before = std::exchange(artifact.commands, {});
  std::vector<uint32_t> numbers(before.size());
  std::map<Time, std::vector<uint32_t>> at;
  auto wait = [&](Command &command, Time now) {
    if (const auto found = waits.find(now); found != waits.end())
      for (Time earlier : found->second)
        command.wait.insert(command.wait.end(), at[earlier].begin(), at[earlier].end());
    std::sort(command.wait.begin(), command.wait.end());
    command.wait.erase(std::unique(command.wait.begin(), command.wait.end()), command.wait.end());
  };
  auto add = [&](Command command) {
    artifact.commands.push_back(std::move(command));
    return static_cast<uint32_t>(artifact.commands.size() - 1);
  };
  size_t unit = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    for (uint32_t &earlier : before[i].wait)
      earlier = numbers[earlier];
    const bool isFirst = unit < begins.size() && begins[unit] == i;
    if (isFirst) {
      wait(before[i], 2 * unit);
      ++unit;
    }
    numbers[i] = add(std::move(before[i]));
    if (isFirst)
      at[2 * (unit - 1)] = {numbers[i]};
    const size_t end = unit < begins.size() ? begins[unit] : before.size();
    if (unit == 0 || i + 1 != end)
      continue;
    const Time now = 2 * (unit - 1) + 1;
    if (const auto found = copies.find(now); found != copies.end()) {
      std::vector<uint32_t> ends;
      for (const Copy &copy : found->second) {
        Command command{copy, {}};
        wait(command, now);
        ends.push_back(add(std::move(command)));
      }
      at[now] = std::move(ends);
    }
  }
}

Result<Artifact> artifact::donate(Artifact artifact, std::span<const Donation> donations) {
  return Donor(std::move(artifact)).run(donations);
}
