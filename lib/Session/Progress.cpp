//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Session/Progress.h"

#include <unistd.h>

using namespace zyx;
using namespace zyx::session;

/// Between two lines of one stage.
static constexpr uint64_t intervalNanoseconds = 50'000'000;
/// Of the bar.
static constexpr size_t width = 20;

ProgressLine::ProgressLine(ProgressMode mode) : ProgressLine(mode, stderr, isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (!isShown || !isTerminal)
    return;
  std::fputs("\r\x1b[K", stream);
  std::fflush(stream);
}

void ProgressLine::show(std::string_view stage, size_t done, size_t total) {
  const uint64_t time = Trace::now();
  if (mode == ProgressMode::Never)
    return;
  if (mode == ProgressMode::Auto &&
      (!isTerminal || time - begin < silent || (isShown && time - latest < intervalNanoseconds)))
    return;
  std::string line = "compiling: " + std::string(stage);
  if (total != 0) {
    line += ", " + std::to_string(done) + " of " + std::to_string(total) + " kernels";
    const size_t filled = width * done / total;
    if (isTerminal)
      line += " [" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
  }
  std::fprintf(stream, isTerminal ? "\r%s\x1b[K" : "%s\n", line.c_str());
  std::fflush(stream);
  isShown = true;
  latest = time;
}

std::function<void(std::string_view, size_t, size_t)> ProgressLine::callback() {
  if (mode == ProgressMode::Never || (mode == ProgressMode::Auto && !isTerminal))
    return nullptr;
  return [this](std::string_view stage, size_t done, size_t total) { show(stage, done, total); };
}
