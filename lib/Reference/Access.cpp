//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Access.h"

namespace zyx::reference {

static std::vector<int64_t> rowMajorStrides(const Shape &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Access Access::contiguous(const Shape &shape) { return Access(shape, rowMajorStrides(shape)); }

/// Drops dimensions of extent 1 and merges neighbours that are one dimension in memory.
static void mergeDimensions(Shape &shape, std::vector<int64_t> &strides) {
  size_t kept = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    if (kept > 0 && strides[kept - 1] == strides[d] * shape[d]) {
      shape[kept - 1] *= shape[d];
      strides[kept - 1] = strides[d];
      continue;
    }
    shape[kept] = shape[d];
    strides[kept] = strides[d];
    ++kept;
  }
  shape.resize(kept);
  strides.resize(kept);
}

void Access::reshape(const Shape &shape) {
  Stage &top = stages.back();
  // Nothing is read from a view without elements.
  if (std::ranges::find(shape, 0) != shape.end()) {
    top = {shape, std::vector<int64_t>(shape.size()), 0};
    return;
  }
  Stage merged = top;
  mergeDimensions(merged.shape, merged.strides);
  // Each merged dimension must be split by a run of the new dimensions.
  std::vector<int64_t> strides(shape.size());
  size_t next = shape.size();
  for (size_t d = merged.shape.size(); d-- > 0;) {
    int64_t covered = 1;
    while (covered < merged.shape[d] && next > 0 && merged.shape[d] % (covered * shape[next - 1]) == 0) {
      --next;
      strides[next] = merged.strides[d] * covered;
      covered *= shape[next];
    }
    if (covered != merged.shape[d]) {
      stages.push_back({shape, rowMajorStrides(shape), 0});
      return;
    }
  }
  top = {shape, std::move(strides), top.offset};
}

void Access::expand(const Shape &shape) {
  Stage &top = stages.back();
  for (size_t d = 0; d < shape.size(); ++d)
    if (top.shape[d] != shape[d])
      top.strides[d] = 0;
  top.shape = shape;
}

void Access::permute(const std::vector<int64_t> &order) {
  const Stage from = stages.back();
  Stage &top = stages.back();
  for (size_t d = 0; d < order.size(); ++d) {
    top.shape[d] = from.shape[order[d]];
    top.strides[d] = from.strides[order[d]];
  }
}

void Access::flip(const std::vector<int64_t> &dims) {
  Stage &top = stages.back();
  for (int64_t dim : dims) {
    top.offset += (top.shape[dim] - 1) * top.strides[dim];
    top.strides[dim] = -top.strides[dim];
  }
}

void Access::window(const Shape &shape, const std::vector<int64_t> &dims, const std::vector<int64_t> &stride,
                    const std::vector<int64_t> &dilation) {
  Stage &top = stages.back();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t step = top.strides[dims[i]];
    top.strides[dims[i]] = step * stride[i];
    top.strides.push_back(step * dilation[i]);
  }
  top.shape = shape;
}

void Access::simplify() {
  for (Stage &stage : stages)
    mergeDimensions(stage.shape, stage.strides);
}

void Access::indices(int64_t begin, int64_t count, int64_t *out) const {
  int64_t *next = out;
  walk(stages.back(), begin, count, [&](int64_t index, int64_t stride, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      *next++ = index + i * stride;
  });
  for (size_t s = stages.size() - 1; s-- > 0;)
    mapStage(stages[s], out, count);
}

void Access::map(int64_t *indices, int64_t count) const {
  for (size_t s = stages.size(); s-- > 0;)
    mapStage(stages[s], indices, count);
}

void Access::mapStage(const Stage &stage, int64_t *indices, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (indices[i] < 0)
      continue;
    int64_t rest = indices[i], index = stage.offset;
    for (size_t d = stage.shape.size(); d-- > 0;) {
      index += rest % stage.shape[d] * stage.strides[d];
      rest /= stage.shape[d];
    }
    indices[i] = index;
  }
}

} // namespace zyx::reference
