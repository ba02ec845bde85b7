//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_MATRIX_MAPPRODUCT_H
#define ZYX_LIB_CODEGEN_MATRIX_MAPPRODUCT_H

#include "zyx/Codegen/Matrix/TensorDot.h"

namespace zyx::kernel {

/// Makes the machine form of a product that groups of warps or threads multiply, fed by the copy engine, and erases the
/// kernel. `func` has been matched, and its step fits.
void mapProduct(FuncOp func, const TensorDot &dot, const Axes &axes);

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_MATRIX_MAPPRODUCT_H
