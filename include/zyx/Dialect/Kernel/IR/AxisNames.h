//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_AXISNAMES_H
#define ZYX_DIALECT_KERNEL_IR_AXISNAMES_H

#include "llvm/ADT/StringRef.h"

namespace zyx::kernel {

/// On a `kernel.store` of a tile: the names of the tile's dimensions for schedules, as `axes` of a load has them. What
/// is the same along an axis is loaded without it, so that only its store can say what the axis is called.
inline constexpr llvm::StringLiteral axesAttrName = "kernel.axes";

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_AXISNAMES_H
