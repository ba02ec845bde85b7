//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_ASSERT_H
#define ZYX_BASE_ASSERT_H

#include <cstdio>
#include <cstdlib>

/// Checks an invariant of our own code in builds with assertions. It exists beside `assert`
/// because the packaged LLVM forces NDEBUG on every build type.
#if ZYX_ENABLE_ASSERTIONS
#define ZYX_ASSERT(condition, message)                                                                                 \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "%s:%d: assertion failed: %s (%s)\n", __FILE__, __LINE__, message, #condition);             \
      std::abort();                                                                                                    \
    }                                                                                                                  \
  } while (false)
#else
#define ZYX_ASSERT(condition, message) ((void)0)
#endif

#endif // ZYX_BASE_ASSERT_H
