//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/Arena.h"

using namespace zyx;
using namespace zyx::runtime;

Result<std::shared_ptr<Buffer>> Arena::reserve(uint64_t bytes) {
  std::lock_guard lock(mutex);
  if (buffer && buffer->size() >= bytes)
    return buffer;
  // The old one first, so that there is room for the new one.
  buffer = nullptr;
  ZYX_ASSIGN_OR_RETURN(buffer, Buffer::allocate(pool, bytes));
  return buffer;
}

bool Arena::isFree() const {
  std::lock_guard lock(mutex);
  std::vector<Point> users;
  if (buffer)
    buffer->beforeWrite(users);
  return users.empty();
}

uint64_t Arena::size() const {
  std::lock_guard lock(mutex);
  return buffer ? buffer->size() : 0;
}

void Arena::trim() {
  std::lock_guard lock(mutex);
  buffer = nullptr;
}
