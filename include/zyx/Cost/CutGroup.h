//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_COST_CUTGROUP_H
#define ZYX_COST_CUTGROUP_H

#include "zyx/Dialect/Graph/IR/GraphOps.h"

namespace zyx::cost {

/// What a group would become if some of its values were stored: groups in front of it, and its results among theirs.
class GroupCut {
public:
  /// `stored` are results of ops of the group's body. What a group in front of it yields already is read there.
  GroupCut(graph::ir::GroupOp group, llvm::ArrayRef<mlir::Value> stored);
  /// Erases the parts, unless they have taken the group's place.
  ~GroupCut();
  GroupCut(const GroupCut &) = delete;
  GroupCut &operator=(const GroupCut &) = delete;

  llvm::ArrayRef<graph::ir::GroupOp> getParts() const { return parts; }
  /// Puts the parts in the group's place, and erases it.
  llvm::SmallVector<graph::ir::GroupOp> apply();

private:
  void create(llvm::ArrayRef<mlir::Value> values);

  graph::ir::GroupOp group;
  llvm::SmallVector<graph::ir::GroupOp> parts;
  /// What values of the body are outside of it.
  llvm::DenseMap<mlir::Value, mlir::Value> outside;
};

/// The result of another group in front of it that is the same as `value` of this group's body; null where there is
/// none.
mlir::Value findStored(graph::ir::GroupOp group, mlir::Value value);

/// Values of a group that may be stored, by the reason why that may pay.
struct Places {
  /// What factors of contractions are computed by, where no other contraction is among it; and where they are read
  /// through pads, windows or reshapes, what these show, and what is cast for factors of another type.
  llvm::SmallVector<mlir::Value> factors, shown;
  /// Images among these whose elements are repeated: they are smaller than their windows.
  llvm::SmallVector<mlir::Value> repeated;
  /// Those whose elements lie in other places, as shuffled pixels do: their windows have no runs.
  llvm::SmallVector<mlir::Value> shuffled;
  /// Operands of windows among them that are permutations of what lies in memory, and those that other reductions read.
  llvm::SmallVector<mlir::Value> permuted;
  /// What stands beside sums of products, as masks do, and what later contractions multiply.
  llvm::SmallVector<mlir::Value> beside, later;
  /// Sums of products; results of other reductions; what these combine.
  llvm::SmallVector<mlir::Value> sums, reduced, combined;
  /// Gathered elements, and values that are smaller than what is computed of them.
  llvm::SmallVector<mlir::Value> small;
  /// All of the group's ops.
  llvm::SmallVector<mlir::Value> all;
};
Places findPlaces(graph::ir::GroupOp group);

} // namespace zyx::cost

#endif // ZYX_COST_CUTGROUP_H
