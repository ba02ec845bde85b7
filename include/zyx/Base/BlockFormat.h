//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_BLOCKFORMAT_H
#define ZYX_BASE_BLOCKFORMAT_H

#include "zyx/Base/Shape.h"

namespace zyx {

/// How GGUF files keep quantised tensors: rows cut into blocks of elements, each block a few bytes
/// with its scales inside. They are no dtypes: a program holds the bytes as u8, and
/// graph::dequantise makes numbers of them.
enum class BlockFormat : uint8_t { Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K };
inline constexpr int numBlockFormats = 10;

/// Elements of one block.
int64_t blockElements(BlockFormat format);
/// Bytes of one block.
int64_t blockBytes(BlockFormat format);
/// "Q4_0", ...
std::string_view toString(BlockFormat format);

/// The u8 tensor that holds the blocks of a tensor of this shape: the last extent counts the bytes
/// of a row. Refuses rows that are no whole number of blocks.
Result<TensorType> blockedType(BlockFormat format, const Shape &shape);

} // namespace zyx

#endif // ZYX_BASE_BLOCKFORMAT_H
