//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Target/Text/C.h"
#include "zyx/Base/ChildProcess.h"
#include "zyx/Base/File.h"
#include "zyx/Base/TempFolder.h"

#include <span>

namespace zyx::target {

/// Longer messages are cut: a compiler can print one for every line.
static constexpr size_t maxMessages = 4000;

Result<std::vector<std::byte>> compileC(const std::string &text, const COptions &options) {
  ZYX_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::create());
  ZYX_ASSIGN_OR_RETURN(std::string source, folder.write("kernels.c", std::as_bytes(std::span(text))));
  std::string object = folder.file("kernels.so");
  std::vector<std::string> command = {options.compiler,  "-std=c11", "-O3",    "-ffp-contract=off",
                                      "-fno-math-errno", "-fPIC",    "-shared"};
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  command.insert(command.end(), {"-o", object, source, "-lm"});
  // What it and its linker keep for a while goes with the folder, however they end.
  ChildLimits limits = options.limits;
  limits.environment.push_back("TMPDIR=" + folder.file(""));
  ZYX_ASSIGN_OR_RETURN(ChildResult compiler, runChild(command, {}, limits));
  const std::string name = "the C compiler '" + options.compiler + "'";
  if (compiler.timedOut)
    return Status::compileFailed(name +
                                 " takes too long over the kernels: " + compiler.messages.substr(0, maxMessages));
  if (compiler.signal != 0 || compiler.exitCode != 0)
    return Status::compileFailed(name + " refused the kernels: " + compiler.messages.substr(0, maxMessages));
  return readFile(object);
}

} // namespace zyx::target
