//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SESSION_PROGRESS_H
#define ZYX_SESSION_PROGRESS_H

#include "zyx/Base/Trace.h"

#include <cstdio>
#include <functional>
#include <string_view>

namespace zyx::session {

/// When it is shown how far a compilation is.
enum class ProgressMode {
  /// In a terminal, once half a second has passed.
  Auto,
  Always,
  Never,
};

/// A line for people who wait for a compilation, written over by the next one; where the stream is no terminal,
/// lines follow each other. The destructor wipes it.
class ProgressLine {
public:
  /// Whoever waits for less does not need to be told.
  static constexpr uint64_t silentNanoseconds = 500'000'000;

  /// On the standard error.
  explicit ProgressLine(ProgressMode mode);
  ProgressLine(ProgressMode mode, std::FILE *stream, bool isTerminal, uint64_t silent = silentNanoseconds)
      : mode(mode), stream(stream), isTerminal(isTerminal), silent(silent) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// Of a stage, how many of `total` kernels are done; 0 of 0 where they are not counted.
  void show(std::string_view stage, size_t done, size_t total);
  /// show() for CompileCallbacks::progress; none where nothing would ever be shown. The line outlives it.
  std::function<void(std::string_view, size_t, size_t)> callback();

private:
  ProgressMode mode;
  std::FILE *stream;
  bool isTerminal, isShown = false;
  uint64_t silent;
  uint64_t begin = Trace::now(), latest = 0;
};

} // namespace zyx::session

#endif // ZYX_SESSION_PROGRESS_H
