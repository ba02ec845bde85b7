//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_CHOOSETENSOR_H
#define ZYX_SCHEDULE_CHOOSETENSOR_H

#include "zyx/Dialect/Kernel/Transforms/Axes.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// The step of a kernel that is a product or an attention for tensor cores; null of any other. docs/cuda.md has the rules.
kernel::TensorStepAttr chooseTensorStep(kernel::FuncOp func, const kernel::Axes &axes, const target::TargetInfo &target);

/// That of a kernel that may be an attention: tiles of queries and keys, and heads at a time.
kernel::TensorStepAttr chooseAttentionStep(kernel::FuncOp func, const kernel::Axes &axes, const target::TargetInfo &target);

/// That of a kernel that may be a chain of products, as gradients of an attention are.
kernel::TensorStepAttr chooseChainStep(kernel::FuncOp func, const kernel::Axes &axes, const target::TargetInfo &target);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_CHOOSETENSOR_H
