//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_TENSOR_HOSTVIEW_H
#define ZYX_TENSOR_HOSTVIEW_H

#include "zyx/Tensor/Tensor.h"

namespace zyx {

/// Elements in row-major order in memory of the host, for other libraries to read: nobody may write them, as tensors do
/// not change. They are there while `owner` lives.
struct HostView {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  /// Whether the tensor's own memory is seen: of a device of the host, but for files and what has left a full device.
  /// No call takes that memory for a result meanwhile. Else it is a copy.
  bool isShared = false;
};
/// Computes the elements where that was not done, and waits for them.
HostView hostView(const Tensor &x, Place where = Place::current());

} // namespace zyx

#endif // ZYX_TENSOR_HOSTVIEW_H
