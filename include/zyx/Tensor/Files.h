//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What readers of a file format need to make tensors of its parts.
#ifndef ZYX_TENSOR_FILES_H
#define ZYX_TENSOR_FILES_H

#include "zyx/Base/BlockFormat.h"
#include "zyx/Base/File.h"
#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// As Tensor::fromFile, of a file that is open: whatever gets its name meanwhile, these are the bytes of the one whose
/// header was read, and any number of tensors takes one descriptor. `what` says what is read ("tensor 'x'"): errors
/// begin with it, and go on with the path.
Tensor fromFile(std::shared_ptr<const ReadOnlyFile> file, TensorType type, uint64_t offset, std::string what,
                Place where = Place::current());

/// The f32 elements of `shape` that quantised blocks stand for, row-major, by the definition of the format to the last
/// bit. `blocks` is u8 of any shape whose elements are the bytes of the blocks. Lazy, as any function: a product with
/// one row reads the blocks themselves. Throws where the number of bytes is another one, and where rows are no whole
/// number of blocks.
Tensor dequantise(const Tensor &blocks, BlockFormat format, Shape shape, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_FILES_H
