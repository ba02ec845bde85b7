//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tool.h"

#include "zyx/Base/Leftover.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <iterator>
#include <new>
#include <stdexcept>
#include <unistd.h>

using namespace zyx;
using namespace zyx::tools;

/// A closed descriptor would be given to the next file that is opened, into which the program would
/// then print. What stands there instead refuses what the program wants of it.
static void keepStandardDescriptors() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF &&
        ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
      _exit(1);
}

/// Why the first text that did not get to the standard output did not.
static int printError = 0;

void tools::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && printError == 0)
    printError = errno;
}

/// Whether all that was printed is written. A disk may only find at the end that it is full.
static bool closeOutput(const char *name) {
  const bool failedBefore = std::ferror(stdout) != 0;
  if (std::fclose(stdout) == 0 && !failedBefore)
    return true;
  const int why = failedBefore ? printError : errno;
  std::fprintf(stderr, "%s: error: cannot write to the standard output%s%s\n", name, why ? ": " : "",
               why ? std::strerror(why) : "");
  return false;
}

int tools::runMain(const char *name, const std::function<int()> &body) {
  keepStandardDescriptors();
  // A file that reaches the limit of ulimit -f is an error of its write, which says which file it is.
  std::signal(SIGXFSZ, SIG_IGN);
  removeLeftoversOnSignals();
  int code = 1;
  try {
    code = body();
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "%s: error: out of memory\n", name);
  } catch (const std::length_error &) {
    // What is longer than any memory.
    std::fprintf(stderr, "%s: error: out of memory\n", name);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: error: internal error: %s\n", name, error.what());
  }
  return closeOutput(name) || code != 0 ? code : 1;
}

Status tools::orOutOfMemory(const std::string &wanted, const std::function<Status()> &action) {
  try {
    return action();
  } catch (const std::bad_alloc &) {
  } catch (const std::length_error &) {
  }
  return Status::outOfMemory("there is no memory for " + wanted);
}

Result<Config> tools::startConfig(const char *tool) {
  ZYX_ASSIGN_OR_RETURN(LoadedConfig loaded, loadConfig());
  for (const std::string &warning : loaded.warnings)
    std::fprintf(stderr, "%s: warning: %s\n", tool, warning.c_str());
  publishDebugTopics(loaded.config);
  return std::move(loaded.config);
}

void tools::answer(const char *name, const char *help, const Asked &asked) {
  if (asked.help)
    print(help);
  else
    std::printf("%s (zyx) %s\n", name, ZYX_VERSION);
}

int tools::finish(const char *name, const Status &status) {
  if (status.isOk())
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", name, status.toString().c_str());
  return 1;
}

std::optional<int> tools::parseOrAnswer(const char *name, const char *help, int argc, char **argv,
                                        const std::vector<Option> &options,
                                        const std::function<Status(std::string_view)> &operand) {
  Asked asked;
  if (const Status status = parseArguments(argc, argv, asked, options, operand); !status.isOk()) {
    std::fprintf(stderr, "%s: error: %s\n", name, status.message().c_str());
    return 2;
  }
  if (!asked.help && !asked.version)
    return std::nullopt;
  answer(name, help, asked);
  return 0;
}

Result<ProgressMode> tools::parseProgressMode(std::string_view name) {
  if (name == "auto")
    return ProgressMode::Auto;
  if (name == "always")
    return ProgressMode::Always;
  if (name == "never")
    return ProgressMode::Never;
  return Status::invalidArgument("--progress=" + std::string(name) + ": is none of auto, always and never");
}

Status ProgramOptions::parse(int argc, char **argv, std::vector<Option> own) {
  bool quiet = false;
  std::vector<Option> all = {
      text("--entry", entry),
      texts("--bind", bind),
      flag("--tune", tune),
      flag("--time", time),
      flag("--remarks", remarks),
      text("--trace", trace),
      value("--progress",
            [&](std::string_view given) -> Status {
              ZYX_ASSIGN_OR_RETURN(progress, parseProgressMode(given));
              return Status::ok();
            }),
      flag("--quiet", quiet),
  };
  all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  ZYX_RETURN_IF_ERROR(parseArguments(argc, argv, asked, all, [&](std::string_view given) {
    if (!file.empty())
      return noOperand(given);
    file = given;
    return Status::ok();
  }));
  if (quiet)
    progress = ProgressMode::Never;
  return Status::ok();
}
