//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_ALLOCATE_H
#define ZYX_BASE_ALLOCATE_H

#include "zyx/Base/Status.h"

#include <cstddef>
#include <vector>

namespace zyx {

/// Bytes that are 0, where their number comes from a file or a user: OutOfMemory, which begins with `what`, where they
/// are more than this process may use (usableMemory), or the system gives no more.
Result<std::vector<std::byte>> allocateBytes(uint64_t size, const std::string &what);

} // namespace zyx

#endif // ZYX_BASE_ALLOCATE_H
