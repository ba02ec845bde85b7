//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx-c/Compiler.h"

/// The child process of isolated compilations; run by libZyxCompiler.so and by nobody else.
int main() { return zyx_compiler_serve(); }
