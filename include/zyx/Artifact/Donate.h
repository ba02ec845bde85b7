//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_DONATE_H
#define ZYX_ARTIFACT_DONATE_H

#include "zyx/Artifact/Artifact.h"

namespace zyx::artifact {

/// An input that the caller donates to an output of as many bytes: the output may lie in its memory.
struct Donation {
  uint32_t input = 0, output = 0;
  bool operator==(const Donation &) const = default;
};

/// The same program for callers that bind such outputs to the memory of their inputs, or elsewhere. An output that is
/// written only when nobody reads its input any more stays as it is, and waits for that. Another one, such as the next
/// value of a parameter that the same kernel reads, is made in the arena, and copied when it is there and nobody reads
/// the input any more. Kernels stay as they are: they may rely on it that nothing else lies where they write.
Result<Artifact> donate(Artifact artifact, std::span<const Donation> donations);

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_DONATE_H
