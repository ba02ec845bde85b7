//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_CHILDPROCESS_H
#define ZYX_BASE_CHILDPROCESS_H

#include "zyx/Base/Status.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace zyx {

struct ChildLimits {
  /// After which the child is killed, with the processes that it has started. It gets SIGABRT first, and a
  /// moment to say where it was.
  std::chrono::milliseconds time = std::chrono::minutes(10);
  /// Of its standard output; a child that writes more is killed.
  size_t outputBytes = size_t(2) << 30;
  /// Variables of its environment, as "NAME=VALUE"; the others are those of this process.
  std::vector<std::string> environment = {};
  /// For a child that asks something before it is done: called when it has written. Takes a whole question from the
  /// beginning of what was not taken yet, and gives what the child reads next; nothing where there is no whole
  /// question. The child's standard input stays open until its output ends.
  std::function<std::vector<std::byte>(std::vector<std::byte> &output)> answer = nullptr;
};

/// How a child ended.
struct ChildResult {
  std::vector<std::byte> output;
  /// The end of its standard error.
  std::string messages;
  /// The signal that ended it, or 0.
  int signal = 0;
  int exitCode = 0;
  bool timedOut = false, tooMuchOutput = false;
  /// Another part of this process has waited for it, as one that waits for every child does: it has ended, and
  /// its output says whether well.
  bool isEndUnknown = false;
};

/// Runs a program, without a shell but found as one finds it, with `input` as its standard input, and
/// waits for its end, whatever this process does with SIGCHLD. Several threads may do so at once. A failure means that
/// it could not be run.
///
/// The child leads a process group of its own, all of which ends with it. Where this process dies, the
/// child gets SIGTERM, but not those whom it has started; a program that removes leftovers on signals ends them too.
Result<ChildResult> runChild(const std::vector<std::string> &command, std::span<const std::byte> input,
                             const ChildLimits &limits = {});

/// For a process that runChild has started, and without effect in others: its own children stay in its group, which
/// whoever started it ends as a whole. SIGTERM, and so the death of that one, ends the group too.
void keepChildrenInGroup();

} // namespace zyx

#endif // ZYX_BASE_CHILDPROCESS_H
