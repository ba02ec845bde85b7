//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_ARTIFACT_TENSORMAPBYTES_H
#define ZYX_ARTIFACT_TENSORMAPBYTES_H

#include "zyx/Artifact/Artifact.h"
#include "zyx/Base/Bytes.h"

/// The byte form of a tensor map: in artifacts, and in the facts of kernels that are kept by themselves.
namespace zyx::artifact {

/// What a map without dimensions has.
inline constexpr uint64_t leastTensorMapBytes = 68;

void put(ByteWriter &to, const TensorMap &map);
/// What the bytes lack is zero; the reader says so.
void get(ByteReader &from, TensorMap &map);

} // namespace zyx::artifact

#endif // ZYX_ARTIFACT_TENSORMAPBYTES_H
