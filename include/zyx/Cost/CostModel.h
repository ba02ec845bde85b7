//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_COST_COSTMODEL_H
#define ZYX_COST_COSTMODEL_H

#include "zyx/Conversion/GraphToKernel/GraphToKernel.h"
#include "zyx/Schedule/Estimate.h"

#include <map>

namespace zyx::cost {

/// What a group computes, and on what: ops, attributes and types by their place in the context, operands by number.
llvm::SmallVector<const void *> keyOf(graph::ir::GroupOp group);

/// Whether all that a group reads keeps its value from run to run, so that it runs once.
class RunsOnceAnalysis {
public:
  explicit RunsOnceAnalysis(mlir::func::FuncOp entry) : entry(entry) {}
  bool holds(graph::ir::GroupOp group);
  bool isFixed(mlir::Value value);

private:
  mlir::func::FuncOp entry;
};

/// What kernels of groups take. Groups that compute the same on the same sizes are lowered once.
class CostModel {
public:
  CostModel(mlir::func::FuncOp entry, const target::TargetInfo &target);

  /// None where the group is no kernel.
  std::optional<schedule::Estimate> weigh(graph::ir::GroupOp group);
  const target::TargetInfo &getTarget() const { return target; }

private:
  std::optional<schedule::Estimate> lower(graph::ir::GroupOp group, llvm::ArrayRef<bool> isFixed);

  const target::TargetInfo &target;
  Workgroups machine;
  RunsOnceAnalysis runsOnce;
  std::map<llvm::SmallVector<const void *>, std::optional<schedule::Estimate>> known;
};

} // namespace zyx::cost

#endif // ZYX_COST_COSTMODEL_H
