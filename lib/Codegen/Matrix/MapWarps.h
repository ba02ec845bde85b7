//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CODEGEN_MATRIX_MAPWARPS_H
#define ZYX_LIB_CODEGEN_MATRIX_MAPWARPS_H

#include "zyx/Codegen/Matrix/TensorDot.h"

namespace zyx::kernel {

/// Makes the machine form of a product that warps multiply by mma.sync, and erases the kernel; or says in `reason` why
/// its step does not fit it. `func` has been matched, and has a tensor_step with warps.
mlir::LogicalResult mapWarps(FuncOp func, const TensorDot &dot, const Axes &axes, std::string &reason);

} // namespace zyx::kernel

#endif // ZYX_LIB_CODEGEN_MATRIX_MAPWARPS_H
