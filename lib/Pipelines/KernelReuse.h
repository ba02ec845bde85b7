//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Kernels that earlier compilations have made, by what they compute.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_PIPELINES_KERNELREUSE_H
#define ZYX_LIB_PIPELINES_KERNELREUSE_H

#include "zyx/Conversion/PlanToArtifact/KernelFacts.h"
#include "zyx/Pipelines/Pipelines.h"
#include "zyx/Target/Backend/Backend.h"

namespace zyx::pipelines {

/// The code of a kernel, and all that a program needs beside it.
struct KeptKernel {
  plan::KernelFacts facts;
  /// Of its lowering.
  std::string remarks;
  std::vector<std::byte> code;
};

/// Finds the kernels of one program in Options::kernels, and stores those that it lacks there.
class KernelReuse {
public:
  KernelReuse(const Options &options, const target::Emitter &emitter);

  /// A hash of all that the code of a scheduled kernel depends on: its text without its name and its locations, the
  /// machine's record, the passes, the form of the code, and the version of the compiler.
  Hash128 identify(kernel::FuncOp scheduled) const;
  /// What was stored for the identity; null where nothing was, or where the bytes are damaged. Each is asked for once
  /// for a program: equal kernels of it are all found or all compiled.
  const KeptKernel *find(const Hash128 &identity);
  /// Of what the emitter's `add` got, in that order: nothing where it cannot be kept.
  void noteCompiled(std::optional<KeptKernel> kernel) { compiled.push_back(std::move(kernel)); }
  /// Stores them with what the emitter's `takeKept` gave.
  void store(std::vector<std::vector<std::byte>> codes);

private:
  const KernelStore &kernels;
  const bool isOn;
  /// The part of an identity that kernels share.
  std::string machine;
  std::map<std::string, std::optional<KeptKernel>> known;
  std::vector<std::optional<KeptKernel>> compiled;
};

} // namespace zyx::pipelines

#endif // ZYX_LIB_PIPELINES_KERNELREUSE_H
