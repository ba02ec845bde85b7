//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The command line and the end of the examples' programs, so that they show tensors and little else.
//===----------------------------------------------------------------------===//
#ifndef ZYX_EXAMPLES_PROGRAM_H
#define ZYX_EXAMPLES_PROGRAM_H

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace example {

/// An option --name=TEXT, or a flag where `takesValue` is false. `set` says whether it can use the text.
struct Option {
  std::string_view name;
  std::function<bool(std::string_view text)> set;
  bool takesValue = true;
};

inline Option text(std::string_view name, std::string &to) {
  return {name, [&to](std::string_view text) {
            to = text;
            return !text.empty();
          }};
}
inline Option text(std::string_view name, std::optional<std::string> &to) {
  return {name, [&to](std::string_view text) {
            to = text;
            return !text.empty();
          }};
}
/// A number of at least `least`.
template <typename Number> Option number(std::string_view name, Number &to, Number least) {
  return {name, [&to, least](std::string_view text) {
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
            return error == std::errc() && end == text.data() + text.size() && to >= least;
          }};
}
inline Option flag(std::string_view name, bool &to) {
  return {name,
          [&to](std::string_view) {
            to = true;
            return true;
          },
          false};
}

/// The arguments of a program that reads one file.
struct CommandLine {
  const char *name, *usage;
  std::string &file;
  std::vector<Option> options;

  /// The exit code of a program that has no more to do than to say how it is used.
  std::optional<int> parse(int argc, char **argv) const {
    for (int i = 1; i < argc; ++i) {
      const std::string_view argument = argv[i];
      if (argument == "--help" || argument == "-h") {
        std::printf("usage: %s\n", usage);
        return 0;
      }
      if (!take(argument)) {
        std::fprintf(stderr, "%s: cannot use '%s'\nusage: %s\n", name, argv[i], usage);
        return 2;
      }
    }
    if (!file.empty())
      return std::nullopt;
    std::fprintf(stderr, "%s: no file is given\nusage: %s\n", name, usage);
    return 2;
  }

private:
  bool take(std::string_view argument) const {
    if (!argument.starts_with("-")) {
      const bool isFirst = file.empty() && !argument.empty();
      file = argument;
      return isFirst;
    }
    const size_t equals = argument.find('=');
    for (const Option &option : options)
      if (argument.substr(0, equals) == option.name)
        return (equals != argument.npos) == option.takesValue &&
               option.set(equals == argument.npos ? "" : argument.substr(equals + 1));
    return false;
  }
};

/// Refuses a folder in which nothing can be written, before the time of a training is spent.
inline void checkFolder(const std::string &folder) {
  if (!std::filesystem::is_directory(folder))
    throw std::runtime_error("--out=" + folder + ": is no folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error("--out=" + folder + ": cannot write in it: " + std::strerror(errno));
}

/// All of main behind the command line: a failure is a line and the exit code 1, and so is an output that does not
/// get to where the standard output goes.
inline int run(const char *name, const std::function<void()> &body) {
  // A file that is opened must not get the number of a closed standard output.
  for (int descriptor : {0, 1, 2})
    if (::fcntl(descriptor, F_GETFD) < 0)
      (void)!::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
  int code = 0;
  try {
    body();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    code = 1;
  }
  const bool failedBefore = std::ferror(stdout) != 0;
  if (std::fclose(stdout) == 0 && !failedBefore)
    return code;
  std::fprintf(stderr, "%s: cannot write to the standard output\n", name);
  return 1;
}

} // namespace example

#endif // ZYX_EXAMPLES_PROGRAM_H
