//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_REFERENCE_REDUCER_H
#define ZYX_LIB_REFERENCE_REDUCER_H

#include "zyx/Base/DType.h"
#include "zyx/Graph/Graph.h"

#include <cstddef>
#include <memory>

namespace zyx::reference {

/// Combines the elements of blocks (see Elements.h) into one. What a fresh or finished reducer
/// holds is the identity.
class Reducer {
public:
  virtual ~Reducer() = default;
  virtual void add(const std::byte *elements, int64_t count) = 0;
  /// Writes the result as the element of a block, and starts again.
  virtual void finish(std::byte *element) = 0;

  static std::unique_ptr<Reducer> create(graph::ReduceKind kind, DType dtype);
};

} // namespace zyx::reference

#endif // ZYX_LIB_REFERENCE_REDUCER_H
