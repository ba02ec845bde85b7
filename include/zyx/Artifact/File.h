//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_FILE_H
#define ZYX_ARTIFACT_FILE_H

#include "zyx/Base/File.h"

namespace zyx::artifact {

/// How many bytes say whether a file wants to be an artifact.
inline constexpr size_t markBytes = 8;
bool hasMark(std::span<const std::byte> start);

/// The bytes of a file, for Artifact::deserialize. Where its beginning does not fit the rest, whatever size
/// that has, only the beginning is read, of which deserialize says what is wrong.
Result<std::vector<std::byte>> readFile(const ReadOnlyFile &file);

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_FILE_H
