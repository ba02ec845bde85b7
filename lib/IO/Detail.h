//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// What readers of several formats share.
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_IO_DETAIL_H
#define ZYX_LIB_IO_DETAIL_H

#include "zyx/Base/Status.h"
#include "zyx/Base/Tensor.h"

namespace zyx::io {

/// A failure of a file, or of an array in it.
inline Status named(const std::string &name, const Status &status) {
  return Status(status.code(), name + ": " + status.message());
}

/// Other bytes than 0 and 1 are true to whoever wrote them and undefined to kernels.
inline void normalizeBools(HostTensor &tensor) {
  if (tensor.type.dtype == DType::Bool)
    for (std::byte &element : tensor.data)
      element = std::byte{element != std::byte{0}};
}

/// Refuses elements that are not of the size of their type.
inline Status checkSize(const TensorType &type, size_t size) {
  const Result<int64_t> expected = byteSize(type);
  if (!expected)
    return Status::invalidArgument("is refused: " + expected.status().message());
  if (static_cast<uint64_t>(*expected) != size)
    return Status::invalidArgument("has " + std::to_string(size) + " bytes instead of the " +
                                   std::to_string(*expected) + " of " + zyx::toString(type));
  return Status::ok();
}

} // namespace zyx::io

#endif // ZYX_LIB_IO_DETAIL_H
