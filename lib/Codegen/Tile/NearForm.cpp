//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/NearForm.h"

#include "zyx/Codegen/Tile/AccessForm.h"
#include "zyx/Target/Info/Fits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;
namespace fits = zyx::target::fits::dots;

std::optional<NearForm> NearForm::compute(MapAttr map, unsigned lanes, bool isCopied) {
  std::optional<AccessForm> form = AccessForm::compute(map);
  if (!form)
    return std::nullopt;
  // Images and their channels are one dimension of what is written.
  for (unsigned dim = 0; dim < form->dims.size(); ++dim)
    form->mergeInnermost(dim);
  if (!llvm::all_of(form->dims, [](ArrayRef<unsigned> parts) { return parts.size() <= 1; }))
    return std::nullopt;
  const size_t rank = form->dims.size();
  auto partOf = [&](size_t dim) -> std::optional<unsigned> {
    return form->dims[dim].empty() ? std::nullopt : std::optional(form->dims[dim].front());
  };
  if (!partOf(lanes))
    return std::nullopt;
  NearForm near;
  near.offset = form->offset;
  SmallVector<bool> isTaken(rank, false);
  std::optional<size_t> last;
  for (const AccessForm::Bound &bound : form->bounds) {
    Dim dim{0, SmallVector<int64_t>(rank, 0), true, bound.offset, bound.low, bound.high};
    int64_t reach = std::abs(bound.offset) + std::abs(bound.low) + std::abs(bound.high);
    for (size_t d = 0; d < rank; ++d) {
      std::optional<unsigned> part = partOf(d);
      const int64_t factor = part ? bound.factors[*part] : 0;
      if (factor == 0)
        continue;
      const int64_t stride = form->parts[*part].stride;
      if (factor < 0 || isTaken[d] || stride % factor != 0 || (dim.step != 0 && dim.step != stride / factor))
        return std::nullopt;
      isTaken[d] = true;
      dim.step = stride / factor;
      dim.factors[d] = factor;
      reach += factor * form->parts[*part].extent;
    }
    // Something that exists nowhere, or everywhere, for all positions alike.
    if (dim.step == 0 || reach > std::numeric_limits<int32_t>::max() / 2)
      return std::nullopt;
    if (dim.factors[lanes] != 0)
      last = near.dims.size();
    near.dims.push_back(std::move(dim));
  }
  // Windows that are moved by several elements along the lanes, over rows without padding: what lies between two lanes
  // is read by another element of the window.
  std::optional<size_t> joined;
  if (const int64_t stride = form->parts[*partOf(lanes)].stride;
      !isCopied && !isTaken[lanes] && stride > 1 && stride <= mostRunStep)
    for (size_t d = 0; d < rank; ++d)
      if (d != lanes && !isTaken[d] && partOf(d) && form->parts[*partOf(d)].stride == 1)
        joined = d;
  // Rows of such windows without padding, which overlap: they are rows of one dimension.
  auto overlaps = [&](size_t outer, size_t inner) {
    const AccessForm::Part &far = form->parts[*partOf(outer)], &near = form->parts[*partOf(inner)];
    return near.stride > 0 && far.stride >= near.stride && far.stride % near.stride == 0 &&
           far.stride / near.stride < near.extent;
  };
  auto isFree = [&](size_t d) { return d != lanes && d != joined && !isTaken[d] && partOf(d).has_value(); };
  for (size_t outer = 0; !isCopied && outer < rank; ++outer)
    for (size_t inner = 0; inner < rank && isFree(outer); ++inner) {
      if (inner == outer || !isFree(inner) || !overlaps(outer, inner))
        continue;
      const int64_t step = form->parts[*partOf(inner)].stride;
      Dim dim{step, SmallVector<int64_t>(rank, 0)};
      dim.factors[outer] = form->parts[*partOf(outer)].stride / step;
      dim.factors[inner] = 1;
      isTaken[outer] = isTaken[inner] = true;
      near.dims.push_back(std::move(dim));
    }
  for (size_t d = 0; d < rank; ++d) {
    if (isTaken[d] || !partOf(d))
      continue;
    const AccessForm::Part &part = form->parts[*partOf(d)];
    // What is the same along a dimension is no dimension of the array.
    if (part.stride == 0) {
      if (d == lanes)
        return std::nullopt;
      continue;
    }
    if (d == joined)
      continue;
    Dim dim{part.stride, SmallVector<int64_t>(rank, 0)};
    dim.factors[d] = 1;
    if (d == lanes) {
      last = near.dims.size();
      if (joined) {
        dim.step = 1;
        dim.factors[d] = part.stride;
        dim.factors[*joined] = 1;
      }
    }
    near.dims.push_back(std::move(dim));
  }
  std::swap(near.dims[*last], near.dims.back());
  const Dim &along = near.dims.back();
  const bool isPadded = !form->bounds.empty();
  near.laneStep = along.factors[lanes];
  if (!isCopied && (near.laneStep < 1 || near.laneStep > mostRunStep))
    return std::nullopt;
  return isPadded || along.step != 1 || near.laneStep != 1 ? std::optional(near) : std::nullopt;
}

SmallVector<int64_t> NearForm::getExtents(ArrayRef<int64_t> tile) const {
  SmallVector<int64_t> extents;
  for (const Dim &dim : dims) {
    int64_t extent = 1;
    for (auto [factor, size] : llvm::zip_equal(dim.factors, tile))
      extent += factor * (size - 1);
    extents.push_back(extent);
  }
  return extents;
}

int64_t NearForm::countElements(ArrayRef<int64_t> tile, int64_t lanes) const {
  SmallVector<int64_t> extents = getExtents(tile);
  extents.back() = llvm::alignTo(extents.back(), lanes);
  uint64_t count = 1;
  for (int64_t extent : extents)
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(extent));
  return static_cast<int64_t>(std::min<uint64_t>(count, std::numeric_limits<int32_t>::max()));
}

bool NearForm::isReused(ArrayRef<int64_t> tile, int64_t along, int64_t lanes, int64_t numReads, bool isOnly) const {
  // Lanes that are apart would be read one by one. The rest of a vector behind a row costs nothing.
  if (dims.back().step == 1 && laneStep != 1) {
    uint64_t present = 1;
    for (int64_t extent : getExtents(tile))
      present = llvm::SaturatingMultiply(present, static_cast<uint64_t>(extent));
    return static_cast<uint64_t>(numReads) >= present;
  }
  // Elements that are copied one by one take as long as a vector.
  const int64_t fewestReads = dims.back().step == 1 || isOnly ? 3 : 2 * lanes;
  const int64_t elements = countElements(tile, lanes);
  // A short row is a vector where it is read, as it is where it is copied.
  const double reads = static_cast<double>(numReads) / static_cast<double>(std::max<int64_t>(tile[along], 1)) *
                       static_cast<double>(llvm::alignTo(tile[along], lanes));
  return elements > 0 && reads >= static_cast<double>(fewestReads) * static_cast<double>(elements);
}

double zyx::kernel::packingCycles(MapAttr map, unsigned columns, unsigned rows, int64_t lanes) {
  std::optional<AccessForm> form = AccessForm::compute(map);
  if (!form)
    return fits::oneByOne;
  auto inRuns = [&](unsigned dim) {
    if (form->dims[dim].empty())
      return fits::oneByOne;
    form->mergeInnermost(dim);
    const AccessForm::Part &inner = form->parts[form->dims[dim].back()];
    const int64_t step = std::abs(inner.stride);
    if (step > mostRunStep || (step == 0 ? inner.extent : 4 * inner.extent) < lanes)
      return fits::oneByOne;
    // What repeats, as scales of groups do, is one vector.
    const auto vectors = step == 0 ? 1.0 : static_cast<double>(llvm::divideCeil(inner.extent, lanes) * step);
    return (fits::perVector * vectors + fits::perRun) / static_cast<double>(inner.extent);
  };
  return std::min({fits::oneByOne, inRuns(columns), inRuns(rows) + fits::transposed});
}
