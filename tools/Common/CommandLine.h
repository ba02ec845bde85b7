//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Arguments of the programs that test the project. Needs nothing but the standard library.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_COMMON_COMMANDLINE_H
#define ZYX_TOOLS_COMMON_COMMANDLINE_H

#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

namespace zyx::tools {

/// Whether all of the text is a number of the type.
template <typename Number> bool parseNumber(std::string_view text, Number &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}
/// The same, of numbers from 1 on.
template <typename Number> bool parsePositive(std::string_view text, Number &value) {
  return parseNumber(text, value) && value > 0;
}

/// An argument as it is, and split at its first '='; `value` is empty where there is none.
struct Argument {
  std::string_view text, name, value;

  explicit Argument(std::string_view text) : text(text), name(text.substr(0, text.find('='))) {
    if (name.size() < text.size())
      value = text.substr(name.size() + 1);
  }
};

/// Hands every argument to `take`, which returns false for one that it cannot use. Gives the exit
/// code of a program that has no more to do: 0 once `--help` is printed, 2 for a wrong argument.
template <typename Take>
std::optional<int> parseArguments(int argc, char **argv, const char *program, const char *help,
                                  Take take) {
  for (int i = 1; i < argc; ++i) {
    const Argument argument(argv[i]);
    if (argument.text == "--help") {
      std::fputs(help, stdout);
      return 0;
    }
    if (!take(argument)) {
      std::fprintf(stderr, "%s: cannot use '%s'\n%s", program, argv[i], help);
      return 2;
    }
  }
  return std::nullopt;
}

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_COMMANDLINE_H
