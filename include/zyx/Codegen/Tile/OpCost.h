//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_OPCOST_H
#define ZYX_CODEGEN_TILE_OPCOST_H

#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/Operation.h"

namespace zyx::kernel {

/// Simple instructions that an op takes for each element of its result.
double costOf(mlir::Operation *op, const target::CostFacts &costs);

/// How many elements a tile of known shape has.
double elementsOf(mlir::Value tile);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_OPCOST_H
