//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tool.h"

#include "zyx/Base/File.h"
#include "zyx/IO/TraceFile.h"

#include <span>
#include <unistd.h>

using namespace zyx;
using namespace zyx::tools;

/// Whoever waits for less does not need to be told.
static constexpr uint64_t silentNanoseconds = 1'000'000'000;
/// Between two lines of one stage.
static constexpr uint64_t intervalNanoseconds = 50'000'000;

Result<Config> tools::startConfig(const char *tool) {
  ZYX_ASSIGN_OR_RETURN(LoadedConfig loaded, loadConfig());
  for (const std::string &warning : loaded.warnings)
    std::fprintf(stderr, "%s: warning: %s\n", tool, warning.c_str());
  publishDebugTopics(loaded.config);
  return std::move(loaded.config);
}

Result<ProgressMode> tools::parseProgressMode(std::string_view name) {
  if (name == "auto")
    return ProgressMode::Auto;
  if (name == "always")
    return ProgressMode::Always;
  if (name == "never")
    return ProgressMode::Never;
  return Status::invalidArgument("--progress=" + std::string(name) +
                                 ": is none of auto, always and never");
}

ProgressLine::ProgressLine(ProgressMode mode) : mode(mode), isTerminal(isatty(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (isShown && isTerminal)
    std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(std::string_view stage, size_t done, size_t total) {
  const uint64_t time = Trace::now();
  if (mode == ProgressMode::Never)
    return;
  if (mode == ProgressMode::Auto && (!isTerminal || time - begin < silentNanoseconds ||
                                     (isShown && time - latest < intervalNanoseconds)))
    return;
  std::string line = "compiling: " + std::string(stage);
  if (total != 0)
    line += ", " + std::to_string(done) + " of " + std::to_string(total) + " kernels";
  std::fprintf(stderr, isTerminal ? "\r%s\x1b[K" : "%s\n", line.c_str());
  isShown = true;
  latest = time;
}

std::function<void(std::string_view, size_t, size_t)> ProgressLine::callback() {
  if (mode == ProgressMode::Never)
    return nullptr;
  return [this](std::string_view stage, size_t done, size_t total) { show(stage, done, total); };
}

Status tools::writeTrace(const Trace &trace, const std::string &path) {
  if (path.empty())
    return Status::ok();
  const std::string text = io::encodeTrace(trace);
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}
