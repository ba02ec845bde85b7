//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SESSION_TOOLCHAIN_H
#define ZYX_LIB_SESSION_TOOLCHAIN_H

#include "zyx/Session/Cache.h"

namespace zyx::session {

/// All that decides on the code of a program for this target beside the program: zyx, the compiler's library, the
/// target's record, and the programs that make its code. Opens no library.
std::string toolchainKey(const std::string &target);

/// The libraries of the compiler that are in this process. Which ones its own loads is known only
/// then, so that they are no part of the key.
std::vector<Tool> loadedTools();

} // namespace zyx::session

#endif // ZYX_LIB_SESSION_TOOLCHAIN_H
