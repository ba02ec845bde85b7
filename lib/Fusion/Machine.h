//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_FUSION_MACHINE_H
#define ZYX_LIB_FUSION_MACHINE_H

#include "zyx/Target/Info/TargetInfo.h"

#include "mlir/IR/Operation.h"

namespace zyx::fusion {

/// The record of the machine that the module around `op` is for. Where no module says, the rewrites are those that suit
/// any machine: one of few cores, whose programs are no threads that run in lockstep.
const target::TargetInfo &getMachine(mlir::Operation *op);

} // namespace zyx::fusion

#endif // ZYX_LIB_FUSION_MACHINE_H
