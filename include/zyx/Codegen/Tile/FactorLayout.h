//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_FACTORLAYOUT_H
#define ZYX_CODEGEN_TILE_FACTORLAYOUT_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// How a factor reads memory, in another order or out of a copy.
struct FactorLayout {
  /// What the factor reads then: its tile has the shape that it had.
  MapAttr map;
  /// What the copy reads of the buffer, and where it puts that; null where there is no copy.
  MapAttr source, target;
  /// Elements of the copy.
  int64_t elements = 0;

  bool isCopy() const { return source != nullptr; }
};

/// Layouts of both factors of a dot; one that is not there stays as it is.
struct DotLayout {
  std::optional<FactorLayout> lhs, rhs;

  bool copies() const { return (lhs && lhs->isCopy()) || (rhs && rhs->isCopy()); }
};

/// A factor as the copy engine likes it: rows along its dimension `inner`, which is the contraction, say, begin at
/// multiples of 8 elements, and long ones on lines of memory.
std::optional<FactorLayout> denseLayout(MapAttr map, unsigned inner);

/// Orders of the contraction in which what a window factor reads has channels next to each other, out of a copy, or
/// where they lie so: `own` is the window's map, and `other` that of the other factor, which is read in the same order,
/// as it is or out of a copy. With `byGroups` also those where each group of channels has an image of its own: its
/// pixels follow each other then.
llvm::SmallVector<std::pair<FactorLayout, FactorLayout>> channelLayouts(MapAttr own, unsigned ownDepth, MapAttr other,
                                                                        unsigned otherDepth, bool byGroups = false);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_FACTORLAYOUT_H
