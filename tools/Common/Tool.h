//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What our command-line programs have in common.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_COMMON_TOOL_H
#define ZYX_TOOLS_COMMON_TOOL_H

#include "Common/CommandLine.h"

#include "zyx/Base/Config.h"
#include "zyx/Base/Trace.h"
#include "zyx/Session/Progress.h"

#include <cstdio>
#include <optional>
#include <string>

namespace zyx::tools {

/// All of main. The exit code is that of `body`, but 1 where memory ended in it or where what it wrote
/// to the standard output did not get there. Descriptors 0 to 2 that are closed stay unusable, instead
/// of becoming those of the first files that are opened. SIGPIPE is as the caller has it: its default
/// ends a program whose reader has gone, as it ends cat.
int runMain(const char *name, const std::function<int()> &body);

/// Prints to the standard output. What fails is told by runMain, with its reason.
void print(std::string_view text);

/// The outcome of `action`; where memory ends in it, a failure that says `wanted`: "there is no memory
/// for ...".
Status orOutOfMemory(const std::string &wanted, const std::function<Status()> &action);

/// The user's configuration; what it has that is not known is a line on the standard error each.
Result<Config> startConfig(const char *tool);

/// Prints what was asked for.
void answer(const char *name, const char *help, const Asked &asked);

/// One line on the standard error, and the exit code: 1 after a failure.
int finish(const char *name, const Status &status);

/// main of a program that reads the configuration: a failure is one line and exit code 1. `Options` has
/// the member `asked`.
template <typename Options>
int runTool(const char *name, const char *help, int argc, char **argv, Result<Options> (*parse)(int argc, char **argv),
            Status (*run)(const Options &, const Config &)) {
  return runMain(name, [&] {
    const Result<Options> options = parse(argc, argv);
    if (!options)
      return finish(name, options.status());
    if (options->asked.help || options->asked.version) {
      answer(name, help, options->asked);
      return 0;
    }
    const Result<Config> config = startConfig(name);
    return finish(name, config ? run(*options, *config) : config.status());
  });
}

/// For programs that test the project: parses the arguments, and gives the exit code where there is no
/// more to do: 0 once an answer is printed, 2 for a wrong argument.
std::optional<int> parseOrAnswer(const char *name, const char *help, int argc, char **argv,
                                 const std::vector<Option> &options,
                                 const std::function<Status(std::string_view)> &operand = noOperand);

using session::ProgressLine;
using session::ProgressMode;
/// "auto", "always", "never", as `--progress` says them.
Result<ProgressMode> parseProgressMode(std::string_view name);

/// What all programs take that compile one program of a file.
struct ProgramOptions {
  std::string file, entry;
  /// Values of symbols, as "n=4"; none where the inputs give them.
  std::vector<std::string> bind;
  bool tune = false, time = false, remarks = false;
  /// Where to write what took how long; empty writes nothing.
  std::string trace;
  ProgressMode progress = ProgressMode::Auto;
  Asked asked;

  /// The arguments; a program has `own` options besides.
  Status parse(int argc, char **argv, std::vector<Option> own);
};

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_TOOL_H
