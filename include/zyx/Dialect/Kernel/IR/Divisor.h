//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_DIALECT_KERNEL_IR_DIVISOR_H
#define ZYX_DIALECT_KERNEL_IR_DIVISOR_H

#include "mlir/IR/Value.h"

#include <cstdint>

namespace zyx::kernel {

/// A power of two of at most 4096 that divides an index, as far as its constants, the steps of loops and grids, sums,
/// products, choices, minima and maxima tell; 1 where nothing is known.
int64_t knownDivisor(mlir::Value index);

} // namespace zyx::kernel

#endif // ZYX_DIALECT_KERNEL_IR_DIVISOR_H
