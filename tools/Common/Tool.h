//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What our command-line programs have in common.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_COMMON_TOOL_H
#define ZYX_TOOLS_COMMON_TOOL_H

#include "zyx/Base/Config.h"
#include "zyx/Base/Trace.h"

#include <cstdio>
#include <functional>
#include <string>

namespace zyx::tools {

/// The user's configuration; what it has that is not known is a line on the standard error each.
Result<Config> startConfig(const char *tool);

/// The body of main: `--help` prints `help`; a failure is one line and exit code 1. `Options` has the
/// member `help`.
template <typename Options>
int runTool(const char *name, const char *help, Result<Options> options,
            Status (*run)(const Options &, const Config &)) {
  Status status = options.status();
  if (status.isOk() && options->help) {
    std::fputs(help, stdout);
    return 0;
  }
  if (status.isOk()) {
    Result<Config> config = startConfig(name);
    status = config ? run(*options, *config) : config.status();
  }
  if (status.isOk())
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", name, status.toString().c_str());
  return 1;
}

/// When `--progress` shows how far a compilation is.
enum class ProgressMode {
  /// Where the standard error is a terminal, once a second has passed.
  Auto,
  Always,
  Never,
};
/// "auto", "always", "never".
Result<ProgressMode> parseProgressMode(std::string_view name);

/// A line on the standard error that is written over by the next one; where that is no terminal,
/// lines follow each other. The destructor wipes it.
class ProgressLine {
public:
  explicit ProgressLine(ProgressMode mode);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// Of a stage, how many of `total` kernels are done; 0 of 0 where they are not counted.
  void show(std::string_view stage, size_t done, size_t total);
  std::function<void(std::string_view, size_t, size_t)> callback();

private:
  ProgressMode mode;
  bool isTerminal, isShown = false;
  uint64_t begin = Trace::now(), latest = 0;
};

/// Writes a trace for Perfetto; does nothing where `path` is empty.
Status writeTrace(const Trace &trace, const std::string &path);

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_TOOL_H
