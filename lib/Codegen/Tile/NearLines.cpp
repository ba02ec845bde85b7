//===----------------------------------------------------------------------===//
// Part of zyx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "zyx/Codegen/Tile/NearLines.h"

#include "zyx/Target/Info/Fits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace zyx::kernel;
namespace fits = zyx::target::fits::dots;

std::optional<NearLines> NearLines::compute(MapAttr map, unsigned depth, unsigned columns) {
  std::optional<AccessForm> form = AccessForm::compute(map);
  if (!form || !form->hasOverlaps() || form->dims[columns].empty() || form->dims[depth].empty())
    return std::nullopt;
  NearLines lines{*form, {}, depth, columns};
  const size_t numParts = form->parts.size();
  SmallVector<bool> isTaken(numParts, false);
  for (const AccessForm::Bound &bound : form->bounds) {
    Dim dim{0, SmallVector<int64_t>(numParts, 0), true, bound.offset, bound.low, bound.high};
    int64_t reach = std::abs(bound.offset) + std::abs(bound.low) + std::abs(bound.high);
    for (size_t p = 0; p < numParts; ++p) {
      const int64_t factor = bound.factors[p], stride = form->parts[p].stride;
      if (factor == 0 || form->parts[p].extent == 1)
        continue;
      if (factor < 0 || isTaken[p] || stride % factor != 0 || (dim.step != 0 && dim.step != stride / factor))
        return std::nullopt;
      isTaken[p] = true;
      dim.step = stride / factor;
      dim.factors[p] = factor;
      reach += factor * form->parts[p].extent;
    }
    // Something that exists nowhere, or everywhere, for all positions alike.
    if (dim.step <= 0 || reach > std::numeric_limits<int32_t>::max() / 2)
      return std::nullopt;
    lines.dims.push_back(std::move(dim));
  }
  // Without padding: parts that step as far slide over each other.
  for (unsigned owner : {columns, depth})
    for (unsigned p : form->dims[owner]) {
      const int64_t stride = form->parts[p].stride;
      if (isTaken[p])
        continue;
      if (stride <= 0)
        return std::nullopt;
      isTaken[p] = true;
      auto same = llvm::find_if(lines.dims, [&](const Dim &dim) { return !dim.isBounded && dim.step == stride; });
      if (same == lines.dims.end()) {
        lines.dims.push_back({stride, SmallVector<int64_t>(numParts, 0)});
        same = std::prev(lines.dims.end());
      }
      same->factors[p] = 1;
    }
  const unsigned inner = form->dims[columns].back();
  auto along = llvm::find_if(lines.dims, [&](const Dim &dim) { return dim.factors[inner] != 0; });
  if (along == lines.dims.end() || along->step != 1 || along->factors[inner] != 1)
    return std::nullopt;
  std::rotate(along, std::next(along), lines.dims.end());
  return lines;
}

int64_t NearLines::innerPositions() const {
  int64_t count = 1;
  for (unsigned p : ArrayRef(form.dims[columns]).drop_front())
    count *= form.parts[p].extent;
  return count;
}

int64_t NearLines::stepsAtOnce() const {
  constexpr int64_t most = 32;
  int64_t steps = 1;
  for (unsigned p : llvm::reverse(form.dims[depth])) {
    if (steps * form.parts[p].extent > most)
      break;
    steps *= form.parts[p].extent;
  }
  return steps;
}

SmallVector<int64_t> NearLines::getExtents(int64_t positions) const {
  SmallVector<int64_t> extents;
  const unsigned outermost = form.dims[columns].front();
  for (const Dim &dim : dims) {
    int64_t extent = 1;
    for (unsigned owner : {columns, depth})
      for (unsigned p : form.dims[owner]) {
        const int64_t count = p == outermost ? llvm::divideCeil(positions, innerPositions()) : form.parts[p].extent;
        extent += dim.factors[p] * (count - 1);
      }
    extents.push_back(extent);
  }
  return extents;
}

int64_t NearLines::countElements(int64_t positions, int64_t lanes) const {
  int64_t count = 1;
  SmallVector<int64_t> extents = getExtents(positions);
  for (int64_t extent : ArrayRef(extents).drop_back())
    count *= extent;
  return count * static_cast<int64_t>(llvm::alignTo(extents.back(), lanes));
}

double zyx::kernel::copyingCycles(MapAttr map, std::pair<unsigned, unsigned> dims, int64_t positions, int64_t lanes) {
  std::optional<NearLines> lines = NearLines::compute(map, dims.second, dims.first);
  if (!lines)
    return 0;
  // A run for each line.
  const auto elements = static_cast<double>(lines->countElements(positions, lanes));
  const auto line = static_cast<double>(llvm::alignTo(lines->getExtents(positions).back(), lanes));
  return elements * (fits::perRun / line + fits::perVector / static_cast<double>(lanes));
}
