//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_SEARCH_NORMALIZEVIEWS_H
#define ZYX_LIB_SEARCH_NORMALIZEVIEWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::search {

/// What -zyx-search-normalize-views does. The body must be one block of graph ops.
void normalizeViews(mlir::func::FuncOp entry);

} // namespace zyx::search

#endif // ZYX_LIB_SEARCH_NORMALIZEVIEWS_H
