//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "llvm/Plugins/PassPlugin.h"

/// Debian's link-time optimizer, which LLD can call, registers Polly, an archive of another package. zyx gives LLD
/// objects alone, so that this pipeline is never made.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {}, nullptr};
}
