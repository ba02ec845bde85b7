//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_PASSES_H
#define ZYX_SCHEDULE_PASSES_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace zyx::schedule {

/// How conditions that hide blocks are evaluated (FindVisible).
enum class VisibleWay { Least, Pairs, Bounds };

#define GEN_PASS_DECL
#include "zyx/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "zyx/Schedule/Passes.h.inc"

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_PASSES_H
