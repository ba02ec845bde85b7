//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Nothing throws below Tensor, but the standard library does where memory ends. Where an exception must not
// pass, as at the end of a thread or of the C surface, it becomes a Status.
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_EXCEPTIONS_H
#define ZYX_BASE_EXCEPTIONS_H

#include "zyx/Base/Status.h"

namespace zyx {

/// OutOfMemory, made when the process began: it needs no memory itself.
const Status &outOfHostMemory() noexcept;

/// The exception that is being handled, as a Status: OutOfMemory where memory or threads have ended, else
/// Internal with what it says.
Status currentException() noexcept;

/// What `body` returns, or the exception that it throws.
template <typename Body> Status withoutExceptions(Body &&body) noexcept {
  try {
    return body();
  } catch (...) {
    return currentException();
  }
}

} // namespace zyx

#endif // ZYX_BASE_EXCEPTIONS_H
