//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_ACROSSTHREADS_H
#define ZYX_CODEGEN_SIMT_ACROSSTHREADS_H

#include "zyx/Codegen/Tile/TileContext.h"

namespace zyx::kernel {

/// What a program shares while so many threads combine one number of each: the numbers, and those of groups.
struct ExchangeMemory {
  ViewType parts, sums;
  static ExchangeMemory of(mlir::Type element, int64_t threads);
};
/// The same for workgroups of a cluster, once for each exchange.
ViewType clusterExchangeMemory(mlir::Type element, int64_t cluster);

/// Whether the threads of a program are of one subgroup and read each other's registers: they share no memory.
bool areOneSubgroup(const TileContext &t);
/// What the threads of a program have, combined: the same in all of them.
mlir::Value combineAcrossThreads(TileContext &t, mlir::Location loc, Combine kind, mlir::Value own);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_ACROSSTHREADS_H
