//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Debug.h"

#include "zyx/Base/Config.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>

using namespace zyx;

namespace {

/// In the order of the enumeration, then other names.
constexpr std::string_view names[] = {"search", "schedule", "runtime", "cache",  "devices", "graph",
                                      "code",   "memory",   "timing",  "groups", "kernels"};
constexpr unsigned numTopics = 9;

unsigned topicOf(size_t name) {
  if (name < numTopics)
    return static_cast<unsigned>(name);
  return static_cast<unsigned>(names[name] == "groups" ? DebugTopic::Search : DebugTopic::Schedule);
}

/// What ZYX_DEBUG says: a bit per topic.
unsigned wantedTopics() {
  static const unsigned once = [] {
    unsigned topics = 0;
    const char *text = zyxVariable("DEBUG");
    for (std::string_view rest = text ? text : ""; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      for (size_t i = 0; i < std::size(names); ++i)
        if (names[i] == name)
          topics |= 1u << topicOf(i);
    }
    return topics;
  }();
  return once;
}

} // namespace

std::span<const std::string_view> zyx::debugTopicNames() { return names; }

bool zyx::isDebugged(DebugTopic topic) {
  return wantedTopics() & 1u << static_cast<unsigned>(topic);
}

void zyx::printDebug(DebugTopic topic, std::string_view text) {
  std::string line = "zyx-" + std::string(names[static_cast<unsigned>(topic)]) + ": ";
  line += text;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}
