//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TARGET_INFO_TOOLCHAIN_H
#define ZYX_TARGET_INFO_TOOLCHAIN_H

#include "zyx/Target/Info/TargetInfo.h"

#include <string>
#include <vector>

namespace zyx::target {

/// A program that makes code for a target beside the compiler's library. Its identity is part of the keys of caches.
struct ToolProgram {
  const char *name;
  /// The variable without its prefix that names the program's file, "PTXAS" for ZYX_PTXAS; null where none does.
  const char *variable = nullptr;
  /// The folder where it is installed, if that is seldom in PATH; else null.
  const char *folder = nullptr;
};

/// CUDA's assembler.
inline constexpr ToolProgram ptxasProgram = {"ptxas", "PTXAS", "/usr/local/cuda/bin"};
/// The system's C compiler.
inline constexpr ToolProgram cProgram = {"cc"};

/// The programs that the code of a record depends on.
std::vector<ToolProgram> programsOf(const TargetInfo &target);

/// The file of the program: what its variable says, or in PATH, or in its folder. Empty where there is none.
std::string findProgram(const ToolProgram &program);

} // namespace zyx::target

#endif // ZYX_TARGET_INFO_TOOLCHAIN_H
