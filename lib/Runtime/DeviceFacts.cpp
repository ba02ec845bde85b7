//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Runtime/DeviceFacts.h"

using namespace zyx;

std::vector<DType> runtime::allDTypes() {
  std::vector<DType> all;
  for (uint8_t value = 0; value < numDTypes; ++value)
    all.push_back(static_cast<DType>(value));
  return all;
}
