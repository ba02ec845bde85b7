//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_DEBUG_H
#define ZYX_BASE_DEBUG_H

#include "zyx/Base/Status.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Output for whoever works on zyx, on the standard error: ZYX_DEBUG=fusion,cache names what is
/// wanted, or a number has a bit for each: 1 devices, 2 launches, 4 fusion and schedule, 8 ir, 16 assembly,
/// 32 schedule and code, 64 memory, 128 timing, 256 cache. (LLVM's -debug-only is not in packages without assertions.)
namespace zyx {

enum class DebugTopic : uint8_t {
  /// Which groups are joined, which are not, and why.
  Fusion,
  /// The axes of each kernel and the schedule that it gets.
  Schedule,
  /// Devices, programs, memory and runs.
  Runtime,
  /// Which compilations are found again.
  Cache,
  /// Which devices are opened, and how.
  Devices,
  /// What is compiled: the size of each graph, and its text.
  Graph,
  /// Sizes of the code that is loaded.
  Code,
  /// What a program takes of a device's memory, and each allocation.
  Memory,
  /// How long the stages of a compilation take.
  Timing,
  /// The kernels of what is run, as the compiler lowers them; compiled for this where it was found again.
  Ir,
  /// The same, as the target's text: LLVM IR, C or PTX.
  Assembly,
  /// How long each launch takes; it has runs wait for each other.
  Launches,
};

/// All names in ZYX_DEBUG that there are; "groups" and "kernels" are other names of fusion and
/// schedule. Others are ignored: loadConfig says which.
std::span<const std::string_view> debugTopicNames();
/// Whether ZYX_DEBUG has it, or enableDebugTopics() had.
bool isDebugged(DebugTopic topic);
/// Of this library of the process, from now on; nothing is ever switched off. Calls from several threads are safe, and
/// no variable of the environment is written, which other threads may read.
void enableDebugTopics(std::span<const std::string> names);
/// Those that were enabled, as ZYX_DEBUG has them, for another library of the process.
std::string enabledDebugTopics();
/// The names in a text such as "fusion,cache".
std::vector<std::string> splitDebugTopics(std::string_view text);
/// "zyx-fusion: text" and the end of the line, in one piece; or the sink gets topic and text.
void printDebug(DebugTopic topic, std::string_view text);

/// Takes lines in place of the standard error, one at a time, on any thread.
using DebugSink = void (*)(void *context, std::string_view topic, std::string_view text);
/// Of this library of the process; null is the standard error. Behind it the sink before is called no more; a sink may
/// not call it. A process that was forked since writes to the standard error.
void setDebugSink(DebugSink sink, void *context);

} // namespace zyx

/// ZYX_DEBUG(Cache, "hit " + key): the text is only made where the topic is wanted.
#define ZYX_DEBUG(topic, text)                                                                                         \
  do {                                                                                                                 \
    if (::zyx::isDebugged(::zyx::DebugTopic::topic))                                                                   \
      ::zyx::printDebug(::zyx::DebugTopic::topic, text);                                                               \
  } while (false)

#endif // ZYX_BASE_DEBUG_H
