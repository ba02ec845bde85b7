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
#include "zyx/Session/Progress.h"

#include <cstdio>
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

using session::ProgressLine;
using session::ProgressMode;
/// "auto", "always", "never", as `--progress` says them.
Result<ProgressMode> parseProgressMode(std::string_view name);

/// Writes a trace for Perfetto; does nothing where `path` is empty.
Status writeTrace(const Trace &trace, const std::string &path);

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_TOOL_H
