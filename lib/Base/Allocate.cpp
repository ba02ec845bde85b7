//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Base/Allocate.h"

#include "zyx/Base/Processors.h"

#include <new>

using namespace zyx;

Result<std::vector<std::byte>> zyx::allocateBytes(uint64_t size, const std::string &what) {
  // The system may promise more than it has, and end the process once that is touched.
  const uint64_t most = usableMemory();
  if (size > most)
    return Status::outOfMemory(what + ": needs " + std::to_string(size) + " bytes, and this process may use " +
                               std::to_string(most));
  try {
    return std::vector<std::byte>(size);
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(what + ": the host has no " + std::to_string(size) + " bytes left");
  }
}
