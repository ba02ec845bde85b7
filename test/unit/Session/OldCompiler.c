/*===----------------------------------------------------------------------===*\
 * Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
\*===----------------------------------------------------------------------===*/

/* A compiler of another version, or one of this version without any other function. */
#ifdef EMPTY
const char *zyx_compiler_version(void) { return EMPTY; }
#else
const char *zyx_compiler_version(void) { return "0.0.0"; }
#endif
