//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include <stdint.h>

/* Takes what every kernel does (artifact::KernelFunction), and computes nothing. */
void nothing(const void *args, int64_t begin, int64_t end) {
  (void)args;
  (void)begin;
  (void)end;
}
