/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/
/* A plug-in of a version that there is not: of its table nobody reads more than the beginning. */
#include <zyx-c/Backend.h>

static const struct {
  size_t struct_size;
  uint32_t abi_version;
} table = {sizeof(table), 99};

const zyx_backend_v1 *zyx_backend(void) { return (const zyx_backend_v1 *)&table; }
