//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CONVERSION_PLANTOARTIFACT_KERNELFACTS_H
#define ZYX_CONVERSION_PLANTOARTIFACT_KERNELFACTS_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Bytes.h"
#include "zyx/Base/Hash.h"
#include "zyx/Dialect/Kernel/IR/Kernel.h"
#include "zyx/Target/Info/TargetInfo.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zyx::plan {

/// What an artifact says of a kernel by the kernel alone, whatever program launches it. Code that is kept for later
/// programs is kept with its facts: nothing of the lowered kernel is needed again.
struct KernelFacts {
  /// Of the function in its code.
  std::string symbol;
  /// Programs along z, y and x; nothing where an extent is known at run time only.
  std::optional<std::array<int64_t, 3>> grid;
  /// As in artifact::Kernel.
  uint64_t stackBytes = 0;
  uint32_t groupThreads = 0, clusterGroups = 0, sharedBytes = 0;
  std::vector<artifact::TensorMap> tensorMaps;
  bool waits = false;
  /// A hash of all that the code is made of: neither the kernel's name nor its location.
  Hash128 identity;
  /// Of an external kernel, the index of its code, which is behind that of the others. No part of what is kept.
  std::optional<uint32_t> code;
  bool operator==(const KernelFacts &) const = default;
};

/// By the kernel's name in a program.
using FactsByName = std::map<std::string, KernelFacts>;

/// Of a kernel that its backend has lowered, in the lowered or the machine form.
KernelFacts factsOf(kernel::FuncOp lowered, const target::TargetInfo &target, const Hash128 &identity);
/// The text of a kernel without its name and its locations.
std::string textWithoutName(kernel::FuncOp kernel);

void write(const KernelFacts &facts, ByteWriter &to);
/// What the bytes lack is zero; the reader says so.
KernelFacts readKernelFacts(ByteReader &from);

} // namespace zyx::plan

#endif // ZYX_CONVERSION_PLANTOARTIFACT_KERNELFACTS_H
