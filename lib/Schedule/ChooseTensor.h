//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_SCHEDULE_CHOOSETENSOR_H
#define ZYX_SCHEDULE_CHOOSETENSOR_H

#include "zyx/Codegen/Matrix/TensorDot.h"
#include "zyx/Codegen/Tile/Axes.h"
#include "zyx/Codegen/Tile/SharedAttention.h"
#include "zyx/Target/Info/TargetInfo.h"

namespace zyx::schedule {

/// A step, and the cycles that it is estimated to take; 0 where nothing estimates them.
struct TensorChoice {
  kernel::TensorStepAttr step;
  double cost = 0;
};

/// Steps of a kernel that is a product or an attention for tensor cores, the best one first, and at most `most`; none
/// of any other. docs/codegen-tensor-cores.md has the rules.
llvm::SmallVector<TensorChoice> chooseTensorSteps(kernel::FuncOp func, const kernel::Axes &axes,
                                                  const target::TargetInfo &target, unsigned most);

/// Those of a kernel that may be an attention: tiles of queries and keys, and heads at a time.
llvm::SmallVector<TensorChoice> chooseAttentionSteps(kernel::FuncOp func, const kernel::Axes &axes,
                                                     const target::TargetInfo &target, unsigned most);

/// An attention that the threads of workgroups share: its schedule and their number, with rows and keys that fit.
struct SharedChoice {
  kernel::ScheduleAttr schedule;
  int64_t threads = 0, cluster = 0;
  kernel::SharedAttentionShape shape;
  kernel::SharedAttention attention;
};
/// None where the kernel is none, or the target has no workgroups.
std::optional<SharedChoice> chooseSharedAttention(kernel::FuncOp func, const kernel::Axes &axes,
                                                  const target::TargetInfo &target);
/// Whether rows that share keys are so few that tensor cores would multiply for others that do not exist.
bool hasFewRows(const SharedChoice &choice);

/// Those of a kernel that may be a sum over batches of what is computed of products: tiles of rows and columns.
llvm::SmallVector<TensorChoice> chooseTotalSteps(kernel::FuncOp func, const kernel::Axes &axes,
                                                 const target::TargetInfo &target, unsigned most);
/// Those of a kernel that may be a chain of products, as gradients of an attention are.
llvm::SmallVector<TensorChoice> chooseChainSteps(kernel::FuncOp func, const kernel::Axes &axes,
                                                 const target::TargetInfo &target, unsigned most);

/// Cycles in which the workgroups of a cluster meet, each of which sends the others so many bytes.
double clusterExchangeCycles(int64_t split, int64_t sent, const target::TargetInfo &target);

/// Whether the target's tensor cores multiply a product that has been matched; where not, `reason` says why.
bool isForTarget(const kernel::TensorDot &dot, const target::TargetInfo &target, std::string &reason);

/// Those of a product for a card before Hopper.
llvm::SmallVector<TensorChoice> chooseWarpSteps(kernel::FuncOp func, const kernel::TensorDot &dot,
                                                const kernel::Axes &axes, const target::TargetInfo &target,
                                                unsigned most);

} // namespace zyx::schedule

#endif // ZYX_SCHEDULE_CHOOSETENSOR_H
