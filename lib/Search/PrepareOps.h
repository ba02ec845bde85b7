//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SEARCH_PREPAREOPS_H
#define ZYX_LIB_SEARCH_PREPAREOPS_H

#include "mlir/IR/Block.h"

namespace zyx::search {

/// Stores iotas that no kernel can count itself: those seen through a reshape, and those that an op
/// reads which is a kernel of its own.
void storeIotas(mlir::Block &block);

/// Replaces random bits by the element-wise integer ops that compute them from their index.
void expandRandomBits(mlir::Block &block);

} // namespace zyx::search

#endif // ZYX_LIB_SEARCH_PREPAREOPS_H
