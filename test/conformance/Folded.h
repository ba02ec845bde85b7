//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TEST_CONFORMANCE_FOLDED_H
#define ZYX_TEST_CONFORMANCE_FOLDED_H

#include "Device.h"

namespace zyx::conformance {

/// The interpreter after the compiler's folders, canonicalisation and common subexpressions: every
/// bit must be that of the graph as it is. With `groups` also after the forming of groups, which
/// decomposes views and may change the order of sums. Only where the compiler is built.
std::unique_ptr<Device> openFolded(bool groups);

} // namespace zyx::conformance

#endif // ZYX_TEST_CONFORMANCE_FOLDED_H
