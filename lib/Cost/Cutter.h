//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_COST_CUTTER_H
#define ZYX_LIB_COST_CUTTER_H

#include "zyx/Cost/CostModel.h"
#include "zyx/Cost/CutGroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zyx::cost {

/// Makes several kernels of a group where they take less than one.
class Cutter {
public:
  Cutter(mlir::func::FuncOp entry, CostModel &costs) : entry(entry), runsOnce(entry), costs(costs) {}
  /// Whether it was cut, and is gone.
  bool run(graph::ir::GroupOp group);
  /// What the group takes, whole or in the parts that run() makes of it at first; none where it is no kernel.
  std::optional<double> weigh(graph::ir::GroupOp group);

private:
  bool mayCut(graph::ir::GroupOp group);
  llvm::SmallVector<mlir::Value> findKept(graph::ir::GroupOp group);
  bool turnsWindows(graph::ir::GroupOp group, const schedule::Estimate &whole);
  bool isWorthCutting(graph::ir::GroupOp group, const schedule::Estimate &whole);
  size_t findBest(graph::ir::GroupOp group, const schedule::Estimate &whole, llvm::ArrayRef<mlir::Value> ordered);
  std::optional<double> weigh(const GroupCut &cut);
  void tryOut(graph::ir::GroupOp group, llvm::ArrayRef<mlir::Value> stored);
  void trimBest(graph::ir::GroupOp group);
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> findCuts(graph::ir::GroupOp group,
                                                             llvm::ArrayRef<mlir::Value> ordered) const;

  mlir::func::FuncOp entry;
  RunsOnceAnalysis runsOnce;
  CostModel &costs;
  /// Of the group at hand.
  llvm::SmallVector<mlir::Value> best;
  double least = 0;
  std::map<llvm::SmallVector<const void *>, std::optional<double>> known;
};

} // namespace zyx::cost

#endif // ZYX_LIB_COST_CUTTER_H
