//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERBINS_H
#define ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERBINS_H

#include "OrderEmitter.h"

namespace zyx::lowering {

/// A scatter whose parts have rows of their own, few of them (zyx.parts): each part is a workgroup's, of which each
/// thread adds up in shared memory. Null for other ops.
std::unique_ptr<OrderEmitter> createBinOrder(graph::ir::GroupOp group, mlir::Operation *op, mlir::OpBuilder &builder,
                                             const Workgroups &machine, bool isUpdate);

} // namespace zyx::lowering

#endif // ZYX_LIB_CONVERSION_GRAPHTOKERNEL_ORDERBINS_H
