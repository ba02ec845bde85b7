//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tool.h"

#include "zyx/Base/File.h"
#include "zyx/IO/TraceFile.h"

#include <span>

using namespace zyx;
using namespace zyx::tools;

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

Status tools::writeTrace(const Trace &trace, const std::string &path) {
  if (path.empty())
    return Status::ok();
  const std::string text = io::encodeTrace(trace);
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}
