//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ZYX_LIB_REFERENCE_ACCESS_H
#define ZYX_LIB_REFERENCE_ACCESS_H

#include "zyx/Base/Shape.h"

#include <algorithm>
#include <vector>

namespace zyx::reference {

/// Which element of a leaf (a tensor in memory) each element of a view of it is: a chain of strided
/// stages. The last stage takes the view's row-major linear index; each stage gives the linear
/// index into the stage before it, the first one the index into memory. Reshapes that strides
/// cannot express start a new stage; most accesses have one.
class Access {
public:
  /// The leaf itself: element i of the shape has index sum(coordinate * stride).
  Access(Shape shape, std::vector<int64_t> strides) : stages{{std::move(shape), std::move(strides), 0}} {}
  static Access contiguous(const Shape &shape);

  void reshape(const Shape &shape);
  void expand(const Shape &shape);
  void permute(const std::vector<int64_t> &order);
  void flip(const std::vector<int64_t> &dims);
  /// `shape` is the window's own; the others are its attributes.
  void window(const Shape &shape, const std::vector<int64_t> &dims, const std::vector<int64_t> &stride,
              const std::vector<int64_t> &dilation);
  /// Merges dimensions; to be called once, after the last view.
  void simplify();

  /// Calls run(index, stride, count) for consecutive pieces of the view's elements
  /// [begin, begin + count), each at index, index + stride, ... Only for accesses of one stage.
  template <typename Run> void forEachRun(int64_t begin, int64_t count, Run run) const {
    walk(stages.back(), begin, count, run);
  }
  /// Whether forEachRun applies, with runs that are worth a call each.
  bool hasLongRuns() const { return stages.size() == 1 && (stages[0].shape.empty() || stages[0].shape.back() >= 16); }

  /// The indices of the view's elements [begin, begin + count).
  void indices(int64_t begin, int64_t count, int64_t *out) const;
  /// Replaces linear indices of the view by indices of the leaf; negative ones stay.
  void map(int64_t *indices, int64_t count) const;

private:
  struct Stage {
    Shape shape;
    std::vector<int64_t> strides;
    /// The index of the first element.
    int64_t offset;
  };
  template <typename Run> static void walk(const Stage &stage, int64_t begin, int64_t count, Run run);
  static void mapStage(const Stage &stage, int64_t *indices, int64_t count);

  std::vector<Stage> stages;
};

template <typename Run> void Access::walk(const Stage &stage, int64_t begin, int64_t count, Run run) {
  const int rank = static_cast<int>(stage.shape.size());
  if (rank == 0) {
    if (count > 0)
      run(stage.offset, int64_t(0), count);
    return;
  }
  int64_t coordinates[maxRank] = {};
  int64_t index = stage.offset;
  for (int d = rank - 1; d >= 0; --d) {
    coordinates[d] = begin % stage.shape[d];
    begin /= stage.shape[d];
    index += coordinates[d] * stage.strides[d];
  }
  while (count > 0) {
    const int64_t length = std::min(count, stage.shape[rank - 1] - coordinates[rank - 1]);
    run(index, stage.strides[rank - 1], length);
    count -= length;
    coordinates[rank - 1] += length;
    index += length * stage.strides[rank - 1];
    for (int d = rank - 1; d > 0 && coordinates[d] == stage.shape[d]; --d) {
      index += stage.strides[d - 1] - coordinates[d] * stage.strides[d];
      coordinates[d] = 0;
      ++coordinates[d - 1];
    }
  }
}

} // namespace zyx::reference

#endif // ZYX_LIB_REFERENCE_ACCESS_H
