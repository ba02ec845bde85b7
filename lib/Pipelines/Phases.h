//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_PIPELINES_PHASES_H
#define ZYX_LIB_PIPELINES_PHASES_H

#include "zyx/Pipelines/Pipelines.h"

namespace zyx::pipelines {

/// Ops into groups. `matrixBits` are those of the operands that matrix instructions multiply: contractions of no more
/// bits are kept for them; 0 where there are none.
void addGroupPasses(mlir::OpPassManager &passes, const Options &options, int64_t matrixBits);

/// Groups into kernels of whole tiles, behind what has cut the groups.
void addKernelPasses(mlir::OpPassManager &passes, const Options &options);

/// Appends the passes of a phase in which random schedules differ from chosen ones; false where they do not. They are
/// for tests: no grouping, cut, layout or schedule may change a value.
bool addRandomPhase(Phase phase, mlir::OpPassManager &passes, const Options &options);

} // namespace zyx::pipelines

#endif // ZYX_LIB_PIPELINES_PHASES_H
