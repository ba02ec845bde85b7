//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Debug.h"

#include "zyx/Base/Config.h"
#include "zyx/Base/Forked.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <string>

using namespace zyx;

namespace {

/// In the order of the enumeration, then other names.
constexpr std::string_view names[] = {"fusion", "schedule", "runtime", "cache",    "devices",  "graph",  "code",
                                      "memory", "timing",   "ir",      "assembly", "launches", "groups", "kernels"};
constexpr unsigned numTopics = 12;

constexpr unsigned bitOf(DebugTopic topic) { return 1u << static_cast<unsigned>(topic); }
/// What the bits of a number stand for, the lowest first: those of the Rust zyx.
constexpr unsigned masks[] = {
    bitOf(DebugTopic::Devices), bitOf(DebugTopic::Launches), bitOf(DebugTopic::Fusion) | bitOf(DebugTopic::Schedule),
    bitOf(DebugTopic::Ir),      bitOf(DebugTopic::Assembly), bitOf(DebugTopic::Schedule) | bitOf(DebugTopic::Code),
    bitOf(DebugTopic::Memory),  bitOf(DebugTopic::Timing),   bitOf(DebugTopic::Cache)};

unsigned topicOf(size_t name) {
  if (name < numTopics)
    return static_cast<unsigned>(name);
  return static_cast<unsigned>(names[name] == "groups" ? DebugTopic::Fusion : DebugTopic::Schedule);
}

/// A bit per topic.
unsigned topicsIn(std::span<const std::string> wanted) {
  unsigned topics = 0;
  for (const std::string &name : wanted) {
    unsigned number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ptr == name.data() + name.size())
      for (size_t i = 0; i < std::size(masks); ++i)
        topics |= number >> i & 1 ? masks[i] : 0;
    for (size_t i = 0; i < std::size(names); ++i)
      if (names[i] == name)
        topics |= 1u << topicOf(i);
  }
  return topics;
}

/// What ZYX_DEBUG says.
unsigned wantedTopics() {
  static const unsigned once = [] {
    const char *text = zyxVariable("DEBUG");
    return topicsIn(splitDebugTopics(text ? text : ""));
  }();
  return once;
}

std::atomic<unsigned> enabled = 0;

} // namespace

std::span<const std::string_view> zyx::debugTopicNames() { return names; }

bool zyx::isDebugged(DebugTopic topic) {
  return (wantedTopics() | enabled.load(std::memory_order_relaxed)) & 1u << static_cast<unsigned>(topic);
}

std::vector<std::string> zyx::splitDebugTopics(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

void zyx::enableDebugTopics(std::span<const std::string> wanted) { enabled |= topicsIn(wanted); }

std::string zyx::enabledDebugTopics() {
  std::string text;
  for (size_t i = 0; i < numTopics; ++i)
    if (enabled.load(std::memory_order_relaxed) & 1u << i)
      text += (text.empty() ? "" : ",") + std::string(names[i]);
  return text;
}

namespace {

struct SinkState {
  /// Recursive, because what a sink calls may print.
  std::recursive_mutex mutex;
  DebugSink sink = nullptr;
  void *context = nullptr;
  ForkMark mark;
  /// Whether there is a sink, for those who hold no lock.
  std::atomic<bool> isSet = false;
};

/// Never destroyed: threads print until the process ends.
SinkState &sinkState() {
  static auto &state = *new SinkState;
  return state;
}

} // namespace

void zyx::setDebugSink(DebugSink sink, void *context) {
  SinkState &state = sinkState();
  std::lock_guard lock(state.mutex);
  state.sink = sink;
  state.context = context;
  state.isSet = sink != nullptr;
}

void zyx::printDebug(DebugTopic topic, std::string_view text) {
  SinkState &state = sinkState();
  // Who held the lock at a fork is not here.
  if (state.isSet && !state.mark.isForked()) {
    std::lock_guard lock(state.mutex);
    if (state.sink) {
      state.sink(state.context, names[static_cast<unsigned>(topic)], text);
      return;
    }
  }
  std::string line = "zyx-" + std::string(names[static_cast<unsigned>(topic)]) + ": ";
  line += text;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}
