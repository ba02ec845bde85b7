//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_ERROR_H
#define ZYX_TENSOR_ERROR_H

#include "zyx/Base/Status.h"

#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

namespace zyx {

/// What the functions of tensors throw: a Status and the place of the call in the user's program.
class Error : public std::exception {
public:
  Error(Status status, std::source_location where);

  const Status &status() const { return reason; }
  ErrorCode code() const { return reason.code(); }
  const std::source_location &where() const { return place; }
  /// "train.cpp:12: invalid argument: add: shapes [2, 3] and [4] do not broadcast"
  const char *what() const noexcept override { return text.c_str(); }
  /// The same as a failure of who called the function, at the place where that was called.
  Error ofCaller(std::string_view caller, std::source_location where) const;

private:
  Status reason;
  std::source_location place;
  std::string text;
};

/// Throws what is no success.
inline void throwIfError(const Status &status, std::source_location where = std::source_location::current()) {
  if (!status.isOk())
    throw Error(status, where);
}
/// The value, or its failure as an exception.
template <typename T> T valueOrThrow(Result<T> result, std::source_location where = std::source_location::current()) {
  throwIfError(result.status(), where);
  return std::move(*result);
}

/// The result of a function, on whose failure it says who called it, at which place of the user's program.
template <typename F>
auto callFor(std::string_view caller, const std::source_location &where, F &&function) -> decltype(function()) {
  try {
    return function();
  } catch (const Error &error) {
    throw error.ofCaller(caller, where);
  }
}

} // namespace zyx

#endif // ZYX_TENSOR_ERROR_H
