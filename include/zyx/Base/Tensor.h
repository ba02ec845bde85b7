//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_BASE_TENSOR_H
#define ZYX_BASE_TENSOR_H

#include "zyx/Base/Shape.h"

#include <cstddef>
#include <vector>

namespace zyx {

/// A dense tensor in host memory: little-endian elements in row-major order, with no padding.
/// `data` holds exactly byteSize(type) bytes wherever one is accepted or returned.
struct HostTensor {
  TensorType type;
  std::vector<std::byte> data;
  bool operator==(const HostTensor &) const = default;
};

} // namespace zyx

#endif // ZYX_BASE_TENSOR_H
