//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Debug.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace zyx;

namespace {

constexpr std::string_view names[] = {"search", "schedule", "runtime", "cache"};

/// What ZYX_DEBUG says: a bit per topic.
struct Wanted {
  unsigned topics = 0;
  /// A name that there is not.
  std::string unknown;

  Wanted() {
    const char *text = std::getenv("ZYX_DEBUG");
    for (std::string_view rest = text ? text : ""; !rest.empty();) {
      std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      unsigned topic = 0;
      while (topic < std::size(names) && names[topic] != name)
        ++topic;
      if (topic < std::size(names))
        topics |= 1u << topic;
      else if (unknown.empty())
        unknown = name.empty() ? "," : std::string(name);
    }
  }
};

const Wanted &wanted() {
  static const Wanted once;
  return once;
}

} // namespace

Status zyx::checkDebugTopics() {
  if (wanted().unknown.empty())
    return Status::ok();
  std::string known;
  for (std::string_view name : names)
    known += (known.empty() ? "" : ", ") + std::string(name);
  return Status::invalidArgument("ZYX_DEBUG: there is no '" + wanted().unknown + "', but " + known);
}

bool zyx::isDebugged(DebugTopic topic) {
  return wanted().topics & 1u << static_cast<unsigned>(topic);
}

void zyx::printDebug(DebugTopic topic, std::string_view text) {
  std::string line = "zyx-" + std::string(names[static_cast<unsigned>(topic)]) + ": ";
  line += text;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}
