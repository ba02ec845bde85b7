//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Graph/Implementation.h"

#include <algorithm>
#include <array>

namespace zyx::graph {

/// By number.
static constexpr std::array<std::string_view, 3> languages = {"kernel", "c", "ptx"};

/// Of a grid, a workgroup, and a workgroup's shared memory on any card.
static constexpr int64_t mostGroups = (int64_t(1) << 31) - 1, mostThreads = 1024, mostSharedBytes = int64_t(1) << 20;

std::string_view toString(Language language) {
  const auto number = static_cast<size_t>(language);
  return number < languages.size() ? languages[number] : "an unknown language";
}

std::optional<Language> parseLanguage(std::string_view name) {
  const auto *found = std::ranges::find(languages, name);
  return found == languages.end() ? std::nullopt : std::optional(static_cast<Language>(found - languages.begin()));
}

/// What C and PTX both take for a name.
static bool isIdentifier(std::string_view name) {
  auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && isLetter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
}

static Status checkTypes(const std::string &what, std::string_view kind, std::span<const TensorType> own,
                         std::span<const TensorType> wanted) {
  if (own.size() != wanted.size())
    return Status::invalidArgument(what + " has " + std::to_string(own.size()) + " " + std::string(kind) +
                                   "s, and the op has " + std::to_string(wanted.size()));
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i] != wanted[i]) {
      return Status::invalidArgument(what + " is for " + toString(own[i]) + " as " + std::string(kind) + " " +
                                     std::to_string(i) + ", which is " + toString(wanted[i]));
    } else if (own[i].isSymbolic()) {
      return Status::invalidArgument(what + " is for " + toString(own[i]) + " as " + std::string(kind) + " " +
                                     std::to_string(i) + ", whose extents are no numbers");
    }
  return Status::ok();
}

Status checkImplementation(const std::string &op, const Implementation &implementation,
                           std::span<const TensorType> operands, std::span<const TensorType> results) {
  auto refuse = [&](const std::string &reason) { return Status::invalidArgument(op + ": " + reason); };
  const std::string_view language = toString(implementation.language);
  if (static_cast<size_t>(implementation.language) >= languages.size())
    return refuse("an implementation is in " + std::string(language));
  if (implementation.target.empty())
    return refuse("an implementation in " + std::string(language) + " has no target");
  const std::string what = "the implementation for '" + implementation.target + "'";
  if (implementation.target.find('\0') != std::string::npos)
    return refuse("the target of an implementation has a zero byte");
  if (!isIdentifier(implementation.entry))
    return refuse(what + " has the entry '" + implementation.entry + "', which is no name of a function");
  if (implementation.text.empty())
    return refuse(what + " has no text");
  if (implementation.text.find('\0') != std::string::npos)
    return refuse(what + " has a text with a zero byte");
  const bool isPTX = implementation.language == Language::PTX, hasGroups = implementation.language != Language::Kernel;
  auto checkNumber = [&](bool isTaken, const char *name, int64_t value, int64_t least, int64_t most) {
    if (!isTaken && value != least)
      return refuse(what + " says " + name + ", which " + std::string(language) + " does not take");
    if (value < least || value > most)
      return refuse(what + " has " + std::to_string(value) + " " + name + "; there are " + std::to_string(least) +
                    " to " + std::to_string(most));
    return Status::ok();
  };
  ZYX_RETURN_IF_ERROR(checkNumber(hasGroups, "groups", implementation.groups, 1, mostGroups));
  ZYX_RETURN_IF_ERROR(checkNumber(isPTX, "threads", implementation.threads, 1, mostThreads));
  ZYX_RETURN_IF_ERROR(checkNumber(isPTX, "shared bytes", implementation.sharedBytes, 0, mostSharedBytes));
  const std::string from = op + ": " + what;
  ZYX_RETURN_IF_ERROR(checkTypes(from, "operand", implementation.operands, operands));
  return checkTypes(from, "result", implementation.results, results);
}

Status checkImplementations(const std::string &op, std::span<const Implementation> implementations,
                            std::span<const TensorType> operands, std::span<const TensorType> results) {
  for (size_t i = 0; i < implementations.size(); ++i) {
    ZYX_RETURN_IF_ERROR(checkImplementation(op, implementations[i], operands, results));
    for (size_t before = 0; before < i; ++before)
      if (implementations[before].target == implementations[i].target)
        return Status::invalidArgument(op + ": two implementations are for '" + implementations[i].target + "'");
  }
  return Status::ok();
}

} // namespace zyx::graph
