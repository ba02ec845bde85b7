//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What the tools that LLVM's library of command lines serves have in common.
//===----------------------------------------------------------------------===//
#ifndef ZYX_TOOLS_COMMON_LLVMOPTIONS_H
#define ZYX_TOOLS_COMMON_LLVMOPTIONS_H

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace zyx::tools {

/// To be called first: what is registered then are the hundreds of options of LLVM's code generators and
/// optimizers, which `--help` leaves to `--help-hidden`. `--version` says the version of zyx before that of LLVM.
inline void tidyOptions(const char *tool) {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (name != "help" && name != "help-hidden" && name != "version" && name != "target")
      option->setHiddenFlag(llvm::cl::Hidden);
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &stream) {
    stream << tool << " (zyx) " ZYX_VERSION "\nLLVM and MLIR " LLVM_VERSION_STRING "\n";
  });
}

} // namespace zyx::tools

#endif // ZYX_TOOLS_COMMON_LLVMOPTIONS_H
