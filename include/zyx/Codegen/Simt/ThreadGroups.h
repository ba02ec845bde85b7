//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_SIMT_THREADGROUPS_H
#define ZYX_CODEGEN_SIMT_THREADGROUPS_H

#include "zyx/Codegen/Tile/Nest.h"

namespace zyx::kernel {

/// Where a workgroup's threads are more than the vectors of a row, groups of them walk an axis together: the first one
/// that is combined, or of what is only written the longest one. A group has the vectors of a row, one for each thread.
class ThreadGroups {
public:
  using Accumulators = Nest::Accumulators;
  using Body = Nest::Body;

  explicit ThreadGroups(Nest &nest) : n(nest), t(nest.t), loc(nest.loc) {}

  /// Forms groups where that takes fewer steps, with vectors that divide a row.
  void choose(llvm::ArrayRef<Axis> outer);
  bool exist() const { return groups > 1; }
  /// Of sums of `extent` columns, what `finish` has groups hand over at most, where threads have so many lanes and an
  /// axis that is combined so many steps.
  static int64_t mostElements(int64_t extent, int64_t lanes, int64_t steps, int64_t threads);
  /// Whether groups walk this axis.
  bool walk(Axis axis) const { return groupAxis == axis; }
  /// Where the thread's vector is, if it has one.
  Point ownColumn(const Point &point);
  /// The steps along an axis that the thread's group has, `count` of them at a time.
  mlir::FailureOr<Accumulators> walkSteps(int64_t extent, int64_t count, Accumulators accs, Body body);
  /// What groups have combined, combined in their order.
  void finish(llvm::ArrayRef<mlir::Value> partial, Point point);

private:
  Nest &n;
  TileContext &t;
  mlir::Location loc;
  int64_t groups = 1, groupVectors = 1;
  /// How much narrower vectors are than those that a thread reads at once: so many more steps are taken together.
  int64_t narrower = 1;
  std::optional<Axis> groupAxis;
};

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_SIMT_THREADGROUPS_H
