//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Info/Toolchain.h"

#include "zyx/Base/Config.h"

#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace zyx::target {

std::vector<ToolProgram> programsOf(const TargetInfo &target) {
  if (target.kind == TargetKind::C && target.device == "c")
    return {cProgram};
  if (target.kind == TargetKind::CUDA)
    return {ptxasProgram};
  return {};
}

static bool isProgram(const std::string &file) {
  struct stat info;
  return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(file.c_str(), X_OK) == 0;
}

std::string findProgram(const ToolProgram &program) {
  if (program.variable)
    if (const char *named = zyxVariable(program.variable))
      return named;
  const char *path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    if (std::string file = std::string(folder) + "/" + program.name; !folder.empty() && isProgram(file))
      return file;
  }
  if (program.folder)
    if (std::string file = std::string(program.folder) + "/" + program.name; isProgram(file))
      return file;
  return "";
}

} // namespace zyx::target
