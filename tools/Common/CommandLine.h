//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// The command line of our programs, as a table of options. LLVM's parser would link LLVM into
// programs that run without it.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_COMMON_COMMANDLINE_H
#define ZYX_TOOLS_COMMON_COMMANDLINE_H

#include "zyx/Base/Status.h"

#include <charconv>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace zyx::tools {

/// Whether all of the text is a number of the type.
template <typename Number> bool parseNumber(std::string_view text, Number &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// "--output=y.txt: is no name of a .npy file".
Status badValue(std::string_view option, std::string_view value, std::string_view wanted);

/// An option and what it does. One with a value is written --name=VALUE or --name VALUE, and where it
/// has a letter, -o VALUE; a value that may be left out follows '=' alone.
struct Option {
  enum class Takes : uint8_t { Nothing, Value, MaybeValue };

  /// With its dashes.
  std::string_view name, letter;
  Takes takes = Takes::Nothing;
  std::function<Status(std::string_view value)> set;
};

/// Sets a flag.
Option flag(std::string_view name, bool &to);
/// Anything but the empty text.
Option text(std::string_view name, std::string &to, std::string_view letter = {});
/// The same; may be given again.
Option texts(std::string_view name, std::vector<std::string> &to);
/// Whatever `set` takes; it sees no empty value.
Option value(std::string_view name, std::function<Status(std::string_view value)> set);
/// A number from `least` on; `wanted` is what it is in a message.
template <typename Number>
Option number(std::string_view name, Number &to, std::string_view wanted,
              Number least = std::numeric_limits<Number>::lowest()) {
  return value(name, [name, &to, wanted, least](std::string_view given) -> Status {
    if (Number read; parseNumber(given, read) && read >= least) {
      to = read;
      return Status::ok();
    }
    return badValue(name, given, wanted);
  });
}

/// What any program is asked instead of its work.
struct Asked {
  bool help = false, version = false;
};

/// Sets what the arguments say, in their order, and stops at --help, -h or --version. An argument that
/// is no option, "-" among them, is an operand; so is all behind "--". `operand` sees no empty text.
Status parseArguments(int argc, char **argv, Asked &asked, const std::vector<Option> &options,
                      const std::function<Status(std::string_view)> &operand);

/// For programs without operands.
Status noOperand(std::string_view given);

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_COMMANDLINE_H
