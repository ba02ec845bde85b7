//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CommandLine.h"

#include "zyx/Base/Config.h"

using namespace zyx;
using namespace zyx::tools;

static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

Status tools::badValue(std::string_view option, std::string_view value, std::string_view wanted) {
  return Status::invalidArgument(std::string(option) + "=" + std::string(value) + ": is no " + std::string(wanted));
}

Option tools::flag(std::string_view name, bool &to) {
  return {name, {}, Option::Takes::Nothing, [&to](std::string_view) {
            to = true;
            return Status::ok();
          }};
}

Option tools::text(std::string_view name, std::string &to, std::string_view letter) {
  Option option = value(name, [&to](std::string_view given) {
    to = given;
    return Status::ok();
  });
  option.letter = letter;
  return option;
}

Option tools::texts(std::string_view name, std::vector<std::string> &to) {
  return value(name, [&to](std::string_view given) {
    to.emplace_back(given);
    return Status::ok();
  });
}

Option tools::value(std::string_view name, std::function<Status(std::string_view value)> set) {
  return {name, {}, Option::Takes::Value, std::move(set)};
}

/// The option that an argument begins with, up to its end or its '='.
static const Option *find(const std::vector<Option> &options, std::string_view name) {
  for (const Option &option : options)
    if (option.name == name || (!option.letter.empty() && option.letter == name))
      return &option;
  return nullptr;
}

static Status unknown(std::string_view name, const std::vector<Option> &options) {
  std::vector<std::string_view> names = {"--help", "--version"};
  for (const Option &option : options)
    names.push_back(option.name);
  return Status::invalidArgument("unknown option " + quoted(name) + "; the nearest is " +
                                 quoted(nearestName(name, names)) + "; see --help");
}

Status tools::parseArguments(int argc, char **argv, Asked &asked, const std::vector<Option> &options,
                             const std::function<Status(std::string_view)> &operand) {
  bool onlyOperands = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.empty())
      return Status::invalidArgument("an argument is empty; see --help");
    if (onlyOperands || argument == "-" || argument[0] != '-') {
      ZYX_RETURN_IF_ERROR(operand(argument));
      continue;
    }
    if (argument == "--") {
      onlyOperands = true;
      continue;
    }
    asked.help |= argument == "--help" || argument == "-h";
    asked.version |= argument == "--version";
    if (asked.help || asked.version)
      return Status::ok();
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const Option *option = find(options, name);
    if (!option)
      return unknown(name, options);
    std::string_view given;
    if (equals != argument.npos) {
      given = argument.substr(equals + 1);
      if (option->takes == Option::Takes::Nothing)
        return Status::invalidArgument("option " + quoted(name) + " takes no value; see --help");
    } else if (option->takes == Option::Takes::Value && i + 1 < argc &&
               (argv[i + 1][0] != '-' || argv[i + 1][1] == '\0')) {
      // A value with a dash is more likely the next option.
      given = argv[++i];
    }
    if (given.empty() && option->takes == Option::Takes::Value)
      return Status::invalidArgument("option " + quoted(name) + " needs a value, as " + std::string(option->name) +
                                     "=VALUE; see --help");
    ZYX_RETURN_IF_ERROR(option->set(given));
  }
  return Status::ok();
}

Status tools::noOperand(std::string_view given) {
  return Status::invalidArgument("unexpected argument " + quoted(given) + "; see --help");
}
