//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
// Vectors read through maps: padded views, views of several blocks, and indices that are data.
//===----------------------------------------------------------------------===//
#ifndef ZYX_CODEGEN_TILE_LANEACCESS_H
#define ZYX_CODEGEN_TILE_LANEACCESS_H

#include "zyx/Dialect/Kernel/IR/Kernel.h"

namespace zyx::kernel {

/// The index of each lane along one dimension, or its place in a buffer.
struct LaneIndex {
  /// That of lane 0, of type `index`; the next lane's is `step` larger.
  mlir::Value first;
  int64_t step = 0;
  /// Where the lanes have nothing in common, all of them: a vector of i32 or i64. `first` is null then.
  mlir::Value lanes;
};

/// Which lanes have an element.
struct LaneMask {
  /// Said of all lanes at once (i1); null where it is true.
  mlir::Value all;
  /// Said of each (a vector of i1); null where it is true.
  mlir::Value each;
};

/// How the lanes of a vector lie in the buffer.
enum class LaneRun {
  /// One step apart, wherever the vector begins.
  Always,
  /// One step apart unless the vector crosses the end of a row of some block.
  Mostly,
  /// Seldom enough that nothing is gained by asking.
  Seldom,
};

/// What becomes of lanes that stand one apart along dimension `dim` of a map.
struct LaneStride {
  LaneRun run;
  /// How far apart they stand in the buffer where they are a run.
  int64_t step;
};
LaneStride laneStride(MapAttr map, unsigned dim, int64_t lanes);

/// How vectors are read of which all lanes exist, or none.
enum class WholeVectors {
  /// Under a mask, like others.
  Masked,
  /// Behind a branch.
  Branch,
  /// In any case, from a place that exists, and not taken where it is not theirs: loads of several vectors are on their
  /// way together.
  Select,
};

/// Emits the loads of vectors of `lanes` elements.
class LaneLoader {
public:
  LaneLoader(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes, WholeVectors whole)
      : builder(builder), loc(loc), numLanes(lanes), whole(whole) {}

  /// The elements at `indices` of a view whose map has no symbols; lanes that have none, because the
  /// mask or the map says so, are `other`, or zero where it is null. One index at least differs between lanes.
  mlir::Value load(ViewOp view, llvm::ArrayRef<LaneIndex> indices, LaneMask mask, mlir::Value other);

  /// The lanes whose index is inside [low, high).
  void require(LaneMask &mask, const LaneIndex &index, int64_t low, int64_t high);
  /// Fixes the width of integers in which the lanes of a map's indices are computed.
  void setMap(MapAttr map);
  /// A vector of integers as lanes of that width; those beyond it must not exist.
  mlir::Value toLaneType(mlir::Value vector);

private:
  struct LaneAddress {
    LaneIndex number;
    LaneMask mask;
    /// Whether lanes really are one step apart; null where they are.
    mlir::Value fits;
  };
  LaneAddress follow(MapAttr map, llvm::ArrayRef<LaneIndex> indices, LaneMask mask, bool asRun);
  void split(LaneIndex number, BlockAttr block, llvm::SmallVectorImpl<LaneIndex> &at, bool asRun, mlir::Value &fits);
  mlir::Value emit(ViewOp view, const LaneAddress &place, mlir::Value other);
  mlir::Value gather(mlir::Value row, const LaneIndex &number, mlir::Value mask, mlir::Value other);

  LaneIndex add(const LaneIndex &a, const LaneIndex &b);
  LaneIndex multiply(const LaneIndex &a, int64_t factor);
  mlir::Value toVector(const LaneIndex &index);
  mlir::Value index(int64_t value);
  mlir::Value splat(int64_t value);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value combined(const LaneMask &mask);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t numLanes;
  WholeVectors whole;
  mlir::Type laneType;
};

/// What `read` emits where `condition` holds, else `fill`, by a branch.
mlir::Value readBehindBranch(mlir::OpBuilder &builder, mlir::Value condition, mlir::Value fill,
                             llvm::function_ref<mlir::Value()> read);

/// The buffer of a view of known strides as one row, long enough for every element of the view.
mlir::Value viewAsRow(mlir::OpBuilder &builder, ViewOp view);

} // namespace zyx::kernel

#endif // ZYX_CODEGEN_TILE_LANEACCESS_H
