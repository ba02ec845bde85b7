//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_BAKE_H
#define ZYX_ARTIFACT_BAKE_H

#include "zyx/Artifact/Artifact.h"

namespace zyx::artifact {

/// The same program with the last inputs, as many as there are values, as constants of these bytes.
Result<Artifact> bake(Artifact artifact, std::span<const std::vector<std::byte>> values);

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_BAKE_H
